/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Kaiser's window. */
#include "ops/taps/kaiser.h"

#include <math.h>

double penstock__bessel_i0(double x)
{
    double term = 1.0, sum = 1.0; /* its power series */
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

double penstock__kaiser_beta(double attenuation_db)
{
    if (attenuation_db > 50)
        return 0.1102 * (attenuation_db - 8.7);
    if (attenuation_db > 21)
        return 0.5842 * pow(attenuation_db - 21, 0.4) + 0.07886 * (attenuation_db - 21);
    return 0;
}
