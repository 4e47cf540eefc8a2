/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of a filter in one kernel of the device, where it has one: forward transforms, products, reverse transform,
 * values left out, rotation. */
#ifndef PENSTOCK_OPS_FILTER_FUSED_H
#define PENSTOCK_OPS_FILTER_FUSED_H

#include "core/resident.h"
#include "ops/filter_engine.h"

struct filter_engine;

struct filter_fused {
    struct penstock_problem problem;
    struct penstock__binding *binding; /* NULL: the generic way does it all */
    penstock_cf32 *response;           /* taps' spectra for samples as they are in memory, and the rotation */
    uint64_t fills;                    /* of the response: its identity */
    uint64_t taps_id;                  /* what it holds */
    size_t channel;
    char *changed; /* values of a block in which taps change */
};

/* Of an opened device and a shape of any length: whether it may have such a kernel. */
bool penstock__filter_fused_possible(const struct penstock_device *device, const struct filter_shape *shape);

/* Leaves `binding` NULL where the device has no such kernel for the shape, or where what it has fails its check (with a
 * log line). An error only for want of memory. */
int penstock__filter_fused_init(struct filter_engine *engine, struct penstock_device *device);
void penstock__filter_fused_free(struct filter_fused *fused);

/* `count` blocks from `first` on with the same taps. After an error the kernel is given up. */
int penstock__filter_fused_run(struct filter_engine *engine, size_t channel, const struct filter_taps *taps,
                               uint64_t first, const void *in, size_t count, void *out);

int penstock__filter_fused_resident(penstock_resident **resident, struct filter_engine *engine,
                                    const struct filter_taps *taps, const void *in, size_t in_bytes, size_t count);

#endif
