/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Multiples of sizes. */
#ifndef PENSTOCK_CORE_MULTIPLES_H
#define PENSTOCK_CORE_MULTIPLES_H

#include <stddef.h>

/* The greatest one; that of a and 0 is a. */
static inline size_t penstock__common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline size_t penstock__round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

#endif
