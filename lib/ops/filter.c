/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter as a stream: samples gather behind the history of the block before, a full batch goes through the engine
 * as soon as the one before it has been pulled. What fails leaves its batch where it was, and is tried again.
 */
#include "core/description.h"
#include "ops/filter_check.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* Bytes that are worth another thread's attention. */
#define COPY_BYTES ((size_t)128 << 10)

struct penstock_filter {
    penstock_filter_desc desc; /* defaults filled in; pointers are not kept */
    struct filter_engine *engine;
    struct filter_taps *taps; /* those that hold at the next block's start, and later ones */
    const struct filter_taps *newest;

    char *in;        /* frames of the batch that gathers */
    size_t filled;   /* samples there, history included */
    uint64_t blocks; /* that went through the engine */

    size_t ready, given; /* values of the last batch, and how many of them were pulled */
    bool flushed;        /* that batch was a block that goes through the engine again */
    size_t early;        /* values of the next blocks that were pulled already */
    uint64_t flush_to;   /* values before this one are to come at once */
    uint64_t samples, values;
    bool finished;
    uint64_t total; /* values of the whole stream, once finished */
};

/* ---------------------------------------------------------------- life ------------------------ */

static int make_engine_of(penstock_filter *filter, penstock_context *context, struct filter_shape *shape,
                          const char *device)
{
    char text[64];
    size_t n = filter->desc.n;
    int status;
    if (!n) {
        if ((status = penstock__filter_choose(&n, text, context, shape, device)))
            return status;
        device = text;
    }
    if (!penstock__filter_shape_set(shape, n))
        return bad("transforms of %zu are too short for %zu taps and decimation %zu", n, shape->taps,
                   shape->decimation);
    return penstock__filter_engine_new(&filter->engine, context, shape, device);
}

/* A device without real transforms does the same by complex ones. */
static int make_engine(penstock_filter *filter, penstock_context *context, const char *device)
{
    struct filter_shape shape;
    int status;
    penstock__filter_shape_of(&shape, &filter->desc);
    status = make_engine_of(filter, context, &shape, device);
    if (status != PENSTOCK_ERR_UNSUPPORTED || !shape.real)
        return status;
    shape.real = false;
    shape.real_values = true;
    shape.format = PENSTOCK_CF32;
    return make_engine_of(filter, context, &shape, device);
}

/* The first frame begins with what is before the stream. */
static void rewind_stream(penstock_filter *filter)
{
    const struct filter_shape *shape = &filter->engine->shape;
    filter->filled = shape->history - shape->advance;
    memset(filter->in, 0, filter->filled * shape->sample_bytes);
    filter->blocks = filter->samples = filter->values = filter->total = 0;
    filter->ready = filter->given = filter->early = 0;
    filter->flush_to = 0;
    filter->flushed = filter->finished = false;
}

int penstock_filter_new(penstock_filter **filter, penstock_context *context, const penstock_filter_desc *desc,
                        const char *device)
{
    penstock_filter_desc d;
    penstock_filter *made;
    int status;
    if (!filter || !context)
        return bad("penstock_filter_new: filter or context is NULL");
    *filter = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_filter_desc")) ||
        (status = penstock__filter_check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    if ((status = make_engine(made, context, device)) ||
        (status = penstock__filter_taps_new(&made->taps, &made->engine->shape, d.taps, d.real_taps, d.tap_count)))
        goto fail;
    made->newest = made->taps;
    made->desc.taps = NULL;
    made->desc.real_taps = NULL;
    made->in = penstock__alloc(penstock__filter_engine_samples(made->engine, made->engine->rows + 1) *
                               made->engine->shape.sample_bytes);
    status = PENSTOCK_ERR_MEMORY;
    if (!made->in)
        goto fail;
    rewind_stream(made);
    *filter = made;
    return PENSTOCK_OK;
fail:
    penstock_filter_free(made);
    return status;
}

/* Forgets sets of taps until `last`, which becomes the first. */
static void drop_taps(penstock_filter *filter, const struct filter_taps *last)
{
    while (filter->taps != last) {
        struct filter_taps *old = filter->taps;
        filter->taps = old->next;
        penstock__free(old);
    }
}

void penstock_filter_free(penstock_filter *filter)
{
    if (!filter)
        return;
    drop_taps(filter, NULL);
    penstock__filter_engine_free(filter->engine);
    penstock__free(filter->in);
    penstock__free(filter);
}

int penstock_filter_reset(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_reset: filter is NULL");
    drop_taps(filter, filter->newest);
    filter->taps->from = 0;
    rewind_stream(filter);
    return PENSTOCK_OK;
}

int penstock_filter_get_info(const penstock_filter *filter, penstock_filter_info *info)
{
    penstock_filter_info known = PENSTOCK_FILTER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    const struct filter_shape *shape;
    int status;
    if (!filter)
        return bad("penstock_filter_get_info: filter is NULL");
    if ((status = penstock_plan_get_info(filter->engine->forward, &plan)))
        return status;
    shape = &filter->engine->shape;
    known.device = plan.device;
    known.real = shape->real || shape->real_values;
    known.value_bytes = shape->value_bytes;
    known.n = shape->n;
    known.block = shape->block;
    known.latency = (filter->engine->rows - 1) * shape->block + shape->n - shape->history - 1;
    known.delay = (double)(filter->newest->count - 1) / 2 - (double)shape->advance;
    known.samples = filter->samples;
    known.values = filter->values;
    known.phase = (double)(penstock__filter_phase(shape, filter->samples) >> 11) * 0x1p-53;
    return penstock__description_write(info, &known, sizeof known, "penstock_filter_info");
}

int penstock_filter_set_taps(penstock_filter *filter, const penstock_cf32 *taps, const float *real_taps,
                             size_t tap_count, uint64_t at)
{
    struct filter_taps *made, *last;
    int status;
    if (!filter)
        return bad("penstock_filter_set_taps: filter is NULL");
    if ((status = penstock__filter_check_taps(taps, real_taps, tap_count, filter->desc.max_taps)))
        return status;
    if (taps && filter->engine->shape.value_bytes == sizeof(float))
        return bad("complex taps do not go with real values");
    if (tap_count <= filter->engine->shape.advance)
        return bad("%zu taps do not go with an advance of %zu", tap_count, filter->engine->shape.advance);
    if (at < filter->samples || at < filter->newest->from)
        return bad("taps from sample %llu on; the first that they can hold from is %llu", (unsigned long long)at,
                   (unsigned long long)(at < filter->samples ? filter->samples : filter->newest->from));
    if ((status = penstock__filter_taps_new(&made, &filter->engine->shape, taps, real_taps, tap_count)))
        return status;
    made->from = at;
    for (last = filter->taps; last->next;)
        last = last->next;
    last->next = made;
    filter->newest = made;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/* Blocks whose samples are all there. */
static size_t complete_blocks(const penstock_filter *filter)
{
    const struct filter_shape *shape = &filter->engine->shape;
    return filter->filled < shape->n ? 0 : (filter->filled - shape->n) / shape->block + 1;
}

/* The oldest `count` blocks through the engine; what later ones need of their samples stays. */
static int run_blocks(penstock_filter *filter, size_t count)
{
    struct filter_engine *engine = filter->engine;
    size_t bytes = engine->shape.sample_bytes, used = count * engine->shape.block;
    int status = penstock__filter_engine_run(engine, filter->in, filter->blocks, count, filter->taps);
    if (status)
        return status;
    memmove(filter->in, filter->in + used * bytes, (filter->filled - used) * bytes);
    filter->filled -= used;
    filter->blocks += count;
    filter->ready = count * engine->shape.values;
    filter->given = filter->early < filter->ready ? filter->early : filter->ready;
    filter->early -= filter->given;
    filter->flushed = false;
    uint64_t start = filter->blocks * engine->shape.block + engine->shape.advance;
    while (filter->taps->next && filter->taps->next->from <= start)
        drop_taps(filter, filter->taps->next);
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
    size_t first = part * COPY_BYTES, rest = copy->bytes - first;
    (void)worker;
    memcpy(copy->to + first, copy->from + first, rest < COPY_BYTES ? rest : COPY_BYTES);
}

static void copy_bytes(const penstock_filter *filter, void *to, const void *from, size_t bytes)
{
    struct copy copy = {.to = to, .from = from, .bytes = bytes};
    penstock__parallel(filter->engine->context, (bytes + COPY_BYTES - 1) / COPY_BYTES, copy_part, &copy);
}

static void copy_in(penstock_filter *filter, const void *samples, size_t first, size_t count, size_t total)
{
    const struct filter_shape *shape = &filter->engine->shape;
    char *to = filter->in + filter->filled * shape->sample_bytes;
    if (shape->format != filter->desc.format)
        penstock__convert((penstock_cf32 *)(void *)to, samples, filter->desc.format, first, count, total);
    else
        copy_bytes(filter, to, (const char *)samples + first * shape->sample_bytes, count * shape->sample_bytes);
    filter->filled += count;
}

int penstock_filter_push(penstock_filter *filter, const void *samples, size_t count, size_t *taken)
{
    size_t ignored;
    taken = taken ? taken : &ignored;
    *taken = 0;
    if (!filter || (count && !samples))
        return bad("penstock_filter_push: filter or samples is NULL");
    if (filter->finished)
        return penstock__error(PENSTOCK_ERR_STATE, "filter: the stream was finished; reset it before pushing again");
    size_t rows = filter->engine->rows, whole = penstock__filter_engine_samples(filter->engine, rows);
    for (;;) {
        size_t room = whole - filter->filled, piece = count - *taken < room ? count - *taken : room;
        copy_in(filter, samples, *taken, piece, count);
        *taken += piece;
        filter->samples += piece;
        if (filter->filled < whole || filter->given < filter->ready)
            return PENSTOCK_OK;
        int status = run_blocks(filter, rows);
        if (status)
            return status;
    }
}

/* Values that a stream of `samples` makes. */
static uint64_t count_values(const penstock_filter *filter)
{
    const struct filter_shape *shape = &filter->engine->shape;
    const struct filter_taps *last = filter->taps;
    while (last->next && last->next->from <= filter->samples)
        last = last->next;
    uint64_t more = filter->desc.tail && filter->samples ? last->count - 1 - shape->advance : 0;
    return (filter->samples + more + shape->decimation - 1) / shape->decimation;
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

/* ---------------------------------------------------------------- values out ------------------ */

/* The next blocks after the end, zeros following the samples. */
static int run_last_blocks(penstock_filter *filter)
{
    const struct filter_engine *engine = filter->engine;
    size_t bytes = engine->shape.sample_bytes, values = engine->shape.values;
    uint64_t left = (filter->total - filter->values + filter->early + values - 1) / values;
    size_t rows = left < engine->rows ? (size_t)left : engine->rows;
    size_t whole = penstock__filter_engine_samples(engine, rows);
    if (filter->filled < whole) {
        memset(filter->in + filter->filled * bytes, 0, (whole - filter->filled) * bytes);
        filter->filled = whole;
    }
    return run_blocks(filter, rows);
}

/* The next values of a block that is not complete, which the same samples go through again later. Between a complete
 * block's values and its transform's end lies less than a block: there are two such blocks at the most. */
static int run_early(penstock_filter *filter)
{
    const struct filter_shape *shape = &filter->engine->shape;
    size_t skip = filter->early / shape->values, bytes = shape->sample_bytes;
    size_t end = skip * shape->block + shape->n;
    char *frame = filter->in + skip * shape->block * bytes;
    memset(filter->in + filter->filled * bytes, 0, (end - filter->filled) * bytes);
    int status = penstock__filter_engine_run(filter->engine, frame, filter->blocks + skip, 1, filter->taps);
    if (status)
        return status;
    filter->flushed = true;
    filter->given = filter->early % shape->values;
    filter->ready = filter->given + (size_t)(filter->flush_to - filter->values);
    if (filter->ready > shape->values)
        filter->ready = shape->values;
    return PENSTOCK_OK;
}

int penstock_filter_flush(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_flush: filter is NULL");
    const struct filter_shape *shape = &filter->engine->shape;
    if (!filter->finished && filter->samples > shape->advance)
        filter->flush_to = (filter->samples - shape->advance + shape->decimation - 1) / shape->decimation;
    return PENSTOCK_OK;
}

/* More values, if there can be any. */
static int refill(penstock_filter *filter, bool wait)
{
    size_t blocks = complete_blocks(filter);
    if (filter->finished)
        return filter->values < filter->total ? run_last_blocks(filter) : PENSTOCK_OK;
    if (blocks == filter->engine->rows || ((wait || filter->values < filter->flush_to) && blocks))
        return run_blocks(filter, blocks);
    return filter->values < filter->flush_to ? run_early(filter) : PENSTOCK_OK;
}

/* Values `first` .. `end` - 1 of the last batch, to `to`, in parts of some rows. */
struct rows {
    const struct filter_engine *engine;
    char *to;
    size_t first, end; /* values */
    size_t part;       /* rows */
};

static void copy_rows(void *argument, size_t part, unsigned worker)
{
    const struct rows *rows = argument;
    size_t values = rows->engine->shape.values, bytes = rows->engine->shape.value_bytes;
    size_t row = rows->first / values + part * rows->part;
    (void)worker;
    for (size_t i = 0; i < rows->part && row * values < rows->end; i++, row++) {
        size_t start = row * values > rows->first ? row * values : rows->first;
        size_t end = (row + 1) * values < rows->end ? (row + 1) * values : rows->end;
        const char *from = penstock__filter_engine_row(rows->engine, row);
        memcpy(rows->to + (start - rows->first) * bytes, from + (start - row * values) * bytes, (end - start) * bytes);
    }
}

/* Up to `count` of the last batch's values; how many. */
static size_t copy_out(penstock_filter *filter, char *to, size_t count)
{
    const struct filter_shape *shape = &filter->engine->shape;
    if (count > filter->ready - filter->given)
        count = filter->ready - filter->given;
    if (filter->finished && count > filter->total - filter->values)
        count = (size_t)(filter->total - filter->values);
    struct rows rows = {.engine = filter->engine,
                        .to = to,
                        .first = filter->given,
                        .end = filter->given + count,
                        .part = COPY_BYTES / (shape->values * shape->value_bytes) + 1};
    size_t spanned = (rows.end + shape->values - 1) / shape->values - rows.first / shape->values;
    penstock__parallel(filter->engine->context, (spanned + rows.part - 1) / rows.part, copy_rows, &rows);
    filter->given += count;
    filter->values += count;
    if (filter->flushed)
        filter->early += count;
    return count;
}

int penstock_filter_pull(penstock_filter *filter, void *values, size_t capacity, bool wait, size_t *count)
{
    if (!filter || !count || (capacity && !values))
        return bad("penstock_filter_pull: an argument is NULL");
    *count = 0;
    while (*count < capacity) {
        if (filter->given == filter->ready) {
            uint64_t before = filter->blocks;
            int status = refill(filter, wait);
            if (status)
                return *count ? PENSTOCK_OK : status;
            if (filter->blocks == before && filter->given == filter->ready)
                break;
            continue;
        }
        size_t piece = copy_out(filter, (char *)values + *count * filter->engine->shape.value_bytes, capacity - *count);
        if (!piece)
            break;
        *count += piece;
    }
    return PENSTOCK_OK;
}
