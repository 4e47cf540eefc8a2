/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vectors and workspace of the decoders in viterbi_lanes_kernel.h. */
#ifndef PENSTOCK_FEC_VITERBI_LANES_WORK_H
#define PENSTOCK_FEC_VITERBI_LANES_WORK_H

#include "fec/viterbi_lanes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define CHUNK  16 /* steps whose soft bits are brought side by side at a time: a multiple of `together` */
#define AGAIN  96 /* steps after which a window that begins anew is looked at: a multiple of GROUP */
#define GROUP  24 /* steps whose bits are written at a time */

#define TOGETHER 8                                              /* lanes that go back at a time */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ /* they would take minutes to compile */
#define UNROLL
#elif defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#pragma clang diagnostic ignored "-Wpass-failed" /* loops of codes known at run time alone stay loops */
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define EACH(i, many) UNROLL for (unsigned i = 0; i < (many); i++)

typedef int16_t vec __attribute__((vector_size(2 * LANES)));
typedef int8_t byte_vec __attribute__((vector_size(LANES)));

/* The sum of soft bits that each label has as 0, centred; [0] with the bit of the step's decision. */
struct words {
    vec of[2][PENSTOCK__TRELLIS_MOST_LABELS];
};

struct work {
    vec metrics[2][PENSTOCK__TRELLIS_MOST_STATES]; /* `now` says which are the latest */
    vec rest[PENSTOCK__TRELLIS_MOST_STATES];
    vec starts[PENSTOCK__TRELLIS_MOST_STATES];  /* of windows, relative to state 0's: where they begin, */
    vec middles[PENSTOCK__TRELLIS_MOST_STATES]; /* and AGAIN steps on */
    vec soft[4 * CHUNK];
    int8_t bytes[4 * CHUNK][LANES];
    int8_t tail[LANES][4 * CHUNK];
    vec history[]; /* states / 4 words for each `together` steps; behind them, states of windows */
};

struct run {
    const struct penstock__trellis *t;
    struct work *w;
    const int8_t *soft[LANES];
    size_t soft_steps[LANES]; /* that there are at `soft` */
    size_t chunk;             /* that w->soft holds */
};

static vec splat(int value)
{
    return (vec){0} + (int16_t)value;
}

#endif
