/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Timing with the samples in a device's memory, by the device's clock. */
#ifndef PENSTOCK_APPS_BENCH_ON_DEVICE_H
#define PENSTOCK_APPS_BENCH_ON_DEVICE_H

#include "bench_run.h"
#include "cases/cases.h"
#include "peers/peers.h"

#include <penstock/bench.h>

/* What is enqueued, of how many frames, and what a peer would have to do. */
struct device_bench {
    int (*enqueue)(void *argument, size_t frames, const penstock_buffer *in, penstock_buffer *out,
                   penstock_queue *queue);
    void *argument;
    const char *device; /* that it works on */
    penstock_format format;
    size_t frames;                   /* 0: until the samples fill 1 GiB, less where the device has less */
    size_t frame_samples, average;   /* samples from frame to frame; frames that make one output, */
    size_t output_bytes;             /* of so many bytes */
    size_t overlap_samples;          /* that the last frame reads beyond these */
    const void *block;               /* samples for the device to repeat; NULL: random ones */
    size_t block_bytes, frame_bytes; /* of these, a multiple of 16, and from frame to frame; 0: as the format has it */
    struct device_work work;         /* for a peer; frames, in and in_bytes are filled in */
    bool for_peer;                   /* the peer that was asked for may try */
};

/* Frames of this plan are what is enqueued. A status. */
int device_bench_of_plan(struct device_bench *bench, penstock_plan *plan);

/* `*done` is false, and the row as it was, where the device does not work in memory of its own. A row that was measured
 * keeps its rate as that with transfers. Returns an exit code. */
int bench_on_device(struct bench_row *row, const struct case_target *target, const struct device_bench *bench,
                    bool *done);

#endif
