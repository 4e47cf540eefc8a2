/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A peer on a device that computes in the host's memory: no side copies, and both wait for the end of each run. */
#include "bench_beside.h"

#include "bench_compare.h"

#include <stdlib.h>

struct run {
    const struct peer *peer;
    void *state;
};

static int run_peer(void *state)
{
    const struct run *run = state;
    double unused;
    return run->peer->device_run(run->state, 1, &unused);
}

static int compare(struct run *run, const struct device_work *work, const void *out, size_t out_bytes, const char *name)
{
    size_t bytes = bench_compared_bytes(out_bytes);
    char *theirs = malloc(bytes);
    int code = theirs ? EXIT_DONE : fail(EXIT_DATA, "out of memory");
    if (!code && !(code = run_peer(run)) && !(code = run->peer->device_read(run->state, theirs, bytes)))
        code = bench_compare(work, out, theirs, bytes, &(struct bench_names){name, run->peer->name});
    free(theirs);
    return code;
}

int bench_beside(struct bench_row *row, const struct workload *ours, const struct device_work *work, const void *out,
                 size_t out_bytes)
{
    struct run run = {.peer = row->peer, .state = row->peer->device_new(work)};
    int code = run.state ? compare(&run, work, out, out_bytes, row->name) : EXIT_DATA;
    if (!code)
        code = bench_measure(row, ours, &(struct workload){run_peer, &run}, 0.5);
    if (run.state)
        row->peer->device_free(run.state);
    return code;
}
