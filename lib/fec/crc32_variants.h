/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What some processors have instructions for. */
#ifndef PENSTOCK_FEC_CRC32_VARIANTS_H
#define PENSTOCK_FEC_CRC32_VARIANTS_H

#include <stddef.h>
#include <stdint.h>

#define CRC32_FOLDED 64 /* octets at least */

/* Sixteen octets that leave in a register of zero what the first ones of `bytes` leave in `r`; how many these are:
 * all but fewer than sixteen. */
size_t penstock__crc32_fold(uint8_t left[16], uint32_t r, const uint8_t *bytes, size_t count);

#endif
