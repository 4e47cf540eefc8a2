/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter that is to go over from the CPU to a device that is ready late, where the device or memory fails before,
 * while or after it comes: the CPU goes on, with the right values and one line of the log. Argument: a device.
 */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "filter_late.h"
#include "live_blocks.h"

/* One line of the log, and the CPU goes on with the bits that it would have had. */
static void fails(void)
{
    const struct use *use = &uses[0];
    penstock_stream *filter = new_filter(use, "cpu");
    size_t made = 0;
    push(filter, 0, SAMPLES, 500, again, &made);
    end(filter, again, &made);
    CHECK_OK(penstock_stream_reset(filter));
    push(filter, 0, 900, 500, got, &(size_t){made = 0});
    CHECK_OK(penstock_stream_reset(filter));
    warnings = 0;
    made = 0;
    push(filter, 0, 900, 500, got, &made);
    wait_for_late(filter);
    push(filter, 900, SAMPLES - 900, 300, got, &made);
    end(filter, got, &made);
    CHECK(warnings == 1 && !filter_of(filter)->build && !is_late(filter), "%u warnings, on %s", warnings,
          info_of(filter).device);
    CHECK(!memcmp(got, again, made * sizeof *got), "the CPU's bits changed");
    check_values(use, filter, got, made, 900);
    penstock_stream_free(filter);
}

/* Allocation k from the device's build on: it is used, or the CPU goes on with a warning. */
static void sweep_memory(const char *device)
{
    const struct use *use = &uses[2]; /* whose memory grows */
    long live = test_live_blocks(context, device), k = 0, kept = 0;
    make_want(use);
    for (bool reached = true; reached && k < 200; k++) {
        penstock_stream *filter = new_filter(use, "cpu");
        size_t made = 0;
        wait_for_late(filter);
        CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, TAPS, 1200)); /* the same, to be made anew there */
        penstock__async_build_free(filter_of(filter)->build);
        filter_of(filter)->build = NULL;
        push(filter, 0, 1000, 500, got, &made);
        send_late(filter, use);
        warnings = 0;
        long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        penstock__filter_collect(filter_of(filter));
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        push(filter, 1000, SAMPLES - 1000, 300, got, &made);
        end(filter, got, &made);
        kept += !is_late(filter);
        CHECK(is_late(filter) ? !warnings : warnings == 1, "allocation %ld: %u warnings, on %s", k, warnings,
              info_of(filter).device);
        check_values(use, filter, got, made, (size_t)k);
        penstock_stream_free(filter);
        const long left = test_live_blocks(context, device);
        CHECK(left == live, "allocation %ld: %ld blocks leak", k, left - live);
    }
    CHECK(kept > 1 && k < 200, "%ld of %ld allocations kept the CPU", kept, k);
}

/* The device is lost after it has come: every call from one on. */
static void lost(void)
{
    const struct use *use = &uses[0];
    long moved = 0, k = 0;
    make_want(use);
    for (bool reached = true; reached && k < 3000; k += k < 40 ? 1 : 17) {
        penstock_stream *filter = new_filter(use, "cpu");
        size_t made = 0;
        push(filter, 0, 1000, 500, got, &made);
        send_late(filter, use);
        long before = penstock__trace_calls();
        penstock__trace_fail_from(k);
        push(filter, 1000, SAMPLES - 1000, 300, got, &made);
        end(filter, got, &made);
        reached = penstock__trace_calls() - before > k;
        penstock__trace_fail_at(-1);
        penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
        CHECK_OK(penstock_stream_get_stats(filter, &stats));
        moved += stats.fallbacks > 0;
        check_values(use, filter, got, made, (size_t)k);
        penstock_stream_free(filter);
    }
    CHECK(moved > 10, "%ld of %ld runs moved to the CPU", moved, k);
}

int main(int count, char **arguments)
{
    long live = penstock__memory_live();
    const char *device = count > 1 ? arguments[1] : "trace";
    if (!init(device))
        return test_skip(penstock_error_text());
    make_want(&uses[0]);
    fails();
    sweep_memory(device);
    if (!strcmp(device, "trace"))
        lost();
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
