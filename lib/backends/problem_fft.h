/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Windowed transforms of frames, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_FFT_H
#define PENSTOCK_PROBLEM_FFT_H

#include <penstock/penstock.h>

/* A penstock_fft_desc, checked, with every default filled in. */
struct penstock_fft_problem {
    size_t n;
    penstock_direction direction;
    penstock_domain domain;
    penstock_format format;
    const float *window; /* n factors or NULL; folded: fold n of them, overlapped: fold hop */
    size_t fold; /* 0, or as many times n samples are a frame: sample j, times its factor, is added to point j + the
                    frame's turn, modulo n. The turn of a job's first frame is the job's, each next one's is by the
                    spacing larger. Complex samples, forward, nothing else asked for; see penstock__fft_folds() */
    size_t hop;  /* 0, or values that a frame gives, of an overlapped problem: a frame is `fold` rows of n samples, each
                    of which is transformed back; value i is the sum of value i + the frame's turn, modulo n, of the row
                    t before the last one, times factor t hop + i. The next frame begins a row later, and its turn is by
                    the hop larger. See penstock__fft_overlaps() */
    bool summed; /* overlapped rows are transformed already; only GPU backends ask that of themselves */
    size_t spacing;
    size_t skip;
    double shift; /* turns per sample */
    penstock_output output;
    bool centered;
    bool half; /* values leave as numbers of 16 bits */
    float scale;
    unsigned average; /* >= 1 */
    bool gathered;    /* each frame has a penstock_gather: spacing, skip and shift are not used */
    size_t rows;      /* > 1: 2-D, `rows` rows of n / rows values */
    size_t columns;   /* > 1: that many transforms of n / columns values side by side, values `columns` apart */
    bool transposed;  /* nothing is computed: the frame's n / columns rows become its columns; only GPU backends ask
                         that of themselves */
    penstock_fft_options options; /* zero but for backends with PENSTOCK_BACKEND_OPTIONS */
    bool tune; /* the core times the launch configurations that the backend lists; a backend may pass it over */
};

/* Whether a frame is more than one transform of n values that lie together. */
static inline bool penstock__fft_is_plane(const struct penstock_fft_problem *fft)
{
    return fft->rows > 1 || fft->columns > 1;
}

/* Sums of products with complex samples, and nothing beside. */
static inline bool penstock__fft_is_bank(const struct penstock_fft_problem *fft)
{
    return fft->fold && fft->window && fft->domain == PENSTOCK_COMPLEX && fft->format != PENSTOCK_PLANAR &&
           fft->format != PENSTOCK_F32 && !fft->gathered && !fft->skip && fft->shift == 0 && fft->average == 1 &&
           !penstock__fft_is_plane(fft);
}

/* What a folded problem can be, and what an overlapped one: penstock__problem_check() refuses others. */
static inline bool penstock__fft_folds(const struct penstock_fft_problem *fft)
{
    return penstock__fft_is_bank(fft) && !fft->hop && fft->direction == PENSTOCK_FORWARD;
}

static inline bool penstock__fft_overlaps(const struct penstock_fft_problem *fft)
{
    return penstock__fft_is_bank(fft) && fft->hop && fft->hop <= fft->n && fft->direction == PENSTOCK_REVERSE &&
           fft->spacing == fft->n && !fft->half && !fft->centered && fft->output == PENSTOCK_OUTPUT_COMPLEX;
}

/* The turn of the frame that is `frames` behind one. */
static inline size_t penstock__fft_turn(const struct penstock_fft_problem *fft, size_t turn, uint64_t frames)
{
    return (turn + (size_t)(frames % fft->n) * (fft->hop ? fft->hop : fft->spacing)) % fft->n;
}

/* Factors of its window. */
static inline size_t penstock__fft_window_count(const struct penstock_fft_problem *fft)
{
    return fft->window ? (fft->fold ? fft->fold : 1) * (fft->hop ? fft->hop : fft->n) : 0;
}

static inline bool penstock__fft_has_options(const struct penstock_fft_problem *fft)
{
    const penstock_fft_options *options = &fft->options;
    return options->radix || options->scratch || options->column_way || options->items || options->group ||
           options->arithmetic || options->images;
}

/* Samples that a transform takes, and values that it gives. */
static inline size_t penstock__fft_in_count(const struct penstock_fft_problem *fft)
{
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE ? fft->n / 2 + 1 : fft->n;
}

static inline size_t penstock__fft_out_count(const struct penstock_fft_problem *fft)
{
    if (fft->hop)
        return fft->hop;
    return fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_FORWARD ? fft->n / 2 + 1 : fft->n;
}

/* Samples that a frame is made of. */
static inline size_t penstock__fft_frame(const struct penstock_fft_problem *fft)
{
    return fft->fold ? fft->fold * fft->n : penstock__fft_in_count(fft);
}

/* Samples that `frames` >= 1 frames span in the input. */
static inline size_t penstock__fft_samples(const struct penstock_fft_problem *fft, size_t frames)
{
    return (frames - 1) * fft->spacing + fft->skip + penstock__fft_frame(fft);
}

/* Numbers that one value in the output is: one or a pair of them. */
static inline size_t penstock__fft_out_parts(const struct penstock_fft_problem *fft)
{
    bool real = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    return real || fft->output != PENSTOCK_OUTPUT_COMPLEX ? 1 : 2;
}

/* Bytes of that value. */
static inline size_t penstock__fft_out_item(const struct penstock_fft_problem *fft)
{
    return penstock__fft_out_parts(fft) * (fft->half ? sizeof(uint16_t) : sizeof(float));
}

/* Where a gathered frame starts, in samples of the job's input, and how it is rotated on load:
 * sample j is multiplied by exp(2 pi i (phase + j step) / 2^32), in arithmetic modulo 2^32. */
struct penstock_gather {
    uint32_t start;
    uint32_t phase;
    uint32_t step;
    uint32_t reserved;
};

#endif
