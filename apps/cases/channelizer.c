/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* channelizer: the polyphase filter bank, pushed in chunks of random size, against its definition in double precision.
 */
#include "bank_run.h"
#include "bank_words.h"

#include <string.h>

static bool parse_own(struct channelizer_case *bank, const char *word)
{
    if (!strcmp(word, "run"))
        return bank->run = true;
    if (!strcmp(word, "enqueue"))
        return bank->enqueue = true;
    return !penstock_format_parse(&bank->format, word) && bank->format != PENSTOCK_PLANAR;
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct channelizer_case *bank = &test->channelizer;
    if (!bank_parse(bank, words, count, 1, parse_own, problem))
        return false;
    *problem = "one of streams or run, acquire and enqueue";
    return (bank->streams || bank->run) + bank->acquire + bank->enqueue < 2;
}

const struct case_kind case_channelizer = {
    .name = "channelizer",
    .syntax = "channelizer:M[:hopR][:tDEPTH][:keepK][:streams][:run|acquire|enqueue][:cs16|cs8|cu8|f32][:xSAMPLES]",
    .parse = parse,
    .check = bank_check,
    .bench = bank_bench,
};
