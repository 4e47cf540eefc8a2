/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Refuses what no filter bank can be, and says why; and how many taps one has that is given none. */
#include "ops/channelizer/channelizer_check.h"

#include <math.h>

#define MOST_CHANNELS 65536
#define MOST_TAPS     ((size_t)1 << 22)

#define CRITICAL_DEPTH 12 /* taps of a branch */
#define REACH          12 /* taps times width of the transition, which gives a stop band below -90 dB */
#define MOST_DEPTH     96

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter bank: " __VA_ARGS__)

int penstock__channels_check(size_t channels, size_t *hop)
{
    if (channels < 2 || channels > MOST_CHANNELS)
        return bad("%zu channels, not 2 .. %d", channels, MOST_CHANNELS);
    if (!*hop)
        *hop = channels;
    if (*hop > channels)
        return bad("hop is %zu, not 1 .. %zu (channels)", *hop, channels);
    return PENSTOCK_OK;
}

size_t penstock_channelizer_taps_length(size_t channels, size_t hop)
{
    if (penstock__channels_check(channels, &hop))
        return 0;
    if (hop == channels)
        return CRITICAL_DEPTH * channels;
    size_t width = channels - hop < hop ? channels - hop : hop; /* of the transition, in hops over `hop` */
    size_t depth = (REACH * hop + width - 1) / width;
    return channels * (depth < MOST_DEPTH ? depth : MOST_DEPTH);
}

int penstock__prototype_check(const float *taps, size_t *count, size_t channels, size_t hop)
{
    if (!*count && !taps)
        *count = penstock_channelizer_taps_length(channels, hop);
    if (*count < 1 || *count > MOST_TAPS)
        return bad("%zu taps, not 1 .. %zu", *count, MOST_TAPS);
    for (size_t k = 0; taps && k < *count; k++)
        if (!isfinite(taps[k]))
            return bad("tap %zu is not finite", k);
    return PENSTOCK_OK;
}

int penstock__selection_check(const size_t *select, size_t count, size_t channels)
{
    if (!select != !count)
        return bad("select and select_count go together: %s is there alone", select ? "select" : "select_count");
    if (count > channels)
        return bad("%zu of %zu channels selected", count, channels);
    if (!count)
        return PENSTOCK_OK;
    bool *seen = penstock__calloc(channels, sizeof *seen);
    int status = seen ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (size_t c = 0; c < count && !status; c++) {
        if (select[c] >= channels)
            status = bad("channel %zu selected, not 0 .. %zu", select[c], channels - 1);
        else if (seen[select[c]])
            status = bad("channel %zu is selected twice", select[c]);
        else
            seen[select[c]] = true;
    }
    penstock__free(seen);
    return status;
}
