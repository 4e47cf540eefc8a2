/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter on the CPU, and one on a device that comes late: the test makes it, and so decides when. Its values against
 * their definition.
 */
#ifndef PENSTOCK_TEST_FILTER_LATE_H
#define PENSTOCK_TEST_FILTER_LATE_H

#include "filter_direct.h"
#include "ops/filter/filter_stream.h"

#define SAMPLES 3000
#define TAPS    200
#define GUARD_S 120
#define MORE    3 /* values for a sample at most */

static const char *kind;   /* "trace" */
static char preferred[64]; /* "prefer:trace" */
static penstock_context *context;
static unsigned warnings;
static penstock_cf32 samples[SAMPLES], taps[TAPS], other_taps[TAPS];
static float real_taps[TAPS];
static double want[2 * MORE * SAMPLES];
static penstock_cf32 got[2 * MORE * SAMPLES], again[2 * MORE * SAMPLES]; /* of the test's runs */

static struct use {
    const char *name;
    penstock_filter_desc desc; /* its n is the CPU's */
    size_t n;                  /* the device's */
} uses[] = {
    {"longer", {.taps = taps, .tap_count = 20, .n = 64, .tail = true}, 128},
    {"shorter", {.taps = taps, .tap_count = 20, .n = 512, .tail = true}, 64},
    {"in parts", {.taps = taps, .tap_count = TAPS, .n = 1024, .tail = true}, 128},
    {"from parts", {.taps = taps, .tap_count = TAPS, .n = 128}, 1024},
    {"decimated", {.taps = taps, .tap_count = 31, .decimation = 6, .shift = 0.1, .phase = 0.3, .n = 96}, 256},
    {"interpolated",
     {.real_taps = real_taps, .tap_count = 40, .interpolation = 3, .decimation = 2, .advance = 7, .n = 64},
     96},
    {"real", {.format = PENSTOCK_F32, .real_taps = real_taps, .tap_count = 33, .advance = 16, .n = 128}, 256},
    {"integers",
     {.format = PENSTOCK_CS16, .taps = taps, .tap_count = 20, .shift = -0.2, .n = 64, .max_latency = 300},
     128},
};
#define USES (sizeof uses / sizeof uses[0])

static inline void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

/* ---------------------------------------------------------------- what comes late ------------- */

static struct late {
    penstock_filter_desc desc;
    const char *device;
    int failure; /* instead */
} late;

static inline int make_late(void **made, void *owner, const char *device)
{
    const struct late *what = owner;
    penstock_stream *filter = NULL;
    (void)device;
    int status = what->failure ? penstock__error(what->failure, "as the test wants it")
                               : penstock_filter_open(&filter, context, &what->desc, what->device);
    *made = filter;
    return status;
}

static inline void free_late(void *filter)
{
    penstock_stream_free(filter);
}

/* From now on there is a device for the filter to go over to. */
static inline void send_late(penstock_stream *filter, const struct use *use)
{
    static const struct penstock__maker maker = {.make = make_late, .free = free_late};
    late.desc = use->desc;
    late.desc.n = use->n;
    late.device = preferred;
    CHECK_OK(penstock__async_build_new(&filter_of(filter)->build, &maker, &late, preferred, 0));
    CHECK(penstock__async_build_done(filter_of(filter)->build, GUARD_S), "nothing came within %d s", GUARD_S);
}

/* A filter that waits for a device whose hour has not come. */
static inline void wait_for_late(penstock_stream *filter)
{
    late.failure = PENSTOCK_ERR_DEVICE;
    send_late(filter, &uses[0]);
    late.failure = 0;
}

/* ---------------------------------------------------------------- streams --------------------- */

static inline penstock_stream *new_filter(const struct use *use, const char *device)
{
    penstock_stream *filter = NULL;
    CHECK_OK(penstock_filter_open(&filter, context, &use->desc, device));
    return filter;
}

static inline penstock_filter_info info_of(const penstock_stream *filter)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return info;
}

static inline bool is_late(const penstock_stream *filter)
{
    return !strncmp(info_of(filter).device, kind, strlen(kind));
}

static inline void push(penstock_stream *filter, size_t first, size_t count, size_t most, penstock_cf32 *to,
                        size_t *made)
{
    size_t bytes = penstock_format_bytes(const_filter_of(filter)->desc.format),
           value_bytes = const_filter_of(filter)->shape->value_bytes;
    uint64_t seed = most + first;
    CHECK_OK(stream_push(filter, (const char *)samples + first * bytes, bytes, count, most, (char *)to, value_bytes,
                         made, &seed));
}

static inline void end(penstock_stream *filter, penstock_cf32 *to, size_t *made)
{
    CHECK_OK(stream_end(filter, (char *)to, const_filter_of(filter)->shape->value_bytes, made));
}

static inline size_t count_of(const struct use *use)
{
    size_t up = use->desc.interpolation, down = use->desc.decimation;
    size_t all = SAMPLES * (up ? up : 1) + (use->desc.tail ? use->desc.tap_count - 1 - use->desc.advance : 0);
    return down ? (all + down - 1) / down : all;
}

static inline void make_want(const struct use *use)
{
    size_t down = use->desc.decimation ? use->desc.decimation : 1;
    for (size_t m = 0; m < count_of(use); m++) {
        direct_value(want + 2 * m, samples, SAMPLES, &use->desc, m * down + use->desc.advance);
        double angle = 2 * TEST_PI * use->desc.phase, re = want[2 * m], im = want[2 * m + 1];
        want[2 * m] = re * cos(angle) - im * sin(angle);
        want[2 * m + 1] = re * sin(angle) + im * cos(angle);
    }
}

static inline void check_values(const struct use *use, const penstock_stream *filter, const penstock_cf32 *values,
                                size_t made, size_t at)
{
    bool real = const_filter_of(filter)->shape->value_bytes == sizeof(float);
    size_t worst = use->n > use->desc.n ? use->n : use->desc.n;
    double error = 0, norm = 0, most = 0;
    CHECK(made == count_of(use), "%s, at %zu: %zu values of %zu", use->name, at, made, count_of(use));
    for (size_t m = 0; m < made; m++) {
        double re = (real ? (double)((const float *)values)[m] : (double)values[m].re) - want[2 * m];
        double im = real ? 0 : (double)values[m].im - want[2 * m + 1], power = re * re + im * im;
        error += power;
        most = power > most ? power : most;
        norm += want[2 * m] * want[2 * m] + want[2 * m + 1] * want[2 * m + 1];
    }
    double bound = 2e-7 * sqrt(log2((double)worst));
    CHECK(sqrt(error / norm) <= bound, "%s, at %zu: error %g", use->name, at, sqrt(error / norm));
    CHECK(sqrt(most * (double)made / norm) <= 20 * bound, "%s, at %zu: a value is off by %g of the mean", use->name, at,
          sqrt(most * (double)made / norm)); /* one wrong value among thousands would not show above */
}

/* ---------------------------------------------------------------- life ------------------------ */

/* False where there is no such device; penstock_error_text() tells why. */
static inline bool init(const char *device)
{
    uint64_t seed = 5;
    penstock_stream *filter = NULL;
    kind = device;
    snprintf(preferred, sizeof preferred, "prefer:%s", kind);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_lines, .threads = 2)));
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < TAPS; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        other_taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        real_taps[k] = taps[k].re;
    }
    for (size_t u = 0; u < USES; u++)
        uses[u].desc.size = sizeof uses[u].desc;
    if (penstock_filter_open(&filter, context, &uses[0].desc, kind) == PENSTOCK_ERR_NO_DEVICE) {
        penstock_context_free(context); /* which waits for drivers that are being loaded */
        return false;
    }
    penstock_stream_free(filter);
    return true;
}

#endif
