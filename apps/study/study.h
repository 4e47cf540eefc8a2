/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Studies of `penstock bench --study`. */
#ifndef PENSTOCK_APPS_STUDY_H
#define PENSTOCK_APPS_STUDY_H

#include "shared/command.h"

struct study {
    const char *device;     /* NULL: auto */
    const char *only;       /* of --study auto: a part of a case's name; NULL: all */
    const char *png;        /* picture of the curves; NULL: none */
    bool csv;               /* comma-separated values; not of packet error rates */
    size_t frames;          /* a point */
    size_t length;          /* bytes a frame, 14 .. 4095 */
    size_t most;            /* of the forms of transforms: the largest length or side; 0: all */
    double cfo_hz, sfo_ppm; /* offsets of carrier and clock, as in penstock_channel_desc */
};

/* Packet error rates of the eight rates over the signal-to-noise ratio: a table on standard output, and curves.
 * Returns an exit code. */
int study_packet_errors(const struct study *study);

/* The filter's rate over the number of taps, and how far it lies below its envelope. Returns an exit code. */
int study_taps(const struct study *study);

/* Time and energy of a transform, by the radix of its stages over the lengths, and of 2-D ones, by where scratch memory
 * is and how columns are reached, over their sides. Without a device: opencl. Return an exit code. */
int study_radix(const struct study *study);
int study_planes(const struct study *study);

/* What plans of transforms cost to make, cold and warm, and what tuning brings. Without a device: opencl. */
int study_plans(const struct study *study);

/* How long enqueueing a plan takes on the host. Without a device: cuda. Returns an exit code. */
int study_enqueue(const struct study *study);

/* The rate of "auto" over that of the best named device, in fresh processes that take turns: with cold and kept
 * answers, on an idle machine and beside a busy process on every second processor. `only`: of the cases whose names
 * contain it. */
int study_auto(const struct study *study);

#endif
