/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A plan, a queue and buffers of a device, and samples for them. */
#ifndef PENSTOCK_TEST_ENQUEUE_RIG_H
#define PENSTOCK_TEST_ENQUEUE_RIG_H

#include "test.h"

#include <penstock/penstock.h>

enum { N = 64, FRAMES = 32, BYTES = FRAMES * N * 8, MOST = 1 << 18 };

static _Alignas(64) char in[MOST], want[MOST], got[MOST];

static inline void rig_fill_in(void)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < MOST / sizeof(float); i++)
        memcpy(in + i * sizeof(float), &(float){(float)test_uniform(&seed)}, sizeof(float));
}

/* A plan's device memory and queue. */
struct rig {
    penstock_plan *plan;
    penstock_queue *queue;
    penstock_buffer *in, *out;
};

static inline int rig_open(struct rig *rig, penstock_context *context, const char *device, size_t in_bytes,
                           size_t out_bytes)
{
    int status;
    if ((status = penstock_queue_new(&rig->queue, context, device)) ||
        (status = penstock_buffer_new(&rig->in, context, device, in_bytes)) ||
        (status = penstock_buffer_new(&rig->out, context, device, out_bytes)))
        return status;
    return penstock_buffer_upload(rig->in, in, in_bytes, rig->queue);
}

static inline void rig_close(struct rig *rig)
{
    penstock_queue_free(rig->queue);
    penstock_buffer_free(rig->in);
    penstock_buffer_free(rig->out);
    penstock_plan_free(rig->plan);
    *rig = (struct rig){0};
}

#endif
