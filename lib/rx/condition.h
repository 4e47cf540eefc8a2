/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples of any format made fit to compute with. */
#ifndef PENSTOCK_RX_CONDITION_H
#define PENSTOCK_RX_CONDITION_H

#include <penstock/penstock.h>

/* Larger values than this are as wrong as infinity, and their squares' sums would become it. */
#define PENSTOCK__CONDITION_LARGEST 1e15F

/*
 * Converts `count` samples (not PLANAR, not F32). A sample with a part that is NaN, infinite or beyond
 * PENSTOCK__CONDITION_LARGEST becomes zero and is counted in *not_finite; one with a part at an integer format's limit
 * is counted in *clipped.
 */
typedef void penstock__conditioner(penstock_cf32 *out, const void *in, penstock_format format, size_t count,
                                   uint64_t *clipped, uint64_t *not_finite);

penstock__conditioner penstock__condition;
penstock__conditioner penstock__condition_plain, penstock__condition_avx2; /* its builds */

#endif
