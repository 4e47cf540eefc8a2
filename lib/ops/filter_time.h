/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter's block takes, by running blocks. */
#ifndef PENSTOCK_OPS_FILTER_TIME_H
#define PENSTOCK_OPS_FILTER_TIME_H

#include "ops/filter_engine.h"

/* What is asked for, but for the transform length. */
struct filter_wanted {
    penstock_context *context;
    const struct filter_shift *shifts;
    size_t channels;
    const char *text; /* of the device */
    struct penstock_device *device;
    bool by_clock; /* the device's, where one kernel does it all */
};

/* What is timed, in picoseconds a block, and a yardstick: what a fixed work of the processor took in the same moments,
 * in nanoseconds. A processor that others keep busy, or that runs at a lower clock, is slower at both, so that times of
 * different days compare by their ratios. 1 where the work is a device's. */
struct filter_cost {
    uint64_t picoseconds, yardstick;
};

/* Of a shape that is set. Where all is done near the processor and `beside` is not NULL, its block is timed in turns
 * with this one's, and what is told is their ratio times `known`, what its block takes: neighbours on the machine slow
 * both alike. */
int penstock__filter_time(struct filter_cost *cost, const struct filter_shape *shape,
                          const struct filter_wanted *wanted, const struct filter_shape *beside,
                          const struct filter_cost *known);

/* The yardstick's least time so far in this process is this, if it is less; and whether one is more than that. */
void penstock__filter_note_yardstick(uint64_t yardstick);
bool penstock__filter_is_slow(uint64_t yardstick);

#endif
