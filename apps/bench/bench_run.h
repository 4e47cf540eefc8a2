/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Timing. A workload is run a few times to warm up, then measured at least MEASURED_LEAST times and
 * for a given time; with a peer, ours and the peer's runs alternate, so that a change of the machine's
 * clock or load meets both, and the ratio is the median of the pairs' ratios.
 */
#ifndef PENSTOCK_APPS_BENCH_RUN_H
#define PENSTOCK_APPS_BENCH_RUN_H

#include "shared/command.h"

struct peer;

/* One run of the work; returns an exit code, having told what went wrong. */
struct workload {
    int (*run)(void *state);
    void *state;
    int (*run_timed)(void *state, double *seconds); /* instead of `run`, by a clock of its own: that of a device */
};

/* A row of the table and of --csv; a number that is not known is NAN. */
struct bench_row {
    const char *name; /* the case */
    const char *device;
    size_t batch;
    unsigned threads;
    double samples_per_run, bytes_per_sample;
    const struct peer *peer; /* asked for by --against, or NULL */

    size_t runs;
    double median_ns, min_ns, max_ns, p99_ns;
    double rate_with_transfers_msps; /* NAN: the median's, as samples start and end in host memory */
    double bus_msps;                 /* of the bus alone, with the same bytes; NAN: there is none */
    double copy_gbps;
    double copies_msps;     /* that copies by all threads alone allow a stream: bench_stream.h */
    double one_thread_msps; /* of the same case on the same device; NAN: not timed before */
    bool has_peer;          /* the peer did this case */
    double peer_rate_msps, ratio;
    double plan_cold_ms, plan_warm_ms;
    double energy_nj, cycles, instructions; /* per sample */
    double frame_instructions, frame_path;  /* a transform's, of all processors and of the busiest; 0: not counted */
    char peer_parts[128];                   /* what the peer's kernels reach of the copy's rate, one by one */
    char skipped[256];                      /* why the device cannot do the case; "" if it can */
};

enum { MEASURED_LEAST = 5, MEASURED_MOST = 2000 };

double bench_rate_msps(const struct bench_row *row);

/* For a library error: remembers why a case is skipped, or tells what failed. Returns the exit code that ends it. */
int bench_status(struct bench_row *row, int status);

/* Fills runs, times, ratio and counters. `peer` may be NULL. Returns an exit code. */
int bench_measure(struct bench_row *row, const struct workload *ours, const struct workload *peer, double seconds);

/* Copies `bytes` with `threads` threads: the better of memcpy() and a plain loop, in 1e9 bytes read plus written a
 * second; NAN when out of memory. */
double bench_copy_gbps(size_t bytes, unsigned threads);

/* ---- counters of the processor (bench_counters.c); NAN where they are not readable ---- */

struct bench_counters {
    double energy_nj, cycles, instructions;
};

/* Before the context that is measured, so that its threads are counted. */
void bench_counters_open(void);
struct bench_counters bench_counters_read(void);
void bench_counters_close(void);

/* ---- several threads doing the same (team.c) ---- */

struct team;

/* A team of `count` >= 1 threads, the caller among them. NULL when there are none. */
struct team *team_new(unsigned count);

/* Calls work(argument, member, count) on every member and returns when all are done. */
void team_run(struct team *team, void (*work)(void *argument, unsigned member, unsigned count), void *argument);
void team_free(struct team *team);

#endif
