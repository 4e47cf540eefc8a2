/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Making, describing and launching plans, as far as it is the same for all GPU backends. */
#include "gpu/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Samples of a batch from which on the cost of a launch does not count. */
#define GPU_SAMPLES ((size_t)1 << 20)
#define CPU_SAMPLES ((size_t)1 << 17)

/* Points that go through scratch memory at once. */
#define GPU_SCRATCH ((size_t)1 << 25)
#define CPU_SCRATCH ((size_t)1 << 20)

/* ---------------------------------------------------------------- description ----------------- */

void penstock__gpu_describe(struct penstock_plan_state *plan, const char *format, ...)
{
    size_t used = strlen(plan->variant);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plan->variant + used, sizeof plan->variant - used, format, arguments);
    va_end(arguments);
}

void penstock__gpu_describe_method(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition)
{
    if (decomposition->method == GPU_BLUESTEIN || decomposition->method == GPU_RADER)
        penstock__gpu_describe(plan, "%s %u, ", decomposition->method == GPU_RADER ? "Rader" : "Bluestein",
                               decomposition->total);
    else if (decomposition->method == GPU_TRANSPOSE)
        penstock__gpu_describe(plan, "transposition");
}

/* ---------------------------------------------------------------- plans ----------------------- */

static int make_pass(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition, unsigned index,
                     const struct gpu_maker *maker, size_t *group_limit)
{
    struct gpu_table table;
    int status = penstock__gpu_table_kept(&table, plan->device->context, decomposition, index, &plan->problem->fft);
    if (status)
        return status;
    status = maker->make(plan, decomposition, index, &table, group_limit);
    penstock__gpu_table_free(&table);
    return status;
}

/* *tight: a kernel that cannot have its group, which is *group_limit then. */
static int make_once(struct penstock_plan_state *plan, struct gpu_decomposition *decomposition,
                     const struct gpu_maker *maker, const struct gpu_limits *limits, unsigned variant, unsigned *tight,
                     size_t *group_limit)
{
    int status = penstock__gpu_decomposition(decomposition, &plan->problem->fft, limits, variant);
    if (status)
        return status;
    *tight = 0;
    if (maker->compile && (status = maker->compile(plan, decomposition))) {
        maker->release(plan);
        return status;
    }
    for (; *tight < decomposition->count && !status; ++*tight) {
        status = make_pass(plan, decomposition, *tight, maker, group_limit);
        if (!status && *group_limit < penstock__gpu_group_size(&decomposition->pass[*tight].config))
            break;
    }
    if (status || *tight < decomposition->count)
        maker->release(plan);
    return status;
}

static void describe(struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    const struct gpu_launch_config *config = &decomposition->pass[0].config;
    size_t frames = (config->cpu ? CPU_SAMPLES : GPU_SAMPLES) / fft->n;
    penstock__gpu_describe_method(plan, decomposition);
    if (decomposition->method != GPU_TRANSPOSE)
        penstock__gpu_describe(plan, decomposition->paired      ? "half radix"
                                     : decomposition->texel     ? "images radix"
                                     : decomposition->count > 1 ? "passes"
                                                                : "radix");
    for (unsigned i = 0; i < (decomposition->count > 1 ? decomposition->count : config->chain); i++)
        penstock__gpu_describe(plan, "%s%u", i ? "x" : " ",
                               decomposition->count > 1 ? decomposition->pass[i].config.n : config->radix[i]);
    penstock__gpu_describe(plan, ", %u a group", config->per_group);
    plan->kernels = plan->passes = decomposition->count;
    plan->best_batch = frames < fft->average ? fft->average : frames / fft->average * fft->average;
}

int penstock__gpu_make(struct penstock_plan_state *plan, struct gpu_decomposition *decomposition,
                       const struct gpu_maker *maker, const struct gpu_limits *limits, unsigned variant)
{
    struct gpu_limits within = *limits;
    size_t group_limit = 0;
    unsigned tight;
    int status = make_once(plan, decomposition, maker, &within, variant, &tight, &group_limit);
    if (!status && tight < decomposition->count) {
        within.max_group = (unsigned)group_limit;
        status = make_once(plan, decomposition, maker, &within, variant, &tight, &group_limit);
        if (!status && tight < decomposition->count)
            status = penstock__error(PENSTOCK_ERR_DEVICE, "%s: the kernel runs with %zu work-items, it needs %u",
                                     plan->device->name, group_limit,
                                     penstock__gpu_group_size(&decomposition->pass[tight].config));
    }
    if (!status)
        describe(plan, decomposition);
    return status;
}

/* ---------------------------------------------------------------- launches -------------------- */

/* Frames that go through the passes together. */
static size_t chunk_of(const struct penstock_plan_state *plan, const struct gpu_decomposition *decomposition,
                       const struct penstock_job *job)
{
    size_t average = plan->problem->fft.average;
    size_t usual = decomposition->pass[0].config.cpu ? CPU_SCRATCH : GPU_SCRATCH;
    size_t frames = (decomposition->chunk ? decomposition->chunk : usual) / decomposition->total / average * average;
    frames = frames ? frames : average;
    return decomposition->count == 1 || frames > job->frames ? job->frames : frames;
}

bool penstock__gpu_step(struct gpu_step *step, const struct penstock_plan_state *plan,
                        const struct gpu_decomposition *decomposition, const struct penstock_job *job, size_t i)
{
    size_t average = plan->problem->fft.average, chunk = chunk_of(plan, decomposition, job);
    size_t start = chunk * (i / decomposition->count), frames, rows;
    const struct gpu_pass *pass = &decomposition->pass[i % decomposition->count];
    const struct gpu_launch_config *config = &pass->config;
    if (start >= job->frames)
        return false;
    frames = job->frames - start < chunk ? job->frames - start : chunk;
    step->pass = (unsigned)(i % decomposition->count);
    step->from = pass->first ? GPU_IN : step->pass % 2 ? GPU_SCRATCH_A : GPU_SCRATCH_B;
    step->to = pass->last ? GPU_OUT : step->pass % 2 ? GPU_SCRATCH_B : GPU_SCRATCH_A;
    step->rows = pass->last ? frames / average : frames;
    step->first = pass->last ? start / average : start;
    rows = decomposition->paired ? (step->rows + 1) / 2 : step->rows;
    step->groups = decomposition->tiles ? step->rows * decomposition->tiles
                   : config->columns ? rows * ((penstock__gpu_columns(decomposition, pass) - 1) / config->per_group + 1)
                                     : (rows + config->per_group - 1) / config->per_group;
    return true;
}

int penstock__gpu_scratch(unsigned *count, size_t *bytes, const struct penstock_plan_state *plan,
                          const struct gpu_decomposition *decomposition, const struct penstock_job *job)
{
    const struct gpu_launch_config *config = &decomposition->pass[0].config;
    size_t lanes = decomposition->count > 1 ? 1 : config->lanes,
           beyond = ((size_t)config->ahead + 1) * config->per_group;
    *count = decomposition->count > 2 ? 2 : decomposition->count - 1;
    *bytes = chunk_of(plan, decomposition, job) * decomposition->total * sizeof(penstock_cf32);
    if (job->frames + beyond > (size_t)INT32_MAX / lanes) /* the last row's number and what it adds are k_index */
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu frames are too many for one batch", plan->device->name,
                               job->frames);
    return PENSTOCK_OK;
}
