/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Chunks of an OFDM batch: listed, sent, and spread to where their results belong. */
#include "ops/ofdm/ofdm_flow.h"
#include "core/base/context.h"
#include "ops/ofdm/ofdm_check.h"

#include <stdatomic.h>
#include <string.h>

#define CHUNK_BYTES  ((size_t)4 << 20) /* of samples: from here on a copy's fixed cost is small against its length */
#define ROW_BYTES    ((size_t)16 << 20)
#define ITEM_SYMBOLS 1024 /* that are worth another thread's attention */
#define LOOK_SYMBOLS 4096 /* likewise, where they are only compared */
#define LOOK_CHUNKS  8    /* compared at once, while the device has those before: threads wake up less often */

/* What a thread found of its share. */
struct ofdm_flow_span {
    uint64_t high; /* the last transform's first sample */
    bool behind;   /* a symbol lies before the chunk's first one */
    bool bad;      /* a symbol is not what ofdm.h asks for */
};

struct chunk {
    const struct ofdm_flow_work *work;
    struct ofdm_flow_slot *slot;
    struct ofdm_flow_span *spans;
    size_t first, count;
    uint64_t base; /* of the first transform */
};

/* ---------------------------------------------------------------- memory ---------------------- */

/* At least `bytes` of memory that the device reaches; what was in it goes. */
static int reserve(void **memory, size_t *room, size_t bytes, struct penstock_device *device)
{
    int status;
    if (*room >= bytes)
        return PENSTOCK_OK;
    penstock_host_memory_free(device->context, *memory);
    *memory = NULL;
    *room = 0;
    if (!(status = penstock__host_block_new(memory, device->context, device, bytes)))
        *room = bytes;
    return status;
}

static int prepare(struct ofdm_flow *flow, struct ofdm_flow_slot *slot, const struct ofdm_flow_work *work, size_t count)
{
    const struct penstock_problem *problem = &work->fused->chosen->problem;
    size_t items = (count - 1) / ITEM_SYMBOLS + 1;
    void *descriptors = slot->descriptors, *rows = slot->rows;
    int status = reserve(&descriptors, &slot->place_room, (flow->spacing ? 2 : count) * sizeof *slot->descriptors,
                         work->fused->device);
    slot->descriptors = descriptors;
    if (!status && problem->ofdm.complete && !work->made)
        status = reserve(&rows, &slot->row_bytes, count * problem->out_bytes, work->fused->device);
    slot->rows = rows;
    if (status || items <= flow->span_room)
        return status;
    penstock__free(flow->spans);
    flow->span_room = 0;
    if (!(flow->spans = penstock__alloc(items * sizeof *flow->spans)))
        return PENSTOCK_ERR_MEMORY;
    flow->span_room = items;
    return PENSTOCK_OK;
}

void penstock__ofdm_flow_free(struct ofdm_flow *flow, penstock_context *context)
{
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++) {
        penstock_host_memory_free(context, flow->slots[i].descriptors);
        penstock_host_memory_free(context, flow->slots[i].rows);
    }
    penstock__free(flow->spans);
    *flow = (struct ofdm_flow){.span_room = 0};
}

size_t penstock__ofdm_flow_chunk(const struct penstock_problem *problem, size_t length)
{
    size_t chunk = CHUNK_BYTES / (length * problem->in_bytes) + 1;
    if (problem->ofdm.complete && chunk > ROW_BYTES / problem->out_bytes + 1)
        chunk = ROW_BYTES / problem->out_bytes + 1;
    return chunk;
}

/* ---------------------------------------------------------------- lists ----------------------- */

static void list(void *argument, size_t item, unsigned worker)
{
    const struct chunk *chunk = argument;
    const struct ofdm_flow_work *work = chunk->work;
    const penstock_ofdm_symbol *symbols = work->batch->symbols + chunk->first;
    bool given = work->grid->tracking == PENSTOCK_TRACK_GIVEN;
    struct ofdm_flow_span span = {.bad = false};
    size_t begin = item * ITEM_SYMBOLS, end = begin + ITEM_SYMBOLS < chunk->count ? begin + ITEM_SYMBOLS : chunk->count;
    (void)worker;
    span.bad =
        !penstock__ofdm_good_symbols(work->grid, work->batch, work->skip, chunk->first + begin, chunk->first + end);
    for (size_t i = begin; i < end && !span.bad; i++) {
        uint64_t window = symbols[i].start + work->skip;
        struct penstock_ofdm_descriptor descriptor =
            penstock__ofdm_descriptor(&symbols[i], work->batch->frames, window, work->grid->n, given);
        descriptor.start = (uint32_t)(window - chunk->base);
        chunk->slot->descriptors[i] = descriptor;
        span.behind = span.behind || window < chunk->base;
        span.high = window > span.high ? window : span.high;
    }
    chunk->spans[item] = span;
}

static struct ofdm_flow_span list_all(const struct chunk *chunk)
{
    struct ofdm_flow_span all = {.bad = false};
    size_t items = (chunk->count - 1) / ITEM_SYMBOLS + 1;
    if (items == 1)
        list((void *)(uintptr_t)chunk, 0, 0);
    else
        penstock__parallel(chunk->work->fused->device->context, items, list, (void *)(uintptr_t)chunk);
    for (size_t i = 0; i < items; i++) {
        all.high = chunk->spans[i].high > all.high ? chunk->spans[i].high : all.high;
        all.behind = all.behind || chunk->spans[i].behind;
        all.bad = all.bad || chunk->spans[i].bad;
    }
    return all;
}

/* ---------------------------------------------------------------- even distances -------------- */

/* Symbols of one frame at even distances, as a continuous signal has them, all with the first row of pilots if there
 * are any: those of a chunk follow from its first. */
struct run {
    const struct ofdm_flow_work *work;
    size_t first, count;
    uint64_t spacing;
    atomic_bool uneven;
};

static void look(void *argument, size_t item, unsigned worker)
{
    struct run *run = argument;
    const penstock_ofdm_symbol *symbols = run->work->batch->symbols + run->first;
    bool given = run->work->grid->tracking == PENSTOCK_TRACK_GIVEN;
    size_t begin = item * LOOK_SYMBOLS, end = begin + LOOK_SYMBOLS < run->count ? begin + LOOK_SYMBOLS : run->count;
    uint64_t start = symbols[0].start, differs = 0;
    uint32_t frame = symbols[0].frame, rows = run->work->grid->pilots.count ? UINT32_MAX : 0;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        differs |= (symbols[i].start ^ (start + i * run->spacing)) | (symbols[i].frame ^ frame) |
                   (symbols[i].pilot_row & rows) | (given & (symbols[i].phase != 0 || symbols[i].slope != 0));
    if (differs)
        atomic_store(&run->uneven, true);
}

/* The distance of `count` symbols from `first` on; 0 where they are to be listed. */
static uint32_t even_spacing(const struct ofdm_flow_work *work, size_t first, size_t count)
{
    const penstock_ofdm_batch *batch = work->batch;
    const penstock_ofdm_symbol *symbols = batch->symbols + first;
    struct run run = {.work = work, .first = first, .count = count, .spacing = 1};
    size_t last = first + count - 1;
    if (count > 1)
        run.spacing = symbols[1].start - symbols[0].start;
    if (!run.spacing || run.spacing > UINT32_MAX ||
        !penstock__ofdm_good_symbols(work->grid, batch, work->skip, first, first + 1) ||
        !penstock__ofdm_good_symbols(work->grid, batch, work->skip, last, last + 1))
        return 0;
    penstock__parallel(work->fused->device->context, (count - 1) / LOOK_SYMBOLS + 1, look, &run);
    return atomic_load(&run.uneven) ? 0 : (uint32_t)run.spacing;
}

/* ---------------------------------------------------------------- chunks ---------------------- */

/* Of the coefficients of all frames, or of the one that the symbols of a chunk at even distances belong to. */
static uint64_t coefficients_id(const struct chunk *chunk, bool even)
{
    const struct ofdm_flow_work *work = chunk->work;
    return work->fused->filled << 32 | (even ? 1 + (uint64_t)work->batch->symbols[chunk->first].frame : 0);
}

static int send(struct ofdm_flow *flow, const struct ofdm_flow_work *work, unsigned index, size_t first, size_t count)
{
    const struct penstock_problem *problem = &work->fused->chosen->problem;
    const penstock_ofdm_symbol *symbols = work->batch->symbols + first;
    struct ofdm_flow_slot *slot = &flow->slots[index];
    int status = prepare(flow, slot, work, count);
    if (status)
        return status;
    struct chunk chunk = {.work = work,
                          .slot = slot,
                          .spans = flow->spans,
                          .first = first,
                          .count = count,
                          .base = symbols[0].start + work->skip};
    uint64_t distance = (count - 1) * (uint64_t)flow->spacing;
    struct penstock_ofdm_tables tables = {.descriptors = slot->descriptors,
                                          .coefficients = work->fused->coefficients,
                                          .frame_count = work->fused->frame_count};
    if (flow->spacing) {
        tables = penstock__ofdm_even_tables(work->fused, work->grid, work->batch->frames, symbols, work->skip,
                                            flow->spacing, slot->descriptors);
    } else {
        struct ofdm_flow_span span = list_all(&chunk);
        if (span.bad)
            return OFDM_FLOW_REFUSED;
        if (span.behind)
            return OFDM_FLOW_SCATTERED;
        distance = span.high - chunk.base;
    }
    if (distance > 2 * (uint64_t)count * work->length || distance > UINT32_MAX / 2)
        return OFDM_FLOW_SCATTERED;
    struct penstock__batch batch = {.in = (const char *)work->batch->samples + (size_t)chunk.base * problem->in_bytes,
                                    .ofdm = &tables,
                                    .coefficients_id = coefficients_id(&chunk, flow->spacing > 0),
                                    .out = work->made               ? (void *)work->made
                                           : problem->ofdm.complete ? (void *)slot->rows
                                                                    : work->result->soft + first * problem->out_bytes,
                                    .frames = count,
                                    .samples = (size_t)distance + work->grid->n,
                                    .out_wanted = work->made ? count * penstock__ofdm_pilots_at(&problem->ofdm) : 0,
                                    .event_times = work->fused->event_times};
    if ((status = penstock__executor_submit(work->fused->chosen->executor, index, &batch)))
        return status;
    slot->first = first;
    slot->count = problem->ofdm.complete && !work->made ? count : 0;
    return PENSTOCK_OK;
}

int penstock__ofdm_flow_start(struct ofdm_flow *flow, const struct ofdm_flow_work *work, unsigned slot)
{
    const size_t symbols = work->batch->symbol_count;
    flow->spacing = even_spacing(work, 0, symbols);
    return send(flow, work, slot, 0, symbols);
}

struct spreading {
    const struct ofdm_flow_work *work;
    const struct ofdm_flow_slot *slot;
};

static void spread(void *argument, size_t item, unsigned worker)
{
    const struct spreading *spreading = argument;
    const struct ofdm_flow_work *work = spreading->work;
    const struct ofdm_flow_slot *slot = spreading->slot;
    size_t from = item * ITEM_SYMBOLS, left = slot->count - from, first = slot->first + from;
    struct ofdm_rows rows = penstock__ofdm_rows(work->grid, work->result, first);
    (void)worker;
    rows.count = left < ITEM_SYMBOLS ? left : ITEM_SYMBOLS;
    penstock__ofdm_spread(&work->fused->chosen->problem.ofdm, work->grid, work->batch->symbols + first,
                          &(struct ofdm_made){slot->rows, slot->count, from}, &rows);
}

/* Waits for a slot's chunk, whose rows go where they belong. */
static int finish(struct ofdm_flow *flow, const struct ofdm_flow_work *work, unsigned index)
{
    struct ofdm_flow_slot *slot = &flow->slots[index];
    int status = penstock__executor_wait(work->fused->chosen->executor, index);
    if (!status && slot->count)
        penstock__parallel(work->fused->device->context, (slot->count - 1) / ITEM_SYMBOLS + 1, spread,
                           &(struct spreading){work, slot});
    slot->count = 0;
    return status;
}

int penstock__ofdm_flow_run(struct ofdm_flow *flow, const struct ofdm_flow_work *work, uint64_t *chunks)
{
    size_t chunk = penstock__ofdm_flow_chunk(&work->fused->chosen->problem, work->length),
           symbols = work->batch->symbol_count;
    const unsigned slots = work->fused->chosen->executor->slot_count;
    unsigned slot = 0;
    int status = PENSTOCK_OK, last = PENSTOCK_OK;
    for (size_t first = 0, looked = 0; first < symbols && !status; first += chunk, slot = (slot + 1) % slots) {
        size_t left = symbols - first, ahead = first ? LOOK_CHUNKS * chunk : chunk;
        if (first >= looked) {
            looked = first + (left < ahead ? left : ahead);
            flow->spacing = even_spacing(work, first, looked - first);
        }
        if (!(status = finish(flow, work, slot)))
            status = send(flow, work, slot, first, left < chunk ? left : chunk);
        *chunks += !status;
    }
    for (unsigned i = 0; i < slots; i++) { /* after a failure too: their memory is the caller's again */
        int failed = finish(flow, work, (slot + i) % slots);
        last = failed ? failed : last;
    }
    return status < 0 || !last ? status : last;
}
