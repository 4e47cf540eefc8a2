/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vectors of WIDTH floats and complex values by them, for sources built for one instruction set, which define WIDTH: 16
 * for AVX-512, 8 for AVX2. */
#ifndef PENSTOCK_VECTOR_VECTORS_H
#define PENSTOCK_VECTOR_VECTORS_H

#include <penstock/penstock.h>

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * WIDTH)));

/* W complex values. Samples of a vector are in the order that loading makes cheap: vector_sample_in(). */
typedef struct {
    vec re, im;
} cvec;

#if WIDTH == 16
#define SPLAT(x)                ((vec)_mm512_set1_ps(x))
#define LOW_PAIRS(a, b)         ((vec)_mm512_unpacklo_ps((__m512)(a), (__m512)(b)))
#define HIGH_PAIRS(a, b)        ((vec)_mm512_unpackhi_ps((__m512)(a), (__m512)(b)))
#define PICK(a, b, which)       ((vec)_mm512_shuffle_ps((__m512)(a), (__m512)(b), which))
#define PICK_FOURS(a, b, which) ((vec)_mm512_shuffle_f32x4((__m512)(a), (__m512)(b), which))
#define LOAD(from)              ((vec)_mm512_loadu_ps(from))
#define STORE(to, v)            _mm512_storeu_ps(to, (__m512)(v))
#define FUSED_PLUS(a, b, c)     ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FUSED_MINUS(a, b, c)    ((vec)_mm512_fmsub_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define MINUS_FUSED(c, a, b)    ((vec)_mm512_fnmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#else
#define SPLAT(x)                ((vec)_mm256_set1_ps(x))
#define LOW_PAIRS(a, b)         ((vec)_mm256_unpacklo_ps((__m256)(a), (__m256)(b)))
#define HIGH_PAIRS(a, b)        ((vec)_mm256_unpackhi_ps((__m256)(a), (__m256)(b)))
#define PICK(a, b, which)       ((vec)_mm256_shuffle_ps((__m256)(a), (__m256)(b), which))
#define PICK_FOURS(a, b, which) ((vec)_mm256_permute2f128_ps((__m256)(a), (__m256)(b), which))
#define LOAD(from)              ((vec)_mm256_loadu_ps(from))
#define STORE(to, v)            _mm256_storeu_ps(to, (__m256)(v))
#define FUSED_PLUS(a, b, c)     ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FUSED_MINUS(a, b, c)    ((vec)_mm256_fmsub_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define MINUS_FUSED(c, a, b)    ((vec)_mm256_fnmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#endif

/* For a constant `count` such loops unroll. */
#define EACH(q, count) _Pragma("GCC unroll 16") for (unsigned q = 0; q < (count); q++)

/* ---------------------------------------------------------------- memory ---------------------- */

/* Where vectors of samples come from. What is not asked for is NULL or false by constants where functions are inlined.
 */
struct samples {
    const penstock_cf32 *in;
    const float *window; /* factors in the order of lanes, or NULL */
    bool exchanged;      /* real and imaginary parts: a forward transform of such is the reverse one, exchanged */
};

INLINE cvec load_samples(const struct samples *samples, size_t at)
{
    const float *from = (const float *)(const void *)(samples->in + at);
    vec a = LOAD(from), b = LOAD(from + WIDTH), even = PICK(a, b, 0x88), odd = PICK(a, b, 0xdd);
    if (samples->window) {
        vec factors = LOAD(samples->window + at);
        even *= factors;
        odd *= factors;
    }
    return samples->exchanged ? (cvec){odd, even} : (cvec){even, odd};
}

/* Lanes in the order of loading leave as samples in a row. */
INLINE void store_samples(penstock_cf32 *out, cvec v)
{
    float *to = (float *)(void *)out;
    STORE(to, LOW_PAIRS(v.re, v.im));
    STORE(to + WIDTH, HIGH_PAIRS(v.re, v.im));
}

/* ---------------------------------------------------------------- arithmetic ------------------ */

/* FUSED_PLUS(a, b, c) is a b + c, FUSED_MINUS(a, b, c) a b - c and MINUS_FUSED(c, a, b) c - a b, each rounded once. No
 * other product is fused with a sum: compilers do not choose (-ffp-contract=off), as each would choose otherwise, and
 * the same one otherwise for each copy of what it inlines. */

INLINE cvec exchanged(cvec a)
{
    return (cvec){a.im, a.re};
}

INLINE cvec plus(cvec a, cvec b)
{
    return (cvec){a.re + b.re, a.im + b.im};
}

INLINE cvec minus(cvec a, cvec b)
{
    return (cvec){a.re - b.re, a.im - b.im};
}

/* a - i b */
INLINE cvec minus_i(cvec a, cvec b)
{
    return (cvec){a.re + b.im, a.im - b.re};
}

/* a + i b */
INLINE cvec plus_i(cvec a, cvec b)
{
    return (cvec){a.re - b.im, a.im + b.re};
}

INLINE cvec times(cvec a, vec re, vec im)
{
    return (cvec){FUSED_MINUS(a.re, re, a.im * im), FUSED_PLUS(a.re, im, a.im * re)};
}

/* By the conjugate. */
INLINE cvec times_conjugate(cvec a, vec re, vec im)
{
    return (cvec){FUSED_PLUS(a.re, re, a.im * im), FUSED_MINUS(a.im, re, a.re * im)};
}

/* ---------------------------------------------------------------- transposing ----------------- */

INLINE void transpose(vec x[WIDTH])
{
    vec y[WIDTH];
    EACH(q, WIDTH / 4)
    {
        vec a = LOW_PAIRS(x[4 * q], x[4 * q + 1]), b = LOW_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        vec c = HIGH_PAIRS(x[4 * q], x[4 * q + 1]), d = HIGH_PAIRS(x[4 * q + 2], x[4 * q + 3]);
        y[q] = PICK(a, b, 0x44), y[WIDTH / 4 + q] = PICK(a, b, 0xee);
        y[WIDTH / 2 + q] = PICK(c, d, 0x44), y[3 * WIDTH / 4 + q] = PICK(c, d, 0xee);
    }
#if WIDTH == 16
    EACH(q, 4)
    {
        vec a = PICK_FOURS(y[4 * q], y[4 * q + 1], 0x88), b = PICK_FOURS(y[4 * q + 2], y[4 * q + 3], 0x88);
        vec c = PICK_FOURS(y[4 * q], y[4 * q + 1], 0xdd), d = PICK_FOURS(y[4 * q + 2], y[4 * q + 3], 0xdd);
        x[q] = PICK_FOURS(a, b, 0x88), x[8 + q] = PICK_FOURS(a, b, 0xdd);
        x[4 + q] = PICK_FOURS(c, d, 0x88), x[12 + q] = PICK_FOURS(c, d, 0xdd);
    }
#else
    EACH(q, 4)
    {
        x[q] = PICK_FOURS(y[2 * q], y[2 * q + 1], 0x20);
        x[4 + q] = PICK_FOURS(y[2 * q], y[2 * q + 1], 0x31);
    }
#endif
}

INLINE void transpose_all(cvec x[WIDTH])
{
    vec part[WIDTH];
    EACH(q, WIDTH) part[q] = x[q].re;
    transpose(part);
    EACH(q, WIDTH) x[q].re = part[q];
    EACH(q, WIDTH) part[q] = x[q].im;
    transpose(part);
    EACH(q, WIDTH) x[q].im = part[q];
}

#endif
