/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Planes as sequences of plans. */
#include "gpu/plane.h"
#include "gpu/fused_kernel.h"

#include <stdio.h>
#include <string.h>

static bool side_by_side(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    struct gpu_decomposition decomposition;
    struct penstock_fft_problem columns = *fft;
    if (fft->rows > 1)
        columns.columns = fft->n / fft->rows;
    columns.rows = 1;
    return fft->options.column_way != PENSTOCK_COLUMNS_TRANSPOSED &&
           !penstock__gpu_decomposition(&decomposition, &columns, limits, 0);
}

bool penstock__gpu_is_plane(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    if (fft->transposed || fft->summed)
        return false;
    return fft->hop || fft->rows > 1 || (fft->columns > 1 && !side_by_side(fft, limits));
}

/* ---------------------------------------------------------------- parts ----------------------- */

static struct penstock_fft_problem *add(struct gpu_plane_part *parts, unsigned *count, size_t n, size_t per_frame)
{
    struct gpu_plane_part *part = &parts[(*count)++];
    *part = (struct gpu_plane_part){.per_frame = per_frame};
    part->problem.fft = (struct penstock_fft_problem){.n = n, .spacing = n, .scale = 1, .average = 1};
    return &part->problem.fft;
}

/* The caller's samples as a first part takes them. */
static void load_as(struct penstock_fft_problem *part, const struct penstock_fft_problem *fft)
{
    part->format = fft->format;
    part->window = fft->window;
    part->spacing = fft->spacing;
    part->skip = fft->skip;
    part->gathered = fft->gathered;
}

static void store_as(struct penstock_fft_problem *part, const struct penstock_fft_problem *fft)
{
    part->output = fft->output;
    part->half = fft->half;
    part->scale = fft->scale;
}

static void transform_as(struct penstock_fft_problem *part, const struct penstock_fft_problem *fft)
{
    part->direction = fft->direction;
    part->centered = fft->centered;
    part->options = fft->options;
    part->options.column_way = PENSTOCK_COLUMNS_ANY;
}

static void set_sizes(struct gpu_plane_part *parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct penstock_problem *problem = &parts[i].problem;
        problem->in_bytes = problem->fft.spacing * penstock_format_bytes(problem->fft.format);
        problem->out_bytes = penstock__fft_out_count(&problem->fft) * penstock__fft_out_item(&problem->fft);
        problem->batch = 1;
    }
}

/* Rows, and their sums. */
static unsigned make_overlapped(struct gpu_plane_part *parts, const struct penstock_fft_problem *fft)
{
    struct penstock_fft_problem *part;
    unsigned count = 0;
    part = add(parts, &count, fft->n, 1);
    part->format = fft->format;
    part->scale = fft->scale;
    transform_as(part, fft);
    parts[0].more = fft->fold - 1;
    part = add(parts, &count, fft->n, 1);
    *part = *fft;
    part->format = PENSTOCK_CF32;
    part->scale = 1;
    part->summed = true;
    set_sizes(parts, count);
    return count;
}

/* Returns how many there are. */
static unsigned make_parts(struct gpu_plane_part *parts, const struct penstock_fft_problem *fft,
                           const struct gpu_limits *limits)
{
    if (fft->hop)
        return make_overlapped(parts, fft);
    size_t width = fft->rows > 1 ? fft->n / fft->rows : fft->columns, height = fft->n / width;
    struct penstock_fft_problem *part;
    unsigned count = 0;
    if (side_by_side(fft, limits)) {
        part = add(parts, &count, fft->n, 1);
        part->columns = width;
        load_as(part, fft);
        transform_as(part, fft);
    } else {
        part = add(parts, &count, fft->n, 1);
        part->columns = width;
        part->transposed = true;
        load_as(part, fft);
        part = add(parts, &count, height, width);
        transform_as(part, fft);
        part = add(parts, &count, fft->n, 1);
        part->columns = height;
        part->transposed = true;
    }
    if (fft->rows > 1) {
        part = add(parts, &count, width, height);
        transform_as(part, fft);
    }
    store_as(part, fft);
    for (unsigned i = 0; i < count && fft->options.arithmetic == PENSTOCK_ARITHMETIC_HALF; i++) {
        parts[i].problem.fft.format = i ? PENSTOCK_CF16 : fft->format;
        parts[i].problem.fft.half = i + 1 < count || fft->half;
    }
    set_sizes(parts, count);
    return count;
}

static int parts_check(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    if (fft->hop || side_by_side(fft, limits))
        return PENSTOCK_OK;
    if (fft->average > 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "columns that are transposed are not averaged");
    if (fft->options.column_way == PENSTOCK_COLUMNS_STRIDED)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "columns of %zu points are not transformed side by side",
                               fft->rows > 1 ? fft->rows : fft->n / fft->columns);
    return PENSTOCK_OK;
}

int penstock__gpu_supports(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    struct gpu_plane_part parts[GPU_MAX_PLANE_PARTS];
    struct gpu_decomposition decomposition;
    unsigned count;
    int status = PENSTOCK_OK;
    if (!penstock__gpu_is_plane(fft, limits))
        return penstock__gpu_decomposition(&decomposition, fft, limits, 0);
    if ((status = parts_check(fft, limits)))
        return status;
    count = make_parts(parts, fft, limits);
    for (unsigned i = 0; i < count && !status; i++)
        status = parts[i].problem.fft.summed
                     ? penstock__fused_check(&parts[i].problem, "the device")
                     : penstock__gpu_decomposition(&decomposition, &parts[i].problem.fft, limits, 0);
    return status;
}

/* ---------------------------------------------------------------- life ------------------------ */

static void describe(struct gpu_plane *plane, struct penstock_plan_state *plan)
{
    size_t used = 0, frames = ((size_t)1 << 20) / plan->problem->fft.n;
    for (unsigned i = 0; i < plane->count; i++) {
        const struct penstock_plan_state *state = &plane->parts[i].state;
        plan->kernels += state->kernels;
        plan->passes += state->passes;
        if (used < sizeof plan->variant)
            used += (size_t)snprintf(plan->variant + used, sizeof plan->variant - used, "%s%.*s", i ? "; " : "",
                                     (int)strcspn(state->variant, ","), state->variant);
    }
    plan->best_batch = frames ? frames : 1;
}

static int plan_part(struct gpu_plane_part *part, struct penstock_device *device, unsigned variant)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    part->state = (struct penstock_plan_state){.device = device, .problem = &part->problem};
    if (!(part->state.priv = penstock__calloc(1, backend->plan_bytes)))
        return PENSTOCK_ERR_MEMORY;
    status = backend->plan_init(&part->state, part->problem.fft.transposed || part->problem.fft.summed ? 0 : variant);
    part->planned = !status;
    return status;
}

int penstock__gpu_plane_init(struct gpu_plane *plane, struct penstock_plan_state *plan, const struct gpu_limits *limits,
                             unsigned variant)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    int status = parts_check(fft, limits);
    *plane = (struct gpu_plane){0};
    if (!status && variant >= GPU_VARIANTS)
        status = penstock__error(PENSTOCK_ERR_UNSUPPORTED, "there is no variant %u", variant);
    if (status)
        return status;
    if (!(plane->parts = penstock__calloc(GPU_MAX_PLANE_PARTS, sizeof *plane->parts)))
        return PENSTOCK_ERR_MEMORY;
    plane->count = make_parts(plane->parts, fft, limits);
    for (unsigned i = 0; i < plane->count && !status; i++)
        status = plan_part(&plane->parts[i], plan->device, variant);
    if (status)
        penstock__gpu_plane_free(plane);
    else
        describe(plane, plan);
    return status;
}

void penstock__gpu_plane_free(struct gpu_plane *plane)
{
    for (unsigned i = 0; i < plane->count; i++) {
        struct penstock_plan_state *state = &plane->parts[i].state;
        if (plane->parts[i].planned)
            state->device->backend->plan_free(state);
        penstock__free(state->priv);
    }
    penstock__free(plane->parts);
    *plane = (struct gpu_plane){0};
}

/* ---------------------------------------------------------------- memory ---------------------- */

void penstock__gpu_plane_memory_free(struct gpu_plane_memory *memory)
{
    penstock__device_buffer_free(&memory->buffer[0]);
    penstock__device_buffer_free(&memory->buffer[1]);
}

/* What a smaller buffer is in use for is waited for before it goes. */
static int reserve(struct penstock_buffer *buffer, struct penstock_slot *slot, size_t bytes)
{
    const struct penstock_backend *backend = slot->device->backend;
    uint64_t mark;
    int status;
    if (buffer->device && buffer->bytes >= bytes)
        return PENSTOCK_OK;
    if (buffer->device && ((status = backend->mark(slot, &mark)) || (status = backend->wait(slot, mark))))
        return status;
    penstock__device_buffer_free(buffer);
    return penstock__device_buffer_make(buffer, slot->device, NULL, bytes);
}

int penstock__gpu_plane_enqueue(struct penstock_slot *slot, struct gpu_plane *plane, struct gpu_plane_memory *memory,
                                const struct penstock_job *job)
{
    size_t values = (job->frames + plane->parts[0].more) * plane->parts[0].problem.fft.n;
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < plane->count && !status && job->frames; i++) {
        struct gpu_plane_part *part = &plane->parts[i];
        struct penstock_job step = {
            .frames = job->frames * part->per_frame + part->more, .samples = values, .spacing = job->spacing};
        if (i == 0) {
            step.gather = job->gather;
            step.samples = job->samples;
        }
        step.in = i == 0 ? job->in : &memory->buffer[(i - 1) % 2];
        step.out = i == plane->count - 1 ? job->out : &memory->buffer[i % 2];
        if (i < plane->count - 1)
            status = reserve(step.out, slot, values * sizeof(penstock_cf32));
        if (!status)
            status = slot->device->backend->enqueue(slot, &part->state, &step);
    }
    return status;
}
