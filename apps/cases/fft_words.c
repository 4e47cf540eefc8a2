/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the words of an fft case ask for. */
#include "cases.h"
#include "signals.h"

#include <string.h>

/* How a GPU is to do it. */
static bool parse_option(penstock_fft_options *options, const char *word)
{
    size_t number;
    if (parse_count(word, "radix", &number))
        options->radix = (unsigned)number;
    else if (parse_count(word, "items", &number))
        options->items = (unsigned)number;
    else if (parse_count(word, "group", &number))
        options->group = (unsigned)number;
    else if (!strcmp(word, "local") || !strcmp(word, "global"))
        options->scratch = *word == 'l' ? PENSTOCK_SCRATCH_LOCAL : PENSTOCK_SCRATCH_GLOBAL;
    else if (!strcmp(word, "strided") || !strcmp(word, "transposed"))
        options->column_way = *word == 's' ? PENSTOCK_COLUMNS_STRIDED : PENSTOCK_COLUMNS_TRANSPOSED;
    else if (!strcmp(word, "images"))
        options->images = true;
    else if (!strcmp(word, "fp16"))
        options->arithmetic = PENSTOCK_ARITHMETIC_HALF;
    else
        return false;
    return true;
}

static bool parse_word(struct fft_case *fft, const char *word)
{
    size_t number;
    if (parse_option(&fft->options, word))
        return true;
    if (parse_count(word, "columns", &fft->columns)) {
        fft->n *= fft->columns;
        return fft->n <= 1 << 23;
    }
    if (parse_count(word, "x", &fft->batch) || parse_count(word, "skip", &fft->skip))
        return true;
    if (parse_count(word, "avg", &number)) {
        fft->average = (unsigned)number;
        return true;
    }
    if (!strcmp(word, "reverse"))
        fft->direction = PENSTOCK_REVERSE;
    else if (!strcmp(word, "real"))
        fft->domain = PENSTOCK_REAL;
    else if (!strcmp(word, "centered"))
        fft->centered = true;
    else if (!strcmp(word, "half"))
        fft->half = true;
    else if (!strcmp(word, "tuned"))
        fft->tuned = true;
    else
        return parse_output(word, &fft->output) || !penstock_format_parse(&fft->format, word) ||
               parse_window(word, fft->window);
    return true;
}

/* "1024", or "256x64" for 256 rows of 64. */
static bool parse_size(struct fft_case *fft, const char *word)
{
    char rows[24];
    size_t width, length = strcspn(word, "x");
    if (!word[length])
        return parse_count(word, "", &fft->n) && fft->n <= 1 << 23;
    if (length >= sizeof rows)
        return false;
    memcpy(rows, word, length);
    rows[length] = 0;
    if (!parse_count(rows, "", &fft->rows) || !parse_count(word + length + 1, "", &width) || fft->rows > 1 << 23 ||
        width > 1 << 23)
        return false;
    fft->n = fft->rows * width;
    return fft->n <= 1 << 23;
}

bool fft_parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    *problem = count ? words[0] : "no length";
    if (!count || !parse_size(&test->fft, words[0]))
        return false;
    for (size_t i = 1; i < count; i++) {
        *problem = words[i];
        if (!parse_word(&test->fft, words[i]))
            return false;
    }
    if (test->fft.domain == PENSTOCK_REAL && test->fft.direction == PENSTOCK_FORWARD)
        test->fft.format = PENSTOCK_F32;
    *problem = "avg without power or decibel";
    return test->fft.average <= 1 || test->fft.output != PENSTOCK_OUTPUT_COMPLEX;
}
