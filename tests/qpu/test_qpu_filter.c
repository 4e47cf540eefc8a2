/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Fast convolution on the QPUs: forward transform, product and reverse transform without the host between. Each length
 * and format passes the plan's own check against double precision; what it costs is counted; a stream whose taps change
 * agrees with the definition; and a board that hangs or has no memory loses no value.
 */
#include "core/device/devices.h"
#include "core/plan/executor.h"
#include "filter_direct.h"
#include "qpu_board.h"

#include <penstock/filter.h>

enum { SAMPLES = 9000, TAPS = 65, POINTS = 256, CHANGE = 4321 };

/* ---------------------------------------------------------------- plans ----------------------- */

static void check_plan(struct penstock_device *device, size_t n, penstock_format format, size_t taps)
{
    struct penstock__executor *executor;
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FILTER,
                                       .in_bytes = penstock_format_bytes(format),
                                       .out_bytes = (n - taps + 1) * sizeof(penstock_cf32),
                                       .batch = 12,
                                       .filter = {n, format, n - taps + 1, taps - 1, 1, 1, 1, false}};
    int status = penstock__executor_new(&executor, device, &problem, 1);
    CHECK(!status, "n %zu, %s, %zu taps: %s", n, penstock_format_name(format), taps, penstock_error_text());
    penstock__executor_free(executor);
}

static void check_plans(void)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8};
    penstock_context *context = board_context((struct qpu_emulated_options){0});
    struct penstock_device *device;
    struct penstock__executor *executor;
    struct penstock_problem real = {.kind = PENSTOCK_PROBLEM_FILTER,
                                    .in_bytes = sizeof(float),
                                    .out_bytes = 64 * sizeof(penstock_cf32),
                                    .batch = 1,
                                    .filter = {128, PENSTOCK_F32, 64, 64, 1, 1, 1, false}};
    CHECK_OK(penstock__device_find(context, "qpu", &device));
    for (size_t n = 64, i = 0; n <= 4096; n *= 2, i++)
        for (size_t f = 0; f < 2; f++)
            check_plan(device, n, formats[(i + 2 * f) % 4], f ? n / 4 + 1 : n / 2);
    CHECK_EQ(penstock__executor_new(&executor, device, &real, 1), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(!executor && strstr(penstock_error_text(), "f32"), "%s", penstock_error_text());
    board_free(context);
}

/* ---------------------------------------------------------------- work ------------------------ */

/* Instructions of a block in a batch of 12, over all QPUs: those of the two transforms, and at most 16 of the
 * product for each 16 points. */
static void check_work(void)
{
    static const struct {
        uint32_t n;
        unsigned transform; /* instructions, as test_qpu_fft_work has them */
    } cases[] = {{64, 300}, {256, 1044}, {1024, 5108}};
    penstock_context *context = board_context((struct qpu_emulated_options){0});
    struct penstock_device *device;
    CHECK_OK(penstock__device_find(context, "qpu:emulator", &device));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = cases[i].n, block = n / 2;
        struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FILTER,
                                           .in_bytes = sizeof(penstock_cf32),
                                           .out_bytes = block * sizeof(penstock_cf32),
                                           .batch = 12,
                                           .filter = {n, PENSTOCK_CF32, block, n - block, 1, 1, 1, false}};
        penstock_cf32 *in = calloc(13 * n, sizeof *in), *out = calloc(12 * n, sizeof *out), *response = calloc(n, 8);
        struct penstock__batch batch = {
            .in = in, .out = out, .response = response, .frames = 12, .samples = 11 * block + n};
        struct penstock__executor *executor;
        uint64_t before, after, path;
        CHECK_OK(penstock__executor_new(&executor, device, &problem, 1));
        if (executor && in && out && response) {
            device->backend->work(&executor->state, &before, &path);
            CHECK_OK(penstock__executor_submit(executor, 0, &batch));
            CHECK_OK(penstock__executor_wait(executor, 0));
            device->backend->work(&executor->state, &after, &path);
            double each = (double)(after - before) / 12;
            printf("%5zu points: %.0f instructions a block; two transforms take %u\n", n, each, 2 * cases[i].transform);
            CHECK(each > 2.0 * cases[i].transform && each <= 2.0 * cases[i].transform + (double)n,
                  "%zu points: %.1f instructions", n, each);
        }
        penstock__executor_free(executor);
        free(response);
        free(out);
        free(in);
    }
    board_free(context);
}

/* ---------------------------------------------------------------- streams --------------------- */

static union {
    float f[2 * SAMPLES];
    int16_t s[2 * SAMPLES];
    uint8_t b[2 * SAMPLES];
} samples;
static penstock_cf32 taps[2][TAPS], values[SAMPLES + TAPS];

static void fill(penstock_format format)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < 2 * SAMPLES; i++) {
        uint64_t random = test_random(&seed);
        if (format == PENSTOCK_CS16)
            samples.s[i] = (int16_t)random;
        else if (format == PENSTOCK_CF32)
            samples.f[i] = (float)((double)(int64_t)random * 0x1p-63);
        else
            samples.b[i] = (uint8_t)random;
    }
    for (size_t k = 0; k < TAPS; k++)
        for (int set = 0; set < 2; set++)
            taps[set][k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
}

/* Relative error of the values that `set` made, `first` .. `end` - 1. */
static double error_of(penstock_format format, int set, size_t first, size_t end)
{
    penstock_filter_desc desc = PENSTOCK_FILTER_DESC(.format = format, .taps = taps[set], .tap_count = TAPS);
    double difference = 0, power = 0, y[2];
    for (size_t m = first; m < end; m++) {
        direct_value(y, &samples, SAMPLES, &desc, m);
        difference += pow((double)values[m].re - y[0], 2) + pow((double)values[m].im - y[1], 2);
        power += y[0] * y[0] + y[1] * y[1];
    }
    return sqrt(difference / power);
}

/* The whole stream, in chunks; new taps from value CHANGE on. Largest relative error of the two halves. */
static double stream_error(penstock_context *context, penstock_format format, const char *device)
{
    penstock_stream *filter = NULL;
    size_t made = 0, bytes = penstock_format_bytes(format);
    uint64_t seed = 11;
    fill(format);
    CHECK_OK(penstock_filter_open(
        &filter, context, &PENSTOCK_FILTER_DESC(.format = format, .taps = taps[0], .tap_count = TAPS, .n = POINTS),
        device));
    if (!filter)
        return 1;
    CHECK_OK(
        stream_push(filter, (const char *)&samples, bytes, CHANGE, 1000, (char *)values, sizeof *values, &made, &seed));
    CHECK_OK(penstock_filter_set_taps(filter, taps[1], NULL, TAPS, CHANGE));
    CHECK_OK(stream_push(filter, (const char *)&samples + CHANGE * bytes, bytes, SAMPLES - CHANGE, 1000, (char *)values,
                         sizeof *values, &made, &seed));
    CHECK_OK(stream_end(filter, (char *)values, sizeof *values, &made));
    CHECK_EQ(made, SAMPLES);
    penstock_stream_free(filter);
    return fmax(error_of(format, 0, 0, CHANGE), error_of(format, 1, CHANGE, SAMPLES));
}

/* Two transforms of 256 points, each with at most 0.49 ppm. */
static const double bound = 1.5 * 0.49e-6;

static void check_streams(void)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8};
    penstock_context *context = board_context((struct qpu_emulated_options){0});
    for (size_t f = 0; f < 4; f++) {
        double error = stream_error(context, formats[f], "qpu");
        printf("%s: error %.2g\n", penstock_format_name(formats[f]), error);
        CHECK(error > 1e-8 && error < bound, "%s: error %g", penstock_format_name(formats[f]), error);
    }
    CHECK_EQ(board_warnings, 0);
    CHECK_EQ(board_unfused, 0);
    board_free(context);
}

/* The board hangs after `runs` launches: before, in and after the plans' checks, and between the two transforms. */
static void check_hangs(void)
{
    unsigned runs = 1;
    for (bool hung = true; hung && runs < 100; runs += 2) {
        penstock_context *context = board_context((struct qpu_emulated_options){.hang_after = runs});
        double error = stream_error(context, PENSTOCK_CF32, "prefer:qpu");
        CHECK(error < bound, "after %u runs: error %g", runs, error);
        hung = board_warnings > 0;
        board_free(context);
    }
    CHECK(runs > 9 && runs < 100, "%u runs", runs);
}

static void check_memory(void)
{
    bool fused = false;
    unsigned tries = 0;
    for (uint32_t bytes = 1 << 20; !fused && bytes <= 16 << 20; bytes *= 2, tries++) {
        penstock_context *context = board_context((struct qpu_emulated_options){.gpu_memory_bytes = bytes});
        CHECK(stream_error(context, PENSTOCK_CS16, "prefer:qpu") < bound, "wrong with %u bytes", bytes);
        fused = !board_warnings && !board_unfused;
        board_free(context);
    }
    CHECK(fused && tries > 1, "%u sizes of GPU memory", tries);
}

int main(void)
{
    check_plans();
    check_work();
    check_streams();
    check_hangs();
    check_memory();
    return test_finish();
}
