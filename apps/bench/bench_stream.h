/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream can reach at most, measured in the same run. */
#ifndef PENSTOCK_APPS_BENCH_STREAM_H
#define PENSTOCK_APPS_BENCH_STREAM_H

#include "bench_run.h"
#include "cases/cases.h"

/*
 * For a row whose times are measured, with the bytes in and out of a run. A device with memory of its own: what its bus
 * carries of these bytes, both ways at once, and what copies by all threads allow, of the bytes in to page-locked
 * memory and of the bytes out from it, by turns, with as much such memory each way as a stream has. The CPU: what a
 * copy by all threads allows.
 */
void bench_stream_limits(struct bench_row *row, const struct case_target *target, double in_bytes, double out_bytes);

#endif
