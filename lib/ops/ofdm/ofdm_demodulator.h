/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What an OFDM demodulator consists of, for its own files.
 *
 * Where the device is not ready at once, a demodulator of its own is made there by another thread, while this one works
 * on the CPU. Between two batches, which have no history, this one becomes that one.
 */
#ifndef PENSTOCK_OPS_OFDM_DEMODULATOR_H
#define PENSTOCK_OPS_OFDM_DEMODULATOR_H

#include "core/choice/cpu_while_compiling.h"
#include "ops/ofdm/ofdm_flow.h"

/* A description whose arrays are its own. */
struct ofdm_order {
    penstock_context *context;
    penstock_ofdm_desc desc; /* checked */
    enum ofdm_way way;
    penstock__ofdm_chooser *choose; /* or NULL */
    int32_t *carriers, *pilots;
    penstock_cf32 *pilot_values;
};

struct penstock_ofdm {
    penstock_context *context;
    struct ofdm_order *order;            /* what it is made from, while it may go over to a device; else NULL */
    struct penstock__async_build *build; /* the demodulator on that device, or NULL */
    struct penstock__standby standby;
    uint64_t cpu_while_compiling; /* batches that the CPU did then */

    penstock_plan *plan;
    const struct ofdm_kernels *kernels;
    struct ofdm_grid grid;
    size_t skip;   /* from a symbol's start to its FFT window */
    size_t length; /* of a symbol, guard interval included */
    penstock_format format;
    bool convert; /* the plan does not read this format at an offset: blocks are packed as CF32 */
    size_t block; /* symbols at most */
    struct penstock_gather *gather;
    penstock_cf32 *fft; /* n a symbol of the block */
    void *packed;       /* n samples a symbol of the block */
    struct ofdm_worker *workers;
    unsigned worker_count;
    char *here; /* the workers' memory of ofdm_here.c, here_bytes each */
    size_t here_bytes;
    struct ofdm_fused *fused; /* executors point into it */
    struct ofdm_flow flow;
    uint64_t fused_blocks;
};

/* ---------------------------------------------------------------- ofdm.c ---------------------- */

/* The transforms that a demodulator sends to its device. */
struct penstock_problem penstock__ofdm_transforms(const penstock_ofdm_desc *desc);

/* On a device, "prefer:" one, or, with the device of the transforms alone, "auto". */
int penstock__ofdm_make(penstock_ofdm **ofdm, const struct ofdm_order *order, const char *device);

/* ---------------------------------------------------------------- ofdm_choose.c --------------- */

/* "prefer:" the device whose whole demodulator is the fastest. */
int penstock__ofdm_choose(char device[64], const struct ofdm_order *order);

/* ---------------------------------------------------------------- ofdm_here.c ----------------- */

/* A batch, checked, by all threads, each a part at a time; *done: whether the device works so. */
int penstock__ofdm_run_parts(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result,
                             bool *done);

/* ---------------------------------------------------------------- ofdm_order.c ---------------- */

int penstock__ofdm_order_new(struct ofdm_order **order, penstock_context *context, const penstock_ofdm_desc *desc,
                             enum ofdm_way way);
void penstock__ofdm_order_free(struct ofdm_order *order);

/* ---------------------------------------------------------------- ofdm_enqueue.c -------------- */

/* Whether penstock_ofdm_enqueue() works, as things are now. */
int penstock__ofdm_enqueues(penstock_ofdm *ofdm);

/* The kernel that it would have, if no other device is waited for; or NULL. */
const struct penstock__executor *penstock__ofdm_enqueuing(const penstock_ofdm *ofdm);

/* The same of a demodulator that has but one frame, which is sent with its first call. */
int penstock__ofdm_enqueue_more(penstock_ofdm *ofdm, const penstock_ofdm_frame *frame, const penstock_buffer *in,
                                penstock_buffer *out, size_t symbols, penstock_queue *queue);

/* ---------------------------------------------------------------- ofdm_handover.c ------------- */

/* Between two batches: goes over to the device that is ready by now. */
void penstock__ofdm_collect(penstock_ofdm *ofdm);

#endif
