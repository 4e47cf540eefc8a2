/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Bits, uniform numbers and noise. */
#include "random.h"

#include <math.h>

uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* G. Box, M. Muller: a pair of uniform numbers gives a pair of normal ones. */
void random_noise(penstock_cf32 *samples, size_t count, double power, uint64_t *state)
{
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < count; i++) {
        double radius = sqrt(-power * log(1 - random_uniform(state))), angle = 2 * pi * random_uniform(state);
        samples[i] = (penstock_cf32){(float)(radius * cos(angle)), (float)(radius * sin(angle))};
    }
}
