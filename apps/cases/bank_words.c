/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From words to a filter bank, and what cannot be one. */
#include "bank_words.h"

#include <string.h>

#define MOST_TAPS ((size_t)1 << 22) /* the library's bound */

enum { MOST_CHANNELS = 65536, MOST_DEPTH = 1024 };

static bool parse_word(struct channelizer_case *bank, const char *word)
{
    if (parse_count(word, "x", &bank->samples))
        return true;
    if (parse_count(word, "hop", &bank->hop))
        return bank->hop <= bank->channels;
    if (parse_count(word, "t", &bank->depth))
        return bank->depth <= MOST_DEPTH;
    if (parse_count(word, "keep", &bank->keep))
        return bank->keep <= bank->channels;
    if (!strcmp(word, "streams"))
        return bank->streams = true;
    if (!strcmp(word, "acquire"))
        return bank->acquire = true;
    return false;
}

bool bank_parse(struct channelizer_case *bank, char *const *words, size_t count, size_t usual_hops,
                bool (*own)(struct channelizer_case *bank, const char *word), const char **problem)
{
    *problem = count ? words[0] : "no number of channels";
    if (!count || !parse_count(words[0], "", &bank->channels) || bank->channels < 2 || bank->channels > MOST_CHANNELS)
        return false;
    bank->hop = bank->channels / usual_hops;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(bank, words[i]) && !(own && own(bank, words[i])))
            return false;
    }
    *problem = "more than 2^22 taps";
    if (bank_tap_count(bank) > MOST_TAPS)
        return false;
    *problem = "more than 2^40 values";
    return ((double)bank->samples / (double)bank->hop + 1) * (double)bank->channels <= CASE_MOST_SAMPLES;
}

size_t bank_tap_count(const struct channelizer_case *bank)
{
    return bank->depth ? bank->depth * bank->channels : penstock_channelizer_taps_length(bank->channels, bank->hop);
}
