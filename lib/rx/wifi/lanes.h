/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Small transforms of eight columns side by side: vectors that compilers make of what the processor has, in operations
 * whose order is written here. Rows are vectors; `step` of them lie between two of a transform. */
#ifndef PENSTOCK_RX_WIFI_LANES_H
#define PENSTOCK_RX_WIFI_LANES_H

#include <stddef.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define LANES 8
#define TURN  0.70710678118654752F /* of an eighth, both parts */

typedef float lanes __attribute__((vector_size(4 * LANES)));

/* Not by value, which would depend on the instruction set. */
#define LANES_INLINE static inline __attribute__((always_inline))

LANES_INLINE void lanes_load(lanes *to, const float *from)
{
    memcpy(to, from, sizeof *to);
}

LANES_INLINE void lanes_load_parts(lanes *re, lanes *im, const float *from_re, const float *from_im)
{
    lanes_load(re, from_re);
    lanes_load(im, from_im);
}

LANES_INLINE void lanes_store_parts(float *to_re, float *to_im, const lanes *re, const lanes *im)
{
    memcpy(to_re, re, sizeof *re);
    memcpy(to_im, im, sizeof *im);
}

/* The same everywhere: of a vector times a number compilers make worse. */
LANES_INLINE void lanes_fill(lanes *to, float value)
{
    *to = (lanes){value, value, value, value, value, value, value, value};
}

/* As ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). */
LANES_INLINE float lanes_add(const lanes *x)
{
#if defined(__AVX2__)
    const __m256 all = (__m256)*x;
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1)),
                 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
#else
    const lanes a = *x;
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
#endif
}

/* Eight rows become the columns. */
LANES_INLINE void lanes_transpose(lanes *rows)
{
#if defined(__AVX2__)
    __m256 pairs[8], fours[8];
    for (unsigned i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps((__m256)rows[i], (__m256)rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps((__m256)rows[i], (__m256)rows[i + 1]);
    }
    for (unsigned i = 0; i < 8; i++) {
        const __m256 a = pairs[i / 4 * 4 + i / 2 % 2], b = pairs[i / 4 * 4 + i / 2 % 2 + 2];
        fours[i] = i % 2 ? _mm256_shuffle_ps(a, b, 0xee) : _mm256_shuffle_ps(a, b, 0x44);
    }
    for (unsigned i = 0; i < 4; i++) {
        rows[i] = (lanes)_mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = (lanes)_mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
    }
#else
    float from[LANES][LANES], to[LANES][LANES];
    memcpy(from, rows, sizeof from);
    for (unsigned k = 0; k < LANES; k++)
        for (unsigned i = 0; i < LANES; i++)
            to[i][k] = from[k][i];
    memcpy(rows, to, sizeof to);
#endif
}

/* Times the row of turns. */
LANES_INLINE void lanes_turn(lanes *re, lanes *im, const float *turn_re, const float *turn_im)
{
    lanes by_re, by_im;
    lanes_load_parts(&by_re, &by_im, turn_re, turn_im);
    const lanes was = *re;
    *re = was * by_re - *im * by_im;
    *im = was * by_im + *im * by_re;
}

/* `re` and `im` times one number for the whole row. */
LANES_INLINE void lanes_turn_by(lanes *out_re, lanes *out_im, const lanes *re, const lanes *im, float turn_re,
                                float turn_im)
{
    lanes by_re, by_im;
    lanes_fill(&by_re, turn_re);
    lanes_fill(&by_im, turn_im);
    *out_re = *re * by_re - *im * by_im;
    *out_im = *re * by_im + *im * by_re;
}

/* A DFT of four rows. */
LANES_INLINE void lanes_transform_four(lanes *out_re, lanes *out_im, const lanes *re, const lanes *im, size_t step)
{
    const lanes a_re = re[0] + re[2 * step], a_im = im[0] + im[2 * step], b_re = re[0] - re[2 * step],
                b_im = im[0] - im[2 * step], c_re = re[step] + re[3 * step], c_im = im[step] + im[3 * step],
                d_re = re[step] - re[3 * step], d_im = im[step] - im[3 * step];
    out_re[0] = a_re + c_re;
    out_im[0] = a_im + c_im;
    out_re[1] = b_re + d_im;
    out_im[1] = b_im - d_re;
    out_re[2] = a_re - c_re;
    out_im[2] = a_im - c_im;
    out_re[3] = b_re - d_im;
    out_im[3] = b_im + d_re;
}

/* A DFT of eight, in place: by even and odd ones. */
LANES_INLINE void lanes_transform_eight(lanes *re, lanes *im, size_t step)
{
    lanes even_re[4], even_im[4], odd_re[4], odd_im[4];
    lanes_transform_four(even_re, even_im, re, im, 2 * step);
    lanes_transform_four(odd_re, odd_im, re + step, im + step, 2 * step);
    const lanes turned[4][2] = {{odd_re[0], odd_im[0]},
                                {(odd_re[1] + odd_im[1]) * TURN, (odd_im[1] - odd_re[1]) * TURN},
                                {odd_im[2], -odd_re[2]},
                                {(odd_im[3] - odd_re[3]) * TURN, (-odd_im[3] - odd_re[3]) * TURN}};
    for (unsigned k = 0; k < 4; k++) {
        re[k * step] = even_re[k] + turned[k][0];
        im[k * step] = even_im[k] + turned[k][1];
        re[(k + 4) * step] = even_re[k] - turned[k][0];
        im[(k + 4) * step] = even_im[k] - turned[k][1];
    }
}

#endif
