/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The convolutional code with constraint length 7 and generators 133 and 171 (octal), and its punctured
 * rates: IEEE 802.11-2020 clauses 17.3.5.6 and 17.3.5.7, figures 17-8 and 17-9.
 *
 * "Packed" bits are eight a byte, the first in the least significant bit, which is the order on air. Coded
 * bits are one a byte, 0 or 1. Soft bits are int8_t: positive where 0 is likelier, 0 where nothing is known.
 */
#ifndef PENSTOCK_FEC_CONVOLUTIONAL_H
#define PENSTOCK_FEC_CONVOLUTIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum penstock__code_rate { PENSTOCK__CODE_1_2, PENSTOCK__CODE_2_3, PENSTOCK__CODE_3_4 };

/* How many coded bits are sent for `steps` data bits. */
size_t penstock__coded_count(enum penstock__code_rate rate, size_t steps);

/* Encodes `steps` packed bits from state zero and leaves the punctured ones out. Returns how many coded bits it wrote,
 * penstock__coded_count(). */
size_t penstock__convolutional_encode(uint8_t *coded, const uint8_t *packed, size_t steps,
                                      enum penstock__code_rate rate);

/* How many of two soft bits for each of `steps` decide against what `packed` is encoded to. */
size_t penstock__convolutional_errors(const uint8_t *packed, const int8_t *soft, size_t steps);

/* From penstock__coded_count() soft bits to two for each of `steps`, with 0 for those that were not sent. */
void penstock__depuncture(int8_t *soft, const int8_t *punctured, size_t steps, enum penstock__code_rate rate);

/* For punctured bit i of a block of `steps`, its place (0 .. 2 * steps - 1) in what penstock__depuncture() writes. */
size_t penstock__puncture_place(enum penstock__code_rate rate, size_t i);

#endif
