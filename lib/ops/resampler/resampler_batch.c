/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One batch of a resampler on a device: which outputs it has and where they stand, its taps, and the same on the CPU.
 */
#include "ops/resampler/resampler_queue.h"

#include <string.h>

/* ---------------------------------------------------------------- places ---------------------- */

/* Outputs of a block that begins at `at`, up to `most`, that stand before place `end`. */
static size_t outputs_before(const struct resampler_clock *clock, size_t at, uint64_t part, size_t most, size_t end)
{
    uint64_t rest = part;
    size_t count = 0;
    if (at < end && at + (size_t)penstock__resampler_advance(clock, &rest, most - 1) < end)
        return most;
    for (rest = part; count < most && at < end; count++)
        at += (size_t)penstock__resampler_advance(clock, &rest, 1);
    return count;
}

size_t penstock__resampler_batch_plan(struct resampler_queue *queue, struct resampler_batch *batch, size_t *at,
                                      uint64_t *part)
{
    struct resampler *resampler = queue->resampler;
    const size_t block = queue->problem.resample.block;
    size_t count = 0, some = block;
    penstock__resampler_apply_changes(resampler);
    const struct resampler_arms *arms = resampler->arms;
    const size_t end = penstock__resampler_outputs_end(resampler);
    const uint64_t before = resampler->first < resampler->history ? resampler->history - resampler->first : 0;
    *at = batch->at = resampler->at;
    *part = batch->part = resampler->part;
    batch->clock = resampler->clock;
    batch->ratio = resampler->ratio;
    batch->sample = penstock__resampler_sample(resampler);
    batch->tables = (struct penstock_resample_tables){
        .starts = batch->starts, .first = (uint32_t)before, .end = (uint32_t)resampler->count};
    for (; some == block && count < queue->capacity; count += some) {
        const size_t most = queue->capacity - count < block ? queue->capacity - count : block;
        batch->starts[count / block] =
            (struct penstock_resample_start){.at = (uint32_t)(*at - arms->before), .part = *part};
        some = outputs_before(&batch->clock, *at, *part, most, end);
        *at += (size_t)penstock__resampler_advance(&batch->clock, part, some);
    }
    return count;
}

struct resampler_batch penstock__resampler_queue_next(const struct resampler_queue *queue, size_t further)
{
    const struct penstock__ring_batch *oldest = &queue->ring.batches[queue->ring.oldest];
    const struct resampler *resampler = queue->resampler;
    struct resampler_batch next = queue->batches[queue->ring.oldest];
    if (oldest->state == PENSTOCK__RING_FREE || oldest->state == PENSTOCK__RING_FILLING)
        return (struct resampler_batch){.arms = resampler->arms,
                                        .ratio = resampler->ratio,
                                        .clock = resampler->clock,
                                        .part = resampler->part,
                                        .sample = penstock__resampler_sample(resampler)};
    const size_t at = oldest->read + further, block = queue->problem.resample.block;
    next.part = next.starts[at / block].part;
    next.sample += next.starts[at / block].at - next.starts[0].at +
                   penstock__resampler_advance(&next.clock, &next.part, at % block);
    return next;
}

/* ---------------------------------------------------------------- taps ------------------------ */

bool penstock__resampler_batch_holds(const struct resampler_queue *queue, const struct resampler_batch *batch)
{
    const struct resampler_clock *a = &queue->head.clock, *b = &batch->clock;
    return queue->head.arms == batch->arms && a->unit == b->unit && a->whole == b->whole && a->part == b->part;
}

/* For each tap those of all arms side by side, and by how much the next arm's is more. */
static void fill(float *to, const struct resampler_arms *arms)
{
    const unsigned parts = arms->complex ? 2 : 1;
    for (size_t tap = 0; tap < arms->taps; tap++)
        for (size_t arm = 0; arm < arms->count; arm++)
            for (unsigned p = 0; p < parts; p++) {
                const struct resampler_table *table = &arms->tables[p];
                const float *h = table->values + arm * table->length + tap * (table->length / arms->taps);
                *to++ = h[0];
                *to++ = h[table->length] - h[0];
            }
}

int penstock__resampler_batch_head(struct resampler_queue *queue, const struct resampler_batch *batch)
{
    struct resampler_head *head = &queue->head;
    const struct resampler_arms *arms = batch->arms;
    const size_t bytes = penstock__resample_bytes(&queue->problem.resample, arms->taps, arms->count);
    uint64_t part = batch->clock.unit - 1;
    if (penstock__resampler_batch_holds(queue, batch))
        return PENSTOCK_OK;
    if (head->room < bytes) {
        penstock__free(head->values);
        penstock__resampler_arms_leave(head->arms);
        head->arms = NULL; /* nothing is held */
        head->room = 0;
        if (!(head->values = penstock__alloc(bytes)))
            return PENSTOCK_ERR_MEMORY;
        head->room = bytes;
    }
    penstock__resampler_arms_leave(head->arms);
    head->arms = penstock__resampler_arms_keep(batch->arms);
    head->clock = batch->clock;
    head->bytes = bytes;
    head->id++;
    *head->values = (struct penstock_resample_head){.taps = (uint32_t)arms->taps,
                                                    .arms = (uint32_t)arms->count,
                                                    .whole = (uint32_t)head->clock.whole,
                                                    .unit = head->clock.unit,
                                                    .part = head->clock.part};
    penstock__resample_scale(head->values);
    head->values->span =
        (uint32_t)(penstock__resampler_advance(&head->clock, &part, queue->problem.resample.block - 1) + 1 +
                   arms->taps);
    fill((float *)(void *)(head->values + 1), arms);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- the CPU --------------------- */

int penstock__resampler_batch_make(struct resampler_queue *queue, const struct resampler_batch *batch, const void *in,
                                   void *out, size_t outputs)
{
    const struct resampler *resampler = queue->resampler;
    const struct penstock_resample_tables *tables = &batch->tables;
    const size_t each = resampler->real ? 1 : 2, all = resampler->room + resampler->behind;
    if (!queue->scratch && !(queue->scratch = penstock__alloc(all * each * sizeof *queue->scratch)))
        return PENSTOCK_ERR_MEMORY;
    float *line = queue->scratch, *samples = line + tables->first * each;
    const size_t count = tables->end > tables->first ? tables->end - tables->first : 0;
    memset(line, 0, tables->first * each * sizeof *line);
    memset(samples + count * each, 0, resampler->behind * each * sizeof *line);
    if (resampler->real)
        penstock__copy(resampler->context, samples, (const float *)in + tables->first, count * sizeof *samples);
    else
        penstock__convert_all(resampler->context, (penstock_cf32 *)(void *)samples, in, resampler->format,
                              tables->first, count, tables->end);
    struct resampler here = {.context = resampler->context,
                             .kernels = resampler->kernels,
                             .real = resampler->real,
                             .value_bytes = resampler->value_bytes,
                             .clock = batch->clock,
                             .arms = batch->arms,
                             .line = line,
                             .count = SIZE_MAX / 4,
                             .at = batch->at,
                             .part = batch->part,
                             .finished = true};
    penstock__resampler_make(&here, out, outputs);
    return PENSTOCK_OK;
}
