/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Constants of the standard in the forms that the receiver needs. */
#include "rx/wifi/receiver.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define PI   3.14159265358979323846
#define TAPS PENSTOCK__WIFI_TAPS

/* Responses from the shortest on, each with all of the one before: how many samples, and their delays. */
static const unsigned responses[3] = {7, 12, TAPS};
static const int delays[TAPS] = {-2, -1, 0, 1, 2, 3, 4, -3, 5, 6, 7, 8, -4, 9, 10, 11, 12, 13, 14, 15};

static double complex unit(double turns)
{
    return cos(2 * PI * turns) + I * sin(2 * PI * turns);
}

/* In place: the lower Cholesky factor of a Hermitian matrix. */
static void cholesky(double complex matrix[TAPS][TAPS])
{
    for (unsigned j = 0; j < TAPS; j++)
        for (unsigned i = j; i < TAPS; i++) {
            double complex sum = matrix[i][j];
            for (unsigned k = 0; k < j; k++)
                sum -= matrix[i][k] * conj(matrix[j][k]);
            matrix[i][j] = i == j ? sqrt(creal(sum)) : sum / matrix[j][j];
        }
}

/*
 * The projection A (A^H A + e I)^-1 A^H, where column t of A is the response of the used carriers to tap t. With the
 * factor L of the middle and B the solution of L B = A^H, that is B^H B. The first rows of L and B are those of fewer
 * taps. The small e (30 dB below the estimate) keeps out what lies between the band's edges.
 */
static void projection(struct penstock__wifi_tables *tables)
{
    double complex gram[TAPS][TAPS], b[TAPS][USED_CARRIERS];
    const int32_t *used = tables->used;
    float rank = 0;
    for (unsigned i = 0; i < TAPS; i++)
        for (unsigned j = 0; j < TAPS; j++) {
            gram[i][j] = i == j ? 1e-3 * USED_CARRIERS : 0;
            for (unsigned c = 0; c < USED_CARRIERS; c++)
                gram[i][j] += unit(used[c] * (double)(delays[i] - delays[j]) / PENSTOCK__WIFI_FFT);
        }
    cholesky(gram);
    for (unsigned i = 0; i < TAPS; i++) {
        for (unsigned c = 0; c < USED_CARRIERS; c++) {
            b[i][c] = unit(used[c] * (double)delays[i] / PENSTOCK__WIFI_FFT);
            for (unsigned k = 0; k < i; k++)
                b[i][c] -= gram[i][k] * b[k][c];
            b[i][c] /= gram[i][i];
            tables->smooth[i].re[used[c] & 63] = (float)creal(b[i][c]);
            tables->smooth[i].im[used[c] & 63] = (float)cimag(b[i][c]);
            rank += (float)creal(b[i][c] * conj(b[i][c]));
        }
        for (unsigned r = 0; r < 3; r++)
            if (i < responses[r])
                tables->smooth_rank[r] = rank;
    }
    memcpy(tables->smooth_taps, responses, sizeof responses);
}

/* conj(x[n]) / |x|, where x is the inverse DFT of the long training field's values. */
static void long_symbol(struct penstock__wifi_bins *time)
{
    for (unsigned n = 0; n < PENSTOCK__WIFI_FFT; n++) {
        double complex sum = 0;
        for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
            sum += (double)penstock__wifi_long_training[k].re * unit((double)(n * k % 64) / PENSTOCK__WIFI_FFT);
        sum /= sqrt((double)USED_CARRIERS * PENSTOCK__WIFI_FFT);
        time->re[n] = (float)creal(sum);
        time->im[n] = (float)-cimag(sum);
    }
}

/* Of `time`, 64 samples; with the factor that the transform back leaves out. */
static void fill_correlator(struct penstock__wifi_correlator *correlator, const struct penstock__wifi_bins *time)
{
    double complex turns[256];
    for (unsigned i = 0; i < 256; i++)
        turns[i] = unit(-(double)i / 256);
    for (unsigned row = 0; row < 32; row++) {
        const unsigned k = row / 4, m = row % 4;
        correlator->quarter_re[k][m] = (float)creal(turns[8 * k * m]);
        correlator->quarter_im[k][m] = (float)cimag(turns[8 * k * m]);
        for (unsigned i = 0; i < 8; i++) {
            const unsigned carrier = k + 8 * m + 32 * i;
            double complex sum = 0;
            for (unsigned n = 0; n < PENSTOCK__WIFI_FFT; n++)
                sum += ((double)time->re[n] + I * (double)time->im[n]) * conj(turns[carrier * n % 256]);
            correlator->re[row][i] = (float)creal(turns[(k + 8 * m) * i]);
            correlator->im[row][i] = (float)cimag(turns[(k + 8 * m) * i]);
            correlator->symbol_re[row / 8][i][row % 8] = (float)creal(sum / 256);
            correlator->symbol_im[row / 8][i][row % 8] = (float)cimag(sum / 256);
        }
    }
}

void penstock__wifi_tables_init(struct penstock__wifi_tables *tables)
{
    unsigned used = 0;
    for (int32_t k = -26; k <= 26; k++)
        if (k)
            tables->used[used++] = k;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        double complex value = unit(-(double)k / PENSTOCK__WIFI_FFT);
        double complex turn = unit(-(double)(k / 8 * (k % 8)) / PENSTOCK__WIFI_FFT);
        int signed_bin = k < 32 ? (int)k : (int)k - 64;
        tables->twiddle[k] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
        tables->known[k] = penstock__wifi_long_training[k].re;
        tables->delay_window[k] = tables->known[k] * (float)(0.5 + 0.5 * cos(PI * signed_bin / 27));
        tables->fft.re[k / 8][k % 8] = (float)creal(turn);
        tables->fft.im[k / 8][k % 8] = (float)cimag(turn);
    }
    for (unsigned i = 0; i < LATER * PENSTOCK__WIFI_FFT; i++) {
        const unsigned later = i / PENSTOCK__WIFI_FFT, k = i % PENSTOCK__WIFI_FFT;
        tables->later[later].re[k] = tables->twiddle[k * later % PENSTOCK__WIFI_FFT].re;
        tables->later[later].im[k] = tables->twiddle[k * later % PENSTOCK__WIFI_FFT].im;
    }
    long_symbol(&tables->long_time);
    fill_correlator(&tables->correlator, &tables->long_time);
    for (unsigned i = 0; i < PENSTOCK__WIFI_RATES; i++)
        penstock__wifi_soft_map_init(&tables->soft_maps[i], &penstock__wifi_rates[i]);
    projection(tables);
}
