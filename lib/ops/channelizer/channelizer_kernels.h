/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What of the filter bank is built once for each instruction set, beside its sums (vector/fold.h). */
#ifndef PENSTOCK_OPS_CHANNELIZER_KERNELS_H
#define PENSTOCK_OPS_CHANNELIZER_KERNELS_H

#include <penstock/penstock.h>

struct channelizer_kernels {
    const char *name;

    /* streams[c][at + f] = frames[f][c], f < count, c < channels: bits are copied. No alignment is asked for. `past`
     * the processor's caches where that can be. */
    void (*take_apart)(void *const *streams, size_t at, const penstock_cf32 *frames, size_t channels, size_t count,
                       bool past);
};

extern const struct channelizer_kernels penstock__channelizer_kernels_plain, penstock__channelizer_kernels_avx2,
    penstock__channelizer_kernels_avx512;

/* The build that this processor runs best. */
const struct channelizer_kernels *penstock__channelizer_kernels(void);

#endif
