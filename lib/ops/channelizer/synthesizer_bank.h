/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The polyphase sums of the synthesis bank. A frame's transform has period M over the samples; it is kept in a row that
 * goes on for a hop after its M values, so that a hop of samples is a chunk of it wherever it begins. R samples are
 * then a weighted sum over such chunks of the last rows.
 */
#ifndef PENSTOCK_OPS_SYNTHESIZER_BANK_H
#define PENSTOCK_OPS_SYNTHESIZER_BANK_H

#include "core/stream/batcher.h"
#include "vector/fold.h"

struct synthesis_bank {
    penstock_context *context;
    size_t channels, hop, delay, origin;
    size_t stride;   /* values from a row to the next */
    size_t history;  /* rows before a frame's own that are kept, of which its samples are made */
    size_t capacity; /* rows of a batch */
    struct fold_weights weights;
    size_t tap_count; /* that they are made of */
    const struct fold_kernels *kernels;
    penstock_cf32 *rows;         /* room for `history` + twice `capacity` of them */
    size_t first;                /* the batch's first row; the history lies before it */
    penstock_cf32 *made;         /* capacity times hop samples */
    penstock_cf32 *scratch;      /* of each thread */
    size_t item, scratch_values; /* frames that a thread takes at a time */
};

/* After a failure too it is to be freed. */
int penstock__synthesis_bank_init(struct synthesis_bank *bank, penstock_context *context, size_t channels, size_t hop,
                                  size_t delay, const float *taps, size_t tap_count);
void penstock__synthesis_bank_free(struct synthesis_bank *bank);

/* Weights of other taps, and these in place of those that there were. */
int penstock__synthesis_weights(struct fold_weights *weights, size_t hop, const float *taps, size_t tap_count);
void penstock__synthesis_bank_adopt(struct synthesis_bank *bank, const struct fold_weights *weights, size_t tap_count);

/* Rows for a longer history, zeros before those that there are. */
int penstock__synthesis_bank_deepen(struct synthesis_bank *bank, size_t history);

/* Forgets the history. */
void penstock__synthesis_bank_reset(struct synthesis_bank *bank);

/* The samples of frames `frame` .. `frame` + `count` - 1 of the stream, `count` <= capacity, to `to`: `made`, or
 * memory of the caller's. `spectra` are their transforms, NULL for zeros. */
void penstock__synthesis_bank_run(struct synthesis_bank *bank, penstock_cf32 *to, const penstock_cf32 *spectra,
                                  uint64_t frame, size_t count);

#endif
