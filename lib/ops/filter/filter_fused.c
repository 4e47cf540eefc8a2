/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of a filter in one kernel of the device. */
#include "ops/filter/filter_fused.h"
#include "core/device/buffer.h"
#include "core/device/device_group.h"
#include "ops/filter/filter_run.h"

#include <string.h>

/* Chunks of a batch that are on their way at once to a device, and bytes from which on a chunk is worth its fixed cost.
 */
#define SLOTS       4
#define CHUNK_BYTES ((size_t)2 << 20)

/* Sets of taps, which are made anew with the taps. */
#define MOST_SETS 16

/* ---------------------------------------------------------------- life ------------------------ */

bool penstock__filter_fused_possible(const struct penstock_device *device, const struct filter_shape *shape)
{
    return (device->backend->flags & PENSTOCK_BACKEND_FUSED) && !device->on_cpu && !shape->real_values &&
           shape->interpolation <= MOST_SETS && shape->format != PENSTOCK_PLANAR &&
           (shape->format != PENSTOCK_F32 || shape->real);
}

static int make_memory(struct filter_fused *fused, size_t channels)
{
    size_t bytes = penstock__filter_response(&fused->problem.filter) * sizeof(penstock_cf32);
    if (!(fused->responses = penstock__calloc(channels, sizeof *fused->responses)))
        return PENSTOCK_ERR_MEMORY;
    for (fused->channels = 0; fused->channels < channels; fused->channels++)
        if (!(fused->responses[fused->channels].values = penstock__alloc(bytes)))
            return PENSTOCK_ERR_MEMORY;
    fused->changed = penstock__alloc(fused->problem.out_bytes);
    return fused->changed ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__filter_fused_make(struct filter_engine *engine, struct penstock_device *device)
{
    struct filter_fused *fused = &engine->fused;
    const struct filter_shape *shape = &engine->shape;
    int status;
    *fused = (struct filter_fused){.tried = true};
    if (!penstock__filter_fused_possible(device, shape))
        return PENSTOCK_OK;
    fused->problem = (struct penstock_problem){
        .kind = PENSTOCK_PROBLEM_FILTER,
        .in_bytes = penstock_format_bytes(shape->format),
        .out_bytes = shape->values * shape->value_bytes,
        .batch = engine->rows ? engine->rows : 1, /* where kernels are compiled, none differs by it */
        .filter = {.n = shape->n,
                   .format = shape->format,
                   .block = shape->block,
                   .first = shape->first * shape->fold / shape->interpolation,
                   .partitions = shape->partitions,
                   .interpolation = shape->interpolation,
                   .decimation = shape->decimation,
                   .rotated = shape->rotated},
    };
    if ((status = make_memory(fused, engine->channels)) ||
        (shape->interpolation > 1 && (status = penstock__filter_sets_init(&fused->sets, shape))))
        return status;
    status = penstock__executor_new(&fused->executor, device, &fused->problem, SLOTS);
    penstock__failure_keep(&fused->failure, status);
    return status == PENSTOCK_ERR_MEMORY ? status : PENSTOCK_OK;
}

int penstock__filter_fused_init(struct filter_engine *engine, struct penstock_device *device)
{
    int status = engine->fused.tried ? PENSTOCK_OK : penstock__filter_fused_make(engine, device);
    if (status || !(status = penstock__failure_tell(&engine->fused.failure)))
        return status;
    penstock__log(device->context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s filters by transforms alone: %s", device->name, penstock_error_text());
    return PENSTOCK_OK;
}

void penstock__filter_fused_free(struct filter_fused *fused)
{
    for (unsigned i = 0; i < fused->there_count; i++)
        penstock_buffer_free(fused->there[i].response);
    penstock__free(fused->there);
    penstock__executor_free(fused->executor);
    for (size_t c = 0; c < fused->channels; c++)
        penstock__free(fused->responses[c].values);
    penstock__free(fused->responses);
    penstock__free(fused->changed);
    penstock__filter_sets_free(&fused->sets);
    *fused = (struct filter_fused){0};
}

/* ---------------------------------------------------------------- response -------------------- */

/* The phase of a block's first value. */
static uint64_t phase_of(const struct filter_engine *engine, const struct filter_taps *taps, uint64_t block)
{
    return penstock__filter_phase_at(&engine->shape, taps->shift, penstock__filter_position(&engine->shape, block));
}

static void fill_rotation(const struct filter_engine *engine, const struct filter_taps *taps, penstock_cf32 *to)
{
    const penstock_cf32 *table = taps->rotation ? taps->rotation->table : NULL;
    uint64_t step = phase_of(engine, taps, 1) - phase_of(engine, taps, 0);
    size_t values = engine->shape.values;
    for (size_t j = 0; j < values; j++)
        to[j] = table ? table[j] : (penstock_cf32){1, 0};
    memcpy(to + values, (uint32_t[2]){(uint32_t)(step >> 32), (uint32_t)step}, sizeof *to);
}

static void fill_part(const struct filter_engine *engine, penstock_cf32 *to, const penstock_cf32 *spectrum, float scale)
{
    const size_t n = engine->shape.n;
    for (size_t k = 0; k < n; k++) {
        const bool mirrored = k >= engine->bins;
        const penstock_cf32 value = spectrum[mirrored ? n - k : k];
        to[penstock__filter_place(n, k)] = (penstock_cf32){scale * value.re, scale * (mirrored ? -value.im : value.im)};
    }
}

static void fill_sets(struct filter_engine *engine, penstock_cf32 *to, const penstock_cf32 *spectrum, double scale)
{
    struct filter_sets *sets = &engine->fused.sets;
    const struct filter_shape *shape = &engine->shape;
    penstock__filter_sets_take(sets, shape, spectrum);
    for (size_t set = 0; set < shape->interpolation; set++, to += shape->n) {
        penstock__filter_sets_make(sets, shape, set);
        for (size_t k = 0; k < shape->n; k++)
            to[penstock__filter_place(shape->n, k)] =
                (penstock_cf32){(float)(scale * sets->set[2 * k]), (float)(scale * sets->set[2 * k + 1])};
    }
}

/* Integers are whole numbers to the kernel, and parts of full scale to the taps; of a real filter's spectra one half is
 * known. */
static void fill_response(struct filter_engine *engine, size_t channel, const struct filter_taps *taps)
{
    struct filter_fused *fused = &engine->fused;
    struct filter_response *response = &fused->responses[channel];
    const struct penstock_filter_problem *filter = &fused->problem.filter;
    penstock_format format = filter->format;
    float scale = format == PENSTOCK_CS16                             ? 1.0f / 32768.0f
                  : format == PENSTOCK_CF32 || format == PENSTOCK_F32 ? 1.0f
                                                                      : 1.0f / 128.0f;
    if (response->taps_id == taps->id)
        return;
    if (filter->interpolation > 1)
        fill_sets(engine, response->values, taps->spectrum, (double)scale);
    for (size_t part = 0; part < filter->partitions && filter->interpolation == 1; part++)
        fill_part(engine, response->values + part * filter->n, taps->spectrum + part * engine->bins, scale);
    if (filter->rotated)
        fill_rotation(engine, taps, response->values + penstock__filter_sets(filter) * filter->n);
    response->id = ++fused->fills;
    response->taps_id = taps->id;
}

bool penstock__filter_fused_holds(const struct filter_engine *engine, size_t channel, const struct filter_taps *taps)
{
    return engine->fused.responses[channel].taps_id == taps->id;
}

/* ---------------------------------------------------------------- run ------------------------- */

static void give_up(struct filter_fused *fused)
{
    struct penstock_device *device = fused->executor->state.device;
    penstock__log(device->context, PENSTOCK_LOG_WARNING, "%s goes on filtering by transforms alone, since: %s",
                  device->name, penstock_error_text());
    penstock__executor_free(fused->executor);
    fused->executor = NULL;
}

/* So that copies and kernels of different chunks overlap. */
static size_t chunk_of(const struct filter_fused *fused, size_t count)
{
    const struct penstock_filter_problem *filter = &fused->problem.filter;
    size_t row = filter->block * penstock_format_bytes(filter->format) + fused->problem.out_bytes;
    size_t slots = fused->executor->slot_count, equal = (count + slots - 1) / slots, least = CHUNK_BYTES / row + 1;
    if (penstock__executor_in_host_memory(fused->executor))
        return count;
    return equal > least ? equal : least;
}

unsigned penstock__filter_fused_slots(const struct penstock_device *device)
{
    unsigned slots = SLOTS * penstock__device_members(device);
    return slots < PENSTOCK__MAX_SLOTS ? slots : PENSTOCK__MAX_SLOTS;
}

int penstock__filter_fused_send(struct filter_engine *engine, size_t channel, const struct filter_taps *taps,
                                uint64_t first, const void *in, size_t count, void *out, unsigned slot)
{
    struct filter_fused *fused = &engine->fused;
    const struct penstock_filter_problem *filter = &fused->problem.filter;
    const struct filter_response *response = &fused->responses[channel];
    fill_response(engine, channel, taps);
    int status = penstock__executor_submit(
        fused->executor, slot,
        &(struct penstock__batch){.in = in,
                                  .response = response->values,
                                  .coefficients_id = response->id,
                                  .phase = filter->rotated ? phase_of(engine, taps, first) : 0,
                                  .out = out,
                                  .frames = count,
                                  .samples = penstock__filter_samples(filter, count),
                                  .event_times = engine->event_times});
    if (status)
        give_up(fused);
    return status;
}

int penstock__filter_fused_wait(struct filter_engine *engine, unsigned slot)
{
    int status = penstock__executor_wait(engine->fused.executor, slot);
    if (status)
        give_up(&engine->fused);
    return status;
}

int penstock__filter_fused_run(struct filter_engine *engine, size_t channel, const struct filter_taps *taps,
                               uint64_t first, const void *in, size_t count, void *out)
{
    struct filter_fused *fused = &engine->fused;
    const struct penstock_filter_problem *filter = &fused->problem.filter;
    size_t chunk = chunk_of(fused, count), row_bytes = filter->block * penstock_format_bytes(filter->format);
    unsigned slots = 0;
    int status = PENSTOCK_OK;
    for (size_t row = 0; row < count && !status; row += chunk) {
        size_t frames = count - row < chunk ? count - row : chunk;
        status = penstock__filter_fused_send(engine, channel, taps, first + row, (const char *)in + row * row_bytes,
                                             frames, (char *)out + row * fused->problem.out_bytes, slots++);
    }
    for (unsigned i = 0; i < slots && !status; i++)
        status = penstock__filter_fused_wait(engine, i);
    return status;
}

/* ---------------------------------------------------------------- on the device --------------- */

/* What is on the queue's device, which is a member of the filter's. */
static struct filter_there *there_on(struct filter_fused *fused, const penstock_queue *queue)
{
    struct penstock_device *device = fused->executor->state.device;
    const unsigned members = penstock__device_members(device);
    if (!fused->there && (fused->there = penstock__calloc(members, sizeof *fused->there)))
        fused->there_count = members;
    return fused->there ? &fused->there[penstock__device_index(device, queue->slot.device)] : NULL;
}

/* Another buffer for another response: the one before may be in use. */
static int send_response(penstock_buffer **sent, struct filter_fused *fused, penstock_queue *queue)
{
    const struct filter_response *response = &fused->responses[0];
    const size_t bytes = penstock__filter_response(&fused->problem.filter) * sizeof *response->values;
    struct filter_there *there = there_on(fused, queue);
    int status = PENSTOCK_OK;
    if (!there)
        return PENSTOCK_ERR_MEMORY;
    if (!there->response || there->id != response->id) {
        penstock_buffer_free(there->response);
        there->response = NULL;
        there->id = response->id;
        status = penstock__buffer_holding(&there->response, response->values, bytes, queue);
    }
    *sent = there->response;
    return status;
}

/* Of a signal's block, wherever the stream's first one was. */
static uint64_t signal_phase(const struct filter_engine *engine, const struct filter_taps *taps, uint64_t block)
{
    const struct filter_shape *shape = &engine->shape;
    return penstock__filter_phase_at(shape, taps->shift, block * shape->block * shape->interpolation + shape->advance);
}

static int check_blocks(const struct penstock_problem *problem, size_t count)
{
    const struct penstock_filter_problem *filter = &problem->filter;
    size_t once = filter->n + filter->partitions * filter->block;
    if (count > PTRDIFF_MAX / (filter->block * problem->in_bytes + problem->out_bytes) - once)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%zu blocks are more than memory can hold", count);
    return PENSTOCK_OK;
}

static int put(struct filter_engine *engine, const struct filter_taps *taps, uint64_t phase, const penstock_buffer *in,
               penstock_buffer *out, size_t count, penstock_queue *queue)
{
    struct filter_fused *fused = &engine->fused;
    const struct penstock_filter_problem *filter = &fused->problem.filter;
    struct penstock_job job = {.frames = count};
    int status;
    if (!fused->executor)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not filter in one kernel");
    if ((status = check_blocks(&fused->problem, count)))
        return status;
    job.samples = penstock__filter_samples(filter, count);
    if ((status = penstock__job_place(&job, fused->executor, in, out, queue)))
        return status;
    fill_response(engine, 0, taps);
    if ((status = send_response(&job.coefficients, fused, queue)))
        return status;
    job.start = (uint32_t)(phase >> 32);
    job.spacing = (uint32_t)phase;
    return penstock__enqueue(penstock__executor_on(fused->executor, queue->slot.device), &job, queue);
}

int penstock__filter_fused_enqueue(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                                   const penstock_buffer *in, penstock_buffer *out, size_t count, penstock_queue *queue)
{
    const bool rotated = engine->fused.problem.filter.rotated;
    return put(engine, taps, rotated ? signal_phase(engine, taps, first) : 0, in, out, count, queue);
}

int penstock__filter_fused_put(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                               const penstock_buffer *in, penstock_buffer *out, size_t count, penstock_queue *queue)
{
    const bool rotated = engine->fused.problem.filter.rotated;
    return put(engine, taps, rotated ? phase_of(engine, taps, first) : 0, in, out, count, queue);
}
