/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The words that cases of filter banks have in common, there and back. */
#ifndef PENSTOCK_APPS_CASES_BANK_WORDS_H
#define PENSTOCK_APPS_CASES_BANK_WORDS_H

#include "cases.h"

/* As case_kind's parse. `usual_hops` of the usual hop are as many as the channels. `own` (may be NULL) takes the words
 * that the kind alone has. */
bool bank_parse(struct channelizer_case *bank, char *const *words, size_t count, size_t usual_hops,
                bool (*own)(struct channelizer_case *bank, const char *word), const char **problem);

/* Taps of its prototype. */
size_t bank_tap_count(const struct channelizer_case *bank);

#endif
