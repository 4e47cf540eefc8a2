/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of transforms abreast, and which build of them this processor runs. */
#include "backends/cpu/abreast.h"
#include "vector/instructions.h"

#include <string.h>

const struct abreast_kernels *penstock__abreast_build(size_t index)
{
    const struct abreast_kernels *builds[] = {AVX512_BUILD(&penstock__abreast_kernels_avx512),
                                              AVX2_BUILD(&penstock__abreast_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

const struct abreast_kernels *penstock__abreast_kernels(size_t n)
{
    const struct abreast_kernels *fastest = penstock__abreast_build(0);
    bool fits = !(n & (n - 1)) && n >= ABREAST_SHORTEST && n <= ABREAST_LONGEST;
    return fits && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

int penstock__abreast_fft_new(struct abreast_fft **abreast, size_t n, const float *window,
                              const struct abreast_kernels *kernels)
{
    struct abreast_fft *made = penstock__calloc(1, sizeof *made);
    *abreast = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    int status = penstock__vector_fft_init(&made->fft, n, ABREAST_LANES, VECTOR_BY_BIN);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    if (status || (window && !made->window)) {
        penstock__abreast_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    if (window)
        memcpy(made->window, window, n * sizeof *window);
    *abreast = made;
    return PENSTOCK_OK;
}

void penstock__abreast_fft_free(struct abreast_fft *abreast)
{
    if (!abreast)
        return;
    penstock__vector_fft_free(&abreast->fft);
    penstock__free(abreast->window);
    penstock__free(abreast);
}
