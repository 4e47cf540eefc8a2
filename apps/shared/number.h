/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Numbers in the words of a user: of options, of the lists in their values and of cases. A number is decimal, with or
 * without a sign, a point and an exponent: 5, -0.5, 20e6. An empty text, blanks, nan, inf, 0x10 and 5k are none.
 */
#ifndef PENSTOCK_APPS_NUMBER_H
#define PENSTOCK_APPS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* What is legal; both ends are. */
struct number_range {
    double low, high;
    const char *unit; /* "Hz"; "": none */
    bool whole;
};

/* The number that the first `length` characters are, all of them. False: they are none, or none that a double holds.
 * `*number` is then as it was. */
bool number_read(const char *text, size_t length, double *number);

/* `wanted` numbers with `separator` between them, and nothing else. */
bool number_read_list(const char *text, char separator, double *numbers, size_t wanted);

/* Digits alone, of a number up to `most`, which is at most 2^53. */
bool number_read_digits(const char *text, size_t length, double most, size_t *number);

/* NAN is in no range. */
bool number_fits(double number, const struct number_range *range);

#endif
