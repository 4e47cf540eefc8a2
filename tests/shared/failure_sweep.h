/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Sweeps of failures over the life of a stream: allocation k fails, or call k of the device `trace`, for every k, of
 * which test_drawn() takes half. Nothing leaks, and with "prefer:" the CPU goes on.
 */
#ifndef PENSTOCK_TEST_FAILURE_SWEEP_H
#define PENSTOCK_TEST_FAILURE_SWEEP_H

#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "test.h"

#include <penstock/penstock.h>
#include <stdatomic.h>

/*
 * Makes a stream on the device, runs it to its end and gives the first error. `*wrong`: values came that are not those
 * expected, or without an error not all of them. After an error it calls sweep_over(), and runs the stream once more
 * from a reset on, which must go well.
 */
typedef int sweep_use(penstock_context *context, const char *device, bool *wrong);

/* Nothing fails any more. */
static inline void sweep_over(void)
{
    penstock__memory_fail_at(-1);
    penstock__trace_fail_at(-1);
}

/* `threads`: 0 as many as there are. */
static inline void sweep_allocations(sweep_use *use, const char *device, unsigned threads)
{
    const penstock_context_desc desc = PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = threads);
    long live = penstock__memory_live(), k = 0, made = 0; /* of what is used, the context's apart */
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 1000; k++) {
        penstock_context *context = NULL;
        bool wrong = false;
        if (!test_drawn((uint64_t)k, SWEEP_STEP > 2 ? SWEEP_STEP : 2))
            continue;
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&context, &desc))) {
            made = -penstock__memory_calls();
            status = use(context, device, &wrong);
            made += penstock__memory_calls();
        }
        sweep_over();
        CHECK(!wrong, "%s, allocation %ld: wrong values", device, k);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "%s, allocation %ld: %ld blocks leak", device, k,
              penstock__memory_live() - live);
    }
    CHECK(!status && made > 4, "%s: %ld allocations were failed, the last run gave %d", device, k, status);
    printf("%s: %ld allocations\n", device, k);
}

static inline void sweep_warned(void *warnings, penstock_log_level level, const char *line)
{
    (void)line;
    if (level == PENSTOCK_LOG_WARNING)
        ++*(atomic_long *)warnings;
}

/* Each call fails once or, `for_good`, all from it on. Of two threads, whose batches are as many on any machine. */
static inline void sweep_calls_of(sweep_use *use, const char *device, bool for_good)
{
    penstock_context *context = NULL;
    atomic_long warnings = 0;
    long failed = 0, objects = penstock__trace_live();
    bool reached = true, named = strncmp(device, "prefer:", 7) != 0;
    CHECK_OK(penstock_context_new(
        &context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2, .log = sweep_warned, .log_user = &warnings)));
    for (long k = 0; reached && k < 5000; k += k < 60 ? 1 : 7) {
        long before = penstock__trace_calls();
        bool wrong = false;
        if (!test_drawn((uint64_t)k, 2))
            continue;
        warnings = 0;
        for_good ? penstock__trace_fail_from(k) : penstock__trace_fail_at(k);
        int status = use(context, device, &wrong);
        reached = penstock__trace_calls() - before > k;
        sweep_over();
        CHECK(named || !status, "%s, call %ld: %d: %s", device, k, status, penstock_error_text());
        CHECK(!wrong, "%s, call %ld: wrong values", device, k);
        failed += status || warnings;
    }
    CHECK(!reached, "%s: the sweep did not end", device);
    CHECK(failed >= 10, "%s: only %ld runs failed, or told what they go on without", device, failed);
    penstock_context_free(context);
    CHECK_EQ(penstock__trace_live(), objects);
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
}

static inline void sweep_calls(sweep_use *use)
{
    static const char *const devices[] = {"trace", "prefer:trace"};
    for (int i = 0; i < 4; i++)
        sweep_calls_of(use, devices[i / 2], i % 2);
}

#endif
