/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The CPU serves while a device's kernels are compiled: plans and streams. */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "fft_error.h"
#include "slow_compiler.h"

#include <penstock/fft_stream.h>

#define N        600
#define VECTORS  64
#define BETWEEN  7 /* vectors of a push: no divisor of a batch */
#define AND_MORE 3 /* batches on the device */

/* ---------------------------------------------------------------- plans ----------------------- */

static penstock_cf32 in[VECTORS * N], out[VECTORS * N];
static double want[2 * VECTORS * N];

static void make_vectors(void)
{
    uint64_t random = 7;
    for (size_t i = 0; i < 2 * VECTORS * N; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        (&in->re)[i] = (float)(int32_t)(random >> 32) * 0x1p-31f;
        want[i] = (double)(&in->re)[i];
    }
    for (size_t v = 0; v < VECTORS; v++)
        CHECK_OK(penstock__dft(want + 2 * v * N, N, PENSTOCK_FORWARD));
}

static void check_vectors(const char *what)
{
    for (size_t v = 0; v < VECTORS; v++) {
        double error = relative_error(&out[v * N].re, want + 2 * v * N, 2 * N);
        CHECK(error <= error_bound(N), "%s: vector %zu has error %g", what, v, error);
    }
    memset(out, 0, sizeof out);
}

static penstock_plan_info info_of(const penstock_plan *plan)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(penstock_plan_get_info(plan, &info));
    return info;
}

/* A plan whose kernels wait for the pipe, and batches on the CPU. */
static penstock_plan *new_plan(penstock_context *context, const char *device)
{
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("the CPU");
    }
    penstock_plan_info info = info_of(plan);
    CHECK(!strcmp(info.device, "cpu"), "a plan that waits runs on %s", info.device);
    CHECK(info.awaited && strstr(device, info.awaited), "it waits for %s", info.awaited ? info.awaited : "nothing");
    CHECK_EQ(info.cpu_while_compiling, 3);
    return plan;
}

/* Batches until the plan waits for nothing; how many there were. */
static unsigned run_until_ready(penstock_plan *plan)
{
    double start = now_s();
    unsigned batches = 0;
    for (; info_of(plan).awaited && now_s() - start < GUARD_S; batches++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("while it changes");
    }
    CHECK(!info_of(plan).awaited, "nothing came within %d s", GUARD_S);
    return batches;
}

static void goes_over(const char *device, const char *expected)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, device);
    start_feeding(content);
    unsigned batches = run_until_ready(plan);
    stop_feeding();
    penstock_plan_info info = info_of(plan);
    CHECK(!expected || is_kind(info.device), "%s ends on %s", device, info.device);
    CHECK_EQ(info.cpu_while_compiling, 3 + batches - 1); /* the last of them went to the device */
    for (unsigned i = 0; i < AND_MORE; i++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("the device");
    }
    CHECK_EQ(info_of(plan).cpu_while_compiling, info.cpu_while_compiling);
    CHECK(!warnings, "%u warnings, \"%s\"", warnings, warning);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* With batches in flight in all slots when the device comes. */
static void in_flight(void)
{
    enum { SLOTS = 3, EACH = VECTORS / 8 };
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    double start = now_s();
    start_feeding(content);
    for (bool more = true; more && now_s() - start < GUARD_S; more = info_of(plan).awaited) {
        uint64_t ticket = 0;
        for (unsigned i = 0; i < VECTORS / EACH; i++)
            CHECK_OK(penstock_plan_submit(plan, in + i * EACH * N, out + i * EACH * N, EACH, &ticket));
        CHECK_OK(penstock_plan_wait(plan, ticket));
        check_vectors("in flight");
    }
    stop_feeding();
    CHECK(is_kind(info_of(plan).device), "it ends on %s", info_of(plan).device);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* Kernels that do not compile: the CPU goes on, and one line says so. */
static void fails(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    start_feeding(nothing);
    run_until_ready(plan);
    stop_feeding();
    CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
    check_vectors("the CPU after a failure");
    CHECK(!strcmp(info_of(plan).device, "cpu"), "it ends on %s", info_of(plan).device);
    CHECK(warnings == 1, "%u warnings, \"%s\"", warnings, warning);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* The plan goes while its kernels are compiled. */
static void dies(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    start_feeding(content);
    penstock_plan_free(plan);
    stop_feeding();
    penstock_context_free(context);
}

/* A device that is named, and a context that does not ask for it, wait. */
static void waits(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = NULL;
    start_feeding(content);
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), kind));
    CHECK(is_kind(info_of(plan).device) && !info_of(plan).awaited, "a named device's plan is on %s",
          info_of(plan).device);
    penstock_plan_free(plan);
    stop_feeding();
    penstock_context_free(context);
    start_feeding(content);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = test_folder, .cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), preferred));
    CHECK(is_kind(info_of(plan).device), "a patient context's plan is on %s", info_of(plan).device);
    stop_feeding();
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- streams --------------------- */

/* Vectors come out in order, none lost, while the device changes under the stream. */
static void streams(void)
{
    penstock_context *context = new_context();
    penstock_stream *stream = NULL;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double start = now_s();
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), preferred));
    start_feeding(content);
    uint64_t pushed = 0, pulled = 0, after = 0;
    while (after < 4 * VECTORS && now_s() - start < GUARD_S) {
        size_t taken = 0, given = 0, at = pushed % VECTORS, some = VECTORS - at < BETWEEN ? VECTORS - at : BETWEEN;
        CHECK_OK(penstock_stream_run(stream, in + at * N, some, &taken, out, VECTORS, &given));
        for (size_t i = 0; i < given; i++) {
            double error = relative_error(&out[i * N].re, want + 2 * N * ((pulled + i) % VECTORS), 2 * N);
            CHECK(error <= error_bound(N), "vector %llu of the stream has error %g", (unsigned long long)(pulled + i),
                  error);
        }
        pushed += taken;
        pulled += given;
        after += is_kind(penstock_stream_device(stream)) ? given : 0;
    }
    stop_feeding();
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(after >= 4 * VECTORS, "%llu vectors of the device within %d s", (unsigned long long)after, GUARD_S);
    CHECK(stats.cpu_while_compiling > 0 && stats.fallbacks == 0, "%llu batches meanwhile, %llu fallbacks",
          (unsigned long long)stats.cpu_while_compiling, (unsigned long long)stats.fallbacks);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    int exits;
    if (!begin(&exits, count, arguments))
        return exits;
    make_vectors();
    goes_over(preferred, kind);
    if (!strcmp(kind, "opencl")) /* of others it could choose OpenCL too */
        goes_over("auto", NULL);
    in_flight();
    streams();
    if (!strcmp(kind, "opencl")) /* the compiler of the driver for tests takes anything */
        fails();
    dies();
    waits();
    CHECK_EQ(penstock__memory_live(), 0);
    return finish();
}
