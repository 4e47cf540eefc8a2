/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the batches of an executor cost by the device's clock. */
#include "core/plan/event_timing.h"
#include "core/stream/meter.h"

#include <math.h>

#define SELDOM 256 /* batches from one that is timed to the next: what there is to wait for costs little then */

bool penstock__event_clock_due(const struct penstock__event_clock *clock)
{
    uint64_t number = clock->batches + 1;
    return number % SELDOM == 0 || !(number & (number - 1));
}

void penstock__event_clock_start(struct penstock__event_clock *clock, struct penstock__event_timing *timing,
                                 struct penstock__event_times *event_times, size_t frames, bool timed)
{
    clock->batches++;
    timing->event_times = event_times;
    timing->frames += frames;
    timing->stamping = timed;
    if (timed)
        timing->timed = frames;
}

/* A clock that fails does no harm to the work. */
void penstock__event_clock_stamp(struct penstock__event_timing *timing, struct penstock_slot *slot,
                                 enum penstock__stamp which)
{
    if (!timing->stamping || !slot->device->backend->stamp(slot, which))
        return;
    timing->stamping = false;
    timing->timed = 0;
}

static bool read_clock(struct penstock__event_times *read, struct penstock_slot *slot, bool copied)
{
    const struct penstock_backend *backend = slot->device->backend;
    double up = 0, down = 0;
    if (backend->elapsed(slot, PENSTOCK__STAMP_UPLOADED, PENSTOCK__STAMP_COMPUTED, &read->kernel_s) ||
        (copied && (backend->elapsed(slot, PENSTOCK__STAMP_START, PENSTOCK__STAMP_UPLOADED, &up) ||
                    backend->elapsed(slot, PENSTOCK__STAMP_COMPUTED, PENSTOCK__STAMP_DOWNLOADED, &down))))
        return false;
    read->transfer_s = up + down;
    return true;
}

void penstock__event_clock_stop(struct penstock__event_clock *clock, struct penstock__event_timing *timing,
                                struct penstock_slot *slot, bool copied)
{
    struct penstock__event_times read;
    if (timing->timed && read_clock(&read, slot, copied)) {
        clock->frames = clock->frames / 2 + (double)timing->timed;
        clock->transfer_s = clock->transfer_s / 2 + read.transfer_s;
        clock->kernel_s = clock->kernel_s / 2 + read.kernel_s;
    }
    if (timing->event_times) {
        double share = clock->frames > 0 ? (double)timing->frames / clock->frames : (double)NAN;
        timing->event_times->transfer_s += share * clock->transfer_s;
        timing->event_times->kernel_s += share * clock->kernel_s;
    }
    *timing = (struct penstock__event_timing){.timed = 0};
}
