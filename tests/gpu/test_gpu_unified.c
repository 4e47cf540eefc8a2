/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A GPU that shares the host's memory (PENSTOCK_SHIM_UNIFIED of the driver for tests, which counts copies) works on
 * samples and values where they are: none of a plan's and of a stream's lent memory is copied, and memory that is not
 * aligned is. Without that variable each batch is copied. Values are the CPU's in any case.
 */
#include "device.h"
#include "shim_calls.h"

#include <penstock/fft_stream.h>

enum { N = 256, FRAMES = 512, BYTES = FRAMES * N * sizeof(penstock_cf32) };

static penstock_context *context;
static penstock_cf32 samples[FRAMES * N + 8] __attribute__((aligned(64))), want[FRAMES * N];
static penstock_cf32 values[FRAMES * N + 8] __attribute__((aligned(64)));

static void check_values(const char *what, const penstock_cf32 *got)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < FRAMES * N; i++) {
        error += pow((double)got[i].re - (double)want[i].re, 2) + pow((double)got[i].im - (double)want[i].im, 2);
        norm += pow((double)want[i].re, 2) + pow((double)want[i].im, 2);
    }
    CHECK(norm > 0 && sqrt(error / norm) < 1e-6, "%s: values differ by %g", what, sqrt(error / norm));
}

/* Of one batch; values of another one were there before. */
static long copies_of_plan(penstock_plan *plan, const penstock_cf32 *from, penstock_cf32 *to)
{
    const long before = shim.copies(0);
    memset(values, 0, sizeof values);
    CHECK_OK(penstock_plan_run(plan, from, to, FRAMES));
    check_values("a plan", to);
    return shim.copies(0) - before;
}

static void check_plan(const char *device, bool unified)
{
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    if (!plan)
        return;
    for (int i = 0; i < 2; i++) {
        const long copies = copies_of_plan(plan, samples, values);
        CHECK(unified ? copies == 0 : copies >= 2, "%ld copies of memory that is aligned", copies);
        memmove(samples + 1, samples, BYTES);
        CHECK(copies_of_plan(plan, samples + 1, values + 1) >= 2, "no copy of memory that is not aligned");
        memmove(samples, samples + 1, BYTES);
    }
    penstock_plan_free(plan);
}

/* In lent memory, both ways. */
static void take(penstock_stream *stream, size_t *made)
{
    const void *from = NULL;
    size_t count = 0;
    do {
        CHECK_OK(penstock_stream_peek(stream, false, &from, &count));
        count = count < FRAMES - *made ? count : FRAMES - *made;
        if (count)
            memcpy(values + *made * N, from, count * N * sizeof *values);
        CHECK_OK(penstock_stream_release(stream, count));
        *made += count;
    } while (count);
}

static void check_stream(const char *device, bool unified)
{
    penstock_stream *stream = NULL;
    size_t made = 0, room = 0;
    long before;
    void *to = NULL;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), device));
    if (!stream)
        return;
    before = shim.copies(0);
    memset(values, 0, sizeof values);
    for (size_t given = 0; given < FRAMES; given += room) {
        CHECK_OK(penstock_stream_acquire(stream, &to, &room));
        room = room < FRAMES - given ? room : FRAMES - given;
        if (room)
            memcpy(to, samples + given * N, room * N * sizeof *samples);
        CHECK_OK(penstock_stream_commit(stream, room));
        take(stream, &made);
    }
    CHECK_OK(penstock_stream_finish(stream));
    take(stream, &made);
    CHECK_EQ(made, FRAMES);
    check_values("a stream", values);
    before = shim.copies(0) - before;
    CHECK(unified ? before == 0 : before >= 2, "%ld copies of a stream's lent memory", before);
    penstock_stream_free(stream);
}

int main(int count, char **arguments)
{
    const bool unified = getenv("PENSTOCK_SHIM_UNIFIED");
    const char *device = count > 1 ? arguments[1] : "opencl";
    penstock_plan *plan = NULL;
    uint32_t random = 1;
    int status = test_device(&context, device);
    if (status)
        return status;
    if (!shim_load("PENSTOCK_OPENCL_LIBRARY") || !shim.copies)
        return test_skip("no driver for tests");
    for (size_t i = 0; i < 2 * FRAMES * N; i++)
        (&samples->re)[i] = (float)(int32_t)(random = random * 1664525 + 1013904223) * 0x1p-31f;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), "cpu"));
    CHECK_OK(penstock_plan_run(plan, samples, want, FRAMES));
    penstock_plan_free(plan);
    check_plan(device, unified);
    check_stream(device, unified);
    penstock_context_free(context);
    return test_finish();
}
