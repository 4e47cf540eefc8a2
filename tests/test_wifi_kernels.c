/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of the Wi-Fi receiver's examination and pilots: against double precision, and the same bits from the
 * builds for each instruction set; and turns against the C library's. */
#include "rx/wifi/frame_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#include <string.h>

enum { LAGS = 141, ANCHORS = 9 };

struct results {
    struct frame_carriers kept;
    bool held[2];
    penstock_cf32 rotated[ANCHORS * ROTATION], seen[PENSTOCK__WIFI_PILOTS];
    float re[LAGS], im[LAGS];
};

static uint64_t state = 7;
static struct penstock__wifi_tables tables;
static struct frame_carriers carriers;
static penstock_cf32 samples[ANCHORS * ROTATION], turns[ROTATION], anchors[ANCHORS];
static float sample_re[LAGS + PENSTOCK__WIFI_FFT], sample_im[LAGS + PENSTOCK__WIFI_FFT];
static struct frame_pilots pilots;

static void fill(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)test_uniform(&state);
}

static void fill_all(void)
{
    fill(carriers.re, USED_CARRIERS);
    fill(carriers.im, USED_CARRIERS);
    fill(&samples[0].re, 2 * sizeof samples / sizeof *samples);
    fill(&turns[0].re, 2 * ROTATION);
    fill(&anchors[0].re, 2 * ANCHORS);
    fill(sample_re, sizeof sample_re / sizeof *sample_re);
    fill(sample_im, sizeof sample_im / sizeof *sample_im);
    fill(pilots.by_re[0], sizeof pilots.by_re / sizeof(float));
    fill(pilots.by_im[0], sizeof pilots.by_im / sizeof(float));
}

static void run(struct results *results, const struct frame_kernels *kernels)
{
    struct frame_carriers out;
    memset(results, 0, sizeof *results);
    results->held[0] = kernels->project(tables.smooth[1], &carriers, &results->kept, 1e6F);
    results->held[1] = kernels->project(tables.smooth[1], &carriers, &out, 1e-3F);
    kernels->rotate(results->rotated, samples, turns, anchors, ANCHORS);
    kernels->correlate(results->re, results->im, LAGS, sample_re, sample_im, tables.long_time);
    kernels->see(results->seen, samples, &pilots);
}

/* ---------------------------------------------------------------- in double precision --------- */

static void check_near(double got_re, double got_im, double re, double im, const char *what, size_t i)
{
    CHECK(hypot(got_re - re, got_im - im) < 3e-6 * (1 + hypot(re, im)), "%s %zu: %g + %gi, not %g + %gi", what, i,
          got_re, got_im, re, im);
}

static void check_projection(const struct results *results)
{
    for (size_t r = 0; r < USED_CARRIERS; r++) {
        const float *row = tables.smooth[1] + r * 2 * USED_CARRIERS;
        double re = 0, im = 0;
        for (size_t c = 0; c < USED_CARRIERS; c++) {
            re += (double)row[c] * (double)carriers.re[c] - (double)row[USED_CARRIERS + c] * (double)carriers.im[c];
            im += (double)row[c] * (double)carriers.im[c] + (double)row[USED_CARRIERS + c] * (double)carriers.re[c];
        }
        check_near((double)results->kept.re[r], (double)results->kept.im[r], re, im, "row", r);
    }
    CHECK(results->held[0] && !results->held[1], "noise is no channel of few taps, and %d %d says so", results->held[0],
          results->held[1]);
}

static void check_rotation(const struct results *results)
{
    for (size_t i = 0; i < ANCHORS * ROTATION; i++) {
        const penstock_cf32 a = anchors[i / ROTATION], t = turns[i % ROTATION], x = samples[i];
        const double re = (double)a.re * (double)t.re - (double)a.im * (double)t.im,
                     im = (double)a.re * (double)t.im + (double)a.im * (double)t.re;
        check_near((double)results->rotated[i].re, (double)results->rotated[i].im,
                   (double)x.re * re - (double)x.im * im, (double)x.re * im + (double)x.im * re, "sample", i);
    }
}

static void check_sums(const struct results *results)
{
    for (size_t i = 0; i < LAGS; i++) {
        double re = 0, im = 0;
        for (size_t k = 0; k < PENSTOCK__WIFI_FFT; k++) {
            const double a = (double)sample_re[i + k], b = (double)sample_im[i + k], c = (double)tables.long_time[k].re,
                         d = (double)tables.long_time[k].im;
            re += a * c - b * d;
            im += a * d + b * c;
        }
        check_near((double)results->re[i], (double)results->im[i], re, im, "lag", i);
    }
    for (size_t p = 0; p < PENSTOCK__WIFI_PILOTS; p++) {
        double sum[2] = {0};
        for (size_t n = 0; n < PENSTOCK__WIFI_FFT; n++)
            for (size_t part = 0; part < 2; part++)
                sum[part] += (double)samples[n].re * (double)pilots.by_re[n][p + part * PENSTOCK__WIFI_PILOTS] +
                             (double)samples[n].im * (double)pilots.by_im[n][p + part * PENSTOCK__WIFI_PILOTS];
        check_near((double)results->seen[p].re, (double)results->seen[p].im, sum[0], sum[1], "pilot", p);
    }
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
    CHECK_OK(penstock__wifi_tables_init(&tables));
    for (unsigned trial = 0; trial < 20; trial++) {
        fill_all();
        run(&plain, &penstock__frame_kernels_plain);
        check_projection(&plain);
        check_rotation(&plain);
        check_sums(&plain);
        if (!avx2)
            continue;
        run(&other, avx2);
        CHECK(!memcmp(&plain, &other, sizeof plain), "AVX2 gives other bits");
        compared++;
    }
    printf("compared with AVX2: %zu of 20\n", compared);
    test_turns();
    penstock__wifi_tables_free(&tables);
    return test_finish();
}
