/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#ifndef PENSTOCK_TEST_RELATIVE_ERROR_H
#define PENSTOCK_TEST_RELATIVE_ERROR_H

#include <math.h>
#include <string.h>

/* The norm of a - b over that of b, of floats that need not be aligned. */
static inline double error_of(const char *a, const char *b, size_t bytes)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < bytes; i += sizeof(float)) {
        float one, two;
        memcpy(&one, a + i, sizeof one);
        memcpy(&two, b + i, sizeof two);
        error += pow((double)one - (double)two, 2);
        norm += pow((double)two, 2);
    }
    return bytes ? sqrt(error / norm) : 0;
}

#endif
