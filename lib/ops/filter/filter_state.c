/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter keeps: memory that goes with its device, and the sets of taps of each channel. */
#include "core/base/context.h"
#include "ops/filter/filter_stream.h"

/* Room for a full batch of frames and one more, and for those that begin in what one call leaves and end in the next
 * one's samples, as often as batches may be on their way at once; and for the values of a batch, or of one block where
 * blocks need no company. Near the processor twice that room, through which the frames move on, and as many more as all
 * threads want at once, which gather where they are pushed at once. */
int penstock__filter_buffers(struct filter_stream *filter, size_t least)
{
    const struct filter_shape *shape = filter->shape;
    size_t rows = penstock__filter_engine_rows(filter->engine);
    size_t room = penstock__filter_engine_samples(filter->engine, rows + 1);
    bool near = penstock__filter_engine_near(filter->engine);
    filter->whole = filter->most = penstock__filter_engine_samples(filter->engine, rows);
    filter->made_blocks = near ? penstock__filter_engine_share(filter->engine) : rows;
    if (near && filter->made_blocks > rows)
        filter->most = penstock__filter_engine_samples(filter->engine, filter->made_blocks);
    if (near)
        room = 2 * filter->most;
    room = room > 2 * shape->frame ? room : 2 * shape->frame;
    filter->room = room > least ? room : least;
    size_t out = filter->channels * filter->made_blocks * shape->values * shape->value_bytes;
    unsigned slots = penstock__filter_engine_slots(filter->engine);
    struct penstock_device *device = penstock__filter_engine_memory(filter->engine);
    void *made = NULL;
    penstock__ring_free(&filter->ring);
    penstock_host_memory_free(filter->stream.context, filter->made);
    filter->ring = (struct penstock__ring){.count = 0};
    int status = penstock__ring_init(&filter->ring, filter->stream.context, device, slots,
                                     filter->room * shape->sample_bytes, slots > 1 ? out : 0);
    if (!status)
        status = penstock__host_block_new(&made, filter->stream.context, device, out);
    filter->made = made;
    return status;
}

size_t penstock__filter_blocks_in(const struct filter_stream *filter, uint64_t samples)
{
    const struct filter_shape *shape = filter->shape;
    return samples < shape->frame ? 0 : (size_t)((samples - shape->frame) / shape->block) + 1;
}

void penstock__filter_drop_taps(struct filter_line *line, const struct filter_taps *last)
{
    while (line->taps != last) {
        struct filter_taps *old = line->taps;
        line->taps = old->next;
        penstock__filter_taps_free(old);
    }
}

void penstock__filter_taps_passed(struct filter_stream *filter, uint64_t block)
{
    uint64_t start = penstock__filter_position(filter->shape, block);
    for (size_t c = 0; c < filter->channels; c++) {
        struct filter_line *line = &filter->lines[c];
        while (line->taps->next && line->taps->next->from <= start)
            penstock__filter_drop_taps(line, line->taps->next);
    }
}
