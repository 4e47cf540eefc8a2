/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pseudo-random numbers that are the same on every machine: SplitMix64 (S. Vigna, public domain). */
#ifndef PENSTOCK_APPS_RANDOM_H
#define PENSTOCK_APPS_RANDOM_H

#include <penstock/penstock.h>

uint64_t random_bits(uint64_t *state);

/* Uniform in [0, 1). */
double random_uniform(uint64_t *state);

/* Complex white Gaussian noise of variance `power`. */
void random_noise(penstock_cf32 *samples, size_t count, double power, uint64_t *state);

#endif
