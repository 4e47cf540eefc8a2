/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Data frames for test signals. */
#ifndef PENSTOCK_APPS_MPDU_H
#define PENSTOCK_APPS_MPDU_H

#include <stddef.h>
#include <stdint.h>

enum { MPDU_LEAST = 36 }; /* MAC header 24, LLC and SNAP 8, FCS 4 */

/* `length` >= MPDU_LEAST bytes: a broadcast data frame with sequence number `number`, a payload that depends on
 * `number` and `seed`, and its FCS. */
void mpdu_fill(uint8_t *psdu, size_t length, uint64_t number, uint64_t seed);

#endif
