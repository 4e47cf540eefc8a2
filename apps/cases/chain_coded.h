/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* chain:ofdm:...+viterbi:...: OFDM symbols' soft bits linked to blocks to be decoded. */
#ifndef PENSTOCK_APPS_CASES_CHAIN_CODED_H
#define PENSTOCK_APPS_CASES_CHAIN_CODED_H

#include "cases.h"

/* As case_kind's parse; the words begin with "ofdm", and `at` is the one that ends with "+viterbi", less that. */
bool chain_coded_parse(struct test_case *test, char *const *words, size_t at, size_t count, const char **problem);

/* Bits of random blocks, coded, on the carriers: they must come out. */
void chain_coded_check(const struct coded_chain_case *chain, const struct case_target *target,
                       struct case_verdict *verdict);
int chain_coded_bench(const struct coded_chain_case *chain, const struct case_target *target, struct bench_row *row);

#endif
