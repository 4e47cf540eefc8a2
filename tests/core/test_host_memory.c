/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory that a device reaches by itself: plans give the same bits from and to it as from and to ordinary memory, it is
 * listed and given back, and where a device has none of it there is ordinary memory. */
#include "core/base/memory.h"
#include "core/device/devices.h"
#include "test.h"

#include <penstock/penstock.h>

enum { N = 64, FRAMES = 20000, COUNT = N * FRAMES };

static const char *device;

static bool same_bits(penstock_context *context, const penstock_cf32 *in, penstock_cf32 *out, penstock_cf32 *want)
{
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    memset(out, 0, COUNT * sizeof *out);
    memset(want, 1, COUNT * sizeof *want);
    penstock_cf32 *ordinary = malloc(COUNT * sizeof *ordinary);
    memcpy(ordinary, in, COUNT * sizeof *in);
    CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
    CHECK_OK(penstock_plan_run(plan, ordinary, want, FRAMES));
    bool same = !memcmp(out, want, COUNT * sizeof *out);
    /* from the one kind of memory to the other, and not aligned to a frame */
    memset(want, 1, COUNT * sizeof *want);
    CHECK_OK(penstock_plan_run(plan, ordinary + 3, out + 1, 100));
    CHECK_OK(penstock_plan_run(plan, in + 3, want, 100));
    same = same && !memcmp(out + 1, want, 100 * N * sizeof *out);
    free(ordinary);
    penstock_plan_free(plan);
    return same;
}

static void test_plans(penstock_context *context)
{
    void *in, *out;
    uint64_t seed = 7;
    penstock_cf32 *want = malloc(COUNT * sizeof *want);
    CHECK_OK(penstock_host_memory_new(&in, context, device, COUNT * sizeof *want));
    CHECK_OK(penstock_host_memory_new(&out, context, device, COUNT * sizeof *want));
    CHECK((uintptr_t)in % 64 == 0 && (uintptr_t)out % 64 == 0, "memory is not aligned");
    for (size_t i = 0; i < 2 * COUNT; i++)
        ((float *)in)[i] = (float)test_uniform(&seed);
    CHECK(same_bits(context, in, out, want), "%s: other bits from and to memory of its own", device);
    penstock_host_memory_free(context, in);
    free(want); /* `out` goes with the context */
}

/* Blocks of our memory that a first batch from `in` to `out` takes: one more for each copy that is staged. */
static long blocks_of_batch(penstock_context *context, const void *in, void *out)
{
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    long before = penstock__memory_live();
    CHECK_OK(penstock_plan_run(plan, in, out, 1000));
    long blocks = penstock__memory_live() - before;
    penstock_plan_free(plan);
    return blocks;
}

/* Page-locked memory that the application has from the driver is known as such, in whole and in part. */
static void test_application_memory(penstock_context *context)
{
    const size_t bytes = 2000 * N * sizeof(penstock_cf32);
    struct penstock_device *found;
    void *in = NULL, *out = NULL;
    CHECK_OK(penstock__device_find(context, device, &found));
    if (!found->backend->host_alloc)
        return;
    CHECK_OK(penstock__device_open(found));
    CHECK_OK(found->backend->host_alloc(found, &in, bytes));
    CHECK_OK(found->backend->host_alloc(found, &out, bytes));
    char *ordinary = calloc(1, bytes), *want = calloc(1, bytes), *half = (char *)in + bytes / 2;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)in)[i] = (float)(i % 77);
    memcpy(ordinary, in, bytes);
    long staged = blocks_of_batch(context, ordinary, want), straight = blocks_of_batch(context, in, out);
    CHECK(straight < staged, "%ld blocks for a batch from page-locked memory, %ld from ordinary", straight, staged);
    CHECK(!memcmp(out, want, bytes / 2), "other bits from page-locked memory");
    CHECK_EQ(blocks_of_batch(context, half, out), straight);
    found->backend->host_free(found, in);
    found->backend->host_free(found, out);
    free(ordinary);
    free(want);
}

/* The application's own, locked: as if it were the driver's, until it is unlocked. */
static void test_locked(penstock_context *context)
{
    const size_t bytes = 2000 * N * sizeof(penstock_cf32);
    char *in = malloc(bytes), *out = malloc(bytes);
    struct penstock_device *found;
    CHECK_OK(penstock__device_find(context, device, &found));
    bool has = found->backend->host_lock;
    memset(in, 1, bytes);
    CHECK_OK(penstock_host_memory_lock(context, device, in, bytes));
    CHECK_OK(penstock_host_memory_lock(context, device, out, bytes));
    CHECK_EQ(penstock__host_reached(found, in + 77, 1000), has);
    long straight = blocks_of_batch(context, in, out);
    CHECK_EQ(penstock_host_memory_lock(context, device, in, bytes), has ? PENSTOCK_ERR_DEVICE : PENSTOCK_OK);
    penstock_host_memory_free(context, in);
    penstock_host_memory_free(context, out);
    CHECK(!penstock__host_reached(found, in, 1), "reaches what was unlocked");
    if (has)
        CHECK(straight < blocks_of_batch(context, in, out), "locked memory is staged as other");
    CHECK_EQ(penstock_host_memory_lock(context, device, NULL, 8), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_lock(context, device, in, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_lock(context, device, in, SIZE_MAX), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_lock(NULL, device, in, 8), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_lock(context, "no-such-device", in, 8), PENSTOCK_ERR_NO_DEVICE);
    if (!has)
        penstock_host_memory_free(context, in); /* listed twice, where nothing was locked */
    free(in);
    free(out);
}

/* What the device says of places within, at the borders of, and beside such memory. */
static void test_reach(penstock_context *context)
{
    struct penstock_device *found;
    void *memory;
    char ordinary[64];
    CHECK_OK(penstock__device_find(context, device, &found));
    bool has = found->backend->host_alloc;
    CHECK_OK(penstock_host_memory_new(&memory, context, device, 1000));
    CHECK_EQ(penstock__host_reached(found, memory, 1000), has);
    CHECK_EQ(penstock__host_reached(found, (char *)memory + 999, 1), has);
    CHECK(!penstock__host_reached(found, memory, 1001), "reaches behind the end");
    CHECK(!penstock__host_reached(found, (char *)memory + 1000, 1), "reaches what lies behind");
    CHECK(!penstock__host_reached(found, ordinary, sizeof ordinary), "reaches ordinary memory");
    penstock_host_memory_free(context, memory);
    CHECK(!penstock__host_reached(found, memory, 1), "reaches what was given back");
    penstock_host_memory_free(context, NULL);
    penstock_host_memory_free(NULL, NULL);
}

static void test_errors(penstock_context *context)
{
    void *memory = &memory;
    CHECK_EQ(penstock_host_memory_new(NULL, context, device, 8), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_new(&memory, NULL, device, 8), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_new(&memory, context, device, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_host_memory_new(&memory, context, "no-such-device", 8), PENSTOCK_ERR_NO_DEVICE);
    CHECK(!memory, "an error leaves a pointer");
    CHECK_OK(penstock_host_memory_new(&memory, context, "prefer:no-such-device", 8));
    CHECK_OK(penstock_host_memory_new(&memory, context, "auto", 8));
    for (long k = 0; k < 2; k++) {
        penstock__memory_fail_at(k);
        int status = penstock_host_memory_new(&memory, context, "cpu", 8);
        penstock__memory_fail_at(-1);
        CHECK_EQ(status, PENSTOCK_ERR_MEMORY);
    }
}

int main(int count, char **arguments)
{
    penstock_context *context;
    device = count > 1 ? arguments[1] : "cpu";
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    struct penstock_device *found;
    if (penstock__device_find(context, device, &found)) {
        int skipped = test_skip(penstock_error_text());
        penstock_context_free(context);
        return skipped;
    }
    test_plans(context);
    test_application_memory(context);
    test_locked(context);
    test_reach(context);
    test_errors(context);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
