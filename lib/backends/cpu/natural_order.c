/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of natural-order transforms, and which build of them this processor runs. */
#include "backends/cpu/natural_order.h"
#include "vector/instructions.h"

const struct natural_order_kernels *penstock__natural_order_build(size_t index)
{
    const struct natural_order_kernels *builds[] = {AVX512_BUILD(&penstock__natural_order_kernels_avx512),
                                                    AVX2_BUILD(&penstock__natural_order_kernels_avx2)};
    index += !builds[0];
    return index < 2 ? builds[index] : NULL;
}

const struct natural_order_kernels *penstock__natural_order_kernels(size_t n)
{
    const struct natural_order_kernels *fastest = penstock__natural_order_build(0);
    return penstock__vector_fft_fits(n) && fastest && n >= fastest->worthwhile ? fastest : NULL;
}

static void fill_window(struct natural_order_fft *natural_order, const float *window)
{
    size_t n = natural_order->fft.n, width = natural_order->fft.width;
    for (size_t at = 0; at < n; at++)
        natural_order->window[at] = window[at / width * width + vector_sample_in(at % width, width)];
}

int penstock__natural_order_fft_new(struct natural_order_fft **natural_order, size_t n, const float *window,
                                    const struct natural_order_kernels *kernels)
{
    struct natural_order_fft *made = penstock__calloc(1, sizeof *made);
    *natural_order = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->kernels = kernels;
    int status = penstock__vector_fft_init(&made->fft, n, kernels->width, VECTOR_BY_BIN);
    made->places = penstock__alloc(n / kernels->width * sizeof *made->places);
    made->window = window ? penstock__alloc(n * sizeof *made->window) : NULL;
    if (status || !made->places || (window && !made->window)) {
        penstock__natural_order_fft_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    for (size_t place = 0; place < made->fft.vectors; place++)
        made->places[penstock__vector_fft_bin(&made->fft, place)] = (uint32_t)place;
    if (window)
        fill_window(made, window);
    *natural_order = made;
    return PENSTOCK_OK;
}

void penstock__natural_order_fft_free(struct natural_order_fft *natural_order)
{
    if (!natural_order)
        return;
    penstock__vector_fft_free(&natural_order->fft);
    penstock__free(natural_order->places);
    penstock__free(natural_order->window);
    penstock__free(natural_order);
}
