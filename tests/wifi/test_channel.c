/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The channel against closed forms: tones through delays and clock offsets, statistics of the noise, any chunking. */
#include "core/base/memory.h"

#include <penstock/channel.h>

#include "test.h"

#define RATE 20e6

static const double tau = 6.28318530717958647692;

/* All of `in`, then the tail; returns how many samples came out, at most `capacity`. */
static size_t run_whole(const penstock_channel_desc *desc, const penstock_cf32 *in, size_t count, penstock_cf32 *out,
                        size_t capacity)
{
    penstock_channel *channel = NULL;
    size_t taken = 0, made = 0, total = 0;
    CHECK_OK(penstock_channel_new(&channel, desc));
    if (!channel)
        return 0;
    CHECK_OK(penstock_channel_run(channel, in, count, &taken, out, capacity, &total));
    CHECK_EQ(taken, count);
    CHECK_OK(penstock_channel_run(channel, NULL, 0, &taken, out + total, capacity - total, &made));
    penstock_channel_free(channel);
    return total + made;
}

static penstock_cf32 *random_samples(size_t count, uint64_t seed)
{
    penstock_cf32 *x = malloc((count ? count : 1) * sizeof *x);
    for (size_t i = 0; x && i < count; i++)
        x[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    return x;
}

static void test_identity(void)
{
    enum { COUNT = 20000 };
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE);
    penstock_cf32 *in = random_samples(COUNT, 1), *out = calloc(COUNT + 100, sizeof *out);
    CHECK_EQ(run_whole(&desc, in, COUNT, out, COUNT + 100), COUNT);
    CHECK(!memcmp(in, out, COUNT * sizeof *in), "a channel that does nothing changed the samples");
    CHECK_EQ(run_whole(&desc, in, 0, out, 100), 0);
    free(in);
    free(out);
}

/* Delays of 0 and 7 samples: y[n] = x[n] + g x[n - 7]. */
static void test_whole_delays(void)
{
    enum { COUNT = 5000, DELAY = 7 };
    const penstock_path paths[] = {{0}, {.delay_s = 350e-9, .gain_db = -3, .phase = 2}};
    penstock_channel_desc desc =
        PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .paths = paths, .path_count = 2, .dc_re = 0.25, .dc_im = -0.5);
    double g = pow(10, -3 / 20.0), g_re = g * cos(2), g_im = g * sin(2);
    penstock_cf32 *in = random_samples(COUNT, 2), *out = calloc(COUNT + 100, sizeof *out);
    CHECK_EQ(run_whole(&desc, in, COUNT, out, COUNT + 100), COUNT + DELAY);
    for (int n = 0; n < COUNT + DELAY; n++) {
        penstock_cf32 x = n < COUNT ? in[n] : (penstock_cf32){0, 0}, z = {0, 0};
        double re, im;
        if (n >= DELAY)
            z = in[n - DELAY];
        re = x.re + g_re * z.re - g_im * z.im + 0.25;
        im = x.im + g_re * z.im + g_im * z.re - 0.5;
        CHECK(fabs(out[n].re - re) < 1e-6 && fabs(out[n].im - im) < 1e-6, "sample %d", n);
    }
    free(in);
    free(out);
}

/* A tone through `desc`: the error against exp(2 pi i (f t(n) + cfo n)), in dB, for samples beyond the filter's
 * start and before its end. t is counted in input samples. */
static double tone_error_db(const penstock_channel_desc *desc, double f, size_t count, double step, double delay,
                            double cfo)
{
    penstock_cf32 *in = malloc(count * sizeof *in), *out = calloc(count + 4000, sizeof *out);
    double error = 0;
    size_t made, used = 0;
    for (size_t n = 0; n < count; n++) {
        double turns = fmod(f * (double)n, 1);
        in[n] = (penstock_cf32){(float)cos(tau * turns), (float)sin(tau * turns)};
    }
    made = run_whole(desc, in, count, out, count + 4000);
    CHECK(fabs((double)made * step - (double)count) < delay + 70 + step, "%zu samples from %zu", made, count);
    for (size_t n = 100 + (size_t)delay; (double)n * step < (double)count - 70; n++, used++) {
        double turns = fmod(f * ((double)n * step - delay), 1) + fmod(cfo * (double)n, 1);
        error += pow(out[n].re - cos(tau * turns), 2) + pow(out[n].im - sin(tau * turns), 2);
    }
    CHECK(used > count / 2, "%zu samples compared", used);
    free(in);
    free(out);
    return 10 * log10(error / (double)used);
}

static const double tones[] = {0, 0.01, -0.1, 0.3, -0.40625, 0.45, -0.45};

static void test_fractional_delays(void)
{
    static const double delays[] = {0.5, 0.001, 0.999, 3.3, 12.125, 1999.7};
    for (size_t d = 0; d < sizeof delays / sizeof *delays; d++)
        for (size_t t = 0; t < sizeof tones / sizeof *tones; t++) {
            const penstock_path path = {.delay_s = delays[d] / RATE};
            penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .paths = &path, .path_count = 1);
            double error = tone_error_db(&desc, tones[t], 6000, 1, delays[d], 0);
            CHECK(error < -80, "delay %g, tone %g: error %.1f dB", delays[d], tones[t], error);
        }
}

static void test_clock_offsets(void)
{
    static const double offsets_ppm[] = {40, -40, 1000, -1000, 0.5};
    for (size_t s = 0; s < sizeof offsets_ppm / sizeof *offsets_ppm; s++)
        for (size_t t = 0; t < sizeof tones / sizeof *tones; t++) {
            penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .sfo_ppm = offsets_ppm[s]);
            double error = tone_error_db(&desc, tones[t], 60000, 1 / (1 - 1e-6 * offsets_ppm[s]), 0, 0);
            CHECK(error < -80, "%g ppm, tone %g: error %.1f dB", offsets_ppm[s], tones[t], error);
        }
}

static void test_carrier_offsets(void)
{
    static const double offsets_hz[] = {200e3, -200e3, 1, -9.9e6, 20e6};
    for (size_t i = 0; i < sizeof offsets_hz / sizeof *offsets_hz; i++) {
        penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .cfo_hz = offsets_hz[i]);
        double error = tone_error_db(&desc, 0.125, 1 << 20, 1, 0, offsets_hz[i] / RATE);
        CHECK(error < -130, "%g Hz: error %.1f dB", offsets_hz[i], error);
    }
}

/* Everything at once: the orders of delay, clock, carrier, DC. */
static void test_all_offsets(void)
{
    const penstock_path path = {.delay_s = 10.4 / RATE};
    penstock_channel_desc desc =
        PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .paths = &path, .path_count = 1, .sfo_ppm = -25, .cfo_hz = 123456);
    double error = tone_error_db(&desc, -0.2, 100000, 1 / (1 + 25e-6), 10.4, 123456 / RATE);
    CHECK(error < -80, "error %.1f dB", error);
}

/* ---------------------------------------------------------------- noise ----------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance between the distribution of `count` values and the normal one (Kolmogorov and Smirnov). */
static double distance_to_normal(double *x, size_t count)
{
    double distance = 0;
    qsort(x, count, sizeof *x, ascending);
    for (size_t i = 0; i < count; i++) {
        double cdf = 0.5 * erfc(-x[i] / sqrt(2.0));
        distance =
            fmax(distance, fmax(fabs(cdf - (double)i / (double)count), fabs(cdf - (double)(i + 1) / (double)count)));
    }
    return distance;
}

static void check_moments(const double *x, size_t count)
{
    double mean = 0, square = 0, fourth = 0, n = (double)count;
    size_t beyond_3 = 0, beyond_4 = 0;
    for (size_t i = 0; i < count; i++) {
        mean += x[i];
        square += x[i] * x[i];
        fourth += x[i] * x[i] * x[i] * x[i];
        beyond_3 += fabs(x[i]) > 3;
        beyond_4 += fabs(x[i]) > 4;
    }
    /* Five standard deviations of each estimate: variances 1/n, 2/n, 96/n, and Poisson counts. */
    CHECK(fabs(mean / n) < 5 / sqrt(n), "mean %g", mean / n);
    CHECK(fabs(square / n - 1) < 5 * sqrt(2 / n), "variance %g", square / n);
    CHECK(fabs(fourth / n - 3) < 5 * sqrt(96 / n), "fourth moment %g", fourth / n);
    CHECK(fabs((double)beyond_3 - n * erfc(3 / sqrt(2.0))) < 5 * sqrt(n * erfc(3 / sqrt(2.0))), "%zu beyond 3 sigma",
          beyond_3);
    CHECK(fabs((double)beyond_4 - n * erfc(4 / sqrt(2.0))) < 5 * sqrt(n * erfc(4 / sqrt(2.0))), "%zu beyond 4 sigma",
          beyond_4);
}

static void test_noise(void)
{
    enum { COUNT = 1000000 };
    const double power = 0.36;
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .noise_power = power, .seed = 7);
    penstock_cf32 *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out),
                  *other = calloc(COUNT, sizeof *out);
    double *x = malloc(2 * COUNT * sizeof *x), scale = sqrt(2 / power);
    CHECK_EQ(run_whole(&desc, in, COUNT, out, COUNT), COUNT);
    desc.seed = 8;
    CHECK_EQ(run_whole(&desc, in, COUNT, other, COUNT), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        x[2 * i] = scale * out[i].re;
        x[2 * i + 1] = scale * out[i].im;
    }
    check_moments(x, 2 * COUNT);
    for (int lag = 1; lag <= 64; lag++) { /* white: also between the real and the imaginary part (odd lags) */
        double sum = 0;
        for (size_t i = 0; i + (size_t)lag < 2 * COUNT; i++)
            sum += x[i] * x[i + (size_t)lag];
        CHECK(fabs(sum) < 5 * sqrt(2.0 * COUNT), "correlation %g at lag %d", sum / (2.0 * COUNT), lag);
    }
    double cross = 0;
    for (size_t i = 0; i < COUNT; i++)
        cross += (double)out[i].re * other[i].re * scale * scale;
    CHECK(fabs(cross) < 5 * sqrt((double)COUNT), "seeds 7 and 8 are correlated: %g", cross / COUNT);
    double distance = distance_to_normal(x, 2 * COUNT);
    CHECK(distance * sqrt(2.0 * COUNT) < 1.95, "distance %g from the normal distribution", distance); /* 0.1 % level */
    free(in);
    free(out);
    free(other);
    free(x);
}

/* ---------------------------------------------------------------- stream ---------------------- */

static const penstock_path two_paths[] = {{.delay_s = 0.3e-6}, {.delay_s = 1.27e-6, .gain_db = -2, .phase = 1}};

static const penstock_channel_desc chunked[] = {
    {.rate_hz = RATE},
    {.rate_hz = RATE, .paths = two_paths, .path_count = 2, .noise_power = 0.1, .cfo_hz = 1e5},
    {.rate_hz = RATE,
     .paths = two_paths,
     .path_count = 2,
     .noise_power = 0.1,
     .sfo_ppm = 900,
     .cfo_hz = -3e5,
     .seed = 3},
    {.rate_hz = RATE, .sfo_ppm = -900, .dc_re = 1},
};

/* Random chunks in and out, of one sample to a few thousand, equal one call. */
static void test_chunking(void)
{
    enum { COUNT = 30000, ROOM = COUNT + 1000 };
    penstock_cf32 *in = random_samples(COUNT, 5), *want = malloc(ROOM * sizeof *want),
                  *got = malloc(ROOM * sizeof *got);
    for (size_t d = 0; d < sizeof chunked / sizeof *chunked; d++) {
        penstock_channel_desc desc = chunked[d];
        penstock_channel *channel = NULL;
        size_t whole, position, total = 0, taken, made;
        uint64_t state = d;
        desc.size = sizeof desc;
        whole = run_whole(&desc, in, COUNT, want, ROOM);
        CHECK_OK(penstock_channel_new(&channel, &desc));
        for (int round = 0; round < 2; round++) { /* the second one after a reset in mid-stream */
            CHECK_OK(penstock_channel_reset(channel));
            position = total = 0;
            for (bool end = false; !end;) {
                size_t largest = (size_t)1 << test_random(&state) % 13, give = test_random(&state) % largest;
                size_t room = test_random(&state) % largest;
                give = give < COUNT - position ? give : COUNT - position;
                room = room < ROOM - total ? room : ROOM - total;
                CHECK_OK(penstock_channel_run(channel, position < COUNT ? in + position : NULL, give, &taken,
                                              got + total, room, &made));
                end = position == COUNT && room && !made;
                position += taken;
                total += made;
            }
            CHECK_EQ(total, whole);
            CHECK(total == whole && !memcmp(got, want, whole * sizeof *got), "case %zu, round %d differs", d, round);
        }
        penstock_channel_free(channel);
    }
    free(in);
    free(want);
    free(got);
}

static void test_states(void)
{
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE);
    penstock_channel *channel = NULL;
    penstock_cf32 x[4] = {{1, 2}}, y[4];
    size_t taken, made;
    CHECK_OK(penstock_channel_new(&channel, &desc));
    CHECK_EQ(penstock_channel_run(channel, x, 4, NULL, y, 4, &made), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channel_run(channel, x, 4, &taken, y, 4, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channel_run(channel, NULL, 4, &taken, y, 4, &made), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channel_run(channel, x, 4, &taken, NULL, 4, &made), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channel_run(NULL, x, 4, &taken, y, 4, &made), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_channel_run(channel, x, 4, &taken, y, 4, &made));
    CHECK_EQ(made, 4);
    CHECK_OK(penstock_channel_run(channel, NULL, 0, &taken, y, 4, &made));
    CHECK_EQ(penstock_channel_run(channel, x, 4, &taken, y, 4, &made), PENSTOCK_ERR_STATE);
    CHECK_OK(penstock_channel_reset(channel));
    CHECK_OK(penstock_channel_run(channel, x, 4, &taken, y, 4, &made));
    CHECK_EQ(penstock_channel_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_channel_free(channel);
    penstock_channel_free(NULL);
}

static void test_bad_descriptions(void)
{
    static const penstock_path late = {.delay_s = 2e-4}, early = {.delay_s = -1e-9}, loud = {.gain_db = NAN},
                               turned = {.phase = INFINITY};
    const penstock_channel_desc wrong[] = {
        {.rate_hz = 0},
        {.rate_hz = -1},
        {.rate_hz = NAN},
        {.rate_hz = RATE, .paths = &late, .path_count = 1},
        {.rate_hz = RATE, .paths = &early, .path_count = 1},
        {.rate_hz = RATE, .paths = &loud, .path_count = 1},
        {.rate_hz = RATE, .paths = &turned, .path_count = 1},
        {.rate_hz = RATE, .paths = &late, .path_count = 0},
        {.rate_hz = RATE, .path_count = 1},
        {.rate_hz = RATE, .sfo_ppm = 1001},
        {.rate_hz = RATE, .sfo_ppm = NAN},
        {.rate_hz = RATE, .cfo_hz = INFINITY},
        {.rate_hz = RATE, .noise_power = -1},
        {.rate_hz = RATE, .noise_power = NAN},
        {.rate_hz = RATE, .dc_im = NAN},
    };
    penstock_channel *channel = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        penstock_channel_desc desc = wrong[i];
        desc.size = sizeof desc;
        CHECK(penstock_channel_new(&channel, &desc) == PENSTOCK_ERR_ARGUMENT && !channel, "case %zu", i);
        CHECK(*penstock_error_text(), "no text for case %zu", i);
    }
    CHECK_EQ(penstock_channel_new(&channel, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channel_new(NULL, &wrong[0]), PENSTOCK_ERR_ARGUMENT);
}

static void test_allocation_failures(void)
{
    penstock_channel_desc desc = PENSTOCK_CHANNEL_DESC(.rate_hz = RATE, .sfo_ppm = 5);
    long before = penstock__memory_live(), k = 0;
    int status;
    do {
        penstock_channel *channel = NULL;
        penstock__memory_fail_at(k++);
        status = penstock_channel_new(&channel, &desc);
        penstock__memory_fail_at(-1);
        CHECK(status == (channel ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY), "status %d at allocation %ld", status, k - 1);
        penstock_channel_free(channel);
        CHECK_EQ(penstock__memory_live(), before);
    } while (status && k < 100);
    CHECK(k >= 4, "only %ld allocations", k);
    CHECK_EQ(status, PENSTOCK_OK);
}

int main(void)
{
    test_identity();
    test_whole_delays();
    test_fractional_delays();
    test_clock_offsets();
    test_carrier_offsets();
    test_all_offsets();
    test_noise();
    test_chunking();
    test_states();
    test_bad_descriptions();
    test_allocation_failures();
    return test_finish();
}
