/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Gaussian pseudo-random numbers: the same sequence for the same seed. */
#ifndef PENSTOCK_TX_NOISE_H
#define PENSTOCK_TX_NOISE_H

#include <stdint.h>

struct penstock__noise {
    uint64_t state[4];
    double x[257];     /* right edges of the ziggurat's layers, from the lowest (its base) to 0 at the top */
    double ratio[256]; /* x[i + 1] / x[i] */
};

/* Any seed is good. */
void penstock__noise_init(struct penstock__noise *noise, uint64_t seed);

/* Mean 0, variance 1. */
double penstock__noise_next(struct penstock__noise *noise);

#endif
