/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The rates of a bench as bars. */
#ifndef PENSTOCK_APPS_BENCH_CHART_H
#define PENSTOCK_APPS_BENCH_CHART_H

#include "bench_run.h"

struct bench_bar {
    char label[160];
    double rate_msps, peer_rate_msps, ratio; /* of the peer and to it; NAN: no peer */
    const struct peer *peer;
};

struct bench_chart {
    struct bench_bar *bars;
    size_t count;
};

/* Without memory for it the bar is left out. */
void bench_chart_add(struct bench_chart *chart, const struct bench_row *row);

/* Returns an exit code. */
int bench_chart_write(const struct bench_chart *chart, const char *path);
void bench_chart_free(struct bench_chart *chart);

#endif
