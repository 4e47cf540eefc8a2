/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The middle one of some measurements. */
#include "median.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}
