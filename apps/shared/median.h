/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The middle one of some measurements. */
#ifndef PENSTOCK_APPS_MEDIAN_H
#define PENSTOCK_APPS_MEDIAN_H

#include <stddef.h>

/* Sorts `count` > 0 values; the middle one, or the mean of both. */
double median(double *values, size_t count);

#endif
