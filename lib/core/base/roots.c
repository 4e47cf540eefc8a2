/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Roots of unity in double precision: one of them, or all by their symmetries. */
#include "backends/backend.h"

#include <math.h>

void penstock__unit_root(double *re, double *im, uint64_t k, uint64_t n)
{
    static const double tau = 6.28318530717958647692528676655900577;
    /* The angle is octant / 8 of a turn plus or minus rest / (8 n) of a turn, with rest <= n. */
    uint64_t eighths = 8 * (k % n), octant = eighths / n, rest = eighths % n;
    double angle, c, s;
    if (octant & 1)
        rest = n - rest;
    angle = tau / 8 * ((double)rest / (double)n);
    c = rest == n ? 0.70710678118654752440 : cos(angle);
    s = rest == n ? 0.70710678118654752440 : sin(angle);
    if (((octant + 1) & 3) >= 2) { /* octants 1, 2, 5, 6: nearer to the imaginary axis */
        double swapped = c;
        c = s;
        s = swapped;
    }
    *re = octant >= 2 && octant < 6 ? -c : c;
    *im = octant >= 4 ? -s : s;
}

/* Root k from root `from`, each part of which comes from the part that is named, with its sign. */
static void mirror(double *pairs, size_t k, size_t from, int re_sign, int im_sign, bool exchanged)
{
    double re = pairs[2 * from + exchanged], im = pairs[2 * from + !exchanged];
    pairs[2 * k] = re_sign < 0 ? -re : re;
    pairs[2 * k + 1] = im_sign < 0 ? -im : im;
}

void penstock__unit_roots(double *pairs, size_t n)
{
    size_t own = n % 4 == 0 ? n / 8 : n % 2 == 0 ? n / 4 : n / 2;
    for (size_t k = 0; k <= own; k++)
        penstock__unit_root(&pairs[2 * k], &pairs[2 * k + 1], k, n);
    for (size_t k = own + 1; n % 4 == 0 && k < n / 4; k++)
        mirror(pairs, k, n / 4 - k, 1, 1, true);
    for (size_t k = n / 4; n % 4 == 0 && k < n / 2; k++)
        mirror(pairs, k, k - n / 4, -1, 1, true);
    for (size_t k = own + 1; n % 4 == 2 && k < n / 2; k++)
        mirror(pairs, k, n / 2 - k, -1, 1, false);
    for (size_t k = n / 2; n % 2 == 0 && k < n; k++)
        mirror(pairs, k, k - n / 2, -1, -1, false);
    for (size_t k = own + 1; n % 2 && k < n; k++)
        mirror(pairs, k, n - k, 1, -1, false);
}
