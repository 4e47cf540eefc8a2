/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the batches of an executor cost by the device's clock. The first batch is timed, then one whenever their number
 * has doubled, then each 256th, with nothing else of the executor on its way, so that no time counts that a batch waits
 * for another one. All batches count by their frames as those that were timed.
 */
#ifndef PENSTOCK_CORE_EVENT_TIMING_H
#define PENSTOCK_CORE_EVENT_TIMING_H

#include "backends/backend.h"

struct penstock__event_times;

/* In the order of a batch. */
enum penstock__stamp {
    PENSTOCK__STAMP_START,
    PENSTOCK__STAMP_UPLOADED,
    PENSTOCK__STAMP_COMPUTED,
    PENSTOCK__STAMP_DOWNLOADED
};

/* Of an executor: sums over batches that were timed, the older ones counting less. */
struct penstock__event_clock {
    uint64_t batches; /* all of them */
    double frames, transfer_s, kernel_s;
};

/* Of a slot: what was sent since the last wait. */
struct penstock__event_timing {
    struct penstock__event_times *event_times; /* NULL: nobody asks */
    size_t frames, timed;                      /* the second: of the batch that is timed; 0: none is */
    bool stamping;                             /* the one that is being sent is that batch */
};

/* Whether the next batch is one to be timed. */
bool penstock__event_clock_due(const struct penstock__event_clock *clock);

/* A batch is about to be sent; `timed`: as penstock__event_clock_due() said, and everything before it is over. */
void penstock__event_clock_start(struct penstock__event_clock *clock, struct penstock__event_timing *timing,
                                 struct penstock__event_times *event_times, size_t frames, bool timed);

/* Has the device note its time, where the batch is timed. */
void penstock__event_clock_stamp(struct penstock__event_timing *timing, struct penstock_slot *slot,
                                 enum penstock__stamp which);

/* All batches of the slot are over. `copied`: by way of copies. */
void penstock__event_clock_stop(struct penstock__event_clock *clock, struct penstock__event_timing *timing,
                                struct penstock_slot *slot, bool copied);

#endif
