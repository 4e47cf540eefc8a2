/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The words of an fft case. What a word sets no other word may set again: it would win in silence. */
#include "cases.h"

#include <string.h>

enum { MOST_POINTS = 1 << 23 };

static const char twice[] = "two of its words set the same thing";

/* parse_count() into a place that is still zero. Returns NULL and sets `*fits`, or says what is wrong. */
static const char *count_once(const char *word, const char *prefix, size_t *number, bool *fits)
{
    size_t value;
    if (!parse_count(word, prefix, &value))
        return NULL;
    *fits = true;
    if (*number)
        return twice;
    *number = value;
    return NULL;
}

/* How a GPU is to do it. */
static const char *parse_option(penstock_fft_options *options, const char *word, bool *fits)
{
    enum { MOST_ITEMS = 1024 };
    size_t radix = options->radix, items = options->items, group = options->group;
    const char *problem;
    *fits = false;
    if ((problem = count_once(word, "radix", &radix, fits)) || (problem = count_once(word, "items", &items, fits)) ||
        (problem = count_once(word, "group", &group, fits)))
        return problem;
    if (radix && radix != 2 && radix != 4 && radix != 8 && radix != 16)
        return "a radix is 2, 4, 8 or 16";
    if (items > MOST_ITEMS || group > MOST_ITEMS)
        return "work-items of a transform and transforms of a group are 1 to 1024";
    options->radix = (unsigned)radix;
    options->items = (unsigned)items;
    options->group = (unsigned)group;
    bool scratch = !strcmp(word, "local") || !strcmp(word, "global");
    bool columns = !strcmp(word, "strided") || !strcmp(word, "transposed");
    if ((scratch && options->scratch) || (columns && options->column_way))
        return twice;
    if (scratch)
        options->scratch = *word == 'l' ? PENSTOCK_SCRATCH_LOCAL : PENSTOCK_SCRATCH_GLOBAL;
    else if (columns)
        options->column_way = *word == 's' ? PENSTOCK_COLUMNS_STRIDED : PENSTOCK_COLUMNS_TRANSPOSED;
    else if (!strcmp(word, "images"))
        options->images = true;
    else if (!strcmp(word, "fp16"))
        options->arithmetic = PENSTOCK_ARITHMETIC_HALF;
    else
        return NULL;
    *fits = true;
    return NULL;
}

static const char *parse_counts(struct fft_case *fft, const char *word, bool *fits)
{
    size_t average = fft->average;
    const char *problem;
    *fits = false;
    if ((problem = count_once(word, "columns", &fft->columns, fits)) ||
        (problem = count_once(word, "x", &fft->batch, fits)) ||
        (problem = count_once(word, "skip", &fft->skip, fits)) || (problem = count_once(word, "avg", &average, fits)))
        return problem;
    fft->average = (unsigned)average;
    return NULL;
}

/* Of samples, of values, and the window. */
static const char *parse_kind(struct fft_case *fft, const char *word)
{
    penstock_output output = fft->output;
    penstock_format format = fft->format;
    char window[WINDOW_TEXT];
    if (parse_output(word, &output)) {
        if (fft->output != PENSTOCK_OUTPUT_COMPLEX)
            return twice;
        fft->output = output;
    } else if (!penstock_format_parse(&format, word)) {
        if (fft->format != PENSTOCK_CF32)
            return twice;
        fft->format = format;
    } else if (parse_window(word, window)) {
        if (*fft->window)
            return twice;
        strcpy(fft->window, window);
    } else {
        return word;
    }
    return NULL;
}

/* NULL, the word itself, or what is wrong with it. */
static const char *parse_word(struct fft_case *fft, const char *word)
{
    bool fits;
    const char *problem = parse_option(&fft->options, word, &fits);
    if (!problem && !fits)
        problem = parse_counts(fft, word, &fits);
    if (problem || fits)
        return problem;
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
        return parse_kind(fft, word);
    return NULL;
}

/* "1024", or "256x64" for 256 rows of 64. */
static bool parse_size(struct fft_case *fft, const char *word)
{
    char rows[24];
    size_t width, length = strcspn(word, "x");
    if (!word[length])
        return parse_count(word, "", &fft->n);
    if (length >= sizeof rows)
        return false;
    memcpy(rows, word, length);
    rows[length] = 0;
    if (!parse_count(rows, "", &fft->rows) || !parse_count(word + length + 1, "", &width))
        return false;
    fft->n = fft->rows * width;
    return true;
}

/* Of rows, columns and real samples, as penstock_fft_desc has them. */
static const char *find_conflict_of_shape(const struct fft_case *fft)
{
    const bool rows = fft->rows > 1, columns = fft->columns > 1, real = fft->domain == PENSTOCK_REAL;
    if (rows && columns)
        return "rows and columns do not go with one another";
    if ((rows || columns) && real)
        return "rows and columns do not go with real";
    if (rows && fft->average > 1)
        return "rows do not go with avg";
    if (real && fft->centered)
        return "centered does not go with real";
    if (real && fft->direction == PENSTOCK_REVERSE && (fft->output != PENSTOCK_OUTPUT_COMPLEX || *fft->window))
        return "a reverse real transform gives samples: no window, power or decibel";
    return NULL;
}

static const char *find_conflict(const struct fft_case *fft)
{
    double frames = (double)fft->average + (fft->batch ? (double)fft->batch : 1);
    bool real_samples = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD;
    if (fft->n > MOST_POINTS)
        return "it must have 1 to 8388608 points, columns included";
    if (real_samples ? fft->format != PENSTOCK_CF32 && fft->format != PENSTOCK_F32 : fft->format == PENSTOCK_F32)
        return "samples of real transforms are f32, and of no others";
    if (fft->average > 1 && fft->output == PENSTOCK_OUTPUT_COMPLEX)
        return "avg without power or decibel";
    const char *problem = find_conflict_of_shape(fft);
    if (problem)
        return problem;
    return frames * (double)(fft->n + fft->skip) > CASE_MOST_SAMPLES ? "more than 2^40 samples" : NULL;
}

bool fft_parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct fft_case *fft = &test->fft;
    *problem = count ? "it must have 1 to 8388608 points, as N or ROWSxN" : "no length";
    if (!count || !parse_size(fft, words[0]) || fft->n > MOST_POINTS)
        return false;
    for (size_t i = 1; i < count; i++)
        if ((*problem = parse_word(fft, words[i])))
            return false;
    if (fft->columns)
        fft->n *= fft->columns;
    *problem = find_conflict(fft);
    if (fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD)
        fft->format = PENSTOCK_F32;
    return !*problem;
}
