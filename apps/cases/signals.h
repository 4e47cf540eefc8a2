/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples in any format, and what they mean as numbers. */
#ifndef PENSTOCK_APPS_SIGNALS_H
#define PENSTOCK_APPS_SIGNALS_H

#include <penstock/penstock.h>

/* `count` samples, uniform over the format's range. */
void signal_random(void *samples, penstock_format format, size_t count, uint64_t *state);

/* Sample `index` of `total`, as the format defines it. */
void signal_value(const void *samples, penstock_format format, size_t index, size_t total, double value[2]);

/* A number of 16 bits, as IEEE 754 defines it. */
double signal_half(uint16_t bits);

#endif
