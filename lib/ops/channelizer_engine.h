/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of the filter bank by the polyphase sums and a child FFT plan.
 *
 * On the CPU each thread has a plan of its own and takes some frames through sums and transforms while they are in its
 * cache: frames are made when they are asked for, where they are wanted. On other devices threads make the sums of a
 * batch, which then travels while they make those of the next.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_ENGINE_H
#define PENSTOCK_OPS_CHANNELIZER_ENGINE_H

#include "core/batcher.h"
#include "ops/channelizer_bank.h"

struct channelizer_engine {
    penstock_context *context;
    struct channel_bank bank;
    const size_t *select; /* NULL: all channels */
    size_t kept;
    penstock_plan **plans; /* on the CPU one a thread, else one */
    unsigned plan_count;
    struct penstock__batcher *batcher; /* NULL on the CPU */
    size_t item;                       /* frames that a thread takes at a time */
    size_t scratch_values;             /* of a thread */
    penstock_cf32 *scratch;
    int *statuses; /* of each thread's last item */
};

/* Where frames go: one after the other, or a stream for each value of a frame. The other one is NULL. */
struct frame_sink {
    penstock_cf32 *frames;
    void *const *streams;
};

/* `engine` holds context, bank and selection. After a failure too it is to be freed; bank and selection remain the
 * caller's. */
int penstock__channelizer_engine_init(struct channelizer_engine *engine, double max_latency_s, const char *device);
void penstock__channelizer_engine_free(struct channelizer_engine *engine);

/* On the CPU: frames `first` .. `first + count` - 1 of the stream, `in` being the first one's window, to the sink from
 * frame `at` on. */
int penstock__channelizer_engine_run(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                     size_t count, const struct frame_sink *sink, size_t at);

/* On other devices: as many of these frames as there is room for are sent; how many. */
int penstock__channelizer_engine_send(struct channelizer_engine *engine, const penstock_cf32 *in, uint64_t first,
                                      size_t count, size_t *sent);

/* On other devices: up to `count` frames that are ready, to the sink from frame `at` on; how many. */
int penstock__channelizer_engine_take(struct channelizer_engine *engine, bool wait, const struct frame_sink *sink,
                                      size_t at, size_t count, size_t *taken);

#endif
