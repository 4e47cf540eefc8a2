/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Allocation k fails, for every k, in the life of a plan of each public kind: it is made, run twice and freed, or says
 * an error with a text; what it gives is right, and nothing leaks.
 */
#include "core/base/memory.h"
#include "test.h"

#include <penstock/fec.h>
#include <penstock/penstock.h>

enum { FRAMES = 3, LONGEST = 4096 };

typedef int make(penstock_plan **plan, penstock_context *context, const char *device);

static penstock_cf32 in[FRAMES * LONGEST], out[FRAMES * LONGEST], expected[FRAMES * LONGEST];
static int8_t soft[sizeof in]; /* the same for decoders */
static float window[LONGEST];
static size_t n;
static bool power;
static long failed_in_all;

static int make_fft(penstock_plan **plan, penstock_context *context, const char *device)
{
    return penstock_fft_plan(
        plan, context,
        &PENSTOCK_FFT_DESC(.n = n, .load.window = power ? window : NULL,
                           .store.output = power ? PENSTOCK_OUTPUT_POWER : PENSTOCK_OUTPUT_COMPLEX),
        device);
}

static int make_viterbi(penstock_plan **plan, penstock_context *context, const char *device)
{
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = n);
    int status = penstock_viterbi_code(&desc, "wifi");
    return status ? status : penstock_viterbi_plan(plan, context, &desc, device);
}

static int make_ldpc(penstock_plan **plan, penstock_context *context, const char *device)
{
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.iterations = 5);
    int status = penstock_ldpc_code(&desc, "wifi:648:1/2");
    return status ? status : penstock_ldpc_plan(plan, context, &desc, device);
}

/* The first error of a life; `*bytes`: of what it gave. */
static int live(make *of, const char *device, size_t *bytes)
{
    const void *from = of == make_fft ? (const void *)in : soft;
    penstock_plan_info info = {.size = sizeof info};
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = ""));
    if (!status)
        status = of(&plan, context, device);
    CHECK(!status == !!plan, "%s, %zu: status %d and plan %p", device, n, status, (void *)plan);
    if (!status)
        status = penstock_plan_get_info(plan, &info);
    for (int i = 0; i < 2 && !status; i++) {
        memset(out, 0, sizeof out);
        status = penstock_plan_run(plan, from, out, FRAMES);
    }
    *bytes = FRAMES * info.out_bytes;
    CHECK(!status || *penstock_error_text(), "%s, %zu: error %d without a text", device, n, status);
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}

static void sweep(make *of, const char *kind, const char *device)
{
    const long before = penstock__memory_calls();
    size_t bytes = 0, given;
    long errors = 0;
    int status = live(of, device, &bytes);
    const long calls = penstock__memory_calls() - before;
    CHECK(!status && bytes && bytes <= sizeof out && calls > 4, "%s, %zu on %s: %d, %zu bytes, %ld allocations", kind,
          n, device, status, bytes, calls);
    memcpy(expected, out, sizeof out);
    for (long k = 0; k < calls; k += SWEEP_STEP) {
        penstock__memory_fail_at(k);
        status = live(of, device, &given);
        penstock__memory_fail_at(-1);
        CHECK(status || !memcmp(out, expected, bytes), "%s, %zu on %s, allocation %ld: wrong values", kind, n, device,
              k);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "%s, %zu on %s, allocation %ld: %d", kind, n, device, k,
              status);
        CHECK_EQ(penstock__memory_live(), 0);
        errors += !!status;
    }
    CHECK(errors * SWEEP_STEP > 3, "%s, %zu on %s: only %ld errors", kind, n, device, errors);
    const long failed = (calls + SWEEP_STEP - 1) / SWEEP_STEP;
    printf("%s, %zu on %s: %ld allocations failed, %ld errors\n", kind, n, device, failed, errors);
    failed_in_all += failed;
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {7, 240, 1000, 1021, 4096};
    const char *device = argc > 1 ? argv[1] : "cpu";
    uint64_t seed = 5;
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    for (size_t i = 0; i < FRAMES * LONGEST; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t i = 0; i < sizeof soft; i++)
        soft[i] = (int8_t)(test_random(&seed) >> 20 & 127);
    for (size_t i = 0; i < LONGEST; i++)
        window[i] = 1.0F / (float)(i + 1);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        n = lengths[i];
        power = false;
        sweep(make_fft, "fft", device);
        power = true;
        sweep(make_fft, "fft, power", device);
        sweep(make_viterbi, "viterbi", device);
    }
    n = 324;
    sweep(make_ldpc, "ldpc", device);
    printf("%s: %ld allocations failed in all\n", device, failed_in_all);
    return test_finish();
}
