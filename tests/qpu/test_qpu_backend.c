/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The qpu backend on an emulated board as device `qpu`: transforms, refusals, a board that hangs, and leaks. */

#include "fft_error.h"
#include "qpu_board.h"

#include <penstock/fft_stream.h>

#include <errno.h>

enum { POINTS = 256, FRAMES = 50, PLANS = 10000 };

/* Relative error of FRAMES transforms of noise in a stream on `device`; `ran` on. */
static double stream_error(penstock_context *context, const char *device, uint64_t *fallbacks, const char **ran)
{
    static float in[FRAMES][2 * POINTS], out[FRAMES][2 * POINTS];
    static double want[FRAMES][2 * POINTS];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_stream *stream = NULL;
    uint64_t seed = 1;
    size_t done = 0, count = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        for (size_t j = 0; j < 2 * POINTS; j++)
            want[i][j] = in[i][j] = (float)(test_random(&seed) % 2000) / 1000 - 1;
        CHECK_OK(penstock__dft(want[i], POINTS, PENSTOCK_FORWARD));
    }
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = POINTS), device));
    if (!stream)
        return 1;
    for (size_t at = 0, taken = 0; at < FRAMES; at += taken) {
        CHECK_OK(penstock_stream_push(stream, in[at], 7 < FRAMES - at ? 7 : FRAMES - at, &taken));
        do {
            CHECK_OK(penstock_stream_pull(stream, (penstock_cf32 *)(void *)out[done], FRAMES - done, true, &count));
            done += count;
        } while (count);
    }
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_OK(penstock_stream_pull(stream, (penstock_cf32 *)(void *)out[done], FRAMES - done, true, &count));
    CHECK_EQ(done + count, FRAMES);
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    *fallbacks = stats.fallbacks;
    *ran = !strcmp(penstock_stream_device(stream), "cpu") ? "cpu" : "qpu";
    penstock_stream_free(stream);
    return relative_error(out[0], want[0], sizeof out / sizeof(float));
}

static void check_transforms(void)
{
    penstock_context *context = board_context((struct qpu_emulated_options){0});
    uint64_t fallbacks;
    const char *ran;
    double error = stream_error(context, "qpu", &fallbacks, &ran);
    CHECK(error > 1e-8 && error < 0.49e-6, "error %g", error);
    CHECK(!fallbacks && !strcmp(ran, "qpu"), "%d batches on the CPU", (int)fallbacks);
    board_free(context);
    CHECK(board_report.runs > 2 && board_report.launches > board_report.runs, "%d runs of %d programs",
          board_report.runs, (int)board_report.launches);
}

/* A board that hangs after `runs` launches: whoever insisted hears of it, others lose no vector. */
static void check_hang(unsigned runs)
{
    penstock_context *context = board_context((struct qpu_emulated_options){.hang_after = runs});
    uint64_t fallbacks;
    const char *ran;
    double error = stream_error(context, "prefer:qpu", &fallbacks, &ran);
    CHECK(error < 0.49e-6, "after %u runs: error %g", runs, error);
    CHECK_EQ(board_warnings, 1);
    board_free(context);
}

static void check_refusal(struct qpu_emulated_options options, const char *words)
{
    penstock_context *context = board_context(options);
    penstock_plan *plan = NULL;
    uint64_t fallbacks;
    const char *ran;
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = POINTS), "qpu"), PENSTOCK_ERR_NO_DEVICE);
    CHECK(!plan && strstr(penstock_error_text(), words), "\"%s\" without \"%s\"", penstock_error_text(), words);
    CHECK(stream_error(context, "prefer:qpu", &fallbacks, &ran) < error_bound(POINTS), "wrong on the CPU");
    CHECK(!strcmp(ran, "cpu") && board_warnings == 1, "ran on %s with %u warnings", ran, board_warnings);
    CHECK(stream_error(context, "auto", &fallbacks, &ran) < error_bound(POINTS), "wrong on the CPU");
    board_free(context);
}

static void check_refusals(void)
{
    check_refusal((struct qpu_emulated_options){.compatible = "brcm,bcm2712", .model = "Raspberry Pi 5"},
                  "another GPU");
    check_refusal((struct qpu_emulated_options){.mailbox_errno = EACCES}, "/dev/vcio");
    check_refusal((struct qpu_emulated_options){.kms = true}, "vc4-kms-v3d");
    check_refusal((struct qpu_emulated_options){.gpu_memory_bytes = 1024}, "gpu_mem");
}

/* Room for the device itself, but for no plan. */
static void check_no_memory(void)
{
    penstock_context *context = board_context((struct qpu_emulated_options){.gpu_memory_bytes = 8192});
    penstock_plan *plan = NULL;
    uint64_t fallbacks;
    const char *ran;
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = POINTS), "qpu"), PENSTOCK_ERR_MEMORY);
    CHECK(strstr(penstock_error_text(), "gpu_mem"), "%s", penstock_error_text());
    CHECK(stream_error(context, "prefer:qpu", &fallbacks, &ran) < error_bound(POINTS) && !strcmp(ran, "cpu"),
          "ran on %s", ran);
    board_free(context);
}

static void check_plans(void)
{
    penstock_context *context = board_context((struct qpu_emulated_options){.gpu_memory_bytes = 4 << 20});
    const char *full = getenv("PENSTOCK_TEST_FULL");
    int plans = full && *full ? PLANS : PLANS / 100, made = 0;
    for (int i = 0; i < plans; i++) {
        penstock_plan *plan = NULL;
        made += !penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = (size_t)64 << i % 5), "qpu");
        penstock_plan_free(plan);
    }
    CHECK_EQ(made, plans);
    board_free(context);
}

int main(void)
{
    check_transforms();
    for (unsigned runs = 1, all = board_report.runs; runs < all; runs++)
        check_hang(runs);
    check_refusals();
    check_no_memory();
    check_plans();
    return test_finish();
}
