/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Channel estimation: a response within the taps comes back exactly, white noise on it falls by the used bins over the
 * taps, the noise variance is unbiased.
 */
#include <penstock/ofdm.h>

#include "core/base/memory.h"
#include "test.h"

#define TAU 6.283185307179586
#define MAX 2048

static penstock_cf32 training[MAX], received[4][MAX], estimate[MAX];
static double truth[MAX][2];

struct grid {
    const char *name;
    size_t n, taps, lead, window_offset;
    int first, last; /* carriers, 0 left out */
    bool uneven;     /* training of several amplitudes */
};

static const struct grid grids[] = {
    {.name = "wifi", .n = 64, .taps = 16, .lead = 4, .first = -26, .last = 26},
    {.name = "wifi, 20 taps, early window",
     .n = 64,
     .taps = 20,
     .lead = 4,
     .window_offset = 3,
     .first = -26,
     .last = 26},
    {.name = "wifi, odd taps", .n = 64, .taps = 17, .lead = 0, .window_offset = 8, .first = -26, .last = 26},
    {.name = "wifi, raw", .n = 64, .taps = 0, .window_offset = 2, .first = -26, .last = 26},
    {.name = "wifi, as many taps as bins", .n = 64, .taps = 52, .lead = 51, .first = -26, .last = 26},
    {.name = "uneven", .n = 128, .taps = 12, .lead = 2, .first = -50, .last = 41, .uneven = true},
    {.name = "odd length", .n = 75, .taps = 9, .lead = 3, .window_offset = 5, .first = -30, .last = 33},
    {.name = "one sided", .n = 256, .taps = 10, .lead = 1, .first = 1, .last = 100},
    {.name = "lte", .n = 2048, .taps = 144, .lead = 36, .window_offset = 20, .first = -600, .last = 600},
};

static double normal(uint64_t *seed)
{
    return sqrt(-2 * log(1 - fabs(test_uniform(seed)))) * cos(TAU * test_uniform(seed) / 2);
}

static size_t make_training(const struct grid *grid, uint64_t *seed)
{
    size_t used = 0;
    memset(training, 0, sizeof training);
    for (int k = grid->first; k <= grid->last; k++) {
        if (!k)
            continue;
        double angle = TAU / 4 * (double)(test_random(seed) & 3), amplitude = grid->uneven ? 1 + (double)(used % 3) : 1;
        training[k < 0 ? (size_t)((int)grid->n + k) : (size_t)k] =
            (penstock_cf32){(float)(amplitude * cos(angle)), (float)(amplitude * sin(angle))};
        used++;
    }
    return used;
}

/* The response of random taps at delays -lead .. taps-lead-1, zero on bins not used. */
static void make_truth(const struct grid *grid, uint64_t *seed)
{
    size_t taps = grid->taps ? grid->taps : 5;
    memset(truth, 0, sizeof truth);
    for (size_t t = 0; t < taps; t++) {
        double re = normal(seed), im = normal(seed), delay = (double)t - (double)grid->lead;
        for (int k = grid->first; k <= grid->last; k++) {
            double angle = -TAU * fmod(delay * k, (double)grid->n) / (double)grid->n;
            double *h = truth[k < 0 ? (size_t)((int)grid->n + k) : (size_t)k];
            if (!k)
                continue;
            h[0] += (re * cos(angle) - im * sin(angle)) / sqrt((double)taps);
            h[1] += (re * sin(angle) + im * cos(angle)) / sqrt((double)taps);
        }
    }
}

static void receive(const struct grid *grid, size_t count, double noise, uint64_t *seed)
{
    for (size_t k = 0; k < grid->n; k++) {
        double angle = -TAU * (double)(k * grid->window_offset % grid->n) / (double)grid->n;
        double c = cos(angle), s = sin(angle), x = (double)training[k].re, y = (double)training[k].im;
        double re = truth[k][0] * c - truth[k][1] * s, im = truth[k][0] * s + truth[k][1] * c;
        for (size_t i = 0; i < count; i++) {
            received[i][k].re = (float)(re * x - im * y + sqrt(noise / 2) * normal(seed));
            received[i][k].im = (float)(re * y + im * x + sqrt(noise / 2) * normal(seed));
        }
    }
}

/* Mean square error over the used bins; bins not used must be zero. */
static double error(const struct grid *grid, size_t used)
{
    double sum = 0;
    for (size_t k = 0; k < grid->n; k++)
        if (training[k].re != 0 || training[k].im != 0)
            sum += pow((double)estimate[k].re - truth[k][0], 2) + pow((double)estimate[k].im - truth[k][1], 2);
        else
            CHECK(estimate[k].re == 0 && estimate[k].im == 0, "%s: bin %zu is not used", grid->name, k);
    return sum / (double)used;
}

static void check_grid(const struct grid *grid)
{
    const penstock_cf32 *symbols[4] = {received[0], received[1], received[2], received[3]};
    penstock_ofdm_estimator *estimator = NULL;
    uint64_t seed = grid->n + grid->taps;
    size_t used = make_training(grid, &seed), trials = 400000 / (grid->n * (grid->taps + 8)) + 40;
    CHECK_OK(penstock_ofdm_estimator_new(
        &estimator, &PENSTOCK_OFDM_ESTIMATOR_DESC(.n = grid->n, .training = training, .taps = grid->taps,
                                                  .lead = grid->lead, .window_offset = grid->window_offset)));
    make_truth(grid, &seed);
    receive(grid, 1, 0, &seed);
    CHECK_OK(penstock_ofdm_estimator_run(estimator, estimate, NULL, symbols, 1));
    CHECK(sqrt(error(grid, used)) < 2e-6, "%s: error %g without noise", grid->name, sqrt(error(grid, used)));

    double sum = 0, sum_noise = 0, variance = 0.01;
    for (size_t i = 0; i < trials; i++) {
        float noise = -1;
        make_truth(grid, &seed);
        receive(grid, 4, variance, &seed);
        CHECK_OK(penstock_ofdm_estimator_run(estimator, estimate, &noise, symbols, 4));
        sum += error(grid, used);
        sum_noise += (double)noise;
    }
    double freedom = (double)(trials * (grid->taps ? grid->taps : used));
    double expected = variance * (grid->taps ? (double)grid->taps / (double)used : 1) / 4;
    double ratio = sum / (double)trials / expected;
    if (!grid->uneven)
        CHECK(fabs(ratio - 1) < 5 / sqrt(freedom), "%s: mean square error is %.4f of theory", grid->name, ratio);
    ratio = sum_noise / (double)trials / variance;
    CHECK(fabs(ratio - 1) < 5 / sqrt(3 * (double)(trials * used)), "%s: noise is %.4f of the truth", grid->name, ratio);
    penstock_ofdm_estimator_free(estimator);
}

static void check_refusals(void)
{
    const penstock_cf32 *symbols[1] = {received[0]};
    penstock_ofdm_estimator *estimator = NULL;
    float noise;
    penstock_ofdm_estimator_desc good = PENSTOCK_OFDM_ESTIMATOR_DESC(.n = 64, .training = training, .taps = 16), bad;
    make_training(&grids[0], &(uint64_t){1});
#define REFUSED(...)                                                                \
    bad = good;                                                                     \
    __VA_ARGS__;                                                                    \
    CHECK_EQ(penstock_ofdm_estimator_new(&estimator, &bad), PENSTOCK_ERR_ARGUMENT); \
    CHECK(!estimator && penstock_error_text()[0], "%s: no error text", #__VA_ARGS__);
    REFUSED(bad.n = 1)
    REFUSED(bad.n = 8193)
    REFUSED(bad.training = NULL)
    REFUSED(bad.taps = 53)
    REFUSED(bad.lead = 16)
    REFUSED(bad.window_offset = 64)
    REFUSED(bad.size = 0)
    CHECK_EQ(penstock_ofdm_estimator_new(NULL, &good), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_ofdm_estimator_new(&estimator, &good));
    CHECK_EQ(penstock_ofdm_estimator_run(estimator, estimate, &noise, symbols, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_estimator_run(estimator, estimate, NULL, symbols, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ofdm_estimator_run(NULL, estimate, NULL, symbols, 1), PENSTOCK_ERR_ARGUMENT);
    penstock_ofdm_estimator_free(estimator);
    penstock_ofdm_estimator_free(NULL);
}

static void check_allocation_failures(void)
{
    long before = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 100; k++) {
        penstock_ofdm_estimator *estimator = NULL;
        penstock__memory_fail_at(k);
        status = penstock_ofdm_estimator_new(&estimator,
                                             &PENSTOCK_OFDM_ESTIMATOR_DESC(.n = 64, .training = training, .taps = 16));
        penstock__memory_fail_at(-1);
        CHECK(!status == !!estimator, "allocation %ld: status %d", k, status);
        penstock_ofdm_estimator_free(estimator);
        CHECK_EQ(penstock__memory_live(), before);
    }
    CHECK(k > 5, "only %ld allocations were failed", k);
}

int main(void)
{
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++)
        check_grid(&grids[i]);
    check_refusals();
    check_allocation_failures();
    return test_finish();
}
