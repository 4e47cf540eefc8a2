/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* MAC headers: types and addresses. */
#include "mac.h"

#include <stdbool.h>
#include <stdio.h>

enum { MANAGEMENT, CONTROL, DATA, EXTENSION };

/* IEEE 802.11-2020 table 9-1. */
static const char *const type_names[4][16] = {
    [MANAGEMENT] =
        {
            "association request",
            "association response",
            "reassociation request",
            "reassociation response",
            "probe request",
            "probe response",
            "timing advertisement",
            NULL,
            "beacon",
            "ATIM",
            "disassociation",
            "authentication",
            "deauthentication",
            "action",
            "action no ACK",
            NULL,
        },
    [CONTROL] =
        {
            NULL,
            NULL,
            "trigger",
            "TACK",
            "beamforming poll",
            "NDP announcement",
            "control extension",
            "control wrapper",
            "block ACK request",
            "block ACK",
            "PS-Poll",
            "RTS",
            "CTS",
            "ACK",
            "CF-End",
            "CF-End + CF-ACK",
        },
    [DATA] =
        {
            "data",
            "data + CF-ACK",
            "data + CF-Poll",
            "data + CF-ACK + CF-Poll",
            "null",
            "CF-ACK",
            "CF-Poll",
            "CF-ACK + CF-Poll",
            "QoS data",
            "QoS data + CF-ACK",
            "QoS data + CF-Poll",
            "QoS data + CF-ACK + CF-Poll",
            "QoS null",
            NULL,
            "QoS CF-Poll",
            "QoS CF-ACK + CF-Poll",
        },
    [EXTENSION] = {"DMG beacon", "S1G beacon"},
};

enum { FCS_BYTES = 4, ADDRESS_1 = 4, ADDRESS_2 = 10, ADDRESS_3 = 16, ADDRESS_4 = 24 };

static const uint8_t *address_at(const uint8_t *psdu, size_t length, size_t offset)
{
    return length >= offset + 6 + FCS_BYTES ? psdu + offset : NULL;
}

struct mac_header mac_parse(const uint8_t *psdu, size_t length)
{
    struct mac_header header = {.type = "too short"};
    if (!psdu || length < 10 + FCS_BYTES)
        return header;
    unsigned type = psdu[0] >> 2 & 3, subtype = psdu[0] >> 4;
    bool to_ds = psdu[1] & 1, from_ds = psdu[1] & 2;
    header.type = type_names[type][subtype] ? type_names[type][subtype] : "reserved type";
    if (type == DATA) {
        header.destination = address_at(psdu, length, to_ds ? ADDRESS_3 : ADDRESS_1);
        header.source = address_at(psdu, length, !from_ds ? ADDRESS_2 : to_ds ? ADDRESS_4 : ADDRESS_3);
    } else {
        bool no_source = type == EXTENSION || (type == CONTROL && (subtype == 12 || subtype == 13));
        header.destination = address_at(psdu, length, ADDRESS_1);
        header.source = no_source ? NULL : address_at(psdu, length, ADDRESS_2);
    }
    return header;
}

const char *mac_text(char text[MAC_TEXT_BYTES], const uint8_t *address)
{
    if (address)
        snprintf(text, MAC_TEXT_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", address[0], address[1], address[2], address[3],
                 address[4], address[5]);
    else
        snprintf(text, MAC_TEXT_BYTES, "-");
    return text;
}
