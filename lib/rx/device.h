/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames that a device takes from samples to bits. A batch goes there in one copy: lists, and then the samples of its
 * frames. Kernels demodulate its symbols, bring their soft bits to rows of coded bits, decode these, and count; counts
 * and bits come back in one copy. Batches have queues and memory of their own.
 */
#ifndef PENSTOCK_RX_DEVICE_H
#define PENSTOCK_RX_DEVICE_H

#include "core/buffer.h"
#include "rx/receiver.h"

#define PENSTOCK__RX_SYMBOLS      8192 /* of a batch, */
#define PENSTOCK__RX_FRAMES       512
#define PENSTOCK__RX_BATCHES      1 /* on their way to each device, */
#define PENSTOCK__RX_BATCHES_HERE 3 /* and prepared, just sent, and finished */

struct penstock__rx_item {
    struct penstock__rx_frame *frame;
    size_t sample, samples, symbol; /* where its part of the batch begins */
    size_t coded, packed;           /* likewise, in bytes */
    size_t steps;
    unsigned rate, rate_steps; /* of a symbol */
};

/* Parts of what is sent: descriptors, frames' coefficients, blocks, symbols, samples. */
enum penstock__rx_part {
    PENSTOCK__RX_DESCRIPTORS,
    PENSTOCK__RX_COEFFICIENTS,
    PENSTOCK__RX_BLOCKS,
    PENSTOCK__RX_CODED,
    PENSTOCK__RX_SAMPLES,
    PENSTOCK__RX_PARTS
};

struct penstock__rx_device_batch {
    penstock_queue *queue;
    penstock_buffer *sent, *parts[PENSTOCK__RX_PARTS]; /* which are of it */
    penstock_buffer *points, *rows, *decoded, *results;
    char *to_send, *received; /* in the host's memory */
    struct penstock__rx_item *items;
    penstock_ofdm_frame *frames;
    size_t item_count, sample_count, symbol_count, coded_bytes, packed_bytes;
};

struct penstock__rx_device {
    struct penstock__rx *rx;
    struct penstock__executor *ofdm; /* the demodulator's own */
    struct penstock__executor *deinterleave, *viterbi, *tally;
    struct penstock_problem problems[3]; /* theirs */
    int32_t *rates;
    size_t pairs;                                                       /* of a frame's coefficients */
    size_t part_at[PENSTOCK__RX_PARTS], part_bytes[PENSTOCK__RX_PARTS]; /* in what is sent */
    unsigned batch_count;
    struct penstock__rx_device_batch *batches;
};

/* ---------------------------------------------------------------- device_batch.c -------------- */

/* Memory and queue; `batch` is zeroed, and may be freed after a failure too. Which of several devices `member` says. */
int penstock__rx_device_batch_init(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device,
                                   unsigned member);
void penstock__rx_device_batch_free(struct penstock__rx_device_batch *batch, const struct penstock__rx_device *device);

/* As many complete frames as a batch holds, from `frame` on; returns the first that was left. */
struct penstock__rx_frame *penstock__rx_device_collect(const struct penstock__rx_device *device,
                                                       struct penstock__rx_device_batch *batch,
                                                       struct penstock__rx_frame *frame);

/* Samples and lists of frame `index`, by one thread; PENSTOCK_ERR_MEMORY for want of the frame's own. */
int penstock__rx_device_prepare(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch,
                                size_t index, unsigned worker);

/* Sends it on its way; nothing of it may be touched until the wait. */
int penstock__rx_device_send(const struct penstock__rx_device *device, struct penstock__rx_device_batch *batch);
int penstock__rx_device_wait(struct penstock__rx_device_batch *batch);

/* The end of frame `index`, by one thread. */
void penstock__rx_device_finish(const struct penstock__rx_device *device, const struct penstock__rx_device_batch *batch,
                                size_t index, unsigned worker);

#endif
