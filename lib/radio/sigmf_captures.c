/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the captures of SigMF metadata to gaps and times. */
#include "backends/backend.h"
#include "radio/sigmf.h"

/* core:global_index of a capture that begins at `position`, as far as the captures before tell: what was lost before it
 * on top of that. The first index that is said tells where all of them count from. */
static void find_gap(struct penstock__sigmf *sigmf, const struct penstock__sigmf_capture *said, uint64_t position,
                     struct penstock__capture *next)
{
    uint64_t expected = sigmf->first_index + position;
    if (!said->indexed) {
        next->unknown += sigmf->indexed; /* there was a count, and it is not known how it goes on */
    } else if (!sigmf->indexed) {
        sigmf->indexed = true;
        sigmf->first_index = said->index > position ? said->index - position : 0;
    } else if (said->index >= expected) {
        next->lost += said->index - expected;
    } else {
        next->unknown++;
        sigmf->went_back = true;
    }
}

static int add_first(struct penstock__sigmf *sigmf, const struct penstock__sigmf_capture *said)
{
    struct penstock__capture first = {.frequency_hz = said->frequency_hz,
                                      .timed = said->timed,
                                      .origin_ns = said->time_ns,
                                      .origin = said->sample_start};
    sigmf->indexed = said->indexed;
    sigmf->first_index = said->index > said->sample_start ? said->index - said->sample_start : 0;
    return penstock__captures_add(&sigmf->captures, &first);
}

int penstock__sigmf_add_capture(struct penstock__sigmf *sigmf, const struct penstock__sigmf_capture *said)
{
    struct penstock__captures *captures = &sigmf->captures;
    if (!captures->count)
        return add_first(sigmf, said);
    const struct penstock__capture *last = &captures->items[captures->count - 1];
    struct penstock__capture next = *last;
    next.sample = said->sample_start;
    find_gap(sigmf, said, said->sample_start + last->lost, &next);
    if (said->frequency_hz > 0.0)
        next.frequency_hz = said->frequency_hz;
    if (said->timed || next.unknown > last->unknown) {
        next.timed = said->timed;
        next.origin_ns = said->time_ns;
        next.origin = next.sample + next.lost;
    }
    bool same = next.lost == last->lost && next.unknown == last->unknown && !said->timed &&
                !(next.frequency_hz > last->frequency_hz || next.frequency_hz < last->frequency_hz);
    return same ? PENSTOCK_OK : penstock__captures_add(captures, &next);
}
