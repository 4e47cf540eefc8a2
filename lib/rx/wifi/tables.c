/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Constants of the standard in the forms that the receiver needs, and its small DFT. */
#include "rx/wifi/receiver.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define PI       3.14159265358979323846
#define MAX_TAPS 20

/* Responses from the shortest on: how many samples, and how many of them before the first path. */
static const struct {
    unsigned taps, lead;
} responses[3] = {{7, 2}, {12, 3}, {MAX_TAPS, 4}};

static double complex unit(double turns)
{
    return cos(2 * PI * turns) + I * sin(2 * PI * turns);
}

/* In place: the lower Cholesky factor of a Hermitian matrix. */
static void cholesky(double complex matrix[MAX_TAPS][MAX_TAPS], unsigned n)
{
    for (unsigned j = 0; j < n; j++)
        for (unsigned i = j; i < n; i++) {
            double complex sum = matrix[i][j];
            for (unsigned k = 0; k < j; k++)
                sum -= matrix[i][k] * conj(matrix[j][k]);
            matrix[i][j] = i == j ? sqrt(creal(sum)) : sum / matrix[j][j];
        }
}

/*
 * The projection A (A^H A + e I)^-1 A^H, where column t of A is the response of the used carriers to tap t. With the
 * factor L of the middle and B the solution of L B = A^H, that is B^H B. The small e (30 dB below the estimate) keeps
 * out what lies between the band's edges.
 */
static void projection(float *matrix, float *rank, const int32_t *used, unsigned taps, unsigned lead)
{
    double complex gram[MAX_TAPS][MAX_TAPS], b[MAX_TAPS][USED_CARRIERS];
    for (unsigned i = 0; i < taps; i++)
        for (unsigned j = 0; j < taps; j++) {
            gram[i][j] = i == j ? 1e-3 * USED_CARRIERS : 0;
            for (unsigned c = 0; c < USED_CARRIERS; c++)
                gram[i][j] += unit(used[c] * ((double)i - j) / PENSTOCK__WIFI_FFT);
        }
    cholesky(gram, taps);
    for (unsigned c = 0; c < USED_CARRIERS; c++)
        for (unsigned i = 0; i < taps; i++) {
            b[i][c] = unit(used[c] * ((double)i - lead) / PENSTOCK__WIFI_FFT);
            for (unsigned k = 0; k < i; k++)
                b[i][c] -= gram[i][k] * b[k][c];
            b[i][c] /= gram[i][i];
        }
    *rank = 0;
    for (unsigned r = 0; r < USED_CARRIERS; r++)
        for (unsigned c = 0; c < USED_CARRIERS; c++) {
            double complex sum = 0;
            for (unsigned i = 0; i < taps; i++)
                sum += conj(b[i][r]) * b[i][c];
            matrix[2 * r * USED_CARRIERS + c] = (float)creal(sum);
            matrix[(2 * r + 1) * USED_CARRIERS + c] = (float)cimag(sum);
            *rank += r == c ? (float)creal(sum) : 0;
        }
}

/* conj(x[n]) / |x|, where x is the inverse DFT of the long training field's values. */
static void long_symbol(penstock_cf32 *time)
{
    for (unsigned n = 0; n < PENSTOCK__WIFI_FFT; n++) {
        double complex sum = 0;
        for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
            sum += (double)penstock__wifi_long_training[k].re * unit((double)(n * k % 64) / PENSTOCK__WIFI_FFT);
        sum /= sqrt((double)USED_CARRIERS * PENSTOCK__WIFI_FFT);
        time[n] = (penstock_cf32){(float)creal(sum), (float)-cimag(sum)};
    }
}

int penstock__wifi_tables_init(struct penstock__wifi_tables *tables)
{
    unsigned used = 0;
    for (int32_t k = -26; k <= 26; k++)
        if (k)
            tables->used[used++] = k;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        double complex value = unit(-(double)k / PENSTOCK__WIFI_FFT);
        int signed_bin = k < 32 ? (int)k : (int)k - 64;
        tables->twiddle[k] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
        tables->delay_window[k] = abs(signed_bin) > 26 ? 0 : (float)(0.5 + 0.5 * cos(PI * signed_bin / 27));
    }
    long_symbol(tables->long_time);
    for (unsigned i = 0; i < PENSTOCK__WIFI_RATES; i++)
        penstock__wifi_soft_map_init(&tables->soft_maps[i], &penstock__wifi_rates[i]);
    for (unsigned i = 0; i < 3; i++) {
        tables->smooth[i] = penstock__alloc(2 * sizeof(float) * USED_CARRIERS * USED_CARRIERS);
        if (!tables->smooth[i])
            return PENSTOCK_ERR_MEMORY;
        projection(tables->smooth[i], &tables->smooth_rank[i], tables->used, responses[i].taps, responses[i].lead);
    }
    return PENSTOCK_OK;
}

void penstock__wifi_tables_free(struct penstock__wifi_tables *tables)
{
    for (unsigned i = 0; i < 3; i++)
        penstock__free(tables->smooth[i]);
}

/* One stage of radix 4, decimation in frequency: `count` butterflies of samples `stride` apart. */
static void radix4(penstock_cf32 *data, unsigned span, const penstock_cf32 *twiddle)
{
    unsigned quarter = span / 4, step = PENSTOCK__WIFI_FFT / span;
    for (unsigned block = 0; block < PENSTOCK__WIFI_FFT; block += span)
        for (unsigned i = 0; i < quarter; i++) {
            penstock_cf32 *x = data + block + i;
            penstock_cf32 a = cf32_add(x[0], x[2 * quarter]), b = cf32_sub(x[0], x[2 * quarter]);
            penstock_cf32 c = cf32_add(x[quarter], x[3 * quarter]), d = cf32_sub(x[quarter], x[3 * quarter]);
            penstock_cf32 turned = {d.im, -d.re};
            x[0] = cf32_add(a, c);
            x[quarter] = cf32_mul(cf32_add(b, turned), twiddle[i * step]);
            x[2 * quarter] = cf32_mul(cf32_sub(a, c), twiddle[2 * i * step]);
            x[3 * quarter] = cf32_mul(cf32_sub(b, turned), twiddle[3 * i * step]);
        }
}

void penstock__wifi_fft(const struct penstock__wifi_tables *tables, penstock_cf32 *out, const penstock_cf32 *in)
{
    penstock_cf32 data[PENSTOCK__WIFI_FFT];
    memcpy(data, in, sizeof data);
    radix4(data, 64, tables->twiddle);
    radix4(data, 16, tables->twiddle);
    radix4(data, 4, tables->twiddle);
    for (unsigned i = 0; i < PENSTOCK__WIFI_FFT; i++) /* the digits of the index in base 4, reversed */
        out[(i & 3) << 4 | (i & 12) | i >> 4] = data[i];
}
