/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a frame's MAC header says: its type and whom it comes from and goes to. */
#ifndef PENSTOCK_APPS_MAC_H
#define PENSTOCK_APPS_MAC_H

#include <stddef.h>
#include <stdint.h>

struct mac_header {
    const char *type;           /* "QoS data", "ACK", ...; never NULL */
    const uint8_t *source;      /* 6 bytes within the frame; NULL where the frame has none */
    const uint8_t *destination; /* likewise */
};

enum { MAC_TEXT_BYTES = 18 };

/* IEEE 802.11-2020 clauses 9.2.4.1.3 (types) and 9.3.2.1 (which address is which). */
struct mac_header mac_parse(const uint8_t *psdu, size_t length);

/* "e4:90:7e:15:2a:16", or "-" for NULL; returns `text`. */
const char *mac_text(char text[MAC_TEXT_BYTES], const uint8_t *address);

#endif
