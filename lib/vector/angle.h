/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An angle for loops that compilers turn into vector code. */
#ifndef PENSTOCK_VECTOR_ANGLE_H
#define PENSTOCK_VECTOR_ANGLE_H

#include <math.h>
#include <stdbool.h>

/* atan2 without branches, polynomial of S. Moshier's Cephes library, atanf.c. */
static inline float penstock__angle(float im, float re)
{
    float a = fabsf(im), b = fabsf(re), low = a < b ? a : b, high = a < b ? b : a;
    bool upper = low > 0.414213562373095f * high; /* tan(pi / 8) */
    float above = upper ? low - high : low, below = upper ? low + high : high;
    float t = above / (below > 0 ? below : 1), z = t * t;
    float angle =
        (((8.05374449538e-2f * z - 1.38776856032e-1f) * z + 1.99777106478e-1f) * z - 3.33329491539e-1f) * z * t;
    angle = angle + t + (upper ? 0.785398163397448f : 0);
    angle = a > b ? 1.57079632679490f - angle : angle;
    angle = re < 0 ? 3.14159265358979f - angle : angle;
    return im < 0 ? -angle : angle;
}

#endif
