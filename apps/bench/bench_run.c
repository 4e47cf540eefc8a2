/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Interleaved timing and its statistics. */
#include "bench_run.h"
#include "shared/median.h"

#include "shared/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double bench_rate_msps(const struct bench_row *row)
{
    return 1e3 * row->samples_per_run / row->median_ns;
}

int bench_status(struct bench_row *row, int status)
{
    if (status != PENSTOCK_ERR_UNSUPPORTED)
        return fail_status(status);
    snprintf(row->skipped, sizeof row->skipped, "%s", penstock_error_text());
    return EXIT_USAGE;
}

struct series {
    double ours[MEASURED_MOST], peer[MEASURED_MOST], ratio[MEASURED_MOST];
    size_t count;
    struct bench_counters counters;
};

static int timed_run(const struct workload *work, double *nanoseconds)
{
    double start = seconds_now(), seconds = 0;
    int code = work->run_timed ? work->run_timed(work->state, &seconds) : work->run(work->state);
    *nanoseconds = 1e9 * (work->run_timed ? seconds : seconds_now() - start);
    return code;
}

/* Whoever comes second finds the caches as the other left them, so they take turns at that. */
static int run_pair(struct series *series, const struct workload *ours, const struct workload *peer)
{
    size_t i = series->count;
    bool peer_first = peer && i % 2;
    int code = peer_first ? timed_run(peer, &series->peer[i]) : EXIT_DONE;
    struct bench_counters before = bench_counters_read();
    code = code ? code : timed_run(ours, &series->ours[i]);
    struct bench_counters after = bench_counters_read();
    series->counters.energy_nj += after.energy_nj - before.energy_nj;
    series->counters.cycles += after.cycles - before.cycles;
    series->counters.instructions += after.instructions - before.instructions;
    if (!code && peer && !peer_first)
        code = timed_run(peer, &series->peer[i]);
    series->ratio[i] = series->peer[i] / series->ours[i];
    series->count++;
    return code;
}

static void fill_row(struct bench_row *row, struct series *series, bool has_peer)
{
    double samples = row->samples_per_run * (double)series->count;
    row->runs = series->count;
    row->median_ns = median(series->ours, series->count);
    row->min_ns = series->ours[0];
    row->max_ns = series->ours[series->count - 1];
    row->p99_ns = series->ours[(size_t)ceil(0.99 * (double)series->count) - 1];
    row->has_peer = has_peer;
    if (has_peer) {
        row->peer_rate_msps = 1e3 * row->samples_per_run / median(series->peer, series->count);
        row->ratio = median(series->ratio, series->count);
    }
    row->energy_nj = series->counters.energy_nj >= 0 ? series->counters.energy_nj / samples : NAN;
    row->cycles = series->counters.cycles / samples;
    row->instructions = series->counters.instructions / samples;
}

int bench_measure(struct bench_row *row, const struct workload *ours, const struct workload *peer, double seconds)
{
    enum { WARM_UP = 3 };
    static struct series series;
    series = (struct series){.count = 0};
    int code = EXIT_DONE;
    for (int i = 0; i < WARM_UP && !code; i++) {
        double unused;
        code = timed_run(ours, &unused);
        if (!code && peer)
            code = timed_run(peer, &unused);
    }
    double start = seconds_now();
    while (!code && series.count < MEASURED_MOST && (series.count < MEASURED_LEAST || seconds_now() - start < seconds))
        code = run_pair(&series, ours, peer);
    if (!code)
        fill_row(row, &series, peer != NULL);
    return code;
}
