/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the streaming synthesis bank share. */
#ifndef PENSTOCK_OPS_SYNTHESIZER_H
#define PENSTOCK_OPS_SYNTHESIZER_H

#include "core/stream/batched.h"
#include "ops/channelizer/synthesizer_bank.h"

/* Other taps, from a frame's hop on. */
struct synthesizer_change {
    struct synthesizer_change *next;
    uint64_t frame;
    struct fold_weights weights;
    size_t tap_count;
};

struct synthesizer {
    struct penstock__batched batched;
    penstock_synthesizer_desc desc; /* defaults filled in; pointers are not kept */
    size_t *select;                 /* NULL: all channels */
    size_t kept;
    struct synthesis_bank bank;
    struct synthesizer_change *changes; /* that wait for their frame, in order */
    uint64_t oldest;                    /* frame of which the bank has the row, like those after it */

    uint64_t folded;     /* frames; those of zeros after the end are folded too */
    size_t ready, given; /* samples in the bank's `made`, and how many of them are done with */
    uint64_t to_skip;    /* samples at the beginning that are still to be left out */
    uint64_t total;      /* samples of the whole stream, once finished */
};

extern const struct penstock__batched_kind penstock__synthesizer_kind;

static inline struct synthesizer *synthesizer_of(penstock_stream *stream)
{
    return (struct synthesizer *)(void *)stream;
}

static inline const struct synthesizer *const_synthesizer_of(const penstock_stream *stream)
{
    return (const struct synthesizer *)(const void *)stream;
}

/* PENSTOCK_ERR_ARGUMENT with text where sums would be over too many frames. */
int penstock__synthesizer_check_depth(const penstock_synthesizer_desc *desc, size_t tap_count);

/* Copies `select`; what there was is freed. */
int penstock__synthesizer_select(struct synthesizer *synthesizer, const size_t *select, size_t select_count);

/* Changes whose frame is `frame` or an earlier one hold. */
void penstock__synthesizer_adopt(struct synthesizer *synthesizer, uint64_t frame);

/* Those behind `frame` are gone. */
void penstock__synthesizer_drop_changes(struct synthesizer *synthesizer, uint64_t frame);

#endif
