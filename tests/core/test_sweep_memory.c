/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Allocation k fails, for every k, while a context and plans are made and used: each call succeeds or reports an
 * error, what succeeded is right, nothing leaks, and afterwards all works. */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>

enum { N = 60, FRAMES = 10 };

/* Samples and values, of floats or, in the first half of each, of numbers of 16 bits. */
static penstock_cf32 input[FRAMES * N], expected[FRAMES * N], out[FRAMES * N];
static bool half; /* which of them */

static penstock_fft_desc wanted(void)
{
    return PENSTOCK_FFT_DESC(.n = N, .load.format = half ? PENSTOCK_CF16 : PENSTOCK_CF32, .store.half = half);
}

/* Makes and uses everything once; the number of calls that failed. */
static int use_all(const char *device, long k)
{
    const penstock_fft_desc desc = wanted();
    const size_t bytes = half ? sizeof out / 2 : sizeof out;
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    int failures = 0, status;
    uint64_t ticket;
    size_t count;
    status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2));
    if (!status && (status = penstock_device_count(context, &count))) {
        failures++;
        status = penstock_device_count(context, &count); /* the next call probes again */
    }
    if (!status)
        status = penstock_fft_plan(&plan, context, &desc, device);
    CHECK(!status == (plan != NULL), "allocation %ld: status %d and plan %p disagree", k, status, (void *)plan);
    failures += status != 0;
    for (int i = 0; i < 5 && plan; i++) {
        if (i == 4) /* the last one must find a plan that has recovered */
            penstock__memory_fail_at(-1);
        memcpy(out, input, sizeof out);
        if (i % 2)
            status = penstock_plan_run(plan, out, out, FRAMES);
        else if (!(status = penstock_plan_submit(plan, input, out, FRAMES, &ticket)))
            status = penstock_plan_wait(plan, ticket);
        failures += status != 0;
        CHECK(status || !memcmp(out, expected, bytes), "allocation %ld: run %d is wrong on %s", k, i, device);
    }
    CHECK(!plan || !status, "allocation %ld: the plan does not recover on %s", k, device);
    penstock_plan_free(plan);
    penstock_context_free(context);
    return failures;
}

static void sweep(const char *device)
{
    long before = penstock__memory_calls(), calls;
    CHECK_EQ(use_all(device, -1), 0);
    calls = penstock__memory_calls() - before;
    CHECK(calls > 15, "only %ld allocations on %s", calls, device);
    for (long k = 0; k < calls; k += SWEEP_STEP) {
        int failures;
        penstock__memory_fail_at(k);
        failures = use_all(device, k);
        penstock__memory_fail_at(-1);
        CHECK(failures <= 1, "allocation %ld failed once and %d calls failed on %s", k, failures, device);
        CHECK_EQ(penstock__memory_live(), 0);
        CHECK_EQ(penstock__trace_live(), 0);
    }
    CHECK_EQ(use_all(device, -1), 0);
    printf("%s, %s: %ld allocations failed\n", device, half ? "halfs" : "floats", calls / SWEEP_STEP);
}

/* Fills in samples, and what the cpu makes of them. */
static void prepare(void)
{
    const penstock_fft_desc desc = wanted();
    penstock_context *context;
    penstock_plan *plan;
    uint64_t seed = 9;
    for (size_t i = 0; i < 2 * FRAMES * N; i++) {
        float value = (float)test_uniform(&seed);
        if (half)
            penstock_half_from_float((uint16_t *)input + i, &value, 1);
        else
            (&input[0].re)[i] = value;
    }
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock_fft_plan(&plan, context, &desc, "cpu"));
    CHECK_OK(penstock_plan_run(plan, input, expected, FRAMES));
    penstock_plan_free(plan);
    penstock_context_free(context);
}

int main(void)
{
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    setenv("PENSTOCK_CACHE_DIR", "", 1);
    for (int i = 0; i < 2; i++) {
        half = i;
        prepare();
        sweep("cpu");
        sweep("trace");
        sweep("prefer:trace");
    }
    CHECK_EQ(penstock__trace_violations(), 0);
    return test_finish();
}
