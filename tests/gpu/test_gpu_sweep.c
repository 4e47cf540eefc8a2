/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Every call of a GPU's driver, and every allocation, fails once, k = 0, 1, ...: the library says so or does without,
 * and leaks nothing. */
#include "core/base/memory.h"
#include "shim_calls.h"
#include "test.h"

#include <penstock/penstock.h>

#define N      64
#define FRAMES 40

/* What is swept: forms of a transform. */
static const struct form {
    const char *name;
    bool half;                    /* samples and values are numbers of 16 bits */
    penstock_fft_options options; /* OpenCL only */
    const char *gpu;              /* what the driver for tests is to look like; NULL: itself */
} forms[] = {{.name = "floats"},
             {.name = "halfs", .half = true},
             {.name = "images", .options = {.images = true}},
             {.name = "arithmetic of halfs",
              .half = true,
              .options = {.arithmetic = PENSTOCK_ARITHMETIC_HALF},
              .gpu = "32768:256"}};

/* Of floats, and the same samples in halfs. */
static penstock_cf32 samples[FRAMES * N], want[FRAMES * N], out[FRAMES * N];
static penstock_cf16 half_samples[FRAMES * N], half_out[FRAMES * N];
static long first_allocation; /* of the last life: those before made its context */

/* One life of a context, a plan and two batches, whose values are in `out` then. 0 or the first error. */
static int live_once(const char *device, const struct form *form)
{
    const penstock_fft_desc desc = PENSTOCK_FFT_DESC(.n = N, .load.format = form->half ? PENSTOCK_CF16 : PENSTOCK_CF32,
                                                     .store.half = form->half, .options = form->options);
    const void *in = form->half ? (const void *)half_samples : samples;
    void *values = form->half ? (void *)half_out : out;
    penstock_context *context;
    penstock_plan *plan = NULL;
    long before = penstock__memory_calls();
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""));
    first_allocation = penstock__memory_calls() - before;
    if (!status)
        status = penstock_fft_plan(&plan, context, &desc, device);
    if (!status)
        status = penstock_plan_run(plan, in, values, FRAMES);
    if (!status)
        status = penstock_plan_run(plan, in, values, FRAMES);
    penstock_plan_free(plan);
    penstock_context_free(context);
    if (form->half)
        penstock_half_to_float(&out[0].re, &half_out[0].re, 2 * FRAMES * N);
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

/* Error of the values that a form may have: that of its rounding, and of its arithmetic. */
static double bound_of(const struct form *form)
{
    return form->options.arithmetic == PENSTOCK_ARITHMETIC_HALF ? 3e-3 : form->half ? 5e-4 : 1e-6;
}

static void check_life(const char *device, const struct form *form, long k)
{
    int status;
    memset(out, 0, sizeof out);
    memset(half_out, 0, sizeof half_out);
    status = live_once(device, form);
    CHECK(!status || *penstock_error_text(), "%s, call %ld on %s: an error without text", form->name, k, device);
    CHECK(status || difference() < bound_of(form), "%s, call %ld on %s: a wrong result, and no error", form->name, k,
          device);
    CHECK(shim.live() == 0, "%s, call %ld on %s: %ld objects leaked", form->name, k, device, shim.live());
    CHECK(!shim.broken_rule || !shim.broken_rule(), "%s, call %ld on %s: %s", form->name, k, device,
          shim.broken_rule());
    CHECK(penstock__memory_live() == 0, "%s, call %ld on %s: %ld blocks leaked", form->name, k, device,
          penstock__memory_live());
    CHECK(!status || strncmp(device, "prefer:", 7) || status == PENSTOCK_ERR_MEMORY, "%s, call %ld on %s: %s",
          form->name, k, device, penstock_error_text());
}

/* Whether the failure was still ahead when the work was done: k is then beyond the last call. */
static bool fail_once(const char *device, const struct form *form, long k)
{
    bool beyond;
    shim.fail_at(k);
    check_life(device, form, k);
    beyond = shim.left() >= 0;
    shim.fail_at(-1);
    return beyond;
}

/* Of the other forms each twelfth fails: most calls are those of the first. */
static unsigned every_of(const struct form *form)
{
    return form == forms ? 4 : 12;
}

static void sweep_calls(const char *device, const struct form *form)
{
    long k = 0;
    while ((!test_drawn((uint64_t)k, every_of(form)) || !fail_once(device, form, k)) && k < 500)
        k++;
    CHECK(k > 15 && k < 500, "%s: %ld calls on %s", form->name, k, device);
    printf("%s on %s: %ld calls\n", form->name, device, k);
}

/* Those of a context are the same for all forms, and swept with the first. */
static void sweep_allocations(const char *device, const struct form *form)
{
    long allocations = penstock__memory_calls(), first;
    CHECK_OK(live_once(device, form));
    allocations = penstock__memory_calls() - allocations;
    first = form == forms ? 0 : first_allocation;
    for (long k = first; k < allocations; k++) {
        if (!test_drawn((uint64_t)k, every_of(form)))
            continue;
        penstock__memory_fail_at(k);
        check_life(device, form, k);
    }
    penstock__memory_fail_at(-1);
    CHECK(allocations - first > 15, "%s: %ld allocations", form->name, allocations - first);
    printf("%s on %s: %ld allocations\n", form->name, device, allocations - first);
}

int main(int count, char **arguments)
{
    const bool cuda = count > 1 && !strcmp(arguments[1], "cuda");
    const char *variable = cuda ? "PENSTOCK_CUDA_LIBRARY" : "PENSTOCK_OPENCL_LIBRARY";
    const char *const devices[] = {cuda ? "cuda" : "opencl", cuda ? "prefer:cuda" : "prefer:opencl"};
    uint64_t seed = 1;
    int status;
    if (!shim_load(variable)) {
        printf("%s: ", variable);
        return test_skip("does not name the driver for tests");
    }
    for (size_t i = 0; i < 2 * FRAMES * N; i++)
        (&samples[0].re)[i] = (float)test_uniform(&seed);
    penstock_half_from_float(&half_samples[0].re, &samples[0].re, 2 * FRAMES * N);
    CHECK_OK(live_once("cpu", &forms[0]));
    memcpy(want, out, sizeof want);
    if ((status = live_once(devices[0], &forms[0])) == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    CHECK_OK(status);
    for (const struct form *form = forms; form < forms + (cuda ? 1 : sizeof forms / sizeof *forms); form++) {
        form->gpu ? setenv("PENSTOCK_SHIM_GPU", form->gpu, 1) : unsetenv("PENSTOCK_SHIM_GPU");
        if (form->options.images && live_once(devices[0], form) == PENSTOCK_ERR_UNSUPPORTED &&
            strstr(penstock_error_text(), "lists images")) { /* its compiler has none */
            printf("images left out: %s\n", penstock_error_text());
            continue;
        }
        sweep_calls(devices[0], form);
        if (form == forms)
            sweep_calls(devices[1], form);
        sweep_allocations(devices[0], form);
    }
    return test_finish();
}
