/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Weighted sums of rows in vectors of the compiler's, which become those of the instruction set. Several frames
 * are made at a time: a weight is loaded once for all of them, and as many sums are on their way as the processor's
 * multiply-add takes cycles. FUSED is that instruction, where there is one: compilers left to choose take it for some
 * of the loops below and not for others, and a frame's last bits would tell how many were made with it.
 */
#include "vector/fold.h"

#ifndef FOLD_KERNELS
#define FOLD_KERNELS  penstock__fold_plain
#define VECTOR_FLOATS 4
#define FRAMES        4
#define NAME          "vectors of 4"
#endif

#include "vector/fused.h"

/* Half a column has vectors of its own where those of a column are too long for it. */
#ifndef HALF_FUSED
#define HALF_FLOATS VECTOR_FLOATS
#define HALF_FUSED  FUSED
#endif

#define LANES    (2 * FOLD_WIDTH) /* floats of a column */
#define TOGETHER (VECTOR_FLOATS < LANES / 2 ? 2 : LANES / VECTOR_FLOATS > 2 ? 2 : LANES / VECTOR_FLOATS)
#define HALVES   (FOLD_WIDTH / HALF_FLOATS)

typedef float vector __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(4), may_alias));
typedef float half_vector __attribute__((vector_size(4 * HALF_FLOATS), aligned(4), may_alias));

/* `part` of a column: TOGETHER vectors of each of `frames` frames; the count is a constant where this is called. */
static inline __attribute__((always_inline)) void fold_part(penstock_cf32 *const *out, const penstock_cf32 *const *rows,
                                                            size_t frames, size_t at, ptrdiff_t step, size_t depth,
                                                            const float *weights)
{
    vector sums[FRAMES][TOGETHER] = {{{0}}};
    for (size_t t = 0; t < depth; t++, weights += LANES) {
        vector w[TOGETHER];
        for (size_t j = 0; j < TOGETHER; j++)
            w[j] = *(const vector *)(weights + j * VECTOR_FLOATS);
        for (size_t f = 0; f < frames; f++) {
            const float *row = (const float *)(rows[f] + (ptrdiff_t)t * step) + at;
            for (size_t j = 0; j < TOGETHER; j++)
                sums[f][j] = FUSED(w[j], *(const vector *)(row + j * VECTOR_FLOATS), sums[f][j]);
        }
    }
    for (size_t f = 0; f < frames; f++)
        for (size_t j = 0; j < TOGETHER; j++)
            *(vector *)((float *)out[f] + at + j * VECTOR_FLOATS) = sums[f][j];
}

/* A column of half the width. */
static inline __attribute__((always_inline)) void fold_half(penstock_cf32 *const *out, const penstock_cf32 *const *rows,
                                                            size_t frames, size_t at, ptrdiff_t step, size_t depth,
                                                            const float *weights)
{
    half_vector sums[FRAMES][HALVES] = {{{0}}};
    for (size_t t = 0; t < depth; t++, weights += FOLD_WIDTH)
        for (size_t f = 0; f < frames; f++) {
            const float *row = (const float *)(rows[f] + (ptrdiff_t)t * step) + at;
            for (size_t j = 0; j < HALVES; j++)
                sums[f][j] = HALF_FUSED(*(const half_vector *)(weights + j * HALF_FLOATS),
                                        *(const half_vector *)(row + j * HALF_FLOATS), sums[f][j]);
        }
    for (size_t f = 0; f < frames; f++)
        for (size_t j = 0; j < HALVES; j++)
            *(half_vector *)((float *)out[f] + at + j * HALF_FLOATS) = sums[f][j];
}

static inline __attribute__((always_inline)) void fold_frames(penstock_cf32 *const *out,
                                                              const penstock_cf32 *const *rows, size_t frames,
                                                              ptrdiff_t step, const struct fold_weights *weights)
{
    size_t lanes = 2 * weights->width, depth = weights->depth, at = 0;
    for (; at + LANES <= lanes; at += LANES)
        for (size_t part = 0; part < LANES; part += TOGETHER * VECTOR_FLOATS)
            fold_part(out, rows, frames, at + part, step, depth, weights->values + at * depth + part);
    if (at < lanes)
        fold_half(out, rows, frames, at, step, depth, weights->values + at * depth);
}

static void fold(penstock_cf32 *const *out, const penstock_cf32 *const *rows, size_t frames, ptrdiff_t step,
                 const struct fold_weights *weights)
{
    size_t f = 0;
    for (; f + FRAMES <= frames; f += FRAMES)
        fold_frames(out + f, rows + f, FRAMES, step, weights);
    for (; f < frames; f++)
        fold_frames(out + f, rows + f, 1, step, weights);
}

const struct fold_kernels FOLD_KERNELS = {.name = NAME, .frames = FRAMES, .fold = fold};
