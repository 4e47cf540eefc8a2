/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "radio/captures.h"
#include "backends/backend.h"

#include <math.h>
#include <string.h>

static int make_room(struct penstock__captures *captures)
{
    const size_t bytes = sizeof *captures->items;
    size_t room = captures->room ? 2 * captures->room : 4;
    struct penstock__capture *items;
    if (captures->count == PENSTOCK__CAPTURES && !captures->keep) {
        size_t half = captures->count / 2;
        memmove(captures->items, captures->items + half, (captures->count - half) * bytes);
        captures->count -= half;
        captures->forgotten += half;
        return PENSTOCK_OK;
    }
    if (captures->count < captures->room)
        return PENSTOCK_OK;
    if (!(items = penstock__realloc(captures->items, captures->room * bytes, room * bytes))) {
        captures->failed = true;
        return PENSTOCK_ERR_MEMORY;
    }
    captures->items = items;
    captures->room = room;
    return PENSTOCK_OK;
}

int penstock__captures_add(struct penstock__captures *captures, const struct penstock__capture *capture)
{
    int status;
    if (captures->count && captures->items[captures->count - 1].sample == capture->sample) {
        captures->items[captures->count - 1] = *capture;
        return PENSTOCK_OK;
    }
    if ((status = make_room(captures)))
        return status;
    captures->items[captures->count++] = *capture;
    return PENSTOCK_OK;
}

int penstock__captures_gap(struct penstock__captures *captures, uint64_t sample, uint64_t lost, bool unknown)
{
    struct penstock__capture next = captures->items[captures->count - 1];
    next.sample = sample;
    next.lost += lost;
    next.unknown += unknown;
    next.timed = next.timed && !unknown;
    return penstock__captures_add(captures, &next);
}

size_t penstock__captures_find(const struct penstock__captures *captures, uint64_t sample)
{
    size_t low = 0, high = captures->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (captures->items[middle].sample <= sample)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool penstock__capture_time(const struct penstock__capture *capture, double rate_hz, double after, int64_t *time_ns)
{
    /* 64 bits of mantissa, where there are as many, give the nearest nanosecond */
    long double samples = (long double)(capture->sample + capture->lost) - (long double)capture->origin + after;
    long double time = (long double)capture->origin_ns + samples * 1e9L / (long double)rate_hz;
    if (!capture->timed || !(time > -9.2e18L && time < 9.2e18L))
        return false;
    *time_ns = (int64_t)llroundl(time);
    return true;
}

void penstock__captures_free(struct penstock__captures *captures)
{
    penstock__free(captures->items);
    *captures = (struct penstock__captures){0};
}
