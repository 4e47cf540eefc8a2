/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every allocation of a plan's life fails once: each is an error with text, nothing leaks, and the next try is right.
 */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "test.h"

#define FRAMES 64

static int use(penstock_context *context, const penstock_fft_desc *desc, const char *device, const void *in, void *out)
{
    penstock_plan *plan;
    int status = penstock_fft_plan(&plan, context, desc, device);
    if (!status)
        status = penstock_plan_run(plan, in, out, FRAMES);
    penstock_plan_free(plan);
    return status;
}

static void sweep(penstock_context *context, const penstock_fft_desc *desc, const char *device)
{
    static penstock_cf32 in[FRAMES * 1024], expected[FRAMES * 1024], out[FRAMES * 1024];
    long before, k = 0;
    int status;
    uint64_t seed = 3;
    for (size_t i = 0; i < FRAMES * 1024; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    memset(expected, 0, sizeof expected);
    CHECK_OK(use(context, desc, device, in, expected));
    before = penstock__memory_live();
    do {
        memset(out, 0, sizeof out);
        penstock__memory_fail_at(k);
        status = use(context, desc, device, in, out);
        penstock__memory_fail_at(-1);
        CHECK(status == PENSTOCK_OK || status == PENSTOCK_ERR_MEMORY, "allocation %ld on %s: status %d", k, device,
              status);
        CHECK(!status || strstr(penstock_error_text(), "memory"), "%s", penstock_error_text());
        CHECK(status || !memcmp(out, expected, sizeof out), "allocation %ld on %s: other bits", k, device);
        CHECK_EQ(penstock__memory_live(), before);
    } while (status && ++k < 1000);
    CHECK(k > 5 && k < 1000, "%ld allocations failed on %s", k, device);
}

int main(void)
{
    static float window[1024];
    static const char *const devices[] = {"cpu", "reference"};
    penstock_context *context;
    for (size_t i = 0; i < 1024; i++)
        window[i] = 1.0f / (float)(i + 1);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    for (int i = 0; i < 2; i++) {
        const penstock_fft_desc descs[] = {
            PENSTOCK_FFT_DESC(.n = 1024),
            PENSTOCK_FFT_DESC(.n = 1000, .load = {.window = window, .shift = 0.1, .format = PENSTOCK_CS16},
                              .store = {.output = PENSTOCK_OUTPUT_DECIBEL, .average = 4, .centered = true}),
            PENSTOCK_FFT_DESC(.n = 509, .domain = PENSTOCK_REAL),
        };
        penstock_plan *plan;
        int status = penstock_fft_plan(&plan, context, &descs[0], devices[i]);
        penstock_plan_free(plan);
        if (i > 0 && status) /* left out of this build */
            continue;
        for (size_t d = 0; d < sizeof descs / sizeof descs[0]; d++)
            sweep(context, &descs[d], devices[i]);
    }
    penstock_context_free(context);
    return test_finish();
}
