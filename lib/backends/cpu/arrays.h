/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Arithmetic on whole arrays, by VOLK or by plain loops. The bits of value i depend on i, n and its operands, never on
 * addresses: VOLK's kernels are called in their unaligned form, for it may choose another one for aligned arrays.
 * `out` may be `in`.
 */
#ifndef PENSTOCK_CPU_ARRAYS_H
#define PENSTOCK_CPU_ARRAYS_H

#include <penstock/penstock.h>

/* Once, before the others: VOLK's first choice of kernels is not safe between threads. */
void penstock__arrays_init(void);

/* Keeps the library that has the function loaded when ours is unloaded: what it has made for the process (a planner,
 * compiled kernels) would be lost, and made again by the next one, or others would go on with what is gone. */
void penstock__cpu_keep_library(const void *function);

/* out[i] = in[i] * factors[i] */
void penstock__arrays_window(penstock_cf32 *out, const penstock_cf32 *in, const float *factors, size_t n);
void penstock__arrays_rotate(penstock_cf32 *out, const penstock_cf32 *in, const penstock_cf32 *factors, size_t n);

/* out[i] = |in[i]|^2 */
void penstock__arrays_power(float *out, const penstock_cf32 *in, size_t n);

/* Name and version of the library, "" for none. */
void penstock__arrays_library(char text[32]);

#endif
