/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Resampling against theory: a tone stays the tone that it was, at every sample; what would alias is gone; the number
 * of samples is what the rates say; any split of input and output gives the same bits. */
#include "files.h"
#include "radio/resample.h"

#define INPUT 20000
#define PI    3.14159265358979323846

static penstock_cf32 in[INPUT], out[40 * INPUT], again[40 * INPUT];

/* Everything through a resampler, in chunks of random size; the number of output samples. */
static size_t resample(penstock_cf32 *to, double from_hz, double to_hz, size_t count, size_t in_chunk, size_t out_chunk)
{
    struct penstock__resampler *resampler;
    uint64_t seed = in_chunk + out_chunk;
    size_t given = 0, done = 0;
    CHECK_OK(penstock__resampler_new(&resampler, from_hz, to_hz));
    if (!resampler)
        return 0;
    while (!penstock__resampler_done(resampler)) {
        size_t n = test_random(&seed) % in_chunk + 1, room = test_random(&seed) % out_chunk + 1, taken, got;
        if (n > count - given)
            n = count - given;
        if (given == count)
            penstock__resampler_finish(resampler);
        penstock__resampler_run(resampler, in + given, n, &taken, to + done, room, &got);
        CHECK(taken <= n && got <= room, "%zu of %zu, %zu of %zu", taken, n, got, room);
        given += taken;
        done += got;
        if (done > 40 * INPUT - out_chunk)
            break;
    }
    CHECK_EQ(done, penstock__resampler_count(resampler, count));
    penstock__resampler_free(resampler);
    return done;
}

static void fill_tone(double cycles)
{
    for (size_t i = 0; i < INPUT; i++) {
        double phase = 2.0 * PI * fmod(cycles * (double)i, 1.0);
        in[i] = (penstock_cf32){(float)cos(phase), (float)sin(phase)};
    }
}

/* Mean power of out - tone, in decibels, away from both ends; tone 0: of out itself. */
static double residue_db(size_t count, double cycles, double amplitude, size_t edge)
{
    double sum = 0.0;
    for (size_t k = edge; k < count - edge; k++) {
        double phase = 2.0 * PI * fmod(cycles * (double)k, 1.0);
        double re = out[k].re - amplitude * cos(phase), im = out[k].im - amplitude * sin(phase);
        sum += re * re + im * im;
    }
    return 10.0 * log10(sum / (double)(count - 2 * edge) + 1e-30);
}

static const struct {
    double from_hz, to_hz;
} rates[] = {{20e6, 20.0001e6}, {25e6, 20e6},        {30.72e6, 20e6}, {61.44e6, 20e6},    {10e6, 20e6},
             {5e6, 20e6},       {19.999987e6, 20e6}, {1e6, 0.1e6},    {33333333.3, 20e6}, {1.92e6, 20e6}};

#define RATES (sizeof rates / sizeof rates[0])

/* Tones over the passband, positive and negative, and close to where it ends. */
static void tones_stay(void)
{
    static const double parts[] = {0.0, 0.01, -0.1234, 0.25, -0.33, 0.415};
    for (size_t r = 0; r < RATES; r++) {
        double ratio = rates[r].to_hz / rates[r].from_hz, lower = ratio < 1.0 ? ratio : 1.0;
        size_t edge = (size_t)(33.0 / lower * ratio) + 2;
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            double cycles = parts[p] * lower;
            size_t count;
            fill_tone(cycles);
            count = resample(out, rates[r].from_hz, rates[r].to_hz, INPUT, 3000, 3000);
            CHECK(residue_db(count, cycles / ratio, 1.0, edge) < -78.0, "%g to %g Hz, tone %g: %.1f dB",
                  rates[r].from_hz, rates[r].to_hz, parts[p], residue_db(count, cycles / ratio, 1.0, edge));
        }
    }
}

/* What lies above half of a lower rate may not come back as something else. */
static void aliases_are_gone(void)
{
    static const double parts[] = {0.505, -0.6, 0.99, -1.3};
    for (size_t r = 0; r < RATES; r++) {
        double ratio = rates[r].to_hz / rates[r].from_hz;
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            double cycles = parts[p] * ratio;
            size_t count;
            if (ratio > 0.95 || fabs(cycles) > 0.5)
                continue;
            fill_tone(cycles);
            count = resample(out, rates[r].from_hz, rates[r].to_hz, INPUT, 3000, 3000);
            CHECK(residue_db(count, 0.0, 0.0, 40) < -78.0, "%g to %g Hz, tone %g: %.1f dB", rates[r].from_hz,
                  rates[r].to_hz, parts[p], residue_db(count, 0.0, 0.0, 40));
        }
    }
}

/* n input samples span n/from seconds; output samples stand at k/to: as many as start within. */
static void counts(void)
{
    static const struct {
        unsigned from, to; /* exact ratios, for integer arithmetic */
    } exact[] = {{4, 5}, {5, 4}, {125, 192}, {192, 125}, {1, 2}, {10, 1}, {200000, 200001}, {1, 1}, {7, 3}};
    static const size_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 64, 999, 4096, 20000};
    for (size_t r = 0; r < sizeof exact / sizeof exact[0]; r++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            uint64_t want = ((uint64_t)sizes[s] * exact[r].to + exact[r].from - 1) / exact[r].from;
            CHECK_EQ(resample(out, exact[r].from * 100.0, exact[r].to * 100.0, sizes[s], 5000, 5000), want);
        }
}

static void any_split(void)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < INPUT; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t r = 0; r < RATES; r++) {
        size_t count = resample(out, rates[r].from_hz, rates[r].to_hz, INPUT, INPUT, 20 * INPUT);
        static const size_t chunks[][2] = {{1, 7}, {79, 1}, {4096, 100}, {5, 100000}};
        for (size_t p = 0; p < sizeof chunks / sizeof chunks[0]; p++) {
            CHECK_EQ(resample(again, rates[r].from_hz, rates[r].to_hz, INPUT, chunks[p][0], chunks[p][1]), count);
            CHECK(!memcmp(out, again, count * sizeof *out), "%g to %g Hz in chunks of %zu and %zu", rates[r].from_hz,
                  rates[r].to_hz, chunks[p][0], chunks[p][1]);
        }
    }
}

static void refusals(void)
{
    static const double bad[][2] = {{1e6, 1e3}, {1e3, 1e6}, {0.0, 1e6}, {1e6, 0.0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct penstock__resampler *resampler;
        CHECK_EQ(penstock__resampler_new(&resampler, bad[i][0], bad[i][1]), PENSTOCK_ERR_UNSUPPORTED);
        CHECK(!resampler, "no resampler");
    }
}

/* Through a source: the count of samples, and samples at the recording's own rate, which only change their format. */
static void through_a_source(void)
{
    static int16_t data[2 * INPUT];
    static penstock_cf32 got[2 * INPUT + 1];
    static const double to_hz[] = {20e6, 10e6, 40e6};
    uint64_t seed = 9;
    size_t wrong = 0;
    for (size_t i = 0; i < 2 * INPUT; i++)
        data[i] = (int16_t)test_random(&seed);
    test_write_file("cs16", data, sizeof data);
    for (size_t i = 0; i < 3; i++) {
        penstock_source_info info = PENSTOCK_SOURCE_INFO;
        penstock_source *source;
        CHECK_OK(penstock_source_open(&source, NULL, test_path("cs16"),
                                      &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 20e6,
                                                            .count = INPUT - 1, .resample_hz = to_hz[i])));
        CHECK_OK(penstock_source_get_info(source, &info));
        CHECK(info.format == PENSTOCK_CF32 && info.rate_hz == to_hz[i], "info");
        CHECK_EQ(info.total_samples, i == 0 ? INPUT - 1 : i == 1 ? INPUT / 2 : 2 * (INPUT - 1));
        CHECK_EQ(test_read_source(source, got, sizeof *got, 2 * INPUT, 777, i), (long long)info.total_samples);
        for (size_t k = 0; i == 0 && k < INPUT - 1; k++)
            wrong += got[k].re != (float)data[2 * k] / 32768.0f || got[k].im != (float)data[2 * k + 1] / 32768.0f;
        penstock_source_free(source);
    }
    CHECK_EQ(wrong, 0);
}

/* A rate that is asked for after the source was opened gives the same samples; too late or twice it is an error. */
static void after_a_look_at_the_rate(void)
{
    static penstock_cf32 want[INPUT], got[INPUT];
    const penstock_source_desc desc = PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 20e6);
    penstock_source_desc at_once = desc;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source *source;
    at_once.resample_hz = 16e6;
    CHECK_OK(penstock_source_open(&source, NULL, test_path("cs16"), &at_once));
    CHECK_EQ(test_read_source(source, want, sizeof *want, INPUT, 777, 1), (INPUT * 4 + 4) / 5);
    CHECK_EQ(penstock_source_resample(source, 10e6), PENSTOCK_ERR_STATE);
    penstock_source_free(source);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("cs16"), &desc));
    CHECK_EQ(penstock_source_resample(source, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_source_resample(source, 1e3), PENSTOCK_ERR_UNSUPPORTED);
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.format == PENSTOCK_CS16 && info.rate_hz == 20e6, "a refusal changed the source");
    CHECK_OK(penstock_source_resample(source, 16e6));
    CHECK_EQ(penstock_source_resample(source, 16e6), PENSTOCK_ERR_STATE);
    CHECK_EQ(test_read_source(source, got, sizeof *got, INPUT, 999, 2), (INPUT * 4 + 4) / 5);
    CHECK(!memcmp(got, want, (INPUT * 4 + 4) / 5 * sizeof *got), "other samples than with the rate given at once");
    penstock_source_free(source);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("cs16"), &desc));
    CHECK_EQ(test_read_source(source, got, sizeof(int16_t[2]), INPUT, 999, 1), INPUT);
    CHECK_EQ(penstock_source_resample(source, 16e6), PENSTOCK_ERR_STATE);
    penstock_source_free(source);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    tones_stay();
    aliases_are_gone();
    counts();
    any_split();
    refusals();
    through_a_source();
    after_a_look_at_the_rate();
    test_remove_folder();
    return test_finish();
}
