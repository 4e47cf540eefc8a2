/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of transforms by vectors, and which build of them this processor runs. */
#include "backends/cpu/ordered.h"

const struct ordered_kernels *penstock__ordered_build(size_t index)
{
    const struct ordered_kernels *builds[3] = {NULL};
    size_t count = 0;
#ifdef PENSTOCK_ORDERED_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        builds[count++] = &penstock__ordered_kernels_avx512;
#endif
#ifdef PENSTOCK_ORDERED_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        builds[count++] = &penstock__ordered_kernels_avx2;
#endif
    return index < count ? builds[index] : NULL;
}

const struct ordered_kernels *penstock__ordered_kernels(size_t n)
{
    const struct ordered_kernels *fastest = penstock__ordered_build(0);
    bool possible = !(n & (n - 1)) && n >= ORDERED_SHORTEST && n <= ORDERED_LONGEST;
    return possible && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

/* Eights first; a rest of one or two factors of two is taken from the last one or two of them: 8 2 = 4 4, 8 8 2 2 =
 * 8 8 4. */
static void choose_passes(struct ordered_fft *fft)
{
    unsigned twos = 0;
    size_t span = fft->vectors;
    while ((size_t)1 << twos < fft->vectors)
        twos++;
    size_t fours = twos % 3 == 1 ? 2 : twos % 3 == 2 ? 1 : 0;
    fft->pass_count = (twos - 2 * fours) / 3 + fours;
    for (size_t i = 0; i < fft->pass_count; i++) {
        unsigned radix = i + fours < fft->pass_count ? 8 : 4;
        span /= radix;
        fft->passes[i] = (struct ordered_pass){.radix = radix, .span = span, .blocks = fft->vectors / (span * radix)};
    }
}

static void fill_roots(struct ordered_fft *fft)
{
    float *to = fft->roots;
    for (size_t i = 0; i + 1 < fft->pass_count; i++) {
        struct ordered_pass *pass = &fft->passes[i];
        pass->roots = to;
        for (size_t j = 0; j < pass->span; j++)
            for (unsigned q = 1; q < pass->radix; q++, to += 2) {
                double re, im;
                penstock__unit_root(&re, &im, j * q, pass->span * pass->radix);
                to[0] = (float)re;
                to[1] = (float)-im;
            }
    }
}

/* Where the first transforms leave a bin: at its digits in reverse order. */
static size_t place_of(const struct ordered_fft *fft, size_t bin)
{
    size_t place = 0;
    for (size_t i = 0; i < fft->pass_count; i++) {
        place += bin % fft->passes[i].radix * fft->passes[i].span;
        bin /= fft->passes[i].radix;
    }
    return place;
}

/* The sample of a vector that loading puts into a lane: ordered_passes.h. */
static size_t sample_in(size_t lane, size_t width)
{
    return lane / 4 * 2 + lane % 2 + lane % 4 / 2 * (width / 2);
}

static void fill_middle(struct ordered_fft *fft)
{
    size_t width = fft->kernels->width;
    for (size_t bin = 0; bin < fft->vectors; bin++) {
        fft->places[bin] = (uint32_t)place_of(fft, bin);
        for (size_t lane = 0; lane < width; lane++) {
            double re, im;
            penstock__unit_root(&re, &im, sample_in(lane, width) * bin, fft->n);
            fft->middle[2 * bin * width + lane] = (float)re;
            fft->middle[(2 * bin + 1) * width + lane] = (float)-im;
        }
    }
}

static void fill_window(struct ordered_fft *fft, const float *window)
{
    size_t width = fft->kernels->width;
    for (size_t at = 0; at < fft->n; at++)
        fft->window[at] = window[at / width * width + sample_in(at % width, width)];
}

int penstock__ordered_fft_new(struct ordered_fft **fft, size_t n, const float *window,
                              const struct ordered_kernels *kernels)
{
    struct ordered_fft *made = penstock__calloc(1, sizeof *made);
    *fft = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->n = n;
    made->kernels = kernels;
    made->vectors = n / kernels->width;
    made->middle = penstock__alloc(2 * n * sizeof *made->middle);
    made->roots = penstock__alloc(4 * made->vectors * sizeof *made->roots);
    made->places = penstock__alloc(made->vectors * sizeof *made->places);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    if (!made->middle || !made->roots || !made->places || (window && !made->window)) {
        penstock__ordered_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    choose_passes(made);
    fill_roots(made);
    fill_middle(made);
    if (window)
        fill_window(made, window);
    *fft = made;
    return PENSTOCK_OK;
}

void penstock__ordered_fft_free(struct ordered_fft *fft)
{
    if (!fft)
        return;
    penstock__free(fft->middle);
    penstock__free(fft->roots);
    penstock__free(fft->places);
    penstock__free(fft->window);
    penstock__free(fft);
}
