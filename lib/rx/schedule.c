/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The order of work when a chunk of the stream is there: search, examine, decode. Each step is spread over the
 * context's threads; between them lies what depends on order. Each remembers how far it has come, so that after an
 * error the next call goes on where this one stopped.
 */
#include "ops/ofdm/ofdm.h"
#include "rx/receiver.h"

#include <math.h>
#include <string.h>

/* A candidate's examination: a frame of its own where it is one. */
struct penstock__rx_examined {
    enum penstock__rx_finding finding;
    struct penstock__rx_frame *frame; /* to be made in, before; NULL: there was no memory */
};

struct penstock__rx_examined *penstock__rx_examined_new(size_t candidates)
{
    return penstock__alloc(candidates * sizeof(struct penstock__rx_examined));
}

static void examine(void *argument, size_t index, unsigned worker)
{
    struct penstock__rx *rx = argument;
    const struct penstock__rx_standard *standard = rx->standard;
    struct penstock__rx_candidate *candidate = &rx->candidates[index];
    struct penstock__rx_examined *examined = &rx->examined[index];
    struct penstock__rx_worker *own = &rx->workers[worker];
    const int64_t first = candidate->position - (int64_t)standard->before;
    memset(own->frame, 0, standard->frame_bytes);
    examined->finding =
        standard->examine(rx, own->own, candidate, rx->samples + (first - rx->base), rx->end, own->frame);
    if (examined->finding != PENSTOCK__RX_FRAME)
        return;
    if (examined->frame) {
        own->frame->memory = examined->frame->memory;
        own->frame->memory_bytes = examined->frame->memory_bytes;
    } else if (!(examined->frame = penstock__alloc(standard->frame_bytes))) {
        return;
    }
    memcpy(examined->frame, own->frame, standard->frame_bytes);
}

/* Spare frames for what the first `count` candidates may be. */
static void take_spare(struct penstock__rx *rx, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rx->examined[i].frame = rx->spare_count ? rx->spare[--rx->spare_count] : NULL;
}

static int no_memory(void)
{
    return penstock__error(PENSTOCK_ERR_MEMORY, "receiver: no memory for a frame");
}

/* What is entered is written, its first line at least. */
static void fetch(const struct penstock__rx *rx, size_t i, size_t count)
{
    if (i < count && rx->examined[i].finding == PENSTOCK__RX_FRAME && rx->examined[i].frame)
        __builtin_prefetch(rx->examined[i].frame, 1);
}

/* Candidates whose samples are all there become frames, in their order; the first one that needs more ends it. */
static int examine_candidates(struct penstock__rx *rx)
{
    size_t count = 0, entered = 0;
    int status = PENSTOCK_OK;
    while (count < rx->candidate_count && rx->candidates[count].until <= rx->end)
        count++;
    take_spare(rx, count);
    penstock__parallel(rx->stream.context, count, examine, rx);
    for (size_t i = 0; i < PENSTOCK__RX_AHEAD; i++)
        fetch(rx, i, count);
    for (size_t i = 0; i < count; i++) {
        struct penstock__rx_examined *examined = &rx->examined[i];
        fetch(rx, i + PENSTOCK__RX_AHEAD, count);
        bool is_frame = examined->finding == PENSTOCK__RX_FRAME, goes_on = entered == i && !status;
        if (goes_on && is_frame && !examined->frame)
            status = no_memory();
        if (goes_on && is_frame && examined->frame)
            penstock__rx_enter(rx, examined->frame);
        else if (is_frame)
            penstock__rx_give_back(rx, examined->frame); /* it comes again */
        else
            penstock__rx_put_back(rx, examined->frame);
        entered += goes_on && !status && examined->finding != PENSTOCK__RX_LATER;
    }
    rx->candidate_count -= entered;
    memmove(rx->candidates, rx->candidates + entered, rx->candidate_count * sizeof *rx->candidates);
    return status;
}

int penstock__rx_work(struct penstock__rx *rx, bool all)
{
    int status;
    penstock__rx_search(rx);
    if ((status = examine_candidates(rx)))
        return status;
    if (rx->stream.finished)
        penstock__rx_truncate(rx);
    status = penstock__rx_decode(rx, all);
    rx->counters.fallbacks = penstock__ofdm_fallbacks(rx->ofdm) - rx->earlier_fallbacks;
    if (status)
        return status;
    rx->worked = rx->end;
    rx->sent_since = penstock__rx_device_flying(rx) ? rx->since : (double)INFINITY;
    rx->since = (double)INFINITY;
    return PENSTOCK_OK;
}
