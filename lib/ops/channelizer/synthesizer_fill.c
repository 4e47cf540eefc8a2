/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of a synthesis bank from values that do not lie in order: of channels apart, or of some channels. */
#include "ops/channelizer/synthesizer.h"

#include <string.h>

#define FILL_TILE   8    /* values of a cache line */
#define FILL_VALUES 8192 /* that a thread takes at a time */

struct fill {
    const struct synthesizer *synthesizer;
    const struct penstock__items *in;
    penstock_cf32 *to;
    size_t first, count;
    size_t each; /* frames that a thread takes at a time */
};

/* Frames `first` .. `end` - 1 of a push, one channel after the other a few at a time: neighbours of either side are
 * read and written together. */
static void fill_frames(const struct fill *fill, size_t first, size_t end)
{
    const struct synthesizer *synthesizer = fill->synthesizer;
    const size_t channels = synthesizer->desc.channels, kept = synthesizer->kept, *select = synthesizer->select;
    const penstock_cf32 *whole = fill->in->whole;
    for (size_t left = 0, right; left < kept; left = right) {
        right = kept - left < FILL_TILE ? kept : left + FILL_TILE;
        for (size_t c = left; c < right; c++) {
            const penstock_cf32 *from = whole ? whole + c : fill->in->channels[c];
            penstock_cf32 *to = fill->to + (select ? select[c] : c);
            const size_t step = whole ? kept : 1;
            for (size_t f = first; f < end; f++)
                to[f * channels] = from[(fill->first + f) * step];
        }
    }
}

static void fill_item(void *argument, size_t item, unsigned worker)
{
    const struct fill *fill = argument;
    const size_t channels = fill->synthesizer->desc.channels, first = item * fill->each,
                 end = fill->count - first < fill->each ? fill->count : first + fill->each;
    (void)worker;
    if (fill->synthesizer->select)
        memset(fill->to + first * channels, 0, (end - first) * channels * sizeof *fill->to);
    for (size_t f = first; f < end; f += FILL_TILE)
        fill_frames(fill, f, end - f < FILL_TILE ? end : f + FILL_TILE);
}

void penstock__synthesizer_fill(const struct penstock__batched *batched, const struct penstock__items *in, void *to,
                                size_t first, size_t count)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(&batched->stream);
    struct fill fill = {.synthesizer = synthesizer, .in = in, .to = to, .first = first, .count = count};
    const size_t most = FILL_VALUES / synthesizer->desc.channels + 1;
    fill.each = penstock__round_up(penstock__fair_share(batched->stream.context, count, FILL_TILE, most), FILL_TILE);
    penstock__parallel(batched->stream.context, (count + fill.each - 1) / fill.each, fill_item, &fill);
}
