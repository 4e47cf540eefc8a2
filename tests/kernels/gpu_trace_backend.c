/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The library's plans with kernels that run on the host. */
#include "gpu_trace_backend.h"
#include "gpu/kernel.h"
#include "gpu/plane.h"
#include "gpu_banks.h"
#include "gpu_trace_wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The private part of a plan. */
struct plan {
    struct gpu_plane plane;
    struct gpu_decomposition decomposition;
};

/* Of a buffer. */
struct buffer {
    struct gpu_trace_memory *memory;
};

/* Of the only slot. */
struct slot {
    struct gpu_plane_memory planes;
};

static const struct trace_run *now;
static struct trace_findings *found;

/* ---------------------------------------------------------------- buffers --------------------- */

static int buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    struct buffer *self = buffer->priv;
    return (self->memory = gpu_trace_memory_new(bytes, NULL)) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void buffer_free(struct penstock_buffer *buffer)
{
    gpu_trace_memory_free(((struct buffer *)buffer->priv)->memory);
}

static struct gpu_trace_memory *memory_of(const struct penstock_buffer *buffer)
{
    return buffer ? ((const struct buffer *)buffer->priv)->memory : NULL;
}

static int mark(struct penstock_slot *slot, uint64_t *number)
{
    (void)slot;
    *number = 0;
    return PENSTOCK_OK;
}

static int wait_for(struct penstock_slot *slot, uint64_t number)
{
    (void)slot, (void)number;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- plans ----------------------- */

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    struct plan *self = plan->priv;
    if (penstock__gpu_is_plane(&plan->problem->fft, &now->limits))
        return penstock__gpu_plane_init(&self->plane, plan, &now->limits, variant);
    return penstock__gpu_decomposition(&self->decomposition, &plan->problem->fft, &now->limits, variant);
}

static void plan_free(struct penstock_plan_state *plan)
{
    struct plan *self = plan->priv;
    if (self->plane.count)
        penstock__gpu_plane_free(&self->plane);
}

/* ---------------------------------------------------------------- launches -------------------- */

/* Bytes of `counts` that are not as in `want`, or not 0 without it. */
static size_t differ(const uint16_t *counts, const struct trace_want *want, size_t bytes)
{
    size_t sum = want ? want->outside : 0;
    for (size_t i = 0; i < bytes; i++)
        sum += counts[i] != (want ? want->times[i] : 0);
    return sum;
}

/* Puts the run's fault in; *copy is to be freed then. */
static const char *spoil(const char *text, char **copy)
{
    struct trace_fault *fault = now->fault;
    const char *at = fault ? strstr(text, fault->from) : NULL;
    *copy = NULL;
    if (!at || !(*copy = malloc(strlen(text) + strlen(fault->to) + 1)))
        return text;
    fault->found++;
    sprintf(*copy, "%.*s%s%s", (int)(at - text), text, fault->to, at + strlen(fault->from));
    return *copy;
}

static unsigned staged_bytes(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass)
{
    unsigned points = pass->config.per_group * (pass->config.columns ? pass->config.n : decomposition->length);
    return decomposition->texel == 2 && pass->last ? 8 * points : 0;
}

static void gather_findings(const struct gpu_trace *trace, const struct trace_launch *launch)
{
    const struct gpu_launch_config *config = &launch->decomposition->pass[launch->step.pass].config;
    unsigned declared = gpu_pass_bank_ways(launch->decomposition, launch->step.pass);
    found->kernels++;
    found->overruns += trace->overruns;
    found->misaligned += trace->misaligned;
    found->unwritten += trace->unwritten;
    if (!config->cpu) /* there work-items that have no points compute along, and what they get is thrown away */
        found->unwritten += trace->left;
    found->races += trace->races;
    found->splits += trace->splits;
    found->conflicts +=
        !config->cpu && (launch->decomposition->texel == 2 ? trace->ways > declared : trace->ways != declared);
    found->measured = trace->ways > found->measured ? trace->ways : found->measured;
    found->ways = declared > found->ways ? declared : found->ways;
}

static int run_kernel(const struct trace_launch *launch, const char *text, const struct gpu_table *table,
                      struct gpu_trace_memory *const memory[3])
{
    const struct gpu_pass *pass = &launch->decomposition->pass[launch->step.pass];
    const struct gpu_launch_config *config = &pass->config;
    struct gpu_trace trace = {.name = "fft",
                              .folder = now->folder,
                              .cxx = launch->decomposition->paired,
                              .transform = true,
                              .groups = (unsigned)launch->step.groups,
                              .rows = (unsigned)launch->step.rows,
                              .local_bytes = penstock__gpu_local_bytes(config),
                              .staged_bytes = staged_bytes(launch->decomposition, pass),
                              .plane = launch->fft->fold ? 0 : launch->samples,
                              .first = (int32_t)launch->step.first};
    static const float none[1];
    char *copy;
    trace.text = spoil(text, &copy);
    trace.group[0] = penstock__gpu_group_x(config);
    trace.group[1] = penstock__gpu_group_size(config) / trace.group[0];
    trace.memory[0] = memory[0];
    trace.memory[1] = memory[1];
    trace.memory[2] = gpu_trace_memory_new(table->count * sizeof(float), table->count ? table->values : none);
    trace.memory[3] = memory[2];
    if (trace.memory[2])
        trace.memory[2]->constant = true;
    bool good = trace.memory[2] && gpu_trace_run(&trace);
    if (good)
        gather_findings(&trace, launch);
    gpu_trace_memory_free(trace.memory[2]);
    free(copy);
    return good ? PENSTOCK_OK : penstock__error(PENSTOCK_ERR_DEVICE, "the kernel did not run");
}

/* Compiles and runs one launch; the caller's memory is counted by the caller, scratch memory here. */
static int run_launch(const struct trace_launch *launch, struct gpu_trace_memory *const memory[3])
{
    const struct gpu_pass *pass = &launch->decomposition->pass[launch->step.pass];
    struct gpu_text text = {0};
    struct gpu_table table;
    int status = penstock__gpu_table(&table, launch->decomposition, launch->step.pass, launch->fft);
    if (status)
        return status;
    if (!(status = penstock__gpu_kernel_source(&text, now->context, launch->decomposition, launch->step.pass, &table,
                                               launch->fft)))
        status = run_kernel(launch, text.content, &table, memory);
    for (unsigned i = 0; i < 2 && !status; i++) {
        struct gpu_trace_memory *scratch = memory[i ? 2 : 0];
        struct trace_want want = {.bytes = scratch->bytes};
        if ((i ? pass->last : pass->first) || !(want.times = calloc(scratch->bytes + 1, sizeof *want.times)))
            continue;
        (i ? trace_want_stores : trace_want_loads)(&want, launch);
        found->between += differ(i ? scratch->stores : scratch->loads, &want, scratch->bytes);
        free(want.times);
    }
    penstock__text_free(&text);
    penstock__gpu_table_free(&table);
    return status;
}

/* All launches of a batch; `want`: what comes of them for the caller's samples and values. */
static int run_launches(struct penstock_plan_state *state, const struct penstock_job *job, struct trace_want want[2])
{
    struct plan *self = state->priv;
    struct gpu_trace_memory *scratch[2] = {NULL, NULL}, *in = memory_of(job->in), *out = memory_of(job->out);
    unsigned scratches;
    size_t bytes;
    struct trace_launch launch = {
        .decomposition = &self->decomposition, .fft = &state->problem->fft, .samples = job->samples};
    int status = penstock__gpu_scratch(&scratches, &bytes, state, &self->decomposition, job);
    if (job->gather)
        launch.gather = (const struct penstock_gather *)(const void *)memory_of(job->gather)->first;
    for (unsigned i = 0; i < scratches && !status; i++)
        status = (scratch[i] = gpu_trace_memory_new(bytes, NULL)) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; !status && penstock__gpu_step(&launch.step, state, &self->decomposition, job, i); i++) {
        struct gpu_trace_memory *from = launch.step.from == GPU_IN ? in : scratch[launch.step.from],
                                *to = launch.step.to == GPU_OUT ? out : scratch[launch.step.to];
        if (from == to)
            return penstock__error(PENSTOCK_ERR_CHECK, "a launch reads what it writes");
        if (launch.step.from != GPU_IN)
            gpu_trace_memory_uncount(from);
        if (launch.step.to != GPU_OUT) {
            gpu_trace_memory_uncount(to);
            gpu_trace_memory_forget(to);
        }
        status = run_launch(&launch, (struct gpu_trace_memory *const[]){from, memory_of(job->gather), to});
        if (launch.step.from == GPU_IN)
            trace_want_loads(&want[0], &launch);
        if (launch.step.to == GPU_OUT)
            trace_want_stores(&want[1], &launch);
    }
    gpu_trace_memory_free(scratch[0]);
    gpu_trace_memory_free(scratch[1]);
    return status;
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *state, const struct penstock_job *job)
{
    struct plan *self = state->priv;
    struct gpu_trace_memory *in = memory_of(job->in), *out = memory_of(job->out);
    if (self->plane.count)
        return penstock__gpu_plane_enqueue(slot, &self->plane, &((struct slot *)slot->priv)->planes, job);
    if (self->decomposition.paired && !gpu_trace_has_cxx())
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no compiler for C++");
    struct trace_want want[2] = {{calloc(in->bytes + 1, sizeof(uint16_t)), in->bytes},
                                 {calloc(out->bytes + 1, sizeof(uint16_t)), out->bytes}};
    gpu_trace_memory_uncount(in);
    gpu_trace_memory_uncount(out);
    gpu_trace_memory_forget(out);
    int status = want[0].times && want[1].times ? run_launches(state, job, want) : PENSTOCK_ERR_MEMORY;
    if (!status) {
        found->loads += differ(in->loads, &want[0], in->bytes) + differ(in->stores, NULL, in->bytes);
        found->stores += differ(out->stores, &want[1], out->bytes) + differ(out->loads, NULL, out->bytes);
    }
    found->passes = self->decomposition.count > found->passes ? self->decomposition.count : found->passes;
    free(want[0].times);
    free(want[1].times);
    return status;
}

static const struct penstock_backend backend = {.abi = PENSTOCK_BACKEND_ABI,
                                                .name = "model",
                                                .buffer_bytes = sizeof(struct buffer),
                                                .slot_bytes = sizeof(struct slot),
                                                .plan_bytes = sizeof(struct plan),
                                                .buffer_alloc = buffer_alloc,
                                                .buffer_free = buffer_free,
                                                .plan_init = plan_init,
                                                .plan_free = plan_free,
                                                .enqueue = enqueue,
                                                .mark = mark,
                                                .wait = wait_for};

/* ---------------------------------------------------------------- a run ----------------------- */

/* Starts of frames that lie apart, the last one first. */
static void fill_gather(struct penstock_gather *gather, const struct penstock_fft_problem *fft, size_t frames)
{
    for (size_t i = 0; i < frames; i++)
        gather[i] = (struct penstock_gather){.start = (uint32_t)((frames - 1 - i) * fft->spacing + fft->skip),
                                             .phase = (uint32_t)i << 28,
                                             .step = 12345678};
}

static int run_plan(struct penstock_plan_state *state, const struct trace_run *run, struct penstock_slot *slot)
{
    const struct penstock_fft_problem *fft = &state->problem->fft;
    size_t samples = penstock__fft_samples(fft, run->frames);
    size_t in_bytes = samples * penstock_format_bytes(fft->format);
    size_t out_bytes = run->frames / fft->average * penstock__fft_out_count(fft) * penstock__fft_out_item(fft);
    struct penstock_gather *starts = calloc(run->frames, sizeof *starts);
    void *content = calloc(1, in_bytes);
    int status = PENSTOCK_ERR_MEMORY;
    if (starts && content) {
        fill_gather(starts, fft, run->frames);
        struct buffer memory[3] = {{gpu_trace_memory_new(in_bytes, content)},
                                   {gpu_trace_memory_new(run->frames * sizeof *starts, starts)},
                                   {gpu_trace_memory_new(out_bytes, NULL)}};
        struct penstock_buffer buffers[3] = {{.priv = &memory[0]}, {.priv = &memory[1]}, {.priv = &memory[2]}};
        const struct penstock_job job = {.in = &buffers[0],
                                         .gather = fft->gathered ? &buffers[1] : NULL,
                                         .out = &buffers[2],
                                         .frames = run->frames,
                                         .samples = samples};
        if (memory[0].memory && memory[1].memory && memory[2].memory) {
            memory[0].memory->constant = memory[1].memory->constant = true;
            status = enqueue(slot, state, &job);
        }
        for (unsigned i = 0; i < 3; i++)
            gpu_trace_memory_free(memory[i].memory);
    }
    free(starts);
    free(content);
    return status;
}

int trace_fft(struct trace_findings *findings, const struct penstock_problem *problem, const struct trace_run *run)
{
    struct penstock_device device = {.backend = &backend, .context = run->context, .name = "model:0"};
    struct plan plan = {.plane = {0}};
    struct slot memory = {.planes = {.buffer = {{NULL}}}};
    struct penstock_slot slot = {.device = &device, .priv = &memory};
    struct penstock_plan_state state = {.device = &device, .problem = problem, .priv = &plan};
    int status;
    *findings = (struct trace_findings){.ways = 1};
    now = run;
    found = findings;
    if ((status = penstock__gpu_supports(&problem->fft, &run->limits)) || (status = plan_init(&state, run->variant)))
        return status;
    status = run_plan(&state, run, &slot);
    penstock__gpu_plane_memory_free(&memory.planes);
    plan_free(&state);
    return status;
}
