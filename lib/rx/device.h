/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames that a device takes from samples to bits. A batch goes there in one copy: lists, and then the samples of its
 * frames. Kernels demodulate its symbols, bring their soft bits to rows of coded bits, decode these, and count; counts
 * and bits come back in one copy. Batches have queues and memory of their own.
 */
#ifndef PENSTOCK_RX_DEVICE_H
#define PENSTOCK_RX_DEVICE_H

#include "core/device/buffer.h"
#include "rx/batch.h"

#define PENSTOCK__RX_SYMBOLS 12288 /* of a batch, */
#define PENSTOCK__RX_FRAMES  512

/* Parts of what is sent: descriptors, frames' coefficients, blocks, symbols, samples. */
enum penstock__rx_part {
    PENSTOCK__RX_DESCRIPTORS,
    PENSTOCK__RX_COEFFICIENTS,
    PENSTOCK__RX_BLOCKS,
    PENSTOCK__RX_CODED,
    PENSTOCK__RX_SAMPLES,
    PENSTOCK__RX_PARTS
};

struct penstock__rx_device {
    struct penstock__rx *rx;
    struct penstock_device *there;
    struct penstock__executor *ofdm;     /* the demodulator's own, of the batches that are sent now */
    struct penstock_ofdm_problem points; /* of its output only */
    struct penstock__executor *deinterleave, *viterbi, *tally;
    struct penstock_problem problems[3]; /* theirs */
    int32_t *rates;
    size_t part_at[PENSTOCK__RX_PARTS], part_bytes[PENSTOCK__RX_PARTS]; /* in what is sent */
    struct penstock__rx_batches *batches;
    bool failed; /* only its memory is still needed */
};

/* What such a device, the owner, does of a batch. */
extern const struct penstock__rx_way penstock__rx_device_way;

#endif
