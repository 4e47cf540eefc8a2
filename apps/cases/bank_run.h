/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Filter banks, there and back, as case_kind's check and bench. */
#ifndef PENSTOCK_APPS_CASES_BANK_RUN_H
#define PENSTOCK_APPS_CASES_BANK_RUN_H

#include "cases.h"

void bank_check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict);
int bank_bench(const struct test_case *test, const struct case_target *target, struct bench_row *row);

#endif
