/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Frames of the filter bank taken apart into a stream for each channel, in squares of SIDE frames and channels that lie
 * in registers. For sources that are built once for each instruction set and define VECTOR_FLOATS. Values are moved as
 * they are: a complex value is a lane of 64 bits. What goes past the caches is not read from memory before it is
 * written.
 */
#ifndef PENSTOCK_OPS_CHANNELIZER_APART_H
#define PENSTOCK_OPS_CHANNELIZER_APART_H

#include <penstock/penstock.h>

#if VECTOR_FLOATS == 16
#include <immintrin.h>

#define SIDE 8

static inline __attribute__((always_inline)) void put(penstock_cf32 *to, __m512d values, bool past)
{
    if (past)
        _mm512_stream_pd((void *)to, values);
    else
        _mm512_storeu_pd((void *)to, values);
}

/* to[c] = the values of column c, c < SIDE, of rows that are `step` values apart. `past` the caches: `to` are multiples
 * of a row's bytes. */
static inline __attribute__((always_inline)) void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from,
                                                              size_t step, bool past)
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
        put(to[odd], _mm512_shuffle_f64x2(first, last, 0x88), past);
        put(to[odd + 4], _mm512_shuffle_f64x2(first, last, 0xdd), past);
        first = _mm512_shuffle_f64x2(p[0], p[1], 0xdd), last = _mm512_shuffle_f64x2(p[2], p[3], 0xdd);
        put(to[odd + 2], _mm512_shuffle_f64x2(first, last, 0x88), past);
        put(to[odd + 6], _mm512_shuffle_f64x2(first, last, 0xdd), past);
    }
}
#elif VECTOR_FLOATS == 8
#include <immintrin.h>

#define SIDE 4

static inline __attribute__((always_inline)) void put(penstock_cf32 *to, __m256d values, bool past)
{
    if (past)
        _mm256_stream_pd((void *)to, values);
    else
        _mm256_storeu_pd((void *)to, values);
}

static inline __attribute__((always_inline)) void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from,
                                                              size_t step, bool past)
{
    __m256d low[SIDE / 2], high[SIDE / 2];
    for (size_t f = 0; f < SIDE; f += 2) {
        __m256d a = _mm256_loadu_pd((const void *)(from + f * step));
        __m256d b = _mm256_loadu_pd((const void *)(from + (f + 1) * step));
        low[f / 2] = _mm256_unpacklo_pd(a, b);
        high[f / 2] = _mm256_unpackhi_pd(a, b);
    }
    put(to[0], _mm256_permute2f128_pd(low[0], low[1], 0x20), past);
    put(to[1], _mm256_permute2f128_pd(high[0], high[1], 0x20), past);
    put(to[2], _mm256_permute2f128_pd(low[0], low[1], 0x31), past);
    put(to[3], _mm256_permute2f128_pd(high[0], high[1], 0x31), past);
}
#else
#define SIDE 4

static inline void turn_square(penstock_cf32 *const to[SIDE], const penstock_cf32 *from, size_t step, bool past)
{
    (void)past;
    for (size_t c = 0; c < SIDE; c++)
        for (size_t f = 0; f < SIDE; f++)
            to[c][f] = from[f * step + c];
}
#endif

/* Rows before each of `to` is a multiple of a row's bytes; SIZE_MAX where there is no such number. */
static size_t rows_before(penstock_cf32 *const to[SIDE])
{
    const uintptr_t row = SIDE * sizeof **to, beyond = (uintptr_t)to[0] % row;
    for (size_t c = 1; c < SIDE; c++)
        if ((uintptr_t)to[c] % row != beyond)
            return SIZE_MAX;
    return beyond % sizeof **to ? SIZE_MAX : (row - beyond) % row / sizeof **to;
}

static inline __attribute__((always_inline)) void take_squares(penstock_cf32 *to[SIDE], const penstock_cf32 *from,
                                                               size_t channels, size_t squares, bool past)
{
    for (; squares; squares--, from += SIDE * channels) {
        turn_square(to, from, channels, past);
        for (size_t c = 0; c < SIDE; c++)
            to[c] += SIDE;
    }
}

static void take_rows(penstock_cf32 *to[SIDE], const penstock_cf32 *from, size_t channels, size_t some, size_t rows)
{
    for (; rows; rows--, from += channels)
        for (size_t c = 0; c < some; c++)
            *to[c]++ = from[c];
}

/* `some` <= SIDE channels from `first` on. */
static void take_some(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t first,
                      size_t some, size_t count, bool past)
{
    penstock_cf32 *to[SIDE];
    const penstock_cf32 *from = frames + first;
    for (size_t c = 0; c < some; c++)
        to[c] = (penstock_cf32 *)streams[first + c] + at;
    const size_t ahead = past && some == SIDE ? rows_before(to) : SIZE_MAX, head = ahead < count ? ahead : 0,
                 squares = some == SIDE ? (count - head) / SIDE : 0, turned = head + squares * SIDE;
    take_rows(to, from, channels, some, head);
    if (ahead < count)
        take_squares(to, from + head * channels, channels, squares, true);
    else
        take_squares(to, from, channels, squares, false);
    take_rows(to, from + turned * channels, channels, some, count - turned);
}

/* Channels in groups whose lines of the cache, which may all have the same place there, stay in it until they are
 * full. */
static void take_apart(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t count,
                       bool past)
{
    for (size_t first = 0; first < channels; first += SIDE)
        take_some(streams, at, frames, channels, first, channels - first < SIDE ? channels - first : SIDE, count, past);
#if VECTOR_FLOATS >= 8
    if (past)
        _mm_sfence();
#endif
}

#endif
