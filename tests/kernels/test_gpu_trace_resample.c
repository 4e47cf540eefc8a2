/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The resampler's kernel, run on the host from its whole text: outputs are what double precision makes of the
 * contract's words, each byte of them is stored once, nothing beside is touched, and samples that are in local memory
 * were loaded once for each block. Positions are followed where 64 bits are nearly used up.
 */
#include "core/base/context.h"
#include "folder.h"
#include "gpu/fused_kernel.h"
#include "gpu_trace.h"

enum { BLOCK = 64, OUTPUTS = 2 * BLOCK + 3, EDGE = 5, MOST_TAPS = 144 };

static penstock_context *context;
static unsigned cases;

static const struct step {
    uint32_t taps, arms, whole;
    uint64_t unit, part;
} steps[] = {{8, 24, 1, 24, 1},
             {MOST_TAPS, 5, 0, PENSTOCK__RESAMPLE_UNITS - 1, PENSTOCK__RESAMPLE_UNITS - 3},
             {16, 7, 9, PENSTOCK__RESAMPLE_UNITS, PENSTOCK__RESAMPLE_UNITS / 11},
             {40, 3, 140, PENSTOCK__RESAMPLE_UNITS, PENSTOCK__RESAMPLE_UNITS / 5}, /* too far for local memory */
             {24, 65536, 2, PENSTOCK__RESAMPLE_UNITS / 3, PENSTOCK__RESAMPLE_UNITS / 3 - 1}};

/* A problem with what a job of it is given. */
struct job {
    struct penstock_problem problem;
    struct penstock_resample_head *head;
    size_t head_bytes, samples;
    struct penstock_resample_start starts[OUTPUTS / BLOCK + 1];
    uint64_t places[OUTPUTS], parts[OUTPUTS];
    float *in; /* of one float or two */
};

/* ---------------------------------------------------------------- what is right --------------- */

/* Step by step. */
static void walk(struct job *job, const struct step *step)
{
    uint64_t at = 0, part = step->unit - 1;
    for (size_t k = 0; k < OUTPUTS; k++) {
        job->places[k] = at;
        job->parts[k] = part;
        if (k % BLOCK == 0)
            job->starts[k / BLOCK] = (struct penstock_resample_start){.at = (uint32_t)at, .part = part};
        at += step->whole;
        part += step->part;
        if (part >= step->unit) {
            part -= step->unit;
            at++;
        }
    }
    job->samples = at + step->taps + 1;
}

static double sample(const struct job *job, size_t i, size_t imaginary)
{
    const size_t each = job->problem.resample.format == PENSTOCK_F32 ? 1 : 2;
    return i < EDGE || i >= job->samples - EDGE || imaginary >= each ? 0 : (double)job->in[each * i + imaginary];
}

static void output(const struct job *job, double value[2], size_t k)
{
    const struct penstock_resample_head *head = job->head;
    const size_t floats = job->problem.resample.complex_taps ? 4 : 2;
    const double place = (double)job->parts[k] * head->arms / (double)head->unit;
    size_t arm = (size_t)place;
    arm = arm < head->arms ? arm : head->arms - 1;
    value[0] = value[1] = 0;
    for (size_t tap = 0; tap < head->taps; tap++) {
        const float *h = (const float *)(const void *)(head + 1) + floats * (tap * head->arms + arm);
        const double x = sample(job, job->places[k] + tap, 0), y = sample(job, job->places[k] + tap, 1);
        const double re = h[0] + (place - (double)arm) * h[1];
        const double im = floats == 2 ? 0 : h[2] + (place - (double)arm) * h[3];
        value[0] += x * re - y * im;
        value[1] += x * im + y * re;
    }
}

static double error_of(const struct job *job, const float *got)
{
    const size_t each = job->problem.resample.real ? 1 : 2;
    double error = 0, norm = 0;
    for (size_t k = 0; k < OUTPUTS; k++) {
        double want[2];
        output(job, want, k);
        for (size_t part = 0; part < each; part++) {
            error += pow(got[each * k + part] - want[part], 2);
            norm += pow(want[part], 2);
        }
    }
    return sqrt(error / norm);
}

/* ---------------------------------------------------------------- runs ------------------------ */

static void make_job(struct job *job, const struct step *step)
{
    const size_t each = job->problem.resample.format == PENSTOCK_F32 ? 1 : 2;
    uint64_t seed = 6;
    walk(job, step);
    job->head_bytes = penstock__resample_bytes(&job->problem.resample, step->taps, step->arms);
    job->head = calloc(1, job->head_bytes);
    job->in = calloc(job->samples * each, sizeof *job->in);
    *job->head = (struct penstock_resample_head){.taps = step->taps,
                                                 .arms = step->arms,
                                                 .whole = step->whole,
                                                 .unit = step->unit,
                                                 .part = step->part,
                                                 .span = (step->whole + 1) * BLOCK + step->taps};
    penstock__resample_scale(job->head);
    float *table = (float *)(void *)(job->head + 1);
    for (size_t i = 0; i < (job->head_bytes - sizeof *job->head) / sizeof *table; i++)
        table[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < job->samples * each; i++)
        job->in[i] = (float)test_uniform(&seed);
}

/* Samples that lie in local memory are loaded by each block once, none of those beside them is. */
static size_t wrong_loads(const struct job *job, const struct gpu_trace_memory *in, bool tiled)
{
    const size_t bytes = penstock_format_bytes(job->problem.resample.format);
    size_t wrong = 0;
    for (size_t i = 0; i < in->bytes; i++) {
        const size_t at = i / bytes;
        unsigned want = 0;
        for (size_t b = 0; b <= OUTPUTS / BLOCK; b++)
            want += at >= job->starts[b].at && at < job->starts[b].at + job->head->span;
        if (at < EDGE || at >= job->samples - EDGE)
            want = 0;
        wrong += tiled || !want ? in->loads[i] != want : 0;
    }
    return wrong;
}

static void check_run(const struct job *job, struct gpu_trace *trace, bool tiled, const char *label)
{
    const struct gpu_trace_memory *out = trace->memory[4];
    size_t stores = 0;
    if (!gpu_trace_run(trace)) {
        CHECK(false, "%s: did not run", label);
        return;
    }
    for (size_t i = 0; i < out->bytes; i++)
        stores += out->stores[i] != 1 || out->loads[i];
    CHECK(!trace->misaligned && !trace->unwritten && !trace->left && !trace->races && !trace->splits,
          "%s: %zu accesses misaligned, %zu bytes read unwritten, %zu races, %zu barriers not met by all", label,
          trace->misaligned, trace->unwritten + trace->left, trace->races, trace->splits);
    CHECK(!stores && !trace->overruns && !wrong_loads(job, trace->memory[0], tiled),
          "%s: %zu bytes not stored once, %zu overruns, or other loads", label, stores, trace->overruns);
    const double error = error_of(job, (const float *)(const void *)out->first);
    CHECK(error < 5e-7, "%s: relative error %.2g", label, error);
    cases++;
}

static void run(struct penstock_resample_problem resample, const struct step *step, unsigned variant)
{
    static const struct gpu_limits limits = {.local_bytes = 32 << 10, .max_group = 128};
    struct job job = {.problem = {.kind = PENSTOCK_PROBLEM_RESAMPLE, .resample = resample}};
    struct fused_kernel kernel;
    struct gpu_text text = {0};
    float unused = 0;
    char label[100];
    snprintf(label, sizeof label, "format %d, real %d, complex taps %d, unit %" PRIu64 ", variant %u",
             (int)resample.format, resample.real, resample.complex_taps, step->unit, variant);
    make_job(&job, step);
    CHECK_OK(penstock__fused_check(&job.problem, "gpu"));
    CHECK_OK(penstock__fused_kernel_config(&kernel, &job.problem, &limits, variant, true));
    CHECK_OK(penstock__fused_source(&text, context, &kernel, &job.problem));
    struct gpu_trace trace = {.text = text.content,
                              .name = penstock__fused_name(&kernel, 0),
                              .folder = test_folder,
                              .cxx = variant && gpu_trace_has_cxx(), /* as NVRTC takes it */
                              .group = {kernel.group[0], kernel.group[1]},
                              .groups = OUTPUTS / BLOCK + 1,
                              .rows = OUTPUTS,
                              .local_bytes = kernel.local_bytes,
                              .start = EDGE,
                              .spacing = (uint32_t)(job.samples - EDGE)};
    trace.memory[0] = gpu_trace_memory_new(job.samples * penstock_format_bytes(resample.format), job.in);
    trace.memory[1] = gpu_trace_memory_new(sizeof job.starts, job.starts);
    trace.memory[2] = gpu_trace_memory_new(job.head_bytes, job.head);
    trace.memory[3] = gpu_trace_memory_new(sizeof unused, &unused);
    trace.memory[4] = gpu_trace_memory_new(OUTPUTS * (resample.real ? 4 : 8), NULL);
    for (unsigned i = 0; i < 4; i++)
        trace.memory[i]->constant = true;
    check_run(&job, &trace, job.head->span <= kernel.tile, label);
    for (unsigned i = 0; i < GPU_TRACE_MEMORIES; i++)
        gpu_trace_memory_free(trace.memory[i]);
    penstock__text_free(&text);
    free(job.head);
    free(job.in);
}

int main(void)
{
    static const struct penstock_resample_problem problems[] = {
        {PENSTOCK_CF32, false, false, BLOCK},
        {PENSTOCK_CF32, false, true, BLOCK},
        {PENSTOCK_F32, true, false, BLOCK},
        {PENSTOCK_F32, false, true, BLOCK},
    };
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK(test_make_folder(), "cannot make a folder");
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            for (unsigned variant = 0; variant < 2; variant++)
                run(problems[p], &steps[s], variant);
    CHECK(cases == 40, "%u cases", cases);
    test_remove_folder();
    penstock_context_free(context);
    return test_finish();
}
