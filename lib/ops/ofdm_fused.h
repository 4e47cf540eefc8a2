/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel of the device, where it has one: what goes to it, symbols and gains. */
#ifndef PENSTOCK_OPS_OFDM_FUSED_H
#define PENSTOCK_OPS_OFDM_FUSED_H

#include "core/resident.h"
#include "ops/ofdm_symbol.h"

struct ofdm_fused {
    struct penstock_problem problem;
    struct penstock__binding *binding; /* NULL: the generic plan does it all */
    uint32_t *bins;
    struct penstock_ofdm_place *places; /* of a block's symbols */
    penstock_cf32 *gains;               /* of a batch's frames */
    size_t frame_capacity;
    double highest; /* level of these frames */
};

/* Leaves `binding` NULL where the device has no such kernel for the grid, or where what it has fails its check (with a
 * log line). An error only for want of memory. */
int penstock__ofdm_fused_init(struct ofdm_fused *fused, struct penstock_device *device, const struct ofdm_grid *grid,
                              const penstock_ofdm_desc *desc, size_t block);
void penstock__ofdm_fused_free(struct ofdm_fused *fused);

/* Whether the kernel gives all that is wanted of the batch; then the frames' gains are made. A negative status is an
 * error. */
int penstock__ofdm_fused_begin(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                               const penstock_ofdm_result *result);

/* A block's symbols, whose transforms are where `gather` says, into `soft`. After an error the kernel is given up. */
int penstock__ofdm_fused_run(struct ofdm_fused *fused, const penstock_ofdm_symbol *symbols,
                             const struct penstock_gather *gather, size_t count, const void *in, size_t samples,
                             int8_t *soft);

/* `symbols` symbols of `frame`, `spacing` samples from one's transform to the next one's, the first at `start`. */
int penstock__ofdm_fused_resident(penstock_resident **resident, struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                  const void *in, size_t in_bytes, const penstock_ofdm_frame *frame, size_t start,
                                  size_t spacing, size_t symbols);

#endif
