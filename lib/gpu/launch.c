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

void penstock__gpu_describe_method(struct penstock_plan_state *plan, const struct gpu_scheme *scheme)
{
    if (scheme->method == GPU_BLUESTEIN || scheme->method == GPU_RADER)
        penstock__gpu_describe(plan, "%s %u, ", scheme->method == GPU_RADER ? "Rader" : "Bluestein", scheme->total);
    else if (scheme->method == GPU_TRANSPOSE)
        penstock__gpu_describe(plan, "transposition");
}

/* ---------------------------------------------------------------- plans ----------------------- */

static int make_node(struct penstock_plan_state *plan, const struct gpu_scheme *scheme, unsigned index,
                     const struct gpu_maker *maker, size_t *group_limit)
{
    struct gpu_table table;
    int status = penstock__gpu_table_kept(&table, plan->device->context, scheme, index, &plan->problem->fft);
    if (status)
        return status;
    status = maker->make(plan, scheme, index, &table, group_limit);
    penstock__gpu_table_free(&table);
    return status;
}

/* *tight: a kernel that cannot have its group, which is *group_limit then. */
static int make_once(struct penstock_plan_state *plan, struct gpu_scheme *scheme, const struct gpu_maker *maker,
                     const struct gpu_limits *limits, unsigned variant, unsigned *tight, size_t *group_limit)
{
    int status = penstock__gpu_scheme(scheme, &plan->problem->fft, limits, variant);
    if (status)
        return status;
    *tight = 0;
    if (maker->compile && (status = maker->compile(plan, scheme))) {
        maker->release(plan);
        return status;
    }
    for (; *tight < scheme->count && !status; ++*tight) {
        status = make_node(plan, scheme, *tight, maker, group_limit);
        if (!status && *group_limit < penstock__gpu_group_size(&scheme->node[*tight].config))
            break;
    }
    if (status || *tight < scheme->count)
        maker->release(plan);
    return status;
}

static void describe(struct penstock_plan_state *plan, const struct gpu_scheme *scheme)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    const struct gpu_launch_config *config = &scheme->node[0].config;
    size_t frames = (config->cpu ? CPU_SAMPLES : GPU_SAMPLES) / fft->n;
    penstock__gpu_describe_method(plan, scheme);
    if (scheme->method != GPU_TRANSPOSE)
        penstock__gpu_describe(plan, scheme->paired      ? "half radix"
                                     : scheme->texel     ? "images radix"
                                     : scheme->count > 1 ? "nodes"
                                                         : "radix");
    for (unsigned i = 0; i < (scheme->count > 1 ? scheme->count : config->chain); i++)
        penstock__gpu_describe(plan, "%s%u", i ? "x" : " ",
                               scheme->count > 1 ? scheme->node[i].config.n : config->radix[i]);
    penstock__gpu_describe(plan, ", %u a group", config->per_group);
    plan->kernels = plan->passes = scheme->count;
    plan->best_batch = frames < fft->average ? fft->average : frames / fft->average * fft->average;
}

int penstock__gpu_make(struct penstock_plan_state *plan, struct gpu_scheme *scheme, const struct gpu_maker *maker,
                       const struct gpu_limits *limits, unsigned variant)
{
    struct gpu_limits within = *limits;
    size_t group_limit = 0;
    unsigned tight;
    int status = make_once(plan, scheme, maker, &within, variant, &tight, &group_limit);
    if (!status && tight < scheme->count) {
        within.max_group = (unsigned)group_limit;
        status = make_once(plan, scheme, maker, &within, variant, &tight, &group_limit);
        if (!status && tight < scheme->count)
            status =
                penstock__error(PENSTOCK_ERR_DEVICE, "%s: the kernel runs with %zu work-items, it needs %u",
                                plan->device->name, group_limit, penstock__gpu_group_size(&scheme->node[tight].config));
    }
    if (!status)
        describe(plan, scheme);
    return status;
}

/* ---------------------------------------------------------------- launches -------------------- */

/* Frames that go through the nodes together. */
static size_t chunk_of(const struct penstock_plan_state *plan, const struct gpu_scheme *scheme,
                       const struct penstock_job *job)
{
    size_t average = plan->problem->fft.average;
    size_t usual = scheme->node[0].config.cpu ? CPU_SCRATCH : GPU_SCRATCH;
    size_t frames = (scheme->chunk ? scheme->chunk : usual) / scheme->total / average * average;
    frames = frames ? frames : average;
    return scheme->count == 1 || frames > job->frames ? job->frames : frames;
}

bool penstock__gpu_step(struct gpu_step *step, const struct penstock_plan_state *plan, const struct gpu_scheme *scheme,
                        const struct penstock_job *job, size_t i)
{
    size_t average = plan->problem->fft.average, chunk = chunk_of(plan, scheme, job);
    size_t start = chunk * (i / scheme->count), frames, rows;
    const struct gpu_node *node = &scheme->node[i % scheme->count];
    const struct gpu_launch_config *config = &node->config;
    if (start >= job->frames)
        return false;
    frames = job->frames - start < chunk ? job->frames - start : chunk;
    step->node = (unsigned)(i % scheme->count);
    step->from = node->first ? GPU_IN : step->node % 2 ? GPU_SCRATCH_A : GPU_SCRATCH_B;
    step->to = node->last ? GPU_OUT : step->node % 2 ? GPU_SCRATCH_B : GPU_SCRATCH_A;
    step->rows = node->last ? frames / average : frames;
    step->first = node->last ? start / average : start;
    rows = scheme->paired ? (step->rows + 1) / 2 : step->rows;
    step->groups = scheme->tiles     ? step->rows * scheme->tiles
                   : config->columns ? rows * ((penstock__gpu_columns(scheme, node) - 1) / config->per_group + 1)
                                     : (rows + config->per_group - 1) / config->per_group;
    return true;
}

int penstock__gpu_scratch(unsigned *count, size_t *bytes, const struct penstock_plan_state *plan,
                          const struct gpu_scheme *scheme, const struct penstock_job *job)
{
    const struct gpu_launch_config *config = &scheme->node[0].config;
    size_t lanes = scheme->count > 1 ? 1 : config->lanes, beyond = ((size_t)config->ahead + 1) * config->per_group;
    *count = scheme->count > 2 ? 2 : scheme->count - 1;
    *bytes = chunk_of(plan, scheme, job) * scheme->total * sizeof(penstock_cf32);
    if (job->frames + beyond > (size_t)INT32_MAX / lanes) /* the last row's number and what it adds are k_index */
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu frames are too many for one batch", plan->device->name,
                               job->frames);
    return PENSTOCK_OK;
}
