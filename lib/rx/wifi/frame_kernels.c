/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of an examination and of the pilots. Sums are over lanes of their own, so that any vectors give them. */
#include "rx/wifi/frame_kernels.h"

#ifndef FRAME_KERNELS
#define FRAME_KERNELS penstock__frame_kernels_plain
#endif

#define ROWS  16 /* of a projection at once */
#define SUMS  4  /* that a pilot's carrier is added up in */
#define PARTS (2 * PENSTOCK__WIFI_PILOTS)

/* ---------------------------------------------------------------- channel --------------------- */

/* `rows` rows of the product from `first` on. The matrix is Hermitian: row r is the conjugate of column r, in which
 * neighbouring rows lie side by side. */
static inline __attribute__((always_inline)) void multiply(const float *matrix, const struct frame_carriers *in,
                                                           struct frame_carriers *out, unsigned first, unsigned rows)
{
    float re[ROWS] = {0}, im[ROWS] = {0};
    for (unsigned c = 0; c < USED_CARRIERS; c++) {
        const float *row_re = matrix + (size_t)c * 2 * USED_CARRIERS + first, *row_im = row_re + USED_CARRIERS;
        for (unsigned r = 0; r < rows; r++) {
            re[r] += row_re[r] * in->re[c] + row_im[r] * in->im[c];
            im[r] += row_re[r] * in->im[c] - row_im[r] * in->re[c];
        }
    }
    for (unsigned r = 0; r < rows; r++) {
        out->re[first + r] = re[r];
        out->im[first + r] = im[r];
    }
}

/* What is left of `rows` rows. */
static float rest_of(const struct frame_carriers *in, const struct frame_carriers *out, unsigned first, unsigned rows)
{
    float rest = 0;
    for (unsigned r = first; r < first + rows; r++)
        rest +=
            (in->re[r] - out->re[r]) * (in->re[r] - out->re[r]) + (in->im[r] - out->im[r]) * (in->im[r] - out->im[r]);
    return rest;
}

static bool project(const float *matrix, const struct frame_carriers *in, struct frame_carriers *out, float limit)
{
    enum { WHOLE = USED_CARRIERS / ROWS * ROWS, LEFT = USED_CARRIERS - WHOLE };
    float rest = 0;
    for (unsigned first = 0; first < WHOLE && rest <= limit; first += ROWS) {
        multiply(matrix, in, out, first, ROWS);
        rest += rest_of(in, out, first, ROWS);
    }
    if (!(rest <= limit))
        return false;
    multiply(matrix, in, out, WHOLE, LEFT);
    return rest + rest_of(in, out, WHOLE, LEFT) <= limit;
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
    for (size_t i = 0; i < lags; i++)
        re[i] = im[i] = 0;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        for (size_t i = 0; i < lags; i++) {
            re[i] += sample_re[i + k] * known[k].re - sample_im[i + k] * known[k].im;
            im[i] += sample_re[i + k] * known[k].im + sample_im[i + k] * known[k].re;
        }
}

/* ---------------------------------------------------------------- pilots ---------------------- */

static void see(penstock_cf32 out[PENSTOCK__WIFI_PILOTS], const penstock_cf32 *samples,
                const struct frame_pilots *pilots)
{
    float sums[SUMS][PARTS] = {{0}};
    for (unsigned n = 0; n < PENSTOCK__WIFI_FFT; n += SUMS)
        for (unsigned s = 0; s < SUMS; s++)
            for (unsigned p = 0; p < PARTS; p++)
                sums[s][p] += samples[n + s].re * pilots->by_re[n + s][p] + samples[n + s].im * pilots->by_im[n + s][p];
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        const unsigned q = p + PENSTOCK__WIFI_PILOTS;
        out[p].re = (sums[0][p] + sums[2][p]) + (sums[1][p] + sums[3][p]);
        out[p].im = (sums[0][q] + sums[2][q]) + (sums[1][q] + sums[3][q]);
    }
}

const struct frame_kernels FRAME_KERNELS = {.project = project, .rotate = rotate, .correlate = correlate, .see = see};
