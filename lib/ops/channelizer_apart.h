/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of the filter bank taken apart into a stream for each channel, in squares of SIDE frames and channels that lie
 * in registers. For sources that are built once for each instruction set and define VECTOR_FLOATS. Values are moved as
 * they are: a complex value is a lane of 64 bits.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_APART_H
#define PENSTOCK_OPS_CHANNELIZER_APART_H

#include <penstock/penstock.h>

#if VECTOR_FLOATS == 16
#include <immintrin.h>

#define SIDE 8

/* to[c] = the values of column c, c < SIDE, of rows that are `step` values apart. */
static inline __attribute__((always_inline)) void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from,
                                                              size_t step)
{
    __m512d pairs[SIDE];
    for (size_t f = 0; f < SIDE; f += 2) {
        __m512d a = _mm512_loadu_pd((const void *)(from + f * step));
        __m512d b = _mm512_loadu_pd((const void *)(from + (f + 1) * step));
        pairs[f / 2] = _mm512_unpacklo_pd(a, b);     /* columns 0, 2, 4, 6 of two rows */
        pairs[f / 2 + 4] = _mm512_unpackhi_pd(a, b); /* columns 1, 3, 5, 7 */
    }
    for (size_t odd = 0; odd < 2; odd++) {
        const __m512d *p = pairs + 4 * odd;
        __m512d first = _mm512_shuffle_f64x2(p[0], p[1], 0x88), last = _mm512_shuffle_f64x2(p[2], p[3], 0x88);
        _mm512_storeu_pd((void *)to[odd], _mm512_shuffle_f64x2(first, last, 0x88));
        _mm512_storeu_pd((void *)to[odd + 4], _mm512_shuffle_f64x2(first, last, 0xdd));
        first = _mm512_shuffle_f64x2(p[0], p[1], 0xdd), last = _mm512_shuffle_f64x2(p[2], p[3], 0xdd);
        _mm512_storeu_pd((void *)to[odd + 2], _mm512_shuffle_f64x2(first, last, 0x88));
        _mm512_storeu_pd((void *)to[odd + 6], _mm512_shuffle_f64x2(first, last, 0xdd));
    }
}
#elif VECTOR_FLOATS == 8
#include <immintrin.h>

#define SIDE 4

static inline __attribute__((always_inline)) void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from,
                                                              size_t step)
{
    __m256d low[SIDE / 2], high[SIDE / 2];
    for (size_t f = 0; f < SIDE; f += 2) {
        __m256d a = _mm256_loadu_pd((const void *)(from + f * step));
        __m256d b = _mm256_loadu_pd((const void *)(from + (f + 1) * step));
        low[f / 2] = _mm256_unpacklo_pd(a, b);
        high[f / 2] = _mm256_unpackhi_pd(a, b);
    }
    _mm256_storeu_pd((void *)to[0], _mm256_permute2f128_pd(low[0], low[1], 0x20));
    _mm256_storeu_pd((void *)to[1], _mm256_permute2f128_pd(high[0], high[1], 0x20));
    _mm256_storeu_pd((void *)to[2], _mm256_permute2f128_pd(low[0], low[1], 0x31));
    _mm256_storeu_pd((void *)to[3], _mm256_permute2f128_pd(high[0], high[1], 0x31));
}
#else
#define SIDE 4

static inline void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from, size_t step)
{
    for (size_t c = 0; c < SIDE; c++)
        for (size_t f = 0; f < SIDE; f++)
            to[c][f] = from[f * step + c];
}
#endif

/* `some` <= SIDE channels from `first` on. */
static void take_some(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t first,
                      size_t some, size_t count)
{
    penstock_cf32 *to[SIDE];
    size_t f = 0;
    for (size_t c = 0; c < some; c++)
        to[c] = (penstock_cf32 *)streams[first + c] + at;
    for (; some == SIDE && f + SIDE <= count; f += SIDE) {
        turn_square(to, frames + f * channels + first, channels);
        for (size_t c = 0; c < SIDE; c++)
            to[c] += SIDE;
    }
    for (; f < count; f++)
        for (size_t c = 0; c < some; c++)
            *to[c]++ = frames[f * channels + first + c];
}

/* Channels in groups whose lines of the cache, which may all have the same place there, stay in it until they are
 * full. */
static void take_apart(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t count)
{
    for (size_t first = 0; first < channels; first += SIDE)
        take_some(streams, at, frames, channels, first, channels - first < SIDE ? channels - first : SIDE, count);
}

#endif
