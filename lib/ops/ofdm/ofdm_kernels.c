/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of ofdm_kernels.h, written for a vectorising compiler: this file is built once for each instruction set. */
#include "ops/ofdm/ofdm_kernels.h"

#include <math.h>
#include <string.h>

#ifndef OFDM_KERNELS
#define OFDM_KERNELS penstock__ofdm_kernels_plain
#endif

/* Adding and subtracting it rounds a float of at most 2^22 to an integer, ties to even. */
#define ROUNDER 12582912.0f

/*
 * Sine and cosine as in S. Moshier's Cephes library (sinf.c): reduction to -pi/4 .. pi/4 by pi/2 in three parts, then
 * a polynomial each.
 */
static void equalise(const struct ofdm_carriers *carriers, const struct ofdm_inverse *inverse, const penstock_cf32 *fft,
                     float phase, float slope, float *restrict out_re, float *restrict out_im)
{
    const uint32_t *bin = carriers->bin;
    const float *number = carriers->number, *inverse_re = inverse->re, *inverse_im = inverse->im;
    size_t count = carriers->padded & ~(size_t)(OFDM_LANES - 1);
    for (size_t k = 0; k < count; k++) {
        float angle = phase + slope * number[k];
        float quarters = (angle * 0.636619772367581343f + ROUNDER) - ROUNDER;
        float x = ((angle - quarters * 1.5703125f) - quarters * 4.837512969970703125e-4f) -
                  quarters * 7.54978995489188216e-8f;
        float z = x * x;
        float sine = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
        float cosine =
            ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
        int quadrant = (int)quarters;
        float s = quadrant & 1 ? cosine : sine;
        float c = quadrant & 1 ? sine : cosine;
        s = quadrant & 2 ? -s : s;
        c = (quadrant + 1) & 2 ? -c : c;
        float re = fft[bin[k]].re * inverse_re[k] - fft[bin[k]].im * inverse_im[k];
        float im = fft[bin[k]].re * inverse_im[k] + fft[bin[k]].im * inverse_re[k];
        out_re[k] = re * c + im * s;
        out_im[k] = im * c - re * s;
    }
}

/* `value` limited to -127 .. 127 and rounded to an integer, ties to even: its low byte. */
static inline uint32_t to_byte(float value)
{
    uint32_t bits;
    value = value < 127.0f ? value : 127.0f;
    value = value > -127.0f ? value : -127.0f;
    value += ROUNDER;
    memcpy(&bits, &value, sizeof bits);
    return bits & 255u;
}

/*
 * Soft bit of coordinate `u` before its weight: -sign(u) times the sum of max(0, |u| - 2 q) over q < `half`, which is
 * half the number of levels that are left. With t = (|u| + 1) / 2 and q = rint(t), `half` at most, it is q (2 t - q).
 */
static inline float soft_bit(float u, int half)
{
    if (half == 1)
        return -u;
    if (half == 2) {
        float inner = u < 2.0f ? u : 2.0f;
        inner = inner > -2.0f ? inner : -2.0f;
        return inner - u - u;
    }
    float t = 0.5f * fabsf(u) + 0.5f;
    float q = ((t < (float)half ? t : (float)half) + ROUNDER) - ROUNDER;
    return copysignf(q * (t + (t - q)), -u);
}

/* Where byte i of a word in memory stands within the word. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_SHIFT(i) (24 - 8 * ((i) % 4))
#else
#define BYTE_SHIFT(i) (8 * ((i) % 4))
#endif

/* Byte `place` of `word` is the soft bit of `u`; the result is `u` folded for the next one. */
static inline float demap_bit(uint32_t word[3], int place, float u, float gain, int half)
{
    word[place / 4] |= to_byte(soft_bit(u, half) * gain) << BYTE_SHIFT(place);
    return (float)half - fabsf(u);
}

/* Written out, since not every compiler unrolls the loop in time to vectorise the one around it. */
static inline void demap_axis(uint32_t word[3], int first, int bits, float u, float gain)
{
    u = demap_bit(word, first, u, gain, 1 << (bits - 1));
    if (bits > 1)
        u = demap_bit(word, first + 1, u, gain, 1 << (bits - 2));
    if (bits > 2)
        u = demap_bit(word, first + 2, u, gain, 1 << (bits - 3));
    if (bits > 3)
        u = demap_bit(word, first + 3, u, gain, 1 << (bits - 4));
    if (bits > 4)
        demap_bit(word, first + 4, u, gain, 1 << (bits - 5));
}

/* `bits` on each axis that is used; constant in every call, so that the compiler unrolls. */
static inline void demap_square(int bits, bool quadrature, float gain, float spacing, size_t padded,
                                const float *restrict weight, const float *restrict re, const float *restrict im,
                                uint32_t *restrict words)
{
    size_t count = padded & ~(size_t)(OFDM_LANES - 1);
    float inverse_spacing = 1.0f / spacing;
    uint32_t *restrict last = words + 2 * padded;
    for (size_t k = 0; k < count; k++) {
        uint32_t word[3] = {0, 0, 0};
        float g = weight[k] * gain;
        demap_axis(word, 0, bits, re[k] * inverse_spacing, g);
        if (quadrature)
            demap_axis(word, bits, bits, im[k] * inverse_spacing, g);
        words[2 * k] = word[0];
        words[2 * k + 1] = word[1];
        if (bits == 5)
            last[k] = word[2];
    }
}

/* At most eight bytes a carrier. Writing all eight, where the next carriers' overwrite the rest, is faster than
 * `pitch`. */
static inline void store(int8_t *soft, size_t pitch, const uint32_t *words, size_t count)
{
    size_t whole = count * pitch < 8 ? 0 : (count * pitch - 8) / pitch + 1;
    for (size_t k = 0; k < whole; k++)
        memcpy(soft + k * pitch, words + 2 * k, 8);
    for (size_t k = whole; k < count; k++)
        memcpy(soft + k * pitch, words + 2 * k, pitch);
}

static void store_ten(int8_t *soft, const uint32_t *words, const uint32_t *last, size_t count)
{
    const uint32_t none = 0;
    for (size_t k = 0; k < count; k++) {
        memcpy(soft + k * 10, words + 2 * k, 8);
        memcpy(soft + k * 10 + 8, last ? last + k : &none, 2);
    }
}

static void demap(penstock_constellation constellation, float llr_scale, const struct ofdm_carriers *carriers,
                  const float *weight, const float *re, const float *im, uint32_t *words, int8_t *soft, size_t pitch)
{
    size_t padded = carriers->padded, count = carriers->count;
    int bits = constellation == PENSTOCK_BPSK ? 1 : (int)constellation / 2;
    /* Mean power one: levels at odd multiples of `spacing`, of mean square (4^bits - 1) / 3 on each axis. */
    float power = (constellation == PENSTOCK_BPSK ? 1.0f : 2.0f) * (float)((1 << 2 * bits) - 1) / 3.0f;
    float spacing = 1.0f / sqrtf(power), gain = 4.0f * llr_scale / power;
    switch (constellation) {
    case PENSTOCK_BPSK:
        demap_square(1, false, gain, spacing, padded, weight, re, im, words);
        break;
    case PENSTOCK_QPSK:
        demap_square(1, true, gain, spacing, padded, weight, re, im, words);
        break;
    case PENSTOCK_QAM16:
        demap_square(2, true, gain, spacing, padded, weight, re, im, words);
        break;
    case PENSTOCK_QAM64:
        demap_square(3, true, gain, spacing, padded, weight, re, im, words);
        break;
    case PENSTOCK_QAM256:
        demap_square(4, true, gain, spacing, padded, weight, re, im, words);
        break;
    case PENSTOCK_QAM1024:
        demap_square(5, true, gain, spacing, padded, weight, re, im, words);
        break;
    }
    switch (pitch) {
    case 1:
        store(soft, 1, words, count);
        break;
    case 2:
        store(soft, 2, words, count);
        break;
    case 4:
        store(soft, 4, words, count);
        break;
    case 6:
        store(soft, 6, words, count);
        break;
    case 8:
        store(soft, 8, words, count);
        break;
    default:
        store_ten(soft, words, bits == 5 ? words + 2 * padded : NULL, count);
        break;
    }
}

const struct ofdm_kernels OFDM_KERNELS = {.equalise = equalise, .demap = demap};
