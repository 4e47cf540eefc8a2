/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The polyphase sums of the analysis bank: a frame's window of samples, weighted by the prototype and folded to M
 * values, whose forward transform is the frame. The window is made a multiple of M long by taps of zero.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_BANK_H
#define PENSTOCK_OPS_CHANNELIZER_BANK_H

#include "ops/channelizer/channelizer_kernels.h"
#include "vector/fold.h"

/* Values that may be read after the last window. */
#define BANK_SLACK FOLD_WIDTH

struct channel_bank {
    size_t channels, hop, advance;
    size_t origin; /* samples from the oscillators' phase zero to the stream's first one */
    size_t window; /* samples of a frame: M times the depth */
    size_t stride; /* values from a row to the next: a folded frame, and room for its end before that wraps around */
    struct fold_weights weights;
    float *factors; /* of the window's samples, as they lie: the taps backwards */
    const struct fold_kernels *sums;
    const struct channelizer_kernels *kernels;
};

/* `taps` are copied. After a failure there is nothing to free. */
int penstock__channel_bank_init(struct channel_bank *bank, const penstock_channelizer_desc *desc, const float *taps,
                                size_t tap_count);
void penstock__channel_bank_free(struct channel_bank *bank);

/* Place of a window's first sample in the transform, which counts samples from phase zero on. */
size_t penstock__channel_bank_turn(const struct channel_bank *bank, uint64_t frame);

/* Frames `first` .. `first + count` - 1 of the stream to rows; `in` is the first one's window. What is at a row's front
 * is then the transform's input. */
void penstock__channel_bank_fold(const struct channel_bank *bank, penstock_cf32 *rows, const penstock_cf32 *in,
                                 uint64_t first, size_t count);

#endif
