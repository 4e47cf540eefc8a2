/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Linked streams while each call of a driver for tests fails once, or all from one on, and each allocation: the host
 * goes on with the same samples, no value is lost, nothing leaks.
 */
#ifndef PENSTOCK_TEST_LINK_DEVICE_SWEEP_H
#define PENSTOCK_TEST_LINK_DEVICE_SWEEP_H

#include "link_device_rig.h"
#include "shim_calls.h"

enum { FEW = 9000, MOST_STREAMS = 3 };

struct sweep {
    int (*open)(penstock_stream *streams[MOST_STREAMS], penstock_context *context, const char *on);
    unsigned count;                             /* of them, from the filter to the spectrum */
    size_t (*alone)(penstock_context *context); /* bytes of FEW samples one by one, to `want` */
    size_t vector;                              /* values of an item of the second stream */
    long least, most;                           /* calls */
    double error;
    size_t flush_at; /* samples, behind which there is a flush; 0: none */
    size_t bytes;
};

static inline void close_streams(penstock_stream *streams[MOST_STREAMS])
{
    for (unsigned i = MOST_STREAMS; i-- > 0;)
        penstock_stream_free(streams[i]);
}

static inline void check_values(const struct sweep *sweep, const char *what, long k, size_t made)
{
    CHECK(made == sweep->bytes && error_of(got, want, made) < sweep->error, "%s %ld: %zu bytes of %zu, error %g", what,
          k, made, sweep->bytes, error_of(got, want, made));
}

/* True: the failure was not reached. */
static inline bool fail_call(const struct sweep *sweep, penstock_context *context, void (*fail)(long), long k,
                             uint64_t *stayed)
{
    penstock_stream *streams[MOST_STREAMS] = {NULL};
    size_t made;
    CHECK_OK(sweep->open(streams, context, "prefer:opencl"));
    fail(k);
    penstock_stream *first = streams[0], *last = streams[sweep->count - 1];
    int status = sweep->flush_at ? run_flushed(first, last, integers, sweep->flush_at, FEW, got, &made)
                                 : run(first, last, integers, FEW, got, &made, 2);
    const bool beyond = shim.left() >= 0;
    shim.fail_at(-1);
    CHECK(!status, "call %ld: %s", k, penstock_error_text());
    check_values(sweep, "call", k, made);
    *stayed += stats_of(last).handed_over;
    CHECK(stats_of(streams[0]).out == FEW / 2 && stats_of(streams[1]).in == FEW / 2 / sweep->vector,
          "call %ld: statistics", k);
    close_streams(streams);
    return beyond;
}

static inline void sweep_calls(struct sweep *sweep, void (*fail)(long), const char *how)
{
    penstock_context *context;
    long live = penstock__memory_live(), k = 0, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 7;
    uint64_t stayed = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    sweep->bytes = sweep->alone(context);
    for (bool beyond = false; !beyond && k < sweep->most; k += k < 20 ? 1 : step)
        beyond = fail_call(sweep, context, fail, k, &stayed);
    penstock_context_free(context);
    printf("%s: call %ld was beyond the last\n", how, k);
    CHECK(k > sweep->least && k < sweep->most && stayed, "%s: %ld calls, %d items stay", how, k, (int)stayed);
    CHECK(!shim.live(), "%s: %ld objects of the driver leaked", how, shim.live());
    CHECK(penstock__memory_live() == live, "%s: %ld blocks leaked", how, penstock__memory_live() - live);
}

/* Allocation k of a run fails: an error of a stream, after which a reset is enough, or nothing lost. */
static inline void sweep_memory(struct sweep *sweep)
{
    penstock_context *context;
    long failed = 0, k = 0, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 5;
    const long live = penstock__memory_live();
    CHECK_OK(penstock_context_new(&context, NULL));
    sweep->bytes = sweep->alone(context);
    for (bool reached = true; reached && k < 2000; k += step) {
        penstock_stream *streams[MOST_STREAMS] = {NULL};
        size_t made;
        CHECK_OK(sweep->open(streams, context, device));
        long before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        int status = run(streams[0], streams[sweep->count - 1], integers, FEW, got, &made, 2);
        reached = penstock__memory_calls() - before > k;
        penstock__memory_fail_at(-1);
        failed += reached;
        if (status) {
            CHECK_OK(penstock_stream_reset(streams[0]));
            CHECK_OK(run(streams[0], streams[sweep->count - 1], integers, FEW, got, &made, 2));
        }
        check_values(sweep, "allocation", k, made);
        close_streams(streams);
    }
    CHECK(failed > 5 && k < 2000, "%ld allocations failed", failed);
    printf("%ld allocations\n", failed);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
}

static inline void sweep_all(struct sweep *sweep)
{
    sweep_calls(sweep, shim.fail_at, "once");
    sweep_calls(sweep, shim.fail_from, "from it on");
    sweep_memory(sweep);
}

#endif
