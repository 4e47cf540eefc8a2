/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of an examination and of the pilots. Sums are over lanes of their own, so that any vectors give them. */
#include "rx/wifi/frame_kernels.h"
#include "vector/angle.h"

#ifndef FRAME_KERNELS
#define FRAME_KERNELS penstock__frame_kernels_plain
#endif

#define LANES 8
#define TURN  0.70710678118654752F /* of an eighth, both parts */

/* ---------------------------------------------------------------- channel --------------------- */

static inline __attribute__((always_inline)) float add_up(const float *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static float project(struct frame_carriers *restrict out, const struct frame_carriers *in,
                     const struct frame_carriers *rows, unsigned count)
{
    float left[LANES] = {0};
    for (unsigned r = 0; r < count; r++) {
        const struct frame_carriers *row = &rows[r];
        float sum_re[LANES] = {0}, sum_im[LANES] = {0};
        for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES)
            for (unsigned i = 0; i < LANES; i++) {
                sum_re[i] += row->re[c + i] * in->re[c + i] - row->im[c + i] * in->im[c + i];
                sum_im[i] += row->re[c + i] * in->im[c + i] + row->im[c + i] * in->re[c + i];
            }
        const float re = add_up(sum_re), im = add_up(sum_im);
        for (unsigned c = 0; c < PADDED_CARRIERS; c++) {
            out->re[c] += row->re[c] * re + row->im[c] * im;
            out->im[c] += row->re[c] * im - row->im[c] * re;
        }
    }
    for (unsigned c = 0; c < PADDED_CARRIERS; c += LANES)
        for (unsigned i = 0; i < LANES; i++) {
            const float re = in->re[c + i] - out->re[c + i], im = in->im[c + i] - out->im[c + i];
            left[i] += re * re + im * im;
        }
    return add_up(left);
}

/* ---------------------------------------------------------------- transform ------------------- */

/* DFTs of eight rows, in place, a column each: by even and odd rows, these by radix 4. */
static inline __attribute__((always_inline)) void transform_columns(float (*re)[LANES], float (*im)[LANES])
{
    for (unsigned i = 0; i < LANES; i++) {
        penstock_cf32 x[8], even[4], odd[4];
        for (unsigned k = 0; k < 8; k++)
            x[k] = (penstock_cf32){re[k][i], im[k][i]};
        for (unsigned k = 0; k < 2; k++) {
            penstock_cf32 *half = k ? odd : even;
            const penstock_cf32 a = cf32_add(x[k], x[k + 4]), b = cf32_sub(x[k], x[k + 4]),
                                c = cf32_add(x[k + 2], x[k + 6]), d = cf32_sub(x[k + 2], x[k + 6]);
            half[0] = cf32_add(a, c);
            half[1] = (penstock_cf32){b.re + d.im, b.im - d.re};
            half[2] = cf32_sub(a, c);
            half[3] = (penstock_cf32){b.re - d.im, b.im + d.re};
        }
        odd[1] = cf32_scale((penstock_cf32){odd[1].re + odd[1].im, odd[1].im - odd[1].re}, TURN);
        odd[2] = (penstock_cf32){odd[2].im, -odd[2].re};
        odd[3] = cf32_scale((penstock_cf32){odd[3].im - odd[3].re, -odd[3].im - odd[3].re}, TURN);
        for (unsigned k = 0; k < 4; k++) {
            re[k][i] = even[k].re + odd[k].re;
            im[k][i] = even[k].im + odd[k].im;
            re[k + 4][i] = even[k].re - odd[k].re;
            im[k + 4][i] = even[k].im - odd[k].im;
        }
    }
}

static void transform(penstock_cf32 *out, const penstock_cf32 *in, const struct frame_turns *turns)
{
    float re[8][LANES], im[8][LANES], across_re[8][LANES], across_im[8][LANES];
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            re[k][i] = in[k * LANES + i].re;
            im[k][i] = in[k * LANES + i].im;
        }
    transform_columns(re, im);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            const float turned = re[k][i] * turns->re[k][i] - im[k][i] * turns->im[k][i];
            im[k][i] = re[k][i] * turns->im[k][i] + im[k][i] * turns->re[k][i];
            re[k][i] = turned;
        }
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++) {
            across_re[i][k] = re[k][i];
            across_im[i][k] = im[k][i];
        }
    transform_columns(across_re, across_im);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < LANES; i++)
            out[k * LANES + i] = (penstock_cf32){across_re[k][i], across_im[k][i]};
}

/* ---------------------------------------------------------------- synchronisation ------------- */

static void rotate(penstock_cf32 *restrict out, const penstock_cf32 *in, const penstock_cf32 *turns,
                   const penstock_cf32 *anchors, size_t count)
{
    for (size_t a = 0; a < count; a++, in += ROTATION, out += ROTATION) {
        const penstock_cf32 anchor = anchors[a];
        for (unsigned k = 0; k < ROTATION; k++) {
            const float re = anchor.re * turns[k].re - anchor.im * turns[k].im,
                        im = anchor.re * turns[k].im + anchor.im * turns[k].re;
            out[k].re = in[k].re * re - in[k].im * im;
            out[k].im = in[k].re * im + in[k].im * re;
        }
    }
}

static void correlate(float *restrict re, float *restrict im, size_t lags, const float *sample_re,
                      const float *sample_im, const penstock_cf32 *known)
{
    for (size_t at = 0; at < lags; at += LAGS_AT_ONCE) {
        float sum_re[LAGS_AT_ONCE] = {0}, sum_im[LAGS_AT_ONCE] = {0};
        for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
            for (unsigned i = 0; i < LAGS_AT_ONCE; i++) {
                sum_re[i] += sample_re[at + i + k] * known[k].re - sample_im[at + i + k] * known[k].im;
                sum_im[i] += sample_re[at + i + k] * known[k].im + sample_im[at + i + k] * known[k].re;
            }
        for (unsigned i = 0; i < LAGS_AT_ONCE; i++) {
            re[at + i] = sum_re[i];
            im[at + i] = sum_im[i];
        }
    }
}

static void slide(float *values, size_t count, size_t from, size_t to)
{
    for (size_t step = from; step < to; step *= 2)
        for (size_t i = 0; i < count + to - 2 * step; i++)
            values[i] += values[i + step];
}

/* ---------------------------------------------------------------- pilots ---------------------- */

enum { QUARTER = PENSTOCK__WIFI_FFT / 4, HALF = PENSTOCK__WIFI_FFT / 2 };

/* `values` of `count` lanes each, the first lane of which becomes the sum in a fixed tree. */
static inline __attribute__((always_inline)) void add_lanes(float (*values)[QUARTER], unsigned count)
{
    for (unsigned v = 0; v < count; v++)
        for (unsigned i = 0; i < 8; i++)
            values[v][i] += values[v][i + 8];
    for (unsigned v = 0; v < count; v++)
        for (unsigned i = 0; i < 4; i++)
            values[v][i] += values[v][i + 4];
    for (unsigned v = 0; v < count; v++)
        values[v][0] = (values[v][0] + values[v][2]) + (values[v][1] + values[v][3]);
}

static void see(struct frame_symbols *symbols, unsigned at, const penstock_cf32 *x, const struct frame_pilots *pilots)
{
    const penstock_cf32 h = pilots->half, q = pilots->quarter;
    float re[HALF], im[HALF], folded_re[2][QUARTER], folded_im[2][QUARTER], sums[2 * PENSTOCK__WIFI_PILOTS][QUARTER];
    for (unsigned n = 0; n < HALF; n++) {
        re[n] = x[n].re - (x[n + HALF].re * h.re - x[n + HALF].im * h.im);
        im[n] = x[n].im - (x[n + HALF].re * h.im + x[n + HALF].im * h.re);
    }
    for (unsigned n = 0; n < QUARTER; n++) {
        const float turned_re = re[n + QUARTER] * q.re - im[n + QUARTER] * q.im,
                    turned_im = re[n + QUARTER] * q.im + im[n + QUARTER] * q.re;
        folded_re[0][n] = re[n] + turned_re;
        folded_im[0][n] = im[n] + turned_im;
        folded_re[1][n] = re[n] - turned_re;
        folded_im[1][n] = im[n] - turned_im;
    }
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const float *from_re = folded_re[p % 2], *from_im = folded_im[p % 2];
        for (unsigned n = 0; n < QUARTER; n++) {
            sums[2 * p][n] = from_re[n] * pilots->re[p][n] - from_im[n] * pilots->im[p][n];
            sums[2 * p + 1][n] = from_re[n] * pilots->im[p][n] + from_im[n] * pilots->re[p][n];
        }
    }
    add_lanes(sums, 2 * PENSTOCK__WIFI_PILOTS);
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        symbols->re[p][at] = sums[2 * p][0];
        symbols->im[p][at] = sums[2 * p + 1][0];
    }
}

static void combine(struct frame_symbols *symbols, const struct frame_pilots *pilots)
{
    for (unsigned i = 0; i < SYMBOLS_AT_ONCE; i++) {
        /* exp(-7 i slope) by Taylor's series: the angle is within 0.35. Pilots are at -21, -7, 7, 21. */
        const float angle = -7 * symbols->slope[i], z = angle * angle;
        const penstock_cf32 back = {1 + z * (-1 / 2.0F + z * (1 / 24.0F - z / 720)),
                                    angle * (1 + z * (-1 / 6.0F + z * (1 / 120.0F - z / 5040)))};
        const penstock_cf32 back3 = cf32_mul(cf32_mul(back, back), back);
        penstock_cf32 level[PENSTOCK__WIFI_PILOTS];
        for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
            const penstock_cf32 seen = {symbols->re[p][i], symbols->im[p][i]};
            level[p] = cf32_mul(cf32_sub(seen, pilots->constant[p]), pilots->expected[p]);
        }
        level[0] = cf32_mul_conj(level[0], back3);
        level[1] = cf32_mul_conj(level[1], back);
        level[2] = cf32_mul(level[2], back);
        level[3] = cf32_mul(level[3], back3);
        const penstock_cf32 sum = cf32_add(cf32_add(level[0], level[1]), cf32_add(level[2], level[3]));
        const penstock_cf32 outer = cf32_scale(cf32_sub(level[3], level[0]), 3);
        const penstock_cf32 apart = cf32_add(outer, cf32_sub(level[2], level[1]));
        symbols->rest[i] = 7 * cf32_mul_conj(apart, sum).im / sqrtf(cf32_power(sum)) * pilots->slope_scale;
        symbols->phase[i] = penstock__angle(sum.im, sum.re);
    }
}

const struct frame_kernels FRAME_KERNELS = {.transform = transform,
                                            .project = project,
                                            .rotate = rotate,
                                            .correlate = correlate,
                                            .slide = slide,
                                            .see = see,
                                            .combine = combine};
