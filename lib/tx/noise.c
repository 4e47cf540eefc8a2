/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * xoshiro256++ (D. Blackman and S. Vigna, ACM Trans. Math. Software 47(4), 2021) shaped by the ziggurat method
 * (G. Marsaglia and W. W. Tsang, J. Stat. Software 5(8), 2000) in the form that keeps the layer's number and the
 * place within it independent (J. A. Doornik, "An improved ziggurat method to generate normal random samples", 2005).
 */
#include "tx/noise.h"

#include <math.h>

/* For 256 layers of equal area: where the tail begins, and the area. */
#define TAIL 3.6541528853610088
#define AREA 0.00492867323399

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t next_bits(uint64_t s[4])
{
    uint64_t result = rotate(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

/* Uniform in (0, 1). */
static double uniform(uint64_t s[4])
{
    return ((double)(next_bits(s) >> 12) + 0.5) * 0x1p-52;
}

void penstock__noise_init(struct penstock__noise *noise, uint64_t seed)
{
    double f = exp(-0.5 * TAIL * TAIL);
    for (int i = 0; i < 4; i++) { /* SplitMix64, as the generator's authors recommend */
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        noise->state[i] = z ^ z >> 31;
    }
    noise->x[0] = AREA / f;
    noise->x[1] = TAIL;
    for (int i = 2; i < 256; i++) {
        noise->x[i] = sqrt(-2 * log(AREA / noise->x[i - 1] + f));
        f = exp(-0.5 * noise->x[i] * noise->x[i]);
    }
    noise->x[256] = 0;
    for (int i = 0; i < 256; i++)
        noise->ratio[i] = noise->x[i + 1] / noise->x[i];
}

/* Beyond TAIL: Marsaglia's exact method for the normal tail. */
static double tail(uint64_t s[4])
{
    double x, y;
    do {
        x = log(uniform(s)) / TAIL;
        y = log(uniform(s));
    } while (-2 * y < x * x);
    return TAIL - x;
}

double penstock__noise_next(struct penstock__noise *noise)
{
    for (;;) {
        uint64_t bits = next_bits(noise->state);
        unsigned layer = bits & 255;
        double u = ((double)(bits >> 11) + 0.5) * 0x1p-52 - 1, x = u * noise->x[layer], inner, outer;
        if (fabs(u) < noise->ratio[layer])
            return x;
        if (layer == 0)
            return u < 0 ? -tail(noise->state) : tail(noise->state);
        outer = exp(-0.5 * (noise->x[layer] * noise->x[layer] - x * x));
        inner = exp(-0.5 * (noise->x[layer + 1] * noise->x[layer + 1] - x * x));
        if (outer + uniform(noise->state) * (inner - outer) < 1)
            return x;
    }
}
