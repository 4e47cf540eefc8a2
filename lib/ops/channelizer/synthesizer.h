/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The streaming synthesis bank: overlapped transforms of frames, each result a hop of samples. Before the first frame
 * stand zeros, and behind the last one as many as its samples reach over.
 *
 * Other taps are another plan from a frame on. Where they reach over more frames than the plans before, the stream goes
 * on with a new batcher, whose first batch begins with the frames that the one before still has; results of that one
 * come first.
 */
#ifndef PENSTOCK_OPS_SYNTHESIZER_H
#define PENSTOCK_OPS_SYNTHESIZER_H

#include "core/stream/batched.h"

/* Other taps, from a frame on. */
struct synthesizer_change {
    struct synthesizer_change *next;
    uint64_t frame;
    penstock_plan *plan, *deeper; /* the latter while the stream goes on with sums over more frames, else NULL */
    float *taps;
    size_t tap_count;
};

/* A plan that takes no more frames, with results to be read. */
struct synthesizer_before {
    struct synthesizer_before *next;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
};

struct synthesizer {
    struct penstock__batched batched;
    penstock_synthesizer_desc desc; /* defaults filled in; pointers are not kept */
    size_t *select;                 /* NULL: all channels */
    size_t kept;
    size_t delay;                       /* of the samples, less the advance */
    float *taps;                        /* those that hold, or will: what a deeper plan begins with */
    size_t tap_count, depth;            /* of these; frames that a result of the plans is the sum of */
    struct synthesizer_change *changes; /* that wait for their frame, in order */
    struct synthesizer_before *before;  /* in order */
    uint64_t oldest;                    /* frame from which on those are there that sums may reach back to */

    size_t read;      /* samples of the oldest result that were given, or left out */
    uint64_t padding; /* frames of zeros that went in behind the end */
    uint64_t to_skip; /* samples at the beginning that are still to be left out */
    uint64_t total;   /* samples of the whole stream, once finished */
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

/* ---- synthesizer_plan.c ---- */

/* Of taps, for sums over so many frames. */
int penstock__synthesizer_plan(penstock_plan **plan, const struct synthesizer *synthesizer, const float *taps,
                               size_t tap_count, size_t depth);

/* Frames of zeros go in, `count` of them, as far as there is room. */
int penstock__synthesizer_pad(struct penstock__batcher *batcher, size_t channels, uint64_t count, uint64_t *padded);

/* ---- synthesizer_fill.c ---- */

/* Frames `first` .. `first + count` - 1 of a push, all channels in order. */
void penstock__synthesizer_fill(const struct penstock__batched *batched, const struct penstock__items *in, void *to,
                                size_t first, size_t count);

/* ---- synthesizer_live.c ---- */

/* PENSTOCK_ERR_ARGUMENT with text where sums would be over too many frames. */
int penstock__synthesizer_check_depth(const penstock_synthesizer_desc *desc, size_t tap_count);

/* Copies `select`; what there was is freed. */
int penstock__synthesizer_select(struct synthesizer *synthesizer, const size_t *select, size_t select_count);

/* Changes whose frame is `frame` or an earlier one hold. */
void penstock__synthesizer_adopt(struct synthesizer *synthesizer, uint64_t frame);

/* Those behind `frame` are gone. */
void penstock__synthesizer_drop_changes(struct synthesizer *synthesizer, uint64_t frame);

/* The first of those before, whose results are read, is gone. */
void penstock__synthesizer_drop_before(struct synthesizer *synthesizer);

#endif
