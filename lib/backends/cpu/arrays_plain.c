/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vector arithmetic as plain loops, for builds without VOLK. */
#include "backends/cpu/arrays.h"

void penstock__arrays_init(void)
{
}

void penstock__arrays_window(penstock_cf32 *out, const penstock_cf32 *in, const float *factors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (penstock_cf32){in[i].re * factors[i], in[i].im * factors[i]};
}

void penstock__arrays_rotate(penstock_cf32 *out, const penstock_cf32 *in, const penstock_cf32 *factors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (penstock_cf32){in[i].re * factors[i].re - in[i].im * factors[i].im,
                                 in[i].re * factors[i].im + in[i].im * factors[i].re};
}

void penstock__arrays_power(float *out, const penstock_cf32 *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i].re * in[i].re + in[i].im * in[i].im;
}

void penstock__arrays_library(char text[32])
{
    text[0] = 0;
}
