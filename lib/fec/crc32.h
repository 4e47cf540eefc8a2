/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* CRC-32 of IEEE 802.3 and 802.11 (reflected polynomial 0xEDB88320, all ones before and complemented after). */
#ifndef PENSTOCK_FEC_CRC32_H
#define PENSTOCK_FEC_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* `crc` is 0 for the first chunk of a message and the last result for the next. */
uint32_t penstock__crc32(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
