/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What `penstock bench` measured, as lines for people or as CSV, on stdout. */
#ifndef PENSTOCK_APPS_BENCH_TABLE_H
#define PENSTOCK_APPS_BENCH_TABLE_H

#include "bench_run.h"

/* beside: a peer is measured, too. */
void bench_table_header(bool csv, bool beside);
void bench_table_row(const struct bench_row *row, bool csv);

#endif
