/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of a filter in one kernel of the device, where it has one: forward transform, product, reverse transform. */
#ifndef PENSTOCK_OPS_FILTER_FUSED_H
#define PENSTOCK_OPS_FILTER_FUSED_H

#include "core/resident.h"
#include "ops/filter_engine.h"

struct filter_fused {
    struct penstock_problem problem;
    struct penstock__binding *binding; /* NULL: the generic way does it all */
    penstock_cf32 *response;           /* n values: taps' spectrum for samples as they are in memory */
};

/* Leaves `binding` NULL where the device has no such kernel for the shape, or where what it has fails its check (with a
 * log line). An error only for want of memory. */
int penstock__filter_fused_init(struct filter_fused *fused, struct penstock_device *device,
                                const struct filter_shape *shape, size_t rows);
void penstock__filter_fused_free(struct filter_fused *fused);

/* `count` blocks with the same taps. After an error the kernel is given up. */
int penstock__filter_fused_run(struct filter_fused *fused, const struct filter_taps *taps, const void *in, size_t count,
                               penstock_cf32 *out);

int penstock__filter_fused_resident(penstock_resident **resident, struct filter_fused *fused,
                                    const struct filter_taps *taps, const void *in, size_t in_bytes, size_t count);

#endif
