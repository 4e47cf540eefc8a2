/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every call of a GPU's driver, and every allocation, fails once, k = 0, 1, ...: the library says so or does without,
 * and leaks nothing. */
#include "core/memory.h"
#include "driver_shim.h"
#include "test.h"

#include <penstock/penstock.h>

#include <dlfcn.h>

#define N      64
#define FRAMES 40

static struct {
    void (*fail_at)(long k);
    long (*left)(void);
    long (*live)(void);
    const char *(*broken_rule)(void);
} shim;

static penstock_cf32 in[FRAMES * N], out[FRAMES * N], want[FRAMES * N];

static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

static bool load_shim(const char *variable)
{
    const char *path = getenv(variable);
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (library)
        find(library, "shim_broken_rule", &shim.broken_rule);
    return library && find(library, "shim_fail_at", &shim.fail_at) && find(library, "shim_left", &shim.left) &&
           find(library, "shim_live", &shim.live);
}

/* One life of a context, a plan and two batches. 0 or the first error. */
static int live_once(const char *device, penstock_cf32 *result)
{
    penstock_context *context;
    penstock_plan *plan = NULL;
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""));
    if (!status)
        status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device);
    if (!status)
        status = penstock_plan_run(plan, in, result, FRAMES);
    if (!status)
        status = penstock_plan_run(plan, in, result, FRAMES);
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}

static double difference(void)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < FRAMES * N; i++) {
        error += pow(out[i].re - want[i].re, 2) + pow(out[i].im - want[i].im, 2);
        norm += pow(want[i].re, 2) + pow(want[i].im, 2);
    }
    return sqrt(error / norm);
}

static void check_life(const char *device, long k)
{
    int status;
    memset(out, 0, sizeof out);
    status = live_once(device, out);
    CHECK(!status || *penstock_error_text(), "call %ld on %s: an error without text", k, device);
    CHECK(status || difference() < 1e-6, "call %ld on %s: a wrong result, and no error", k, device);
    CHECK(shim.live() == 0, "call %ld on %s: %ld objects leaked", k, device, shim.live());
    CHECK(!shim.broken_rule || !shim.broken_rule(), "call %ld on %s: %s", k, device, shim.broken_rule());
    CHECK(penstock__memory_live() == 0, "call %ld on %s: %ld blocks leaked", k, device, penstock__memory_live());
    CHECK(!status || strncmp(device, "prefer:", 7) || status == PENSTOCK_ERR_MEMORY, "call %ld on %s: %s", k, device,
          penstock_error_text());
}

/* Whether the failure was still ahead when the work was done: k is then beyond the last call. */
static bool fail_once(const char *device, long k)
{
    bool beyond;
    shim.fail_at(k);
    check_life(device, k);
    beyond = shim.left() >= 0;
    shim.fail_at(-1);
    return beyond;
}

int main(int count, char **arguments)
{
    const bool cuda = count > 1 && !strcmp(arguments[1], "cuda");
    const char *variable = cuda ? "PENSTOCK_CUDA_LIBRARY" : "PENSTOCK_OPENCL_LIBRARY";
    const char *const devices[] = {cuda ? "cuda" : "opencl", cuda ? "prefer:cuda" : "prefer:opencl"};
    uint64_t seed = 1;
    long allocations;
    int status;
    if (!load_shim(variable)) {
        printf("%s: ", variable);
        return test_skip("does not name the driver for tests");
    }
    for (size_t i = 0; i < FRAMES * N; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    CHECK_OK(live_once("cpu", want));
    if ((status = live_once(devices[0], out)) == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    CHECK_OK(status);
    allocations = penstock__memory_calls();
    CHECK_OK(live_once(devices[0], out));
    allocations = penstock__memory_calls() - allocations;
    for (size_t d = 0; d < 2; d++) {
        long k = 0;
        while (!fail_once(devices[d], k) && k < 500)
            k++;
        CHECK(k > 15 && k < 500, "%ld calls on %s", k, devices[d]);
    }
    for (long k = 0; k < allocations; k++) {
        penstock__memory_fail_at(k);
        check_life(devices[0], k);
    }
    penstock__memory_fail_at(-1);
    return test_finish();
}
