/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Formats of soft bits and of bits, as decoders of all kinds read and write them. */
#ifndef PENSTOCK_CPU_SOFT_H
#define PENSTOCK_CPU_SOFT_H

#include "backends/backend.h"

/* The factor that makes `mean` of the mean absolute value of a block's finite numbers; a finite float. */
float penstock__cpu_soft_scale(const float *in, size_t count, double mean);

/* Soft bits first .. first + count - 1 of `in` as signed bytes; `scale` is the floats' factor. */
void penstock__cpu_soft_convert(int8_t *out, penstock_soft soft, const void *in, size_t first, size_t count,
                                float scale);

/* Bits first .. first + bits - 1 of packed ones, the first in the least significant one, as `result` says. */
void penstock__cpu_store_bits(uint8_t *out, penstock_bits result, const uint8_t *packed, size_t first, size_t bits);

#endif
