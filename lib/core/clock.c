/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the batches of an executor cost by the device's clock. */
#include "core/clock.h"
#include "core/meter.h"

#include <math.h>

#define SELDOM 256 /* batches from one that is timed to the next: what there is to wait for costs little then */

bool penstock__clock_due(const struct penstock__clock *clock)
{
    uint64_t number = clock->batches + 1;
    return number % SELDOM == 0 || !(number & (number - 1));
}

void penstock__clock_start(struct penstock__clock *clock, struct penstock__lap *lap, struct penstock__times *times,
                           size_t frames, bool timed)
{
    clock->batches++;
    lap->times = times;
    lap->frames += frames;
    lap->stamping = timed;
    if (timed)
        lap->timed = frames;
}

/* A clock that fails does no harm to the work. */
void penstock__clock_stamp(struct penstock__lap *lap, struct penstock_slot *slot, enum penstock__stamp which)
{
    if (!lap->stamping || !slot->device->backend->stamp(slot, which))
        return;
    lap->stamping = false;
    lap->timed = 0;
}

static bool read_clock(struct penstock__times *read, struct penstock_slot *slot, bool copied)
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

void penstock__clock_stop(struct penstock__clock *clock, struct penstock__lap *lap, struct penstock_slot *slot,
                          bool copied)
{
    struct penstock__times read;
    if (lap->timed && read_clock(&read, slot, copied)) {
        clock->frames = clock->frames / 2 + (double)lap->timed;
        clock->transfer_s = clock->transfer_s / 2 + read.transfer_s;
        clock->kernel_s = clock->kernel_s / 2 + read.kernel_s;
    }
    if (lap->times) {
        double share = clock->frames > 0 ? (double)lap->frames / clock->frames : (double)NAN;
        lap->times->transfer_s += share * clock->transfer_s;
        lap->times->kernel_s += share * clock->kernel_s;
    }
    *lap = (struct penstock__lap){.timed = 0};
}
