/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* resampler: tones of known frequency, pushed in pieces of random size, against what they are at the other rate. */
#include "bench/bench_stream.h"
#include "cases.h"
#include "pass.h"
#include "peers/peers.h"
#include "shared/number.h"
#include "shared/progress.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI           3.14159265358979323846
#define USUAL_DB     80.0
#define PASSBAND     0.4 /* the library's defaults, in parts of the lower rate */
#define STOPBAND     0.6
#define MOST_RATIO   1024.0
#define LEAST_PASSED 0.02 /* so that no tone is still */

enum { TONES = 6, MOST_WHOLE = 1 << 20, BENCH_DISTINCT = 1 << 18 };

static bool parse_ratio(struct resampler_case *resampler, const char *word)
{
    double whole[2];
    size_t length = strcspn(word, "/");
    if (word[length]) {
        if (!number_read_digits(word, length, MOST_WHOLE, &resampler->interpolation) ||
            !number_read_digits(word + length + 1, strlen(word + length + 1), MOST_WHOLE, &resampler->decimation) ||
            !resampler->interpolation || !resampler->decimation)
            return false;
        whole[0] = (double)resampler->interpolation / (double)resampler->decimation;
    } else if (!number_read(word, length, whole)) {
        return false;
    }
    resampler->ratio = whole[0];
    return whole[0] >= 1 / MOST_RATIO && whole[0] <= MOST_RATIO;
}

static bool parse_word(struct resampler_case *resampler, const char *word)
{
    if (parse_count(word, "x", &resampler->samples))
        return true;
    if (parse_count(word, "att", &resampler->attenuation_db))
        return resampler->attenuation_db >= 20 && resampler->attenuation_db <= 120;
    if (!strcmp(word, "acquire"))
        return resampler->acquire = true;
    return !penstock_format_parse(&resampler->format, word) &&
           (resampler->format == PENSTOCK_F32 || resampler->format == PENSTOCK_CS16);
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct resampler_case *resampler = &test->resampler;
    *problem = count ? words[0] : "no ratio";
    if (!count || !parse_ratio(resampler, words[0]))
        return false;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(resampler, words[i]))
            return false;
    }
    return true;
}

struct tone {
    double turns, phase; /* a sample of the input, and at its first one */
    bool passed;
};

struct resampler_run {
    const struct resampler_case *resampler;
    struct tone tones[TONES];
    size_t samples, values, value_floats; /* of the stream, what comes of them, and floats of each */
    void *in;
    float *out; /* room for values + 1 */
    penstock_stream *stream;
    penstock_resampler_info info;
    bool random_chunks, filled; /* the memory that a stream lends has samples */
    double open_s;              /* what it took to open the stream */
};

static double attenuation_of(const struct resampler_case *resampler)
{
    return resampler->attenuation_db ? (double)resampler->attenuation_db : USUAL_DB;
}

/* Two in three lie in the pass band; the others, where the rate falls so far, in the stop band. */
static void choose_tones(struct resampler_run *run)
{
    const double lower = fmin(1, run->resampler->ratio), stop = STOPBAND * lower;
    const bool real = run->resampler->format == PENSTOCK_F32;
    uint64_t seed = 7;
    for (size_t i = 0; i < TONES; i++) {
        struct tone *tone = &run->tones[i];
        double u = random_uniform(&seed), sign = !real && random_uniform(&seed) < 0.5 ? -1 : 1;
        tone->passed = i % 3 != 2 || stop >= 0.5;
        tone->turns =
            sign * (tone->passed ? lower * (LEAST_PASSED + u * (PASSBAND - LEAST_PASSED)) : stop + u * (0.5 - stop));
        tone->phase = random_uniform(&seed);
    }
}

/* All tones, or those that pass, at a time in samples; each has a sixth of the full scale. */
static void tones_at(const struct resampler_run *run, double time, bool passed, double value[2])
{
    value[0] = value[1] = 0;
    for (size_t i = 0; i < TONES; i++) {
        const struct tone *tone = &run->tones[i];
        double angle = 2 * PI * remainder(tone->turns * time + tone->phase, 1);
        if (passed && !tone->passed)
            continue;
        value[0] += cos(angle) / TONES;
        value[1] += sin(angle) / TONES;
    }
}

/* The first `distinct` samples, and these again and again. */
static void fill(struct resampler_run *run, size_t distinct)
{
    const size_t bytes = penstock_format_bytes(run->resampler->format);
    for (size_t n = 0; n < run->samples; n++) {
        double x[2];
        if (n >= distinct) {
            memcpy((char *)run->in + n * bytes, (char *)run->in + (n - distinct) * bytes, bytes);
            continue;
        }
        tones_at(run, (double)n, false, x);
        if (run->resampler->format == PENSTOCK_F32)
            ((float *)run->in)[n] = (float)x[0];
        else if (run->resampler->format == PENSTOCK_CF32)
            ((penstock_cf32 *)run->in)[n] = (penstock_cf32){(float)x[0], (float)x[1]};
        else
            for (size_t part = 0; part < 2; part++)
                ((int16_t *)run->in)[2 * n + part] = (int16_t)lrint(fmin(x[part] * 32768, 32767));
    }
}

static int prepare(struct resampler_run *run, const struct resampler_case *resampler, size_t samples, size_t distinct,
                   const struct case_target *target)
{
    const double start = seconds_now();
    *run = (struct resampler_run){.resampler = resampler, .samples = samples, .info = PENSTOCK_RESAMPLER_INFO};
    run->value_floats = resampler->format == PENSTOCK_F32 ? 1 : 2;
    int status = penstock_resampler_open(
        &run->stream, target->context,
        &PENSTOCK_RESAMPLER_DESC(.ratio = resampler->interpolation ? 0 : resampler->ratio, .format = resampler->format,
                                 .interpolation = resampler->interpolation, .decimation = resampler->decimation,
                                 .attenuation_db = attenuation_of(resampler)),
        target->device);
    if (status || (status = penstock_resampler_get_info(run->stream, &run->info)))
        return status;
    run->open_s = seconds_now() - start;
    run->values = (samples * run->info.interpolation + run->info.decimation - 1) / run->info.decimation;
    run->in = malloc(samples * penstock_format_bytes(resampler->format));
    run->out = malloc((run->values + 1) * run->value_floats * sizeof *run->out);
    if (!run->in || !run->out)
        return PENSTOCK_ERR_MEMORY;
    choose_tones(run);
    fill(run, distinct);
    return PENSTOCK_OK;
}

static void release(struct resampler_run *run)
{
    penstock_stream_free(run->stream);
    free(run->in);
    free(run->out);
}

/* The whole stream once, from reset to end. */
static int stream_once(struct resampler_run *run, size_t *count)
{
    return pass_run(&(struct pass){.stream = run->stream,
                                   .in = run->in,
                                   .items = run->samples,
                                   .in_bytes = penstock_format_bytes(run->resampler->format),
                                   .out = (char *)run->out,
                                   .room = run->values + 1,
                                   .out_bytes = run->value_floats * sizeof *run->out,
                                   .acquire = run->resampler->acquire,
                                   .filled = &run->filled,
                                   .random_chunk = run->random_chunks ? 9999 : 0},
                    count);
}

/* ---------------------------------------------------------------- check ----------------------- */

/* Relative L2 over the values that no end of the stream is near: `*compared` of them. */
static double measure_error(const struct resampler_run *run, size_t *compared)
{
    const double step = (double)run->info.decimation / (double)run->info.interpolation;
    double difference = 0, power = 0;
    *compared = 0;
    for (size_t k = 0; k < run->values; k++) {
        double time = (double)k * step, y[2];
        const float *got = run->out + k * run->value_floats;
        if (time < (double)run->info.taps || time > (double)(run->samples - run->info.taps))
            continue;
        ++*compared;
        tones_at(run, time, true, y);
        for (size_t part = 0; part < run->value_floats; part++) {
            difference += ((double)got[part] - y[part]) * ((double)got[part] - y[part]);
            power += y[part] * y[part];
        }
    }
    return sqrt(difference / power);
}

/* The gain may be off by twice the attenuation, and a tone's images and what aliases add as much again; floats by their
 * rounding, samples of 16 bits by theirs. */
static double bound_of(const struct resampler_case *resampler)
{
    const double ripple = pow(10, -attenuation_of(resampler) / 20), tone_power = 1.0 / TONES;
    const double rounding = resampler->format == PENSTOCK_CS16 ? sqrt(2.0 / 12) / 32768 / sqrt(tone_power) : 0;
    return sqrt(9 * ripple * ripple + rounding * rounding) + 1e-6;
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    const struct resampler_case *resampler = &test->resampler;
    const size_t usual = 20001 + (size_t)(400 / fmin(1, resampler->ratio));
    struct resampler_run run;
    size_t count = 0, compared;
    int status = prepare(&run, resampler, resampler->samples ? resampler->samples : usual, SIZE_MAX, target);
    run.random_chunks = true;
    if (status || (status = stream_once(&run, &count))) {
        verdict_status(verdict, status);
    } else if (count != run.values) {
        verdict_failed(verdict, "%zu values came of %zu samples, not %zu", count, run.samples, run.values);
    } else {
        double error = measure_error(&run, &compared), bound = bound_of(resampler);
        if (error <= bound)
            verdict_held(verdict, "error %.2e, bound %.2e, %zu values", error, bound, compared);
        else
            verdict_failed(verdict, "error %.2e is above the bound %.2e (%zu values)", error, bound, compared);
    }
    release(&run);
}

/* ---------------------------------------------------------------- bench ----------------------- */

static int run_stream(void *state)
{
    struct resampler_run *run = state;
    size_t count = 0;
    int status = stream_once(run, &count);
    if (status)
        return fail_status(status);
    return count == run->values ? EXIT_DONE : fail(EXIT_DATA, "%zu values, not %zu", count, run->values);
}

static int measure(struct resampler_run *run, struct bench_row *row)
{
    const struct resampler_case *resampler = run->resampler;
    const struct peer *peer = row->peer;
    void *state = NULL;
    if (peer && peer->resampler_new && resampler->format == PENSTOCK_CF32)
        state = peer->resampler_new(resampler->ratio, attenuation_of(resampler), run->in, run->samples);
    int code = bench_measure(row, &(struct workload){run_stream, run},
                             state ? &(struct workload){peer->resampler_run, state} : NULL, 0.5);
    if (state)
        peer->resampler_free(state);
    return code;
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct resampler_case *resampler = &test->resampler;
    const size_t usual = (size_t)((double)case_bench_samples(target) * 4 / fmax(1, resampler->ratio));
    size_t in_bytes = penstock_format_bytes(resampler->format);
    struct resampler_run run;
    int status = prepare(&run, resampler, resampler->samples ? resampler->samples : usual, BENCH_DISTINCT, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        double out_bytes = (double)(run.values * run.value_floats * sizeof *run.out);
        row->plan_cold_ms = 1e3 * run.open_s;
        row->batch = run.values;
        row->samples_per_run = (double)run.samples;
        row->bytes_per_sample = (double)in_bytes + out_bytes / (double)run.samples;
        code = measure(&run, row);
        if (!code)
            bench_stream_limits(row, target, (double)(run.samples * in_bytes), out_bytes);
    }
    release(&run);
    return code;
}

const struct case_kind case_resampler = {
    .name = "resampler",
    .syntax = "resampler:RATIO[:attDB][:acquire][:f32|cs16][:xSAMPLES]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
