/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The arithmetic of vector_fft.h, for sources built for one instruction set, which define WIDTH. */
#ifndef PENSTOCK_VECTOR_PASSES_H
#define PENSTOCK_VECTOR_PASSES_H

#include "vector/vector_fft.h"
#include "vector/vectors.h"

/* ---------------------------------------------------------------- short transforms ------------ */

/* In place, in the order of bins. With exchanged() around each value these are the reverse ones. */
#define DFT4(a, b, c, d)                                                                     \
    do {                                                                                     \
        cvec even0 = plus(a, c), even1 = minus(a, c), odd0 = plus(b, d), odd1 = minus(b, d); \
        a = plus(even0, odd0);                                                               \
        b = minus_i(even1, odd1);                                                            \
        c = minus(even0, odd0);                                                              \
        d = plus_i(even1, odd1);                                                             \
    } while (0)

INLINE void dft4(cvec x[4])
{
    DFT4(x[0], x[1], x[2], x[3]);
}

INLINE void dft8(cvec x[8])
{
    vec half = SPLAT(0.70710678118654752f);
    cvec e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1], o1 = x[3], o2 = x[5], o3 = x[7];
    DFT4(e0, e1, e2, e3);
    DFT4(o0, o1, o2, o3);
    o1 = (cvec){o1.re + o1.im, o1.im - o1.re};
    o3 = (cvec){o3.im - o3.re, o3.im + o3.re};
    x[0] = plus(e0, o0), x[4] = minus(e0, o0);
    x[1] = (cvec){FUSED_PLUS(o1.re, half, e1.re), FUSED_PLUS(o1.im, half, e1.im)};
    x[5] = (cvec){MINUS_FUSED(e1.re, o1.re, half), MINUS_FUSED(e1.im, o1.im, half)};
    x[2] = minus_i(e2, o2), x[6] = plus_i(e2, o2);
    x[3] = (cvec){FUSED_PLUS(o3.re, half, e3.re), MINUS_FUSED(e3.im, o3.im, half)};
    x[7] = (cvec){MINUS_FUSED(e3.re, o3.re, half), FUSED_PLUS(o3.im, half, e3.im)};
}

INLINE void dft(cvec *x, unsigned radix)
{
    if (radix == 8)
        dft8(x);
    else
        dft4(x);
}

/* ---------------------------------------------------------------- down the lanes -------------- */

INLINE const float *roots_of(const struct vector_pass *pass, size_t j, unsigned radix)
{
    return pass->roots ? pass->roots + 2 * (radix - 1) * j : NULL;
}

/* One butterfly of decimation in frequency: legs `span` vectors apart, each but the first times its root. With
 * `samples` the legs come from there, the first one from sample `at` on. */
INLINE void split(cvec *data, const struct samples *samples, size_t at, size_t span, const float *roots, unsigned radix)
{
    cvec x[8];
    EACH(q, radix) x[q] = samples ? load_samples(samples, at + q * span * WIDTH) : data[q * span];
    dft(x, radix);
    EACH(q, radix)
    {
        if (q && roots)
            x[q] = times(x[q], SPLAT(roots[2 * q - 2]), SPLAT(roots[2 * q - 1]));
        data[q * span] = x[q];
    }
}

/* One pass over one block, which is radix times span vectors. */
INLINE void split_block(cvec *data, const struct samples *samples, const struct vector_pass *pass, unsigned radix)
{
    for (size_t j = 0; j < pass->span; j++)
        split(data + j, samples, j * WIDTH, pass->span, roots_of(pass, j, radix), radix);
}

/* One pass over all blocks of `count` vectors. */
INLINE void split_all(cvec *data, size_t count, const struct vector_pass *pass)
{
    if (pass->radix == 8)
        for (size_t at = 0; at < count; at += 8 * pass->span)
            split_block(data + at, NULL, pass, 8);
    else
        for (size_t at = 0; at < count; at += 4 * pass->span)
            split_block(data + at, NULL, pass, 4);
}

#define NEAR_VECTORS (32768 / sizeof(cvec)) /* of which the nearest cache has room */

/* The passes from `pass` on over `count` vectors: each over all of them if they are near, else all passes over one
 * block before the next block. */
static void descend(cvec *data, size_t count, const struct vector_pass *pass, const struct vector_pass *end)
{
    if (count <= NEAR_VECTORS) {
        for (; pass < end; pass++)
            split_all(data, count, pass);
        return;
    }
    for (size_t at = 0, block = pass->radix * pass->span; at < count; at += block) {
        split_all(data + at, block, pass);
        descend(data + at, block, pass + 1, end);
    }
}

/* The transforms down the lanes, from n samples to n / W vectors. */
INLINE void transform_down(const struct vector_fft *fft, cvec *data, const struct samples *samples)
{
    const struct vector_pass *pass = fft->passes;
    if (pass->radix == 8)
        split_block(data, samples, pass, 8);
    else
        split_block(data, samples, pass, 4);
    descend(data, fft->vectors, pass + 1, pass + fft->pass_count);
}

/* ---------------------------------------------------------------- across the lanes ------------ */

#if WIDTH == 16

#define ROOT1 0.92387953251128674f /* cos(pi / 8), sin(pi / 8) */
#define ROOT2 0.38268343236508977f

INLINE cvec times_root(cvec a, float re, float im)
{
    return times(a, SPLAT(re), SPLAT(im));
}

/* In place; bin vector_bin_at(q, 16) is left in x[q]. */
INLINE void dft_width(cvec x[16])
{
    const float half = 0.70710678118654752f;
    EACH(q, 4) DFT4(x[q], x[4 + q], x[8 + q], x[12 + q]);
    x[5] = times_root(x[5], ROOT1, -ROOT2), x[6] = times_root(x[6], half, -half);
    x[7] = times_root(x[7], ROOT2, -ROOT1), x[9] = times_root(x[9], half, -half);
    x[10] = (cvec){x[10].im, -x[10].re}, x[11] = times_root(x[11], -half, -half);
    x[13] = times_root(x[13], ROOT2, -ROOT1), x[14] = times_root(x[14], -half, -half);
    x[15] = times_root(x[15], -ROOT1, ROOT2);
    EACH(q, 4) DFT4(x[4 * q], x[4 * q + 1], x[4 * q + 2], x[4 * q + 3]);
}

#else

#define dft_width dft8

#endif

/* The transforms across W vectors: lane l of x[q] becomes bin vector_bin_at(q, W) of vector l. */
INLINE void transform_across(cvec x[WIDTH])
{
    cvec y[WIDTH];
    transpose_all(x);
    EACH(q, WIDTH) y[q] = x[vector_lane_of(q, WIDTH)];
    dft_width(y);
    EACH(q, WIDTH) x[q] = y[q];
}

#endif
