/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The scrambler x^7 + x^4 + 1 of IEEE 802.11-2020 clause 17.3.5.5. */
#ifndef PENSTOCK_FEC_SCRAMBLER_H
#define PENSTOCK_FEC_SCRAMBLER_H

#include <stddef.h>
#include <stdint.h>

/* Scrambles, or descrambles, packed bytes in place. `seed` 1 .. 127 is the register's state before the first bit: X7 is
 * bit 6, X1 is bit 0, as the standard writes it (1011101 in its example). */
void penstock__scramble(uint8_t *packed, size_t bytes, unsigned seed);

/* The seed that scrambled a block whose first seven bits were zero, from the first byte received; 0: there is none. */
unsigned penstock__scrambler_seed(uint8_t first);

#endif
