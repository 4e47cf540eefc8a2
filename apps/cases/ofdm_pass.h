/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* ofdm cases with `stream` or `acquire`: symbols that follow each other, through a stream. */
#ifndef PENSTOCK_APPS_CASES_OFDM_PASS_H
#define PENSTOCK_APPS_CASES_OFDM_PASS_H

#include "cases.h"

/* Noise, whose bins must be the points, as the channel is one and nothing is tracked. */
void ofdm_pass_check(const struct ofdm_case *ofdm, const struct case_target *target, struct case_verdict *verdict);

/* With pilots, where the grid has such, each symbol's phase and slope are taken out. Returns an exit code. */
int ofdm_pass_bench(const struct ofdm_case *ofdm, const struct case_target *target, struct bench_row *row);

#endif
