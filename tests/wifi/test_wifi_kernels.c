/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of the Wi-Fi receiver's examination and pilots: against double precision, and the same bits from the
 * builds for each instruction set; and turns against the C library's. Those of the search: test_wifi_search.c. */
#include "rx/wifi/frame_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#include <complex.h>
#include <string.h>

struct results {
    struct penstock__wifi_bins kept[2], bins[2], weighted, least_squares;
    float left[2], apart;
    float stray[4];
    struct frame_symbols symbols;
};

static uint64_t state = 7;
static struct penstock__wifi_tables tables;
static struct penstock__wifi_bins carriers, both[2]; /* of used carriers, and in time */
static penstock_cf32 samples[2 * PENSTOCK__WIFI_FFT];
static double cfo;
static struct frame_pilots pilots;
static float slopes[SYMBOLS_AT_ONCE];
static const unsigned strays[] = {2, 2, 4, 8}; /* levels, of a constellation on one axis at first */

static void fill(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)test_uniform(&state);
}

static void fill_pilots(void)
{
    cfo = test_uniform(&state) / 200;
    pilots.half = cf32_turn(-cfo * 32);
    pilots.quarter = cf32_turn(-cfo * 16 + 0.25);
    for (unsigned p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        for (unsigned n = 0; n < FOLDED; n++) {
            const penstock_cf32 turn =
                cf32_turn(-(cfo + (double)penstock__wifi_pilot_carriers[p] / PENSTOCK__WIFI_FFT) * n);
            pilots.re[p][2 * n] = pilots.re[p][2 * n + 1] = turn.re;
            pilots.im[p][2 * n] = pilots.im[p][2 * n + 1] = turn.im;
        }
        fill(&pilots.constant[p].re, 2);
        fill(&pilots.expected[p].re, 2);
    }
    pilots.slope_scale = 0.25F;
    for (unsigned i = 0; i < SYMBOLS_AT_ONCE; i++)
        slopes[i] = (float)(test_uniform(&state) * TWO_PI / PENSTOCK__WIFI_FFT / 2);
}

static void fill_all(void)
{
    for (size_t c = 0; c < USED_CARRIERS; c++) {
        fill(&carriers.re[tables.used[c] & 63], 1);
        fill(&carriers.im[tables.used[c] & 63], 1);
    }
    fill(&samples[0].re, 2 * sizeof samples / sizeof *samples);
    for (size_t i = 0; i < 2; i++) {
        fill(both[i].re, PENSTOCK__WIFI_FFT);
        fill(both[i].im, PENSTOCK__WIFI_FFT);
    }
    fill_pilots();
}

static void run(struct results *results, const struct frame_kernels *kernels)
{
    memset(results, 0, sizeof *results);
    results->left[0] = kernels->project(&results->kept[0], &carriers, tables.smooth, tables.smooth_taps[0]);
    results->kept[1] = results->kept[0];
    results->left[1] = kernels->project(&results->kept[1], &carriers, tables.smooth + tables.smooth_taps[0],
                                        tables.smooth_taps[1] - tables.smooth_taps[0]);
    for (size_t i = 0; i < 2; i++)
        kernels->transform(&results->bins[i], both[i].re, both[i].im, &tables.fft);
    results->apart = kernels->compare(&results->bins[0], &results->bins[1], tables.known);
    kernels->estimate(&results->least_squares, &results->bins[0], &results->bins[1], tables.known,
                      &tables.later[LATER - 1]);
    results->weighted = results->bins[0];
    kernels->mul_conj(&results->weighted, &results->weighted, &carriers);
    memcpy(results->symbols.slope, slopes, sizeof slopes);
    for (unsigned i = 0; i < SYMBOLS_AT_ONCE; i++)
        kernels->see(&results->symbols, i, samples + 5 * i, &pilots);
    kernels->combine(&results->symbols, &pilots);
    for (unsigned i = 0; i < 4; i++)
        results->stray[i] = kernels->stray(samples, 5, (float)strays[i], i == 0);
}

/* ---------------------------------------------------------------- in double precision --------- */

static void check_near(double got_re, double got_im, double re, double im, const char *what, size_t i)
{
    CHECK(hypot(got_re - re, got_im - im) < 3e-6 * (1 + hypot(re, im)), "%s %zu: %g + %gi, not %g + %gi", what, i,
          got_re, got_im, re, im);
}

/* The projection as its definition words it, A (A^H A + e I)^-1 A^H, is what leaves the response of each tap as it is
 * but for e, and nothing of what is orthogonal to all; Gram and Schmidt make the taps' responses so to one another. */
static size_t orthogonal(double complex basis[PENSTOCK__WIFI_TAPS][USED_CARRIERS], int first, int last)
{
    size_t rank = 0;
    for (int delay = first; delay <= last; delay++) {
        double complex *row = basis[rank];
        for (size_t c = 0; c < USED_CARRIERS; c++)
            row[c] = cexp(-2 * I * acos(-1) * tables.used[c] * delay / PENSTOCK__WIFI_FFT);
        for (size_t repeat = 0; repeat < 2; repeat++)
            for (size_t k = 0; k < rank; k++) {
                double complex part = 0;
                for (size_t c = 0; c < USED_CARRIERS; c++)
                    part += conj(basis[k][c]) * row[c];
                for (size_t c = 0; c < USED_CARRIERS; c++)
                    row[c] -= part * basis[k][c];
            }
        double size = 0;
        for (size_t c = 0; c < USED_CARRIERS; c++)
            size += creal(row[c] * conj(row[c]));
        for (size_t c = 0; c < USED_CARRIERS; c++)
            row[c] /= sqrt(size);
        rank++;
    }
    return rank;
}

static double complex bin(const struct penstock__wifi_bins *bins, size_t k)
{
    return (double)bins->re[k] + I * (double)bins->im[k];
}

static double complex used(const struct penstock__wifi_bins *bins, size_t c)
{
    return bin(bins, (size_t)tables.used[c] & 63);
}

/* Seven and twelve taps are far from the band's edges, where e tells: 1e-3 of what is kept, and a little more. */
static void check_projection(const struct results *results)
{
    static const int ends[2][2] = {{-2, 4}, {-3, 8}};
    for (unsigned which = 0; which < 2; which++) {
        double complex basis[PENSTOCK__WIFI_TAPS][USED_CARRIERS], kept[USED_CARRIERS] = {0};
        const size_t rank = orthogonal(basis, ends[which][0], ends[which][1]);
        double off = 0, left = 0, left_then = 0, power = 0;
        for (size_t k = 0; k < rank; k++) {
            double complex part = 0;
            for (size_t c = 0; c < USED_CARRIERS; c++)
                part += conj(basis[k][c]) * used(&carriers, c);
            for (size_t c = 0; c < USED_CARRIERS; c++)
                kept[c] += part * basis[k][c];
        }
        for (size_t c = 0; c < USED_CARRIERS; c++) {
            const double complex x = used(&carriers, c), got = used(&results->kept[which], c);
            off += pow(cabs(got - kept[c]), 2);
            left += pow(cabs(x - kept[c]), 2);
            left_then += pow(cabs(x - got), 2);
            power += pow(cabs(x), 2);
        }
        CHECK(off < 0.01 * power, "%zu taps: off by %g of %g", rank, off, power);
        CHECK(fabs(left_then - (double)results->left[which]) < 1e-5 * power && fabs(left - left_then) < 0.01 * power,
              "%zu taps leave %g, not %g", rank, (double)results->left[which], left);
        CHECK(fabs((double)tables.smooth_rank[which] - (double)rank) < 0.2, "rank %g",
              (double)tables.smooth_rank[which]);
    }
}

static void check_transform(const struct results *results)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < PENSTOCK__WIFI_FFT; k++) {
            double complex sum = 0;
            for (size_t n = 0; n < PENSTOCK__WIFI_FFT; n++)
                sum += bin(&both[i], n) *
                       cexp(-2 * I * acos(-1) * (double)(k * n % PENSTOCK__WIFI_FFT) / PENSTOCK__WIFI_FFT);
            check_near((double)results->bins[i].re[k], (double)results->bins[i].im[k], creal(sum), cimag(sum), "bin",
                       k);
        }
}

/* Two symbols: by how much they differ on the carriers that are used, at the phase that makes it least; what both tell
 * of the channel; and one as a channel weighs it. */
static void check_symbols(const struct results *results)
{
    double complex common = 0;
    double apart = 0;
    for (size_t c = 0; c < USED_CARRIERS; c++)
        common += used(&results->bins[0], c) * conj(used(&results->bins[1], c));
    for (size_t c = 0; c < USED_CARRIERS; c++)
        apart += pow(cabs(used(&results->bins[0], c) - used(&results->bins[1], c) * common / cabs(common)), 2);
    CHECK(fabs((double)results->apart - apart) < 1e-5 * apart, "symbols are %g apart, not %g", (double)results->apart,
          apart);
    for (size_t k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        const double sent = (double)penstock__wifi_long_training[k].re, turns = (double)k * (LATER - 1) / 64;
        const double complex mean = sent * (bin(&results->bins[0], k) + bin(&results->bins[1], k)) / 2,
                             channel = mean * cexp(I * TWO_PI * turns),
                             weighted = bin(&results->bins[0], k) * conj(bin(&carriers, k));
        check_near((double)results->least_squares.re[k], (double)results->least_squares.im[k], creal(channel),
                   cimag(channel), "channel", k);
        check_near((double)results->weighted.re[k], (double)results->weighted.im[k], creal(weighted), cimag(weighted),
                   "weighted", k);
    }
}

/* The carriers of all 64 samples, and what their angles, weights and moments are by the definitions. */
static void check_pilots(const struct results *results)
{
    for (size_t i = 0; i < SYMBOLS_AT_ONCE; i++) {
        double complex level[PENSTOCK__WIFI_PILOTS], whole = 0;
        double moment = 0;
        for (size_t p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
            const double carrier = penstock__wifi_pilot_carriers[p], turn = cfo + carrier / PENSTOCK__WIFI_FFT;
            double complex sum = 0;
            for (size_t n = 0; n < PENSTOCK__WIFI_FFT; n++)
                sum += ((double)samples[5 * i + n].re + I * (double)samples[5 * i + n].im) *
                       cexp(-I * TWO_PI * turn * (double)n);
            check_near((double)results->symbols.re[p][i], (double)results->symbols.im[p][i], creal(sum), cimag(sum),
                       "pilot", p);
            level[p] = (sum - (double)pilots.constant[p].re - I * (double)pilots.constant[p].im) *
                       ((double)pilots.expected[p].re + I * (double)pilots.expected[p].im) *
                       cexp(-I * carrier * (double)slopes[i]);
            whole += level[p];
        }
        for (size_t p = 0; p < PENSTOCK__WIFI_PILOTS; p++)
            moment += penstock__wifi_pilot_carriers[p] * cimag(level[p] * conj(whole)) / cabs(whole);
        CHECK(fabs(remainder((double)results->symbols.phase[i] - carg(whole), TWO_PI)) < 2e-5 / cabs(whole),
              "symbol %zu: phase %g, not %g", i, (double)results->symbols.phase[i], carg(whole));
        CHECK(fabs((double)results->symbols.rest[i] - moment * (double)pilots.slope_scale) < 3e-3 / cabs(whole),
              "symbol %zu: slope %g, not %g", i, (double)results->symbols.rest[i], moment * (double)pilots.slope_scale);
    }
}

/* The nearest of all levels. */
static void check_stray(const struct results *results)
{
    for (size_t i = 0; i < 4; i++) {
        double sum = 0;
        for (size_t n = 0; n < PENSTOCK__WIFI_CARRIERS; n++)
            for (size_t part = 0; part < 2; part++) {
                const double u = 5 * (double)(part ? samples[n].im : samples[n].re);
                double least = i == 0 && part ? fabs(u) : INFINITY;
                for (int level = 1 - (int)strays[i]; level < (int)strays[i] && !(i == 0 && part); level += 2)
                    least = fmin(least, fabs(u - level));
                sum += least * least;
            }
        CHECK(fabs((double)results->stray[i] - sum) < 1e-5 * sum, "%u levels: %g, not %g", strays[i],
              (double)results->stray[i], sum);
    }
}

static void test_silence(const struct frame_kernels *kernels)
{
    struct frame_symbols symbols = {.slope = {0}};
    struct frame_pilots none = {.slope_scale = 1};
    kernels->combine(&symbols, &none);
    for (size_t i = 0; i < SYMBOLS_AT_ONCE; i++)
        CHECK(!isfinite(symbols.rest[i]), "silence has a slope");
}

static void test_turns(void)
{
    static const double scales[] = {1e-6, 0.3, 1, 40, 1e6, 1e9};
    double most = 0;
    for (size_t i = 0; i < 60000; i++) {
        const double scale = scales[i % 6], turns_ = i < 64 ? (double)((int)i - 32) / 8 : scale * test_uniform(&state);
        const double angle = TWO_PI * (turns_ - floor(turns_));
        const penstock_cf32 got = cf32_turn(turns_);
        most = fmax(most, hypot((double)got.re - cos(angle), (double)got.im - sin(angle)));
    }
    CHECK(most < 1e-7, "turns are off by %g", most); /* a float's rounding of both parts: 0.84e-7 */
    CHECK(cf32_turn(0).re == 1 && cf32_turn(0.25).im == 1 && cf32_turn(-0.5).re == -1 && cf32_turn(0.75).im == -1,
          "quarters are not exact");
}

int main(void)
{
    static struct results plain, other;
    const struct frame_kernels *avx2 = AVX2_BUILD(&penstock__frame_kernels_avx2);
    size_t compared = 0;
    penstock__wifi_tables_init(&tables);
    test_silence(&penstock__frame_kernels_plain);
    for (unsigned trial = 0; trial < 20; trial++) {
        fill_all();
        run(&plain, &penstock__frame_kernels_plain);
        check_projection(&plain);
        check_transform(&plain);
        check_symbols(&plain);
        check_pilots(&plain);
        check_stray(&plain);
        if (!avx2)
            continue;
        run(&other, avx2);
        CHECK(!memcmp(&plain, &other, sizeof plain), "AVX2 gives other bits");
        compared++;
    }
    printf("compared with AVX2: %zu of 20\n", compared);
    test_turns();
    return test_finish();
}
