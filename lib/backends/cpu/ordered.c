/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of ordered transforms, and which build of them this processor runs. */
#include "backends/cpu/ordered.h"
#include "vector/instructions.h"

const struct ordered_kernels *penstock__ordered_build(size_t index)
{
    const struct ordered_kernels *builds[] = {AVX512_BUILD(&penstock__ordered_kernels_avx512),
                                              AVX2_BUILD(&penstock__ordered_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

const struct ordered_kernels *penstock__ordered_kernels(size_t n)
{
    const struct ordered_kernels *fastest = penstock__ordered_build(0);
    return penstock__vector_fft_fits(n) && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

static void fill_window(struct ordered_fft *ordered, const float *window)
{
    size_t n = ordered->fft.n, width = ordered->fft.width;
    for (size_t at = 0; at < n; at++)
        ordered->window[at] = window[at / width * width + vector_sample_in(at % width, width)];
}

int penstock__ordered_fft_new(struct ordered_fft **ordered, size_t n, const float *window,
                              const struct ordered_kernels *kernels)
{
    struct ordered_fft *made = penstock__calloc(1, sizeof *made);
    *ordered = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    int status = penstock__vector_fft_init(&made->fft, n, kernels->width, VECTOR_BY_BIN);
    made->places = penstock__alloc(n / kernels->width * sizeof *made->places);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    if (status || !made->places || (window && !made->window)) {
        penstock__ordered_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    for (size_t place = 0; place < made->fft.vectors; place++)
        made->places[penstock__vector_fft_bin(&made->fft, place)] = (uint32_t)place;
    if (window)
        fill_window(made, window);
    *ordered = made;
    return PENSTOCK_OK;
}

void penstock__ordered_fft_free(struct ordered_fft *ordered)
{
    if (!ordered)
        return;
    penstock__vector_fft_free(&ordered->fft);
    penstock__free(ordered->places);
    penstock__free(ordered->window);
    penstock__free(ordered);
}
