/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Work with the samples on the device: it computes what the plan computes, takes time, copies what it says, and where
 * a call of the driver fails leaks nothing. Usage: test_bench [DEVICE]; without one, OpenCL by the core's function.
 */
#include "core/base/memory.h"
#include "core/device/devices.h"
#include "core/plan/bench.h"
#include "core/plan/plan.h"
#include "driver_shim.h"
#include "test.h"

#include <dlfcn.h>

enum { N = 64, GIVEN = 6, FRAMES = 40 };

static penstock_cf32 in[FRAMES * N], want[FRAMES * N], got[FRAMES * N];

static void fill(void)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < FRAMES * N; i++)
        in[i] =
            i < GIVEN * N ? (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)} : in[i - GIVEN * N];
}

static int enqueue(void *plan, const penstock_buffer *from, penstock_buffer *to, penstock_queue *queue)
{
    return penstock_plan_enqueue(plan, from, to, FRAMES, queue);
}

static penstock_bench_desc description(penstock_plan *plan, const char *device)
{
    return PENSTOCK_BENCH_DESC(.device = device, .work = enqueue, .user = plan, .in_bytes = sizeof in,
                               .out_bytes = sizeof want, .block = in, .block_bytes = GIVEN * N * sizeof *in);
}

static int make(penstock_bench **bench, penstock_context *context, penstock_plan *plan, bool on_host)
{
    struct penstock_device *device = penstock__plan_executor(plan)->state.device;
    const penstock_bench_desc desc = description(plan, device->name);
    return on_host ? penstock__bench_new(bench, device, &desc, true) : penstock_bench_new(bench, context, &desc);
}

static int use(penstock_bench *bench)
{
    double seconds = 0;
    size_t bytes = 0;
    int status = PENSTOCK_OK;
    for (int way = 0; way < 2 && !status; way++) {
        memset(got, 0, sizeof got);
        if (!(status = penstock_bench_copy(bench, way, &bytes, &seconds)))
            status = penstock_bench_read(bench, got, sizeof got);
        if (!status) {
            CHECK_EQ(bytes, sizeof in);
            CHECK(!memcmp(got, in, sizeof in), "way %d of copying", way);
            CHECK(seconds >= 0 && seconds < 60, "%g s", seconds);
        }
    }
    if (!status && !(status = penstock_bench_run(bench, 3, &seconds)))
        status = penstock_bench_read(bench, got, sizeof got);
    if (status)
        return status;
    CHECK(!memcmp(got, want, sizeof got), "the transforms differ from the plan's");
    CHECK(seconds > 0 && seconds < 60, "%g s", seconds);
    return PENSTOCK_OK;
}

static int live_once(const char *device, bool on_host)
{
    penstock_context *context;
    penstock_plan *plan = NULL;
    penstock_bench *bench = NULL;
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""));
    if (!status)
        status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device);
    if (!status)
        status = penstock_plan_run(plan, in, want, FRAMES);
    if (!status)
        status = make(&bench, context, plan, on_host);
    if (!status)
        status = use(bench);
    penstock_bench_free(bench);
    penstock_plan_free(plan);
    penstock_context_free(context);
    return status;
}

static bool load(void (**fail_at)(long k), long (**left)(void), long (**live)(void))
{
    const char *path = getenv("PENSTOCK_CUDA_LIBRARY");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL, *symbols[3];
    if (!library)
        return false;
    symbols[0] = dlsym(library, "shim_fail_at");
    symbols[1] = dlsym(library, "shim_left");
    symbols[2] = dlsym(library, "shim_live");
    memcpy(fail_at, &symbols[0], sizeof symbols[0]);
    memcpy(left, &symbols[1], sizeof symbols[1]);
    memcpy(live, &symbols[2], sizeof symbols[2]);
    return symbols[0] && symbols[1] && symbols[2];
}

static void sweep(const char *device)
{
    void (*fail_at)(long k);
    long (*left)(void), (*live)(void), k = 0, failures = 0;
    bool beyond = false;
    if (!load(&fail_at, &left, &live))
        return;
    for (; !beyond && k < 500; k++) {
        fail_at(k);
        int status = live_once(device, false);
        beyond = left() >= 0;
        fail_at(-1);
        failures += status != 0;
        CHECK(!beyond || !status, "call %ld: %d", k, status);
        CHECK(live() == 0, "call %ld: %ld objects leaked", k, live());
        CHECK(penstock__memory_live() == 0, "call %ld: %ld blocks leaked", k, penstock__memory_live());
    }
    CHECK(k > 60 && k < 500 && failures > 40, "%ld calls, %ld failures", k, failures);
}

static void refuse(const char *device)
{
    penstock_context *context;
    penstock_plan *plan;
    penstock_bench *bench;
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    const penstock_bench_desc good = description(plan, device);
    const int refused = strcmp(device, "cpu") ? PENSTOCK_ERR_ARGUMENT : PENSTOCK_ERR_UNSUPPORTED;
    for (int wrong = 0; wrong < 6; wrong++) {
        penstock_bench_desc desc = good;
        desc.block_bytes = wrong == 0 ? 24 : wrong == 1 ? 0 : desc.block_bytes;
        desc.in_bytes = wrong == 2 ? 0 : wrong == 3 ? SIZE_MAX - 3 : desc.in_bytes;
        desc.in_bytes -= wrong == 5 ? 16 : 0; /* too few for the work */
        desc.work = wrong == 4 ? NULL : enqueue;
        CHECK_EQ(penstock_bench_new(&bench, context, &desc), refused);
        CHECK(!bench, "an object after an error");
    }
    penstock_bench_desc desc = good;
    for (int wrong = 0; wrong < 2; wrong++) {
        desc.device = wrong ? "auto" : "no such device";
        CHECK_EQ(penstock_bench_new(&bench, context, &desc), wrong ? PENSTOCK_ERR_ARGUMENT : PENSTOCK_ERR_NO_DEVICE);
    }
    CHECK_EQ(penstock_bench_new(NULL, context, &good), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_bench_new(&bench, NULL, &good), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_bench_new(&bench, context, NULL), PENSTOCK_ERR_ARGUMENT);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* Memory that a slot asks for beyond its need is done without where the device has no more. */
static void grow(const char *device)
{
    penstock_context *context;
    penstock_plan *plan;
    char most[24];
    snprintf(most, sizeof most, "%zu", sizeof in);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .slots = 1), device));
    setenv("PENSTOCK_SHIM_MOST_BYTES", most, 1);
    CHECK_OK(penstock_plan_run(plan, in, got, FRAMES - 1));
    CHECK_OK(penstock_plan_run(plan, in, got, FRAMES));
    CHECK(!memcmp(got, want, sizeof got), "the transforms of a batch that has grown differ");
    unsetenv("PENSTOCK_SHIM_MOST_BYTES");
    penstock_plan_free(plan);
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    const char *device = count > 1 ? arguments[1] : "opencl";
    int status;
    fill();
    refuse("cpu");
    if ((status = live_once(device, count == 1)) == PENSTOCK_ERR_NO_DEVICE)
        return test_skip(penstock_error_text());
    CHECK_OK(status);
    if (count > 1) {
        refuse(device);
        sweep(device);
        grow(device);
    }
    return test_finish();
}
