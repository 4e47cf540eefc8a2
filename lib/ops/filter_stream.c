/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples into a filter and values out of it. */
#include "ops/filter_stream.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* Bytes that are worth another thread's attention. */
#define COPY_BYTES ((size_t)256 << 10)

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The first frame begins with what is before the stream. */
void penstock__filter_rewind(penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    filter->filled = shape->history - shape->advance / shape->interpolation;
    memset(filter->in, 0, filter->filled * shape->sample_bytes);
    filter->due = filter->ready = filter->given = filter->early = 0;
    filter->flush_to = 0;
    filter->blocks = filter->samples = filter->values = filter->total = 0;
    filter->complete = 0;
    filter->flushed = filter->finished = false;
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/* Blocks whose frames are all there in `samples` samples. */
static size_t blocks_in(const penstock_filter *filter, uint64_t samples)
{
    const struct filter_shape *shape = filter->shape;
    return samples < shape->n ? 0 : (size_t)((samples - shape->n) / shape->block) + 1;
}

/* The next `count` blocks to `out`: frames of `near` ones in our memory, of the others from `far` on. */
static int run_blocks(penstock_filter *filter, size_t count, size_t near, const void *far, void *out)
{
    const struct filter_shape *shape = filter->shape;
    struct filter_channel channel = {.taps = filter->taps, .out = out};
    int status = penstock__filter_engine_run(
        filter->engine,
        &(struct filter_blocks){
            .first = filter->blocks, .count = count, .in = filter->in, .near = near, .far = far, .channels = &channel});
    if (status)
        return status;
    filter->blocks += count;
    filter->due -= smaller(filter->due, count);
    filter->complete = 0;
    uint64_t start = penstock__filter_position(shape, filter->blocks);
    while (filter->taps->next && filter->taps->next->from <= start)
        penstock__filter_drop_taps(filter, filter->taps->next);
    return PENSTOCK_OK;
}

/* Blocks of our own samples; what later ones need of these moves to the front. */
static int run_gathered(penstock_filter *filter, size_t count, void *out)
{
    size_t bytes = filter->shape->sample_bytes, used = count * filter->shape->block;
    int status = run_blocks(filter, count, count, NULL, out);
    if (status)
        return status;
    memmove(filter->in, filter->in + used * bytes, (filter->filled - used) * bytes);
    filter->filled -= used;
    return PENSTOCK_OK;
}

/* Blocks into our memory; the values that were pulled early are not given again. */
static int make_values(penstock_filter *filter, size_t count)
{
    int status = run_gathered(filter, count, filter->made);
    if (status)
        return status;
    filter->ready = count * filter->shape->values;
    filter->given = smaller(filter->early, filter->ready);
    filter->early -= filter->given;
    filter->flushed = false;
    return PENSTOCK_OK;
}

/* The next values of a block that is not complete, which the same samples go through again later. Between a complete
 * block's values and its transform's end lies less than a block: there are two such blocks at the most. */
static int make_early_values(penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    struct filter_channel channel = {.taps = filter->taps, .out = filter->made};
    size_t skip = filter->early / shape->values, bytes = shape->sample_bytes;
    size_t start = skip * shape->block, end = start + shape->n;
    memset(filter->in + filter->filled * bytes, 0, (end - filter->filled) * bytes);
    int status = penstock__filter_engine_run(filter->engine, &(struct filter_blocks){.first = filter->blocks + skip,
                                                                                     .count = 1,
                                                                                     .in = filter->in + start * bytes,
                                                                                     .near = 1,
                                                                                     .channels = &channel});
    if (status)
        return status;
    filter->flushed = true;
    filter->given = filter->early % shape->values;
    filter->ready = filter->given + (size_t)(filter->flush_to - filter->values);
    filter->ready = smaller(filter->ready, shape->values);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- samples in ------------------ */

struct copy {
    char *to;
    const char *from;
    size_t bytes;
};

static void copy_part(void *argument, size_t part, unsigned worker)
{
    const struct copy *copy = argument;
    size_t first = part * COPY_BYTES;
    (void)worker;
    memcpy(copy->to + first, copy->from + first, smaller(copy->bytes - first, COPY_BYTES));
}

/* Samples `first` .. `first` + `count` of `total` to place `at`. */
static void copy_in(penstock_filter *filter, size_t at, const void *samples, size_t first, size_t count, size_t total)
{
    const struct filter_shape *shape = filter->shape;
    char *to = filter->in + at * shape->sample_bytes;
    if (shape->format != filter->desc.format) {
        penstock__convert((penstock_cf32 *)(void *)to, samples, filter->desc.format, first, count, total);
        return;
    }
    struct copy copy = {
        .to = to, .from = (const char *)samples + first * shape->sample_bytes, .bytes = count * shape->sample_bytes};
    penstock__parallel(filter->context, (copy.bytes + COPY_BYTES - 1) / COPY_BYTES, copy_part, &copy);
}

/* As many samples as a full batch has room for. */
static size_t gather(penstock_filter *filter, const void *samples, size_t first, size_t total)
{
    size_t count = smaller(total - first, filter->whole - smaller(filter->filled, filter->whole));
    copy_in(filter, filter->filled, samples, first, count, total);
    filter->filled += count;
    filter->samples += count;
    if (filter->filled >= filter->whole)
        filter->due = blocks_in(filter, filter->filled);
    if (filter->desc.max_latency_s > 0 && filter->complete == 0 && blocks_in(filter, filter->filled))
        filter->complete = now_s();
    return count;
}

static int check_push(const penstock_filter *filter, const void *samples, size_t count)
{
    if (!filter || (count && !samples))
        return bad("penstock_filter_push: filter or samples is NULL");
    if (filter->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "filter: the stream was finished; reset it before pushing again");
    return PENSTOCK_OK;
}

int penstock_filter_push(penstock_filter *filter, const void *samples, size_t count, size_t *taken)
{
    size_t ignored;
    taken = taken ? taken : &ignored;
    *taken = 0;
    int status = check_push(filter, samples, count);
    if (!status)
        *taken = gather(filter, samples, 0, count);
    return status;
}

/* Values that a stream of `samples` makes. */
static uint64_t count_values(const penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    const struct filter_taps *last = filter->taps;
    uint64_t end = filter->samples * shape->interpolation;
    while (last->next && last->next->from <= end)
        last = last->next;
    uint64_t more = filter->desc.tail && filter->samples ? last->count - 1 - shape->advance : 0;
    return (end + more + shape->decimation - 1) / shape->decimation;
}

int penstock_filter_finish(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_finish: filter is NULL");
    if (!filter->finished)
        filter->total = count_values(filter);
    filter->finished = true;
    return PENSTOCK_OK;
}

int penstock_filter_flush(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_flush: filter is NULL");
    const struct filter_shape *shape = filter->shape;
    uint64_t end = filter->samples * shape->interpolation;
    if (!filter->finished && end > shape->advance)
        filter->flush_to = (end - shape->advance + shape->decimation - 1) / shape->decimation;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- values out ------------------ */

double penstock_filter_due_s(const penstock_filter *filter)
{
    if (!filter || (filter->finished && filter->values == filter->total))
        return (double)INFINITY;
    if (filter->due || filter->given < filter->ready || filter->values < filter->flush_to || filter->finished)
        return 0;
    if (filter->complete == 0)
        return (double)INFINITY;
    double left = filter->complete + filter->desc.max_latency_s - now_s();
    return left > 0 ? left : 0;
}

/* Zeros after the last sample, for the frames that end behind it. */
static size_t blocks_to_the_end(penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t left = (filter->total - filter->values + filter->early + shape->values - 1) / shape->values;
    size_t rows = penstock__filter_engine_rows(filter->engine), bytes = shape->sample_bytes;
    size_t count = left < rows ? (size_t)left : rows;
    size_t end = count ? penstock__filter_engine_samples(filter->engine, count) : 0;
    if (filter->filled < end) {
        memset(filter->in + filter->filled * bytes, 0, (end - filter->filled) * bytes);
        filter->filled = end;
    }
    return count;
}

/* Complete blocks whose values may be given now. */
static size_t blocks_to_give(penstock_filter *filter, bool wait)
{
    if (filter->finished)
        return blocks_to_the_end(filter);
    if (wait || (filter->complete > 0 && penstock_filter_due_s(filter) <= 0) || filter->values < filter->flush_to)
        filter->due = blocks_in(filter, filter->filled);
    return filter->due;
}

/* Values of the blocks made before. */
static size_t copy_out(penstock_filter *filter, void *to, size_t room)
{
    size_t bytes = filter->shape->value_bytes, count = smaller(room, filter->ready - filter->given);
    memcpy(to, filter->made + filter->given * bytes, count * bytes);
    filter->given += count;
    filter->early += filter->flushed ? count : 0;
    return count;
}

/* Values into our memory or, `*count` of them, to their place, of the blocks that may be given now. */
static int refill(penstock_filter *filter, void *to, size_t room, bool wait, size_t *count)
{
    size_t values = filter->shape->values, blocks = blocks_to_give(filter, wait), whole;
    int status;
    if (!blocks)
        return filter->values < filter->flush_to && !filter->finished ? make_early_values(filter) : PENSTOCK_OK;
    whole = filter->early ? 0 : smaller(blocks, room / values);
    if (!whole || (whole < blocks && filter->made_blocks > 1))
        return make_values(filter, smaller(blocks, filter->made_blocks));
    if ((status = run_gathered(filter, whole, to)))
        return status;
    *count = whole * values;
    return PENSTOCK_OK;
}

/* The next values, at most `room`; `*count` of them came. */
static int give(penstock_filter *filter, void *to, size_t room, bool wait, size_t *count)
{
    uint64_t before;
    *count = 0;
    if (filter->finished && filter->total - filter->values < room)
        room = (size_t)(filter->total - filter->values);
    while (room && !*count && filter->given == filter->ready) {
        before = filter->blocks;
        int status = refill(filter, to, room, wait, count);
        if (status)
            return status;
        if (filter->blocks == before && filter->given == filter->ready)
            return PENSTOCK_OK;
    }
    if (!*count)
        *count = copy_out(filter, to, room);
    filter->values += *count;
    return PENSTOCK_OK;
}

int penstock_filter_pull(penstock_filter *filter, void *values, size_t capacity, bool wait, size_t *count)
{
    size_t more;
    if (!filter || !count || (capacity && !values))
        return bad("penstock_filter_pull: an argument is NULL");
    *count = 0;
    do {
        int status = give(filter, (char *)values + *count * filter->shape->value_bytes, capacity - *count, wait, &more);
        if (status)
            return *count ? PENSTOCK_OK : status;
        *count += more;
    } while (more);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- both at once ---------------- */

/* Blocks from the caller's samples to the caller's values, where that is possible for one at least. Frames that begin
 * in what the last call left are completed there; the rest of the samples is left to gather(). */
static int run_across(penstock_filter *filter, const void *samples, size_t count, size_t *taken, void *out, size_t room,
                      size_t *made)
{
    const struct filter_shape *shape = filter->shape;
    size_t bytes = shape->sample_bytes, before = filter->filled, left = count - *taken, near, used;
    size_t blocks = smaller(blocks_in(filter, (uint64_t)before + left), room / shape->values);
    const char *from = (const char *)samples + *taken * bytes;
    if (!blocks)
        return PENSTOCK_OK;
    near = smaller(blocks, (before + shape->block - 1) / shape->block);
    if (near)
        copy_in(filter, before, from, 0, penstock__filter_engine_samples(filter->engine, near) - before, left);
    const char *far = near < blocks ? from + (near * shape->block - before) * bytes : NULL;
    int status = run_blocks(filter, blocks, near, far, out);
    if (status)
        return status;
    used = blocks * shape->block;
    if (used < before)
        memmove(filter->in, filter->in + used * bytes, (before - used) * bytes);
    filter->filled = used < before ? before - used : 0;
    *taken += used < before ? 0 : used - before;
    filter->samples += used < before ? 0 : used - before;
    filter->values += blocks * shape->values;
    *made += blocks * shape->values;
    return PENSTOCK_OK;
}

/* Whether frames can be read where the caller's samples lie: our own are all parts of frames that are not complete. */
static bool can_run_across(const penstock_filter *filter)
{
    return penstock__filter_engine_near(filter->engine) && filter->shape->format == filter->desc.format &&
           filter->given == filter->ready && !filter->early && !filter->finished && filter->filled < filter->shape->n;
}

int penstock_filter_run(penstock_filter *filter, const void *samples, size_t count, size_t *taken, void *values,
                        size_t capacity, size_t *made)
{
    size_t more, before;
    int status = PENSTOCK_OK;
    if (!taken || !made || (capacity && !values))
        return bad("penstock_filter_run: an argument is NULL");
    *taken = *made = 0;
    if ((!filter || count) && (status = check_push(filter, samples, count)))
        return status;
    do {
        size_t bytes = filter->shape->value_bytes;
        before = *taken + *made;
        if (can_run_across(filter))
            status = run_across(filter, samples, count, taken, (char *)values + *made * bytes, capacity - *made, made);
        if (!status && *taken < count)
            *taken += gather(filter, samples, *taken, count);
        if (!status &&
            !(status = penstock_filter_pull(filter, (char *)values + *made * bytes, capacity - *made, true, &more)))
            *made += more;
    } while (!status && *taken + *made > before);
    return *taken + *made ? PENSTOCK_OK : status;
}
