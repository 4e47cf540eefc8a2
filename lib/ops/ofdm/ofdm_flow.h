/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A batch of OFDM symbols on its way through the slots of the device's kernel. It goes in chunks, each of which is
 * listed by the context's threads while the device copies and computes those before.
 */
#ifndef PENSTOCK_OPS_OFDM_FLOW_H
#define PENSTOCK_OPS_OFDM_FLOW_H

#include "ops/ofdm/ofdm_fused.h"

/* What a slot's chunk has in host memory that the device reaches by itself. */
struct ofdm_flow_slot {
    struct penstock_ofdm_descriptor *descriptors;
    char *rows; /* where all was asked for */
    size_t place_room, row_bytes;
    size_t first, count; /* symbols whose rows are on their way; 0: none */
};

struct ofdm_flow {
    struct ofdm_flow_slot slots[PENSTOCK__MAX_SLOTS]; /* as many as the kernel's executor has */
    struct ofdm_flow_span *spans;                     /* of the threads' shares of a chunk */
    size_t span_room;
    uint32_t spacing; /* of the symbols that were looked at last; 0: they are listed */
};

/* A batch whose samples are as they are in memory, the kernel being chosen. */
struct ofdm_flow_work {
    struct ofdm_fused *fused;
    const struct ofdm_grid *grid;
    const penstock_ofdm_batch *batch;
    const penstock_ofdm_result *result;
    size_t skip, length; /* from a symbol's start to its transform, and to the next symbol */
    char *made;          /* where soft bits and points go as the kernel leaves them, before all else; NULL: all that was
                            asked for goes to `result` */
};

enum { OFDM_FLOW_SCATTERED = 1, OFDM_FLOW_REFUSED };

/* Looks at the symbols itself, while the device has those before. *chunks grows by how many there were.
 * OFDM_FLOW_SCATTERED where symbols lie too far apart or out of order for that, OFDM_FLOW_REFUSED where one is not what
 * ofdm.h asks for; a negative status is the device's failure. Either way nothing is in flight, and all results are to
 * be made anew. */
int penstock__ofdm_flow_run(struct ofdm_flow *flow, const struct ofdm_flow_work *work, uint64_t *chunks);

/* Symbols, `length` samples each, that a slot takes at once. */
size_t penstock__ofdm_flow_chunk(const struct penstock_problem *problem, size_t length);

/* A batch of no more than that goes to slot `slot`, which is idle, and to work->made. As penstock__ofdm_flow_run(), but
 * that it is on its way; penstock__executor_wait() ends it. */
int penstock__ofdm_flow_start(struct ofdm_flow *flow, const struct ofdm_flow_work *work, unsigned slot);

void penstock__ofdm_flow_free(struct ofdm_flow *flow, penstock_context *context);

#endif
