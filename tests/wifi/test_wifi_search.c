/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The loops of the search for the long training field: against their definitions in double precision, and the same bits
 * from the builds for each instruction set. */
#include "rx/wifi/synchronise_kernels.h"
#include "test.h"
#include "vector/instructions.h"

#include <complex.h>
#include <string.h>

enum { FROM = SEARCH_FROM - ROTATION, STEPS = (LAGS + BOTH) / ROTATION + 1 };

struct results {
    float re[ROTATION * STEPS], im[ROTATION * STEPS];
    struct sync_arrivals arrivals;
    struct sync_lags lags;
    unsigned best;
};

static uint64_t state = 11;
static struct penstock__wifi_tables tables;
static struct penstock__wifi_correction correction;
static penstock_cf32 samples[ROTATION * STEPS];

/* Noise with a mean, and two long symbols with a carrier offset in it, but in the first trials. */
static void fill_all(unsigned trial)
{
    const float symbol = trial < 5 ? 0 : (float)trial;
    const size_t at = ROTATION + test_random(&state) % (LAGS - SPREAD);
    correction = (struct penstock__wifi_correction){
        .mean = {(float)test_uniform(&state) / 8, 0.25F}, .scale = 1.5F, .cfo = test_uniform(&state) / 40};
    for (size_t i = 0; i < ROTATION * STEPS; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&state), 0.5F + (float)test_uniform(&state)};
    for (size_t n = 0; n < BOTH && symbol > 0; n++) {
        const double complex sent = ((double)tables.long_time.re[n % 64] - I * (double)tables.long_time.im[n % 64]) *
                                    cexp(I * TWO_PI * correction.cfo * (double)(FROM + at + n));
        samples[at + n].re += symbol * (float)creal(sent);
        samples[at + n].im += symbol * (float)cimag(sent);
    }
}

static void run(struct results *results, const struct sync_kernels *kernels)
{
    struct penstock__wifi_phases phases;
    memset(results, 0, sizeof *results);
    kernels->turn(&phases, correction.cfo, FROM, STEPS);
    kernels->rotate(results->re, results->im, samples, &correction, &phases, 0, 5);
    kernels->rotate(results->re + 5 * ROTATION, results->im + 5 * ROTATION, samples + 5 * ROTATION, &correction,
                    &phases, 5, STEPS - 5);
    kernels->arrive(&results->arrivals, samples + ROTATION, &correction);
    kernels->correlate(&results->lags, results->re + ROTATION, results->im + ROTATION, &tables.correlator);
    results->best = kernels->weigh(&results->lags, &results->arrivals, &phases, &tables.long_time);
    for (size_t i = ARRIVALS; i < LAGS + BOTH; i++) /* what is behind the results is nobody's business */
        results->arrivals.re[i] = results->arrivals.im[i] = results->arrivals.power[i] = 0;
}

/* ---------------------------------------------------------------- in double precision --------- */

static double complex sample(size_t i)
{
    return ((double)samples[i].re - (double)correction.mean.re +
            I * ((double)samples[i].im - (double)correction.mean.im)) *
           (double)correction.scale;
}

static double complex phase(size_t i)
{
    return cexp(-I * TWO_PI * correction.cfo * (double)(FROM + i));
}

static double complex known(size_t k)
{
    return (double)tables.long_time.re[k] + I * (double)tables.long_time.im[k];
}

static void check_rotation(const struct results *results)
{
    for (size_t i = 0; i < ROTATION * STEPS; i++) {
        const double complex value = sample(i) * phase(i);
        CHECK(cabs((double)results->re[i] + I * (double)results->im[i] - value) < 1e-6 * (1 + cabs(value)),
              "sample %zu: %g + %gi, not %g + %gi", i, (double)results->re[i], (double)results->im[i], creal(value),
              cimag(value));
    }
}

/* Of the samples from a lag on. */
struct arrival {
    double complex mean;
    double power;
};

static struct arrival arrival_at(size_t lag)
{
    struct arrival sum = {0, 0};
    for (size_t k = 0; k < ARRIVAL; k++) {
        sum.mean += sample(ROTATION + lag + k) / ARRIVAL;
        sum.power += pow(cabs(sample(ROTATION + lag + k)), 2) / ARRIVAL;
    }
    sum.power -= pow(cabs(sum.mean), 2);
    return sum;
}

static void check_arrivals(const struct results *results)
{
    for (size_t i = 0; i < ARRIVALS; i++) {
        const struct arrival a = arrival_at(i);
        CHECK(cabs((double)results->arrivals.re[i] + I * (double)results->arrivals.im[i] - a.mean) < 1e-6 &&
                  fabs((double)results->arrivals.power[i] - a.power) < 1e-5 * a.power,
              "arrival %zu: mean %g + %gi, power %g, not %g + %gi, %g", i, (double)results->arrivals.re[i],
              (double)results->arrivals.im[i], (double)results->arrivals.power[i], creal(a.mean), cimag(a.mean),
              a.power);
    }
}

static void check_lags(const struct results *results)
{
    double power[LAGS], most = 0;
    for (size_t i = 0; i < LAGS; i++) {
        const struct arrival a = arrival_at(i < ARRIVALS ? i : ARRIVALS - 1);
        double complex sum = 0, of_mean = 0;
        for (size_t k = 0; k < BOTH; k++) {
            sum += sample(ROTATION + i + k) * phase(ROTATION + i + k) * known(k % PENSTOCK__WIFI_FFT);
            of_mean += a.mean * phase(ROTATION + i + k) * known(k % PENSTOCK__WIFI_FFT);
        }
        power[i] = pow(cabs(sum - of_mean), 2);
        CHECK(cabs((double)results->lags.re[i] + I * (double)results->lags.im[i] - sum) < 3e-5, "lag %zu: off by %g", i,
              cabs((double)results->lags.re[i] + I * (double)results->lags.im[i] - sum));
        CHECK(fabs((double)results->lags.power[i] - power[i]) < 1e-4 * (1 + power[i]), "lag %zu: power %g, not %g", i,
              (double)results->lags.power[i], power[i]);
    }
    for (size_t i = 0; i < LAGS; i++) {
        double share = 0;
        for (size_t k = 0; k < SPREAD && i < ARRIVALS; k++)
            share += power[i + k] / (2 * BOTH * arrival_at(i).power);
        CHECK(fabs((double)results->lags.share[i] - share) < 1e-4, "lag %zu gathers %g, not %g", i,
              (double)results->lags.share[i], share);
        most = fmax(most, share);
    }
    CHECK(results->best < ARRIVALS && fabs((double)results->lags.share[results->best] - most) < 1e-4,
          "lag %u gathers %g, not %g", results->best, (double)results->lags.share[results->best], most);
}

/* Nothing that is faint gathers anything. */
static void test_silence(const struct sync_kernels *kernels)
{
    static struct results results;
    memset(samples, 0, sizeof samples);
    correction = (struct penstock__wifi_correction){.scale = 1};
    run(&results, kernels);
    for (size_t i = 0; i < LAGS; i++)
        CHECK(results.lags.share[i] == 0, "silence gathers %g", (double)results.lags.share[i]);
    CHECK(results.best == 0, "lag %u of silence", results.best);
}

int main(void)
{
    static struct results plain, other;
    const struct sync_kernels *avx2 = AVX2_BUILD(&penstock__sync_kernels_avx2);
    size_t compared = 0;
    penstock__wifi_tables_init(&tables);
    test_silence(&penstock__sync_kernels_plain);
    for (unsigned trial = 0; trial < 20; trial++) {
        fill_all(trial);
        run(&plain, &penstock__sync_kernels_plain);
        check_rotation(&plain);
        check_arrivals(&plain);
        check_lags(&plain);
        if (!avx2)
            continue;
        run(&other, avx2);
        CHECK(!memcmp(&plain, &other, sizeof plain), "AVX2 gives other bits");
        compared++;
    }
    printf("compared with AVX2: %zu of 20\n", compared);
    return test_finish();
}
