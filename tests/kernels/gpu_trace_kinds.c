/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kinds of transforms that a plan can be of. */
#include "gpu_trace_kinds.h"

static const float window[TRACE_MOST]; /* its factors do not matter */

/* A divisor of n that is neither 1 nor n, where there is one; else n. */
static size_t divisor(size_t n, uint64_t hash)
{
    size_t found[64], count = 0;
    for (size_t d = 2; d < n && count < 64; d++)
        if (n % d == 0)
            found[count++] = d;
    return count ? found[hash % count] : n;
}

void trace_reversed(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->direction = PENSTOCK_REVERSE;
    fft->spacing = fft->n + hash % 4;
    fft->skip = hash % 3;
    fft->centered = hash % 5 == 0;
}

static void real_forward(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->domain = PENSTOCK_REAL;
    fft->format = PENSTOCK_F32;
    fft->window = hash % 2 ? window : NULL;
    fft->output = hash % 3 ? PENSTOCK_OUTPUT_COMPLEX : PENSTOCK_OUTPUT_POWER;
    fft->average = hash % 6 ? 1 : 2;
}

static void real_reverse(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->domain = PENSTOCK_REAL;
    fft->direction = PENSTOCK_REVERSE;
    fft->format = hash % 3 ? PENSTOCK_CF32 : PENSTOCK_CF16;
    fft->half = hash % 4 == 0;
    fft->spacing = fft->n / 2 + 1;
}

static void real_global(struct penstock_fft_problem *fft, uint64_t hash)
{
    (hash % 2 ? real_forward : real_reverse)(fft, hash >> 8);
    fft->options.scratch = PENSTOCK_SCRATCH_GLOBAL;
}

static void words_16(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->format = PENSTOCK_CS16;
    fft->window = window;
    fft->output = hash % 2 ? PENSTOCK_OUTPUT_POWER : PENSTOCK_OUTPUT_COMPLEX;
    fft->centered = true;
    fft->skip = 1;
}

static void words_8(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->format = hash % 2 ? PENSTOCK_CS8 : PENSTOCK_CU8;
    fft->output = PENSTOCK_OUTPUT_DECIBEL;
    fft->spacing = fft->n + 7;
}

static void averaged(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->format = hash % 2 ? PENSTOCK_CU8 : PENSTOCK_CF32;
    fft->output = PENSTOCK_OUTPUT_POWER;
    fft->average = hash % 3 ? 2 : 17;
    fft->half = hash % 4 == 0;
}

static void planar(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->format = PENSTOCK_PLANAR;
    fft->direction = hash % 2 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
    fft->skip = hash % 3;
}

void trace_half_storage(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->format = PENSTOCK_CF16;
    fft->half = true;
    fft->centered = hash % 2;
    fft->direction = hash % 3 ? PENSTOCK_FORWARD : PENSTOCK_REVERSE;
}

static void half_arithmetic(struct penstock_fft_problem *fft, uint64_t hash)
{
    static const penstock_format formats[] = {PENSTOCK_CF16, PENSTOCK_CF32, PENSTOCK_CS16};
    fft->format = formats[hash % 3];
    fft->half = hash % 4 > 0;
    fft->gathered = hash % 5 == 0;
    fft->direction = hash % 7 % 2 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
    fft->options.arithmetic = PENSTOCK_ARITHMETIC_HALF;
}

static void gathered(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->gathered = true;
    fft->spacing = fft->n + 3;
    fft->skip = 5;
    fft->format = hash % 2 ? PENSTOCK_CS16 : PENSTOCK_CF32;
    fft->window = hash % 3 ? window : NULL;
}

static void overlapping(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->spacing = fft->n / 2 + 1;
    fft->shift = hash % 2 ? 0.125 : 0;
    fft->window = window;
}

/* Of transforms side by side: now and then with a stage, and reverse. */
static void vary(struct penstock_fft_problem *fft, uint64_t hash, penstock_format integers)
{
    fft->format = hash % 3 ? PENSTOCK_CF32 : integers;
    fft->centered = hash % 4 == 0;
    fft->output = hash % 5 ? PENSTOCK_OUTPUT_COMPLEX : PENSTOCK_OUTPUT_POWER;
    fft->direction = hash % 7 % 2 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
}

void trace_columns(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->columns = divisor(fft->n, hash);
    vary(fft, hash, PENSTOCK_CS16);
}

static void columns_transposed(struct penstock_fft_problem *fft, uint64_t hash)
{
    trace_columns(fft, hash);
    fft->options.column_way = PENSTOCK_COLUMNS_TRANSPOSED;
}

void trace_plane(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->rows = divisor(fft->n, hash);
    vary(fft, hash, PENSTOCK_CU8);
    fft->skip = hash % 2;
}

static void plane_transposed(struct penstock_fft_problem *fft, uint64_t hash)
{
    trace_plane(fft, hash);
    fft->options.column_way = PENSTOCK_COLUMNS_TRANSPOSED;
}

static void plane_of_halves(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->rows = divisor(fft->n, hash);
    fft->format = PENSTOCK_CF16;
    fft->half = true;
    fft->options.column_way = hash % 2 ? PENSTOCK_COLUMNS_TRANSPOSED : PENSTOCK_COLUMNS_ANY;
    fft->options.arithmetic = hash % 3 ? PENSTOCK_ARITHMETIC_HALF : PENSTOCK_ARITHMETIC_FLOAT;
}

static void columns_of_halves(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->columns = divisor(fft->n, hash);
    fft->format = PENSTOCK_CF16;
    fft->half = true;
    fft->options.arithmetic = hash % 3 ? PENSTOCK_ARITHMETIC_HALF : PENSTOCK_ARITHMETIC_FLOAT;
}

void trace_global(struct penstock_fft_problem *fft, uint64_t hash)
{
    static const unsigned radices[] = {0, 2, 4, 8, 16};
    fft->options.scratch = PENSTOCK_SCRATCH_GLOBAL;
    fft->options.radix = radices[hash % 5];
    fft->columns = hash % 3 ? 1 : divisor(fft->n, hash >> 8);
    fft->centered = hash % 2;
    fft->direction = hash % 7 % 2 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD;
}

static void global_average(struct penstock_fft_problem *fft, uint64_t hash)
{
    averaged(fft, hash);
    fft->options.scratch = PENSTOCK_SCRATCH_GLOBAL;
}

static void radix(struct penstock_fft_problem *fft, uint64_t hash)
{
    static const unsigned radices[] = {2, 4, 8, 16};
    fft->options.radix = radices[hash % 4];
    fft->options.items = hash % 3 ? 0 : 16;
    fft->options.group = hash % 5 ? 0 : 4;
    fft->columns = hash % 7 ? 1 : divisor(fft->n, hash >> 8);
}

static void image(struct penstock_fft_problem *fft, uint64_t hash)
{
    fft->options.images = true;
    fft->spacing = fft->n + 2 * (hash % 2);
    fft->skip = 2 * (hash % 3);
    fft->columns = hash % 3 ? 1 : divisor(fft->n, hash >> 8);
    fft->options.scratch = hash % 5 ? PENSTOCK_SCRATCH_ANY : PENSTOCK_SCRATCH_GLOBAL;
}

static float factors[4 * TRACE_MOST];

static void folded(struct penstock_fft_problem *fft, uint64_t hash)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CU8, PENSTOCK_CF16};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        factors[i] = (float)(i % 17 + 1) / 16;
    fft->fold = 1 + hash % 4;
    fft->spacing = hash % 3 ? 1 + hash / 8 % fft->n : fft->n;
    fft->window = factors;
    fft->format = formats[hash / 4 % 4];
    fft->centered = hash % 5 == 0;
}

const struct trace_kind trace_kinds[TRACE_KINDS] = {{"reverse", trace_reversed},
                                                    {"real", real_forward},
                                                    {"half spectrum", real_reverse},
                                                    {"real, global scratch", real_global},
                                                    {"cs16", words_16},
                                                    {"8 bits", words_8},
                                                    {"average", averaged},
                                                    {"planar", planar},
                                                    {"half storage", trace_half_storage},
                                                    {"half arithmetic", half_arithmetic},
                                                    {"gathered", gathered},
                                                    {"overlapping", overlapping},
                                                    {"columns", trace_columns},
                                                    {"columns transposed", columns_transposed},
                                                    {"2-D", trace_plane},
                                                    {"2-D transposed", plane_transposed},
                                                    {"2-D of halves", plane_of_halves},
                                                    {"columns of halves", columns_of_halves},
                                                    {"global scratch", trace_global},
                                                    {"global scratch, average", global_average},
                                                    {"radix", radix},
                                                    {"images", image},
                                                    {"folded", folded}};

struct penstock_problem trace_problem(size_t n, const struct trace_kind *kind, uint64_t hash)
{
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT, .batch = 1};
    problem.fft =
        (struct penstock_fft_problem){.n = n, .spacing = n, .scale = 1, .average = 1, .rows = 1, .columns = 1};
    kind->make(&problem.fft, hash);
    return problem;
}
