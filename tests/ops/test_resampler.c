/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The resampler against theory and direct sums in double precision: tones stay what they were with no image and no
 * alias above the attenuation, for random ratios from 0.01 to 100; the caller's taps give the sums that the header
 * says; counts are exact; times do not drift; other ratios and taps hold where they are told to. On the processor, or
 * the device of the command line.
 */
#include "device.h"
#include "ops/resampler/resampler_kernels.h"
#include "ops/resampler/resampler_time.h"
#include "vector/instructions.h"

#include <penstock/penstock.h>

#define PI   3.14159265358979323846
#define ROOM ((size_t)1 << 19)
#define MOST ((size_t)1 << 18)

static penstock_context *context;
static const char *device = "cpu";
static penstock_cf32 in[ROOM], out[ROOM];

/* All of `count` samples through a stream, from its beginning to its end; outputs. */
static size_t pass(penstock_stream *stream, const void *samples, size_t count, void *to, size_t capacity)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t made = 0, at = 0, taken, given = 1;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    while (at < count) {
        CHECK_OK(penstock_stream_push(stream, (const char *)samples + at * info.in_bytes, count - at, &taken));
        at += taken;
        CHECK_OK(penstock_stream_pull(stream, (char *)to + made * info.out_bytes, capacity - made, false, &given));
        made += given;
        if (!taken && !given)
            break;
    }
    CHECK_OK(penstock_stream_finish(stream));
    for (given = 1; given; made += given)
        CHECK_OK(penstock_stream_pull(stream, (char *)to + made * info.out_bytes, capacity - made, true, &given));
    return made;
}

static size_t resample(const penstock_resampler_desc *desc, size_t count)
{
    penstock_stream *stream = NULL;
    CHECK_OK(penstock_resampler_open(&stream, context, desc, device));
    if (!stream)
        return 0;
    size_t made = pass(stream, in, count, out, ROOM);
    penstock_stream_free(stream);
    return made;
}

/* ---------------------------------------------------------------- tones ----------------------- */

static void fill_tone(double cycles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double phase = 2 * PI * fmod(cycles * (double)i, 1.0);
        in[i] = (penstock_cf32){(float)cos(phase), (float)sin(phase)};
    }
}

/* Outputs without their ends: the amplitude of a tone in them, each output being at its own time, and what else there
 * is, in decibels. */
struct found {
    double re, im, rest_db;
};

static struct found find_tone(size_t count, double cycles, double ratio, size_t edge)
{
    const size_t inner = count - 2 * edge;
    struct found found = {0};
    double power = 0;
    CHECK(count > 2 * edge + 1000, "%zu outputs are too few", count);
    for (size_t k = edge; k + edge < count; k++) {
        double phase = 2 * PI * fmod(cycles * (double)k / ratio, 1.0), c = cos(phase), s = sin(phase);
        found.re += (out[k].re * c + out[k].im * s) / (double)inner;
        found.im += (out[k].im * c - out[k].re * s) / (double)inner;
        power += ((double)out[k].re * out[k].re + (double)out[k].im * out[k].im) / (double)inner;
    }
    power -= found.re * found.re + found.im * found.im;
    found.rest_db = 10 * log10(fmax(power, 1e-30));
    return found;
}

/* Samples for some thousand outputs, the ends left out. */
static size_t samples_for(double ratio, size_t edge)
{
    double count = 2 * (double)edge / (ratio < 1 ? ratio : 1) + 3000 / ratio;
    return count < (double)MOST ? (size_t)count + 300 : MOST;
}

/* The strongest image or alias, in decibels; and tones that are passed keep amplitude and phase, to
 * twice that ripple. */
static double worst_of(const penstock_resampler_desc *desc, double ratio)
{
    static const double passed[] = {0, 0.27, -0.59, 0.85, -0.997}, stopped[] = {0.002, -0.03, 0.15, -0.42, 1.3, 6.7};
    const double lower = ratio < 1 ? ratio : 1, ripple = 2 * pow(10, -desc->attenuation_db / 20);
    const size_t edge = (size_t)(8 / desc->transition * ratio / lower) + 8, count = samples_for(ratio, edge);
    double worst = -200;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const double cycles = passed[i] * desc->passband * lower;
        fill_tone(cycles, count);
        const struct found found = find_tone(resample(desc, count), cycles, ratio, edge);
        worst = fmax(worst, found.rest_db);
        CHECK(hypot(found.re - 1, found.im) < ripple, "ratio %g: a tone at %g has amplitude %.7f + %.7fi", ratio,
              cycles, found.re, found.im);
    }
    for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
        const double cycles = copysign(desc->passband + desc->transition + fabs(stopped[i]), stopped[i]) * lower;
        if (fabs(cycles) > 0.5)
            continue;
        fill_tone(cycles, count);
        const struct found found = find_tone(resample(desc, count), cycles, ratio, edge);
        worst = fmax(worst, 10 * log10(found.re * found.re + found.im * found.im + pow(10, found.rest_db / 10)));
    }
    return worst;
}

static void random_ratios(void)
{
    const unsigned every = strncmp(device, "opencl", 6) && strcmp(device, "reference") ? 1 : 3;
    uint64_t seed = 24;
    double worst = -200;
    int count = 0;
    for (int i = 0; i < 50; i++) {
        const double ratio = pow(10, 2 * test_uniform(&seed));
        if (!test_drawn((uint64_t)i, every))
            continue;
        count++;
        const penstock_resampler_desc desc =
            PENSTOCK_RESAMPLER_DESC(.ratio = ratio, .attenuation_db = 80, .passband = 0.4, .transition = 0.2);
        double db = worst_of(&desc, ratio);
        CHECK(db <= -80, "ratio %.6g: images and aliases at %.1f dB", ratio, db);
        worst = fmax(worst, db);
    }
    printf("%d ratios: images and aliases at most %.1f dB\n", count, worst);
}

static void other_responses(void)
{
    static const struct {
        double attenuation_db, passband, transition, ratio;
        uint64_t up, down;
    } cases[] = {
        {80, 0.4, 0.2, 0, 24, 25},     {80, 0.4, 0.2, 0, 25, 24},     {80, 0.4, 0.2, 0, 147, 160},
        {60, 0.4, 0.2, 0.7391, 0, 0},  {40, 0.4, 0.2, 1.3177, 0, 0},  {100, 0.4, 0.2, 0.7391, 0, 0},
        {120, 0.4, 0.2, 1.3177, 0, 0}, {80, 0.45, 0.1, 0.4391, 0, 0}, {80, 0.42, 0.08, 2.177, 0, 0},
        {80, 0.48, 0.03, 1.001, 0, 0}, {90, 0.3, 0.05, 0, 3, 7},      {20, 0.2, 0.3, 0.9137, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const penstock_resampler_desc desc =
            PENSTOCK_RESAMPLER_DESC(.ratio = cases[i].ratio, .interpolation = cases[i].up, .decimation = cases[i].down,
                                    .attenuation_db = cases[i].attenuation_db, .passband = cases[i].passband,
                                    .transition = cases[i].transition);
        const double ratio = cases[i].up ? (double)cases[i].up / (double)cases[i].down : cases[i].ratio;
        double db = worst_of(&desc, ratio);
        CHECK(db <= -cases[i].attenuation_db, "ratio %g, %g dB, %g + %g: images and aliases at %.1f dB", ratio,
              cases[i].attenuation_db, cases[i].passband, cases[i].transition, db);
    }
}

/* ---------------------------------------------------------------- counts ---------------------- */

static void counts(void)
{
    static const struct {
        uint64_t up, down;
    } exact[] = {{4, 5}, {5, 4}, {125, 192}, {192, 125}, {1, 2}, {10, 1}, {200000, 200001}, {1, 1}, {7, 3}, {1, 1000}};
    static const size_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 64, 999, 4096, 20000};
    for (size_t r = 0; r < sizeof exact / sizeof *exact; r++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const uint64_t up = exact[r].up, down = exact[r].down, want = (sizes[s] * up + down - 1) / down;
            CHECK_EQ(resample(&PENSTOCK_RESAMPLER_DESC(.interpolation = up, .decimation = down), sizes[s]), want);
            CHECK_EQ(resample(&PENSTOCK_RESAMPLER_DESC(.ratio = (double)up / (double)down), sizes[s]), want);
            CHECK_EQ(penstock__resampler_scaled((struct resampler_ratio){up, down}, sizes[s]), want);
        }
    /* an output at a quarter, and each half sample behind it */
    CHECK_EQ(resample(&PENSTOCK_RESAMPLER_DESC(.ratio = 2, .phase = 0.25), 100), 200);
    CHECK_EQ(resample(&PENSTOCK_RESAMPLER_DESC(.ratio = 0.5, .phase = 0.25), 101), 51);
    CHECK_EQ(resample(&PENSTOCK_RESAMPLER_DESC(.ratio = 1, .phase = 0.75), 100), 100);
}

/* The simplest fraction: of all smaller denominators none gives this double. */
static void fractions(void)
{
    static const double known[][3] = {{0.96, 24, 25},
                                      {48000.0 / 44100.0, 160, 147},
                                      {1.0 / 3, 1, 3},
                                      {1024, 1024, 1},
                                      {1.0 / 1024, 1, 1024},
                                      {200000.0 / 200001, 200000, 200001},
                                      {0.5 + 0x1p-50, 0x1p48, 0x1p49 - 1}};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct resampler_ratio r = penstock__resampler_ratio(known[i][0]);
        CHECK((double)r.up == known[i][1] && (double)r.down == known[i][2], "%.17g is %" PRIu64 " / %" PRIu64,
              known[i][0], r.up, r.down);
    }
    for (int i = 0; i < 20000; i++) {
        double ratio = exp2(10 * test_uniform(&seed));
        struct resampler_ratio r = penstock__resampler_ratio(ratio);
        struct resampler_clock clock = penstock__resampler_clock(r, true);
        CHECK((double)r.up / (double)r.down == ratio, "%.17g is %" PRIu64 " / %" PRIu64, ratio, r.up, r.down);
        CHECK(clock.unit <= RESAMPLER_UNITS && clock.part < clock.unit, "%.17g", ratio);
    }
    for (int i = 0; i < 20000; i++) { /* quotients of numbers below 2^26 */
        const uint64_t down = (uint64_t)exp2(13 + 13 * fabs(test_uniform(&seed)));
        const uint64_t up = 1 + (uint64_t)(fabs(test_uniform(&seed)) * (double)((1 << 26) - 1));
        const struct resampler_ratio want = penstock__resampler_reduced(up, down);
        if (up / 1024 >= down || down / 1024 >= up)
            continue;
        struct resampler_ratio r = penstock__resampler_ratio((double)up / (double)down);
        CHECK(r.up == want.up && r.down == want.down, "%" PRIu64 " / %" PRIu64 " is %" PRIu64 " / %" PRIu64, up, down,
              r.up, r.down);
    }
}

/* ---------------------------------------------------------------- the caller's taps ----------- */

#define SHORT 700

static float real_taps[4000];
static penstock_cf32 taps[4000];

/* Output k by the header's words. `sample(n)` is 0 before and behind the stream. */
static void direct(double value[2], double time, size_t tap_count, size_t arms, bool complex_taps, bool real)
{
    const double n = floor(time), place = (time - n) * (double)arms, arm = floor(place), between = place - arm;
    value[0] = value[1] = 0;
    for (size_t i = 0; (double)i <= n; i++)
        for (int next = 0; next < 2; next++) {
            const size_t k = (size_t)arm + (size_t)next + i * arms, at = (size_t)n - i;
            const double weight = next ? between : 1 - between;
            if (k >= tap_count || at >= SHORT)
                continue;
            double re = complex_taps ? taps[k].re : real_taps[k], im = complex_taps ? taps[k].im : 0;
            double x = in[at].re, y = real ? 0 : in[at].im;
            value[0] += weight * (x * re - y * im);
            value[1] += weight * (x * im + y * re);
        }
}

static void compare_direct(const penstock_resampler_desc *desc, double step, const char *what)
{
    static float reals[SHORT], values[ROOM];
    const bool real = desc->format == PENSTOCK_F32 && !desc->taps;
    penstock_stream *stream = NULL;
    double error = 0, power = 0;
    for (size_t i = 0; i < SHORT; i++)
        reals[i] = in[i].re;
    CHECK_OK(penstock_resampler_open(&stream, context, desc, device));
    size_t made = pass(stream, real ? (const void *)reals : in, SHORT, real ? (void *)values : out, ROOM);
    penstock_stream_free(stream);
    CHECK_EQ(made, (size_t)ceil((SHORT - desc->phase) / step - 1e-9));
    for (size_t k = 0; k < made; k++) {
        double want[2], re = real ? values[k] : out[k].re, im = real ? 0 : out[k].im;
        direct(want, desc->phase + (double)k * step, desc->tap_count, desc->arms, desc->taps != NULL, real);
        error += (re - want[0]) * (re - want[0]) + (im - want[1]) * (im - want[1]);
        power += want[0] * want[0] + want[1] * want[1];
    }
    CHECK(error <= 1e-12 * power, "%s: relative error %.3g", what, sqrt(error / power));
}

/* The steps are whole numbers of 2^-20 or fifths of one arm, so that rounding of the times here moves nothing. */
static void callers_taps(void)
{
    static const struct {
        uint64_t up, down;
        size_t arms, tap_count;
        double phase;
    } cases[] = {{1, 1, 32, 500, 0},    {3, 1, 3, 40, 0},      {32, 25, 32, 700, 0},
                 {24, 25, 24, 3000, 0}, {1, 5, 1, 33, 0},      {64, 37, 16, 200, 0.5},
                 {16, 47, 32, 1, 0},    {1, 7, 8, 4000, 0.25}, {1024, 1023, 32, 1025, 0}};
    uint64_t seed = 8;
    for (size_t i = 0; i < SHORT; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < 4000; k++) {
        real_taps[k] = (float)test_uniform(&seed);
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int form = 0; form < 3; form++) {
            char what[100];
            snprintf(what, sizeof what, "%s %d / %d, %zu arms, %zu taps", form ? form == 1 ? "ccf" : "fff" : "ccc",
                     (int)cases[i].up, (int)cases[i].down, cases[i].arms, cases[i].tap_count);
            compare_direct(&PENSTOCK_RESAMPLER_DESC(.interpolation = cases[i].up, .decimation = cases[i].down,
                                                    .format = form == 2 ? PENSTOCK_F32 : PENSTOCK_CF32,
                                                    .taps = form ? NULL : taps, .real_taps = form ? real_taps : NULL,
                                                    .tap_count = cases[i].tap_count, .arms = cases[i].arms,
                                                    .phase = cases[i].phase),
                           (double)cases[i].down / (double)cases[i].up, what);
        }
}

/* ---------------------------------------------------------------- no drift -------------------- */

/* A tone of a whole number of cycles in a chunk, pushed again and again; the last outputs against their exact times. */
struct drift {
    struct resampler_ratio exact;
    double cycles, worst;
    size_t chunk;
    uint64_t made, from; /* outputs, and the first that is looked at */
};

/* Outputs that were pulled. */
static void look_at(struct drift *drift, size_t count)
{
    const struct resampler_ratio exact = drift->exact;
    const size_t chunk = drift->chunk;
    for (size_t i = 0; i < count; i++) {
        /* the time modulo the tone's chunk, in whole numbers: k down / up */
        uint64_t rest = 0, power = exact.down % (exact.up * chunk), k = drift->made + i;
        if (k < drift->from)
            continue;
        for (; k; k >>= 1, power = 2 * power % (exact.up * chunk))
            rest = k & 1 ? (rest + power) % (exact.up * chunk) : rest;
        double phase = 2 * PI * fmod(drift->cycles * ((double)rest / (double)exact.up), 1.0);
        drift->worst = fmax(drift->worst, hypot(out[i].re - cos(phase), out[i].im - sin(phase)));
    }
    drift->made += count;
}

static void no_drift(uint64_t samples)
{
    const double ratio = 0.0312345678901234;
    struct drift drift = {penstock__resampler_ratio(ratio), .cycles = 517.0 / 65536, .chunk = (size_t)1 << 16};
    penstock_stream *stream = NULL;
    uint64_t pushed = 0, looked;
    size_t given = 1;
    fill_tone(drift.cycles, drift.chunk);
    drift.from = penstock__resampler_scaled(drift.exact, samples - 5 * drift.chunk);
    CHECK_OK(penstock_resampler_open(&stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = ratio), device));
    while (stream && pushed < samples) {
        size_t taken;
        const size_t from = (size_t)(pushed % drift.chunk);
        CHECK_OK(penstock_stream_push(stream, in + from, drift.chunk - from, &taken));
        pushed += taken;
        CHECK_OK(penstock_stream_pull(stream, out, ROOM, false, &given));
        look_at(&drift, given);
    }
    CHECK_OK(penstock_stream_flush(stream));
    for (given = 1; given;) {
        CHECK_OK(penstock_stream_pull(stream, out, ROOM, true, &given));
        look_at(&drift, given);
    }
    penstock_stream_free(stream);
    looked = drift.made - drift.from;
    CHECK(drift.made > drift.from && looked > 4 * drift.chunk * ratio, "%" PRIu64 " outputs at the end", looked);
    CHECK(drift.worst > 0 && drift.worst < 1e-4, "after %.3g samples outputs are off by %.3g", (double)samples,
          drift.worst);
    printf("after %.3g samples: off by %.3g\n", (double)samples, drift.worst);
}

/* ---------------------------------------------------------------- changes --------------------- */

/* A tone stays one through changes of the ratio; each output at the time that the ratios say. */
static void other_ratios(void)
{
    static const double ratios[] = {0.9, 1.2345, 0.96, 24.0 / 25, 3.75, 0.5001, 0.9};
    const size_t count = 40000, each = 5000;
    const double cycles = 0.11;
    penstock_stream *stream = NULL;
    size_t made = 0, wrong = 0;
    double time = 0;
    fill_tone(cycles, count);
    CHECK_OK(
        penstock_resampler_open(&stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.9, .min_ratio = 0.5), device));
    CHECK_EQ(penstock_resampler_set_ratio(stream, 0.49, 0), PENSTOCK_ERR_ARGUMENT);
    for (size_t i = 1; i < sizeof ratios / sizeof *ratios; i++)
        CHECK_OK(penstock_resampler_set_ratio(stream, ratios[i], i * each));
    CHECK_EQ(penstock_resampler_set_ratio(stream, 2, each), PENSTOCK_ERR_ARGUMENT);
    made = pass(stream, in, count, out, ROOM);
    for (size_t k = 0; k < made; k++) {
        size_t now = (size_t)time / each;
        double phase = 2 * PI * fmod(cycles * time, 1.0);
        if (time > 60 && time + 60 < (double)count)
            wrong += hypot(out[k].re - cos(phase), out[k].im - sin(phase)) > 2e-4;
        time += 1 / ratios[now < 7 ? now : 6];
    }
    CHECK_EQ(wrong, 0);
    CHECK(time >= (double)count && time < (double)count + 2, "the last of %zu outputs is before %g", made, time);
    penstock_stream_free(stream);
}

/* From few outputs to many, and back, in streams of more than a batch: none is lost. */
static void far_ratios(void)
{
    static const double ratios[] = {0.01, 3.5, 0.02, 900, 0.01};
    static const uint64_t from[] = {0, 300000, 900000, 1500000, 1501000, 2200000};
    penstock_stream *stream = NULL;
    uint64_t pushed = 0, made = 0;
    size_t taken, given = 1, wrong = 0;
    double want = 0;
    CHECK_OK(penstock_resampler_open(&stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 0.01), device));
    for (size_t i = 1; i < 5; i++)
        CHECK_OK(penstock_resampler_set_ratio(stream, ratios[i], from[i]));
    for (size_t i = 0; i < MOST; i++)
        in[i] = (penstock_cf32){1, -1};
    for (size_t i = 0; i < 5; i++)
        want += (double)(from[i + 1] - from[i]) * ratios[i];
    while (stream && (pushed < from[5] || given)) {
        const size_t left = from[5] - pushed < MOST ? (size_t)(from[5] - pushed) : MOST;
        if (left) {
            CHECK_OK(penstock_stream_push(stream, in, left, &taken));
            pushed += taken;
        }
        if (pushed == from[5])
            CHECK_OK(penstock_stream_finish(stream));
        CHECK_OK(penstock_stream_pull(stream, out, ROOM, pushed == from[5], &given));
        for (size_t k = 0; k < given; k++, made++) /* all but those that the ends are near */
            wrong +=
                made > 50 && (double)made < want - 50 && (fabsf(out[k].re - 1) > 1e-3f || fabsf(out[k].im + 1) > 1e-3f);
    }
    CHECK_EQ(wrong, 0);
    CHECK(fabs((double)made - want) < 6, "%" PRIu64 " outputs, not %.0f", made, want);
    penstock_stream_free(stream);
}

/* Each value is made by one set of taps alone. */
static void other_taps(void)
{
    static penstock_cf32 with[2][SHORT * 2];
    penstock_stream *stream = NULL;
    size_t count = 0;
    for (int second = 0; second < 2; second++) {
        const penstock_resampler_desc desc =
            PENSTOCK_RESAMPLER_DESC(.interpolation = 3, .decimation = 2, .real_taps = real_taps + second,
                                    .tap_count = 60, .arms = 3);
        CHECK_OK(penstock_resampler_open(&stream, context, &desc, device));
        count = pass(stream, in, SHORT, with[second], SHORT * 2);
        penstock_stream_free(stream);
    }
    CHECK_OK(
        penstock_resampler_open(&stream, context,
                                &PENSTOCK_RESAMPLER_DESC(.interpolation = 3, .decimation = 2, .real_taps = real_taps,
                                                         .tap_count = 60, .arms = 3, .max_taps = 61),
                                device));
    CHECK_OK(penstock_resampler_set_taps(stream, NULL, real_taps + 1, 60, 301));
    CHECK_EQ(penstock_resampler_set_taps(stream, NULL, real_taps, 62, 301), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_resampler_set_taps(stream, taps, NULL, 60, 301), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(pass(stream, in, SHORT, out, ROOM), count);
    for (size_t k = 0; k < count; k++) { /* output k is at 2 k / 3 */
        const penstock_cf32 *want = &with[2 * k / 3 >= 301][k];
        CHECK(fabsf(out[k].re - want->re) + fabsf(out[k].im - want->im) < 1e-5f, "value %zu", k);
    }
    penstock_stream_free(stream);
}

/* ---------------------------------------------------------------- builds ---------------------- */

/* Each build of the sums against double precision, and with as many or few beside each other. */
static void check_build(const struct resampler_kernels *kernels)
{
    enum { LENGTH = 48, ARMS = 5, PLACES = 79 };
    static float table[(ARMS + 1) * LENGTH], samples[300];
    struct resampler_place places[PLACES];
    float sums[2 * PLACES], cycle[2 * PLACES], one[2];
    uint64_t seed = 5;
    if (!kernels)
        return;
    for (size_t i = 0; i < (ARMS + 1) * LENGTH; i++)
        table[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < 300; i++)
        samples[i] = (float)test_uniform(&seed);
    for (uint32_t i = 0; i < PLACES; i++)
        places[i] = (struct resampler_place){3 * i + 1, i % ARMS, (float)i / PLACES};
    for (int exact = 0; exact < 2; exact++) {
        const struct resampler_table all = {table, LENGTH};
        kernels->sum(sums, samples, &all, places, PLACES, exact);
        for (size_t i = 0; i < PLACES; i++) {
            double want[2] = {0, 0};
            for (size_t t = 0; t < LENGTH; t++) {
                double a = table[places[i].arm * LENGTH + t], b = table[(places[i].arm + 1) * LENGTH + t];
                want[t % 2] += samples[places[i].at + t] * (exact ? a : a + places[i].between * (b - a));
            }
            CHECK(fabs(sums[2 * i] - want[0]) < 1e-5 && fabs(sums[2 * i + 1] - want[1]) < 1e-5, "%s, place %zu",
                  kernels->name, i);
            kernels->sum(one, samples, &all, places + i, 1, exact);
            CHECK(!memcmp(one, sums + 2 * i, sizeof one), "%s, place %zu: other bits alone", kernels->name, i);
        }
        for (size_t count = 0; exact && count <= PLACES; count++) {
            kernels->sum_cycle(cycle, samples, &all, places, count, ARMS);
            CHECK(!memcmp(cycle, sums, 2 * count * sizeof *cycle), "%s: other bits as %zu of a cycle", kernels->name,
                  count);
        }
    }
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void refuse(const penstock_resampler_desc *desc, const char *on, int status)
{
    penstock_stream *stream = (penstock_stream *)(void *)&stream;
    int got = penstock_resampler_open(&stream, context, desc, on);
    CHECK_EQ(got, status);
    CHECK(!stream, "a stream");
    if (!got)
        penstock_stream_free(stream);
}

static void refusals(void)
{
    const penstock_resampler_desc wrong[] = {
        PENSTOCK_RESAMPLER_DESC(.ratio = 1025),
        PENSTOCK_RESAMPLER_DESC(.ratio = 1e-4),
        PENSTOCK_RESAMPLER_DESC(.ratio = (double)NAN),
        PENSTOCK_RESAMPLER_DESC(.ratio = -1),
        PENSTOCK_RESAMPLER_DESC(.ratio = 1, .interpolation = 2),
        PENSTOCK_RESAMPLER_DESC(.interpolation = 2000),
        PENSTOCK_RESAMPLER_DESC(.interpolation = UINT64_MAX, .decimation = UINT64_MAX),
        PENSTOCK_RESAMPLER_DESC(.attenuation_db = 19),
        PENSTOCK_RESAMPLER_DESC(.attenuation_db = 121),
        PENSTOCK_RESAMPLER_DESC(.passband = 0.5),
        PENSTOCK_RESAMPLER_DESC(.passband = 0.45, .transition = 0.2),
        PENSTOCK_RESAMPLER_DESC(.transition = 0.001),
        PENSTOCK_RESAMPLER_DESC(.phase = 1),
        PENSTOCK_RESAMPLER_DESC(.phase = -0.1),
        PENSTOCK_RESAMPLER_DESC(.max_latency_s = -1),
        PENSTOCK_RESAMPLER_DESC(.max_latency_s = (double)NAN),
        PENSTOCK_RESAMPLER_DESC(.ratio = 0.5, .min_ratio = 0.6),
        PENSTOCK_RESAMPLER_DESC(.format = PENSTOCK_PLANAR),
        PENSTOCK_RESAMPLER_DESC(.taps = taps, .real_taps = real_taps, .tap_count = 4),
        PENSTOCK_RESAMPLER_DESC(.taps = taps),
        PENSTOCK_RESAMPLER_DESC(.tap_count = 4),
        PENSTOCK_RESAMPLER_DESC(.arms = 4),
        PENSTOCK_RESAMPLER_DESC(.real_taps = real_taps, .tap_count = ((size_t)1 << 20) + 1),
        PENSTOCK_RESAMPLER_DESC(.real_taps = real_taps, .tap_count = 4, .arms = 65537),
        PENSTOCK_RESAMPLER_DESC(.real_taps = real_taps, .tap_count = 4, .max_taps = 3),
        PENSTOCK_RESAMPLER_DESC(.real_taps = real_taps, .tap_count = 4, .passband = 0.4),
        PENSTOCK_RESAMPLER_DESC(.ratio = 1.0 / 1024, .passband = 0.499, .transition = 0.002), /* too many taps */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refuse(&wrong[i], device, PENSTOCK_ERR_ARGUMENT);
    refuse(&PENSTOCK_RESAMPLER_DESC(.ratio = 1), "trace", PENSTOCK_ERR_UNSUPPORTED);
    refuse(&PENSTOCK_RESAMPLER_DESC(.ratio = 1), "no such device", PENSTOCK_ERR_NO_DEVICE);
    static const char *const others[] = {"auto", "prefer:trace", NULL};
    for (size_t i = 0; i < 3; i++) {
        penstock_stream *stream = NULL;
        CHECK_OK(penstock_resampler_open(&stream, context, &PENSTOCK_RESAMPLER_DESC(.ratio = 1.5), others[i]));
        CHECK(stream && !strcmp(penstock_stream_device(stream), "cpu"), "%s", others[i] ? others[i] : "NULL");
        penstock_stream_free(stream);
    }
}

int main(int argc, char **argv)
{
    const char *full = getenv("PENSTOCK_TEST_FULL");
    device = argc > 1 ? argv[1] : device;
    int exits = test_device(&context, device);
    if (!context)
        return exits;
    check_build(&penstock__resampler_kernels_plain);
    check_build(AVX2_BUILD(&penstock__resampler_kernels_avx2));
    check_build(AVX512_BUILD(&penstock__resampler_kernels_avx512));
    fractions();
    random_ratios();
    other_responses();
    counts();
    callers_taps();
    other_ratios();
    far_ratios();
    other_taps();
    no_drift(full && *full ? 1000000000 : !strcmp(device, "cpu") ? 100000000 : 20000000);
    refusals();
    penstock_context_free(context);
    return test_finish();
}
