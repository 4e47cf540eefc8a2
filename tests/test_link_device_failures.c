/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * While a filter hands its values over to a spectrum on their device, each call of the driver fails once, or all from
 * one on, and each allocation: the host goes on with the same samples, no value is lost, nothing leaks. With a driver
 * for tests.
 *
 * Argument: a device.
 */
#include "link_device_rig.h"
#include "shim_calls.h"

enum { FEW = 9000 };

static size_t few_bytes;

/* True: the failure was not reached. */
static bool use(penstock_context *context, const char *name, void (*fail)(long), long k, uint64_t *stayed)
{
    penstock_stream *first = NULL, *second = NULL;
    size_t made;
    CHECK_OK(open_chain(&first, &second, context, name));
    fail(k);
    int status = run(first, second, integers, FEW, got, &made, 2);
    const bool beyond = shim.left() >= 0;
    shim.fail_at(-1);
    CHECK(!status, "%s, call %ld: %s", name, k, penstock_error_text());
    CHECK(made == few_bytes && error_of(got, want, made) < 2e-6, "%s, call %ld: %zu bytes of %zu, error %g", name, k,
          made, few_bytes, error_of(got, want, made));
    *stayed += stats_of(second).handed_over;
    CHECK(stats_of(first).out == FEW / 2 && stats_of(second).in == FEW / 2, "%s, call %ld: statistics", name, k);
    penstock_stream_free(second);
    penstock_stream_free(first);
    return beyond;
}

static void sweep(void (*fail)(long), const char *how)
{
    const char name[] = "prefer:opencl";
    penstock_context *context;
    long live = penstock__memory_live(), k = 0, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 7;
    uint64_t stayed = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    few_bytes = run_apart(context, FEW, NULL, 0, NULL, want);
    for (bool beyond = false; !beyond && k < 2000; k += k < 20 ? 1 : step)
        beyond = use(context, name, fail, k, &stayed);
    penstock_context_free(context);
    printf("%s: call %ld was beyond the last\n", how, k);
    CHECK(k > 60 && k < 2000 && stayed, "%s: %ld calls, %d items stay", how, k, (int)stayed);
    CHECK(!shim.live(), "%s: %ld objects of the driver leaked", how, shim.live());
    CHECK(penstock__memory_live() == live, "%s: %ld blocks leaked", how, penstock__memory_live() - live);
}

/* Allocation k of a chain's run fails: an error of a stream, after which a reset is enough, or nothing lost. */
static void sweep_memory(void)
{
    penstock_context *context;
    long failed = 0, k = 0, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 5;
    const long live = penstock__memory_live();
    CHECK_OK(penstock_context_new(&context, NULL));
    few_bytes = run_apart(context, FEW, NULL, 0, NULL, want);
    for (bool reached = true; reached && k < 2000; k += step) {
        penstock_stream *first = NULL, *second = NULL;
        size_t made;
        CHECK_OK(open_chain(&first, &second, context, device));
        long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        int status = run(first, second, integers, FEW, got, &made, 2);
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        failed += reached;
        if (status) {
            CHECK_OK(penstock_stream_reset(first));
            CHECK_OK(run(first, second, integers, FEW, got, &made, 2));
        }
        CHECK(made == few_bytes && error_of(got, want, made) < 2e-6, "allocation %ld: %zu bytes of %zu", k, made,
              few_bytes);
        penstock_stream_free(first);
        penstock_stream_free(second);
    }
    CHECK(failed > 5 && k < 2000, "%ld allocations failed", failed);
    printf("%ld allocations\n", failed);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    if (!shim_load("PENSTOCK_OPENCL_LIBRARY") || !shim.fail_from)
        return test_skip("there is no driver for tests");
    if (!rig_open(&context, count, arguments))
        return test_skip(penstock_error_text());
    penstock_context_free(context);
    sweep(shim.fail_at, "once");
    sweep(shim.fail_from, "from it on");
    sweep_memory();
    return test_finish();
}
