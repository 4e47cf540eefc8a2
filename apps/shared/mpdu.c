/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* IEEE 802.11-2020 clause 9.3.2.1 (data frames), IEEE 802 clause 9 (LLC and SNAP, local experimental EtherType). */
#include "mpdu.h"

#include "random.h"

#include <penstock/penstock.h>
#include <string.h>

static const uint8_t header[] = {
    0x08, 0x00,                         /* data, neither to nor from a distribution system */
    0x00, 0x00,                         /* duration */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* to everyone */
    0x02, 'P',  'e',  'n',  's',  't',  /* from a locally administered address */
    0x02, 'P',  'e',  'n',  's',  't',  /* network */
    0x00, 0x00,                         /* sequence number and fragment */
    0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00, /* LLC and SNAP */
    0x88, 0xb5,                         /* local experimental EtherType 1 */
};

void mpdu_fill(uint8_t *psdu, size_t length, uint64_t number, uint64_t seed)
{
    enum { SEQUENCE_CONTROL = 22 };
    uint64_t state = seed ^ number << 32;
    memcpy(psdu, header, sizeof header);
    psdu[SEQUENCE_CONTROL] = (uint8_t)(number << 4);
    psdu[SEQUENCE_CONTROL + 1] = (uint8_t)(number >> 4);
    for (size_t i = sizeof header; i < length - 4; i++)
        psdu[i] = (uint8_t)random_bits(&state);
    uint32_t fcs = penstock_wifi_fcs(psdu, length - 4);
    for (size_t i = 0; i < 4; i++)
        psdu[length - 4 + i] = (uint8_t)(fcs >> 8 * i);
}
