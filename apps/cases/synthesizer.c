/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* synthesizer: the filter bank's way back, from frames that are pushed in pieces of random size to samples, against its
 * definition in double precision. */
#include "bank_run.h"
#include "bank_words.h"

/* The library's bound on the values of the frames that a sample is the sum of. */
#define MOST_VALUES ((size_t)1 << 27)

enum { USUAL_HOPS = 2 };

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct channelizer_case *bank = &test->channelizer;
    bank->synthesis = true;
    if (!bank_parse(bank, words, count, USUAL_HOPS, NULL, problem))
        return false;
    *problem = "nothing undoes the usual taps where the hop is M; give others by :tDEPTH";
    if (bank->hop == bank->channels && !bank->depth)
        return false;
    *problem = "the hop is too small for so many channels and taps";
    if (bank_tap_count(bank) / bank->hop > MOST_VALUES / (bank->channels + bank->hop))
        return false;
    *problem = "one of streams and acquire";
    return !bank->streams || !bank->acquire;
}

const struct case_kind case_synthesizer = {
    .name = "synthesizer",
    .syntax = "synthesizer:M[:hopR][:tDEPTH][:keepK][:streams|acquire][:xSAMPLES]",
    .parse = parse,
    .check = bank_check,
    .bench = bank_bench,
};
