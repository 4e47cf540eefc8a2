/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of a filter in one kernel of the device, where it has one: forward transforms, products, reverse transform,
 * values left out, rotation. */
#ifndef PENSTOCK_OPS_FILTER_FUSED_H
#define PENSTOCK_OPS_FILTER_FUSED_H

#include "ops/filter/filter_sets.h"

struct filter_engine;

/* Taps' spectra for samples as they are in memory, and the rotation. */
struct filter_response {
    penstock_cf32 *values;
    uint64_t id;      /* no other one has it */
    uint64_t taps_id; /* what it holds */
};

/* On one of the device's members: channel 0's response. */
struct filter_there {
    penstock_buffer *response; /* NULL: nothing was enqueued there yet */
    uint64_t id;               /* its identity */
};

struct filter_fused {
    struct penstock_problem problem;
    struct penstock__executor *executor; /* NULL: the generic way does it all */
    bool tried;                          /* to make it, */
    struct penstock__failure failure;    /* which gave this */
    struct filter_response *responses;   /* of each channel */
    size_t channels;
    struct filter_sets sets;    /* where there is interpolation */
    uint64_t fills;             /* of responses: gives them their identity */
    char *changed;              /* values of a block in which taps change */
    struct filter_there *there; /* of each member; NULL before blocks were first enqueued */
    unsigned there_count;
};

/* Of an opened device and a shape of any length: whether it may have such a kernel. */
bool penstock__filter_fused_possible(const struct penstock_device *device, const struct filter_shape *shape);

/* Leaves `executor` NULL where the device has no such kernel for the shape, or where what it has fails its check. An
 * error only for want of memory. */
int penstock__filter_fused_make(struct filter_engine *engine, struct penstock_device *device);

/* The same unless that was done, and a log line where it fails. */
int penstock__filter_fused_init(struct filter_engine *engine, struct penstock_device *device);
void penstock__filter_fused_free(struct filter_fused *fused);

/* Blocks with the same taps, each channel, to be waited for in this slot, one of penstock__filter_fused_slots(), which
 * is idle. After an error of either the kernel is given up, and what is in other slots with it. The channel's response
 * is filled anew where it does not hold these taps: no batch may be on its way with it then. */
int penstock__filter_fused_send(struct filter_engine *engine, size_t channel, const struct filter_taps *taps,
                                uint64_t first, const void *in, size_t count, void *out, unsigned slot);
int penstock__filter_fused_wait(struct filter_engine *engine, unsigned slot);
bool penstock__filter_fused_holds(const struct filter_engine *engine, size_t channel, const struct filter_taps *taps);
unsigned penstock__filter_fused_slots(const struct penstock_device *device);

/* `count` blocks from `first` on with the same taps, all slots being idle. After an error the kernel is given up. */
int penstock__filter_fused_run(struct filter_engine *engine, size_t channel, const struct filter_taps *taps,
                               uint64_t first, const void *in, size_t count, void *out);

/* Blocks of channel 0 with these taps, the samples being on the device. No batch may be on its way. */
int penstock__filter_fused_enqueue(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                                   const penstock_buffer *in, penstock_buffer *out, size_t count,
                                   penstock_queue *queue);

/* The same with the stream's own blocks, turned as the stream has them. */
int penstock__filter_fused_put(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                               const penstock_buffer *in, penstock_buffer *out, size_t count, penstock_queue *queue);

#endif
