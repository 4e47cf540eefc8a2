/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The small DFTs that work-items do in registers: which there are, what they cost, how lengths are made of them. */
#ifndef PENSTOCK_GPU_RADIX_H
#define PENSTOCK_GPU_RADIX_H

#include "gpu/text.h"

#define GPU_MAX_RADIX  16
#define GPU_MAX_STAGES 48 /* two chains of 24 stages of radix 2 */

bool penstock__gpu_is_prime(unsigned n);

/* A product of primes up to 13. */
bool penstock__gpu_smooth(size_t n);

/* Whether kernels have a DFT of `radix` points. */
bool penstock__gpu_is_radix(unsigned radix);

/* Floating-point operations of one such DFT, roughly. */
unsigned penstock__gpu_radix_cost(unsigned radix);

/* Which of its inputs' slots a DFT leaves value k in. */
unsigned penstock__gpu_radix_order(unsigned radix, unsigned k);

/* Calls visit(argument, radices, count) for every way to write n as a product of radices up to `most` (primes may be
 * larger), in descending order each. */
void penstock__gpu_factor(unsigned n, unsigned most,
                          void (*visit)(void *argument, const unsigned *radices, unsigned count), void *argument);

/* Appends the macro DFT<radix>, where kernels/dft.h does not have it; `ptx`: in the words of kernels/points.h too. */
void penstock__gpu_radix_define(struct gpu_text *text, unsigned radix, bool ptx);

#endif
