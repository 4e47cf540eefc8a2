/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables for the mean power of transforms, the mean itself, and which build of the rest this processor runs. */
#include "backends/cpu/power.h"
#include "vector/instructions.h"
#include "vector/vector_fft.h"

const struct power_kernels *penstock__power_build(size_t index)
{
    const struct power_kernels *builds[] = {AVX512_BUILD(&penstock__power_kernels_avx512),
                                            AVX2_BUILD(&penstock__power_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

const struct power_kernels *penstock__power_kernels(size_t n)
{
    const struct power_kernels *fastest = penstock__power_build(0);
    bool fits = !(n & (n - 1)) && n >= POWER_SHORTEST && n <= POWER_LONGEST;
    return fits && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

/* ---------------------------------------------------------------- tables ---------------------- */

/*
 * The roots of a butterfly of decimation in time: leg q of `radix` is times w^q. Taken apart into butterflies of fours
 * and twos (vector by vector in power_passes.h) it needs these powers of w, some times the t-th root of one of `radix`.
 */
struct root {
    unsigned power, t;
};

static const struct root roots_of_2[] = {{1, 0}}, roots_of_4[] = {{2, 0}, {1, 0}},
                         roots_of_8[] = {{4, 0}, {2, 0}, {1, 0}, {1, 1}},
                         roots_of_16[] = {{8, 0}, {4, 0}, {2, 0}, {2, 2}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};

static const struct root *roots_of(unsigned radix)
{
    return radix == 16 ? roots_of_16 : radix == 8 ? roots_of_8 : radix == 4 ? roots_of_4 : roots_of_2;
}

/* They are radix / 2, where w is exp(-2 pi i turn / turns), and turns a multiple of radix. Parts are `apart`. */
static void fill_roots(float *to, size_t apart, unsigned radix, uint64_t turn, uint64_t turns)
{
    const struct root *root = roots_of(radix);
    for (unsigned i = 0; i < radix / 2; i++, to += 2 * apart) {
        double re, im;
        penstock__unit_root(&re, &im, (root[i].power * turn + root[i].t * (turns / radix)) % turns, turns);
        to[0] = (float)re;
        to[apart] = (float)-im;
    }
}

/* The digits of a block's number, that of the longest span first, are those of its bins from the lowest on. */
static size_t bin_of(const struct power_fft *fft, size_t block, size_t passes)
{
    size_t bin = 0;
    while (passes--) {
        unsigned radix = fft->passes[passes].radix;
        bin = bin * radix + block % radix;
        block /= radix;
    }
    return bin;
}

/* Eights first, then a four, or two of them in place of the last eight; two alone only where there is no more. */
static void choose_passes(struct power_fft *fft)
{
    unsigned twos = 0;
    while ((size_t)1 << twos < fft->groups)
        twos++;
    size_t fours = twos == 1 ? 0 : twos % 3 == 1 ? 2 : twos % 3 == 2 ? 1 : 0, span = fft->groups * fft->kernels->width;
    fft->pass_count = twos == 1 ? 1 : (twos - 2 * fours) / 3 + fours;
    for (size_t i = 0; i < fft->pass_count; i++) {
        unsigned radix = twos == 1 ? 2 : i + fours < fft->pass_count ? 8 : 4;
        span /= radix;
        fft->passes[i] = (struct power_pass){.radix = radix, .span = span};
    }
}

/* Floats for the roots of all passes: there are fewer blocks than groups in the last one, and half as many at the most
 * in each one before. */
static size_t root_count(const struct power_fft *fft)
{
    return 2 * fft->groups;
}

static void fill_tables(struct power_fft *fft)
{
    const unsigned width = (unsigned)fft->kernels->width;
    float *to = fft->roots;
    for (size_t i = 1, blocks = fft->passes[0].radix; i < fft->pass_count; blocks *= fft->passes[i++].radix) {
        fft->passes[i].roots = to;
        for (size_t block = 0; block < blocks; block++, to += fft->passes[i].radix)
            fill_roots(to, 1, fft->passes[i].radix, bin_of(fft, block, i), blocks * fft->passes[i].radix);
    }
    for (size_t group = 0; group < fft->groups; group++) {
        size_t bin = bin_of(fft, group, fft->pass_count);
        fft->places[bin] = (uint32_t)group;
        fill_roots(fft->down + group * width, 1, width, bin, fft->groups * width);
        for (unsigned lane = 0; lane < width; lane++)
            fill_roots(fft->across + group * width * width + lane, width, width,
                       bin + power_bin_at(lane, width) * fft->groups, fft->n);
    }
}

static void fill_window(struct power_fft *fft, const float *window)
{
    size_t width = fft->kernels->width;
    for (size_t at = 0; at < fft->n; at++)
        fft->window[at] = window[at / width * width + vector_sample_in(at % width, width)];
}

int penstock__power_fft_new(struct power_fft **fft, size_t n, const float *window, const struct power_kernels *kernels)
{
    struct power_fft *made = penstock__calloc(1, sizeof *made);
    const size_t width = kernels->width;
    *fft = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    made->n = n;
    made->groups = n / (width * width);
    choose_passes(made);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    made->roots = penstock__alloc(root_count(made) * sizeof *made->roots);
    made->down = penstock__alloc(made->groups * width * sizeof *made->down);
    made->across = penstock__alloc(n * sizeof *made->across);
    made->places = penstock__alloc(made->groups * sizeof *made->places);
    if ((window && !made->window) || !made->roots || !made->down || !made->across || !made->places) {
        penstock__power_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    fill_tables(made);
    if (window)
        fill_window(made, window);
    *fft = made;
    return PENSTOCK_OK;
}

void penstock__power_fft_free(struct power_fft *fft)
{
    if (!fft)
        return;
    penstock__free(fft->window);
    penstock__free(fft->roots);
    penstock__free(fft->down);
    penstock__free(fft->across);
    penstock__free(fft->places);
    penstock__free(fft);
}

/* ---------------------------------------------------------------- the mean -------------------- */

/* In double, group by group, and in float behind them those that are not in there yet. */
size_t penstock__power_sum_bytes(size_t n)
{
    return n * (sizeof(double) + sizeof(float));
}

void penstock__power_mean(const struct power_fft *fft, float *out, const void *sums, unsigned average, size_t first)
{
    const size_t rows = fft->kernels->width, low = rows - rows * first / fft->n;
    fft->kernels->mean(fft, out + first, sums, 1.0 / average, 0, low);
    fft->kernels->mean(fft, out, sums, 1.0 / average, low, rows - low);
}
