/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complete frames by way of a device, in batches: each frame's samples are copied beside each other and its pilots
 * tracked; the device has the batch; then each frame is finished. The first and the last step treat frames side by
 * side, and while the device has a batch, those before and behind it are finished and prepared.
 */
#ifndef PENSTOCK_RX_BATCH_H
#define PENSTOCK_RX_BATCH_H

#include "rx/receiver.h"

struct penstock__rx_item {
    struct penstock__rx_frame *frame;
    size_t sample, samples, symbol; /* where its part of the batch begins */
    size_t coded, packed, steps;    /* likewise, in bytes, and of its code, where a device decodes it */
    unsigned rate, rate_steps;      /* of a symbol */
    bool whole;                     /* prepared: all of its samples are there, and kernels can have it */
};

/* What a batch begins with. */
struct penstock__rx_batch {
    struct penstock__rx_item *items; /* one a frame */
    penstock_ofdm_frame *frames;
    penstock_cf32 *samples;        /* the way's */
    penstock_ofdm_symbol *symbols; /* likewise; NULL: nobody needs them once they are listed */
    size_t item_count, sample_count, symbol_count, coded_bytes, packed_bytes;
};

/* What a device does of it, for `owner`. */
struct penstock__rx_way {
    size_t bytes, frames, symbols; /* of a batch: its object's, and those that it holds at most */
    bool lists;                    /* is not for frames that are unlisted */
    bool copies;                   /* the device reads samples from the host's memory by itself */

    /* What a batch, zeroed till then, needs besides items and frames; freed after a failure too. */
    int (*make)(void *owner, struct penstock__rx_batch *batch, unsigned number);
    void (*free)(void *owner, struct penstock__rx_batch *batch);

    /* The rest of an item that comes to a batch, and what kernels know of frame `index`; or NULL. */
    void (*enter)(const void *owner, struct penstock__rx_batch *batch, struct penstock__rx_item *item);
    void (*list)(const void *owner, struct penstock__rx_batch *batch, size_t index, penstock_ofdm_symbol *symbols);

    /* Sends one batch on its way and waits for one, perhaps the same: each may be NULL. */
    int (*use)(void *owner, struct penstock__rx_batch *sent, struct penstock__rx_batch *waited);

    /* The end of a frame, with a worker's own memory. */
    void (*finish)(const void *owner, const struct penstock__rx_batch *batch, const struct penstock__rx_item *item,
                   void *worker);
};

/* `flying`: batches that are on their way at once; 0: each is waited for as it is sent. */
int penstock__rx_batches_new(struct penstock__rx_batches **batches, struct penstock__rx *rx,
                             const struct penstock__rx_way *way, void *owner, unsigned flying);

/* All complete frames of the list. Not `all`: batches that are on their way then may stay there until the next call;
 * their frames are PENSTOCK__RX_SENT. An error is the device's, after which no batch is on its way, and their frames
 * wait again, for others to do; 1: for want of memory for what a frame gives some are not done. */
int penstock__rx_batches_run(struct penstock__rx_batches *batches, bool all);

/* Those that are on their way, and no more of them. */
int penstock__rx_batches_finish(struct penstock__rx_batches *batches);

bool penstock__rx_batches_flying(const struct penstock__rx_batches *batches);

/* Waits for batches that are on their way, whose frames are no more. An error is the device's. */
int penstock__rx_batches_drop(struct penstock__rx_batches *batches);

#endif
