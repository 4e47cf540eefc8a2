/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of transforms interleaved, and which build of them this processor runs. */
#include "backends/cpu/interleaved.h"
#include "vector/instructions.h"

#include <string.h>

const struct interleaved_kernels *penstock__interleaved_build(size_t index)
{
    const struct interleaved_kernels *builds[] = {AVX512_BUILD(&penstock__interleaved_kernels_avx512),
                                                  AVX2_BUILD(&penstock__interleaved_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

const struct interleaved_kernels *penstock__interleaved_kernels(size_t n)
{
    const struct interleaved_kernels *fastest = penstock__interleaved_build(0);
    bool fits = !(n & (n - 1)) && n >= INTERLEAVED_SHORTEST && n <= INTERLEAVED_LONGEST;
    return fits && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

int penstock__interleaved_fft_new(struct interleaved_fft **interleaved, size_t n, const float *window,
                                  const struct interleaved_kernels *kernels)
{
    struct interleaved_fft *made = penstock__calloc(1, sizeof *made);
    *interleaved = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    int status = penstock__vector_fft_init(&made->fft, n, INTERLEAVED_LANES, VECTOR_BY_BIN);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    if (status || (window && !made->window)) {
        penstock__interleaved_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    if (window)
        memcpy(made->window, window, n * sizeof *window);
    *interleaved = made;
    return PENSTOCK_OK;
}

void penstock__interleaved_fft_free(struct interleaved_fft *interleaved)
{
    if (!interleaved)
        return;
    penstock__vector_fft_free(&interleaved->fft);
    penstock__free(interleaved->window);
    penstock__free(interleaved);
}
