/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What follows a SIGNAL field with 6 Mb/s. HT turns both symbols after it by a quarter, VHT the second one only, HE and
 * later send SIGNAL twice: IEEE 802.11-2020 clauses 19.3.9.4.3 and 21.3.8.3.3, IEEE 802.11ax-2021 clause 27.3.11.6.
 * The length in SIGNAL gives the time on air of all of them; the checksum of HT-SIG or VHT-SIG-A makes it sure.
 */
#include "rx/wifi/receiver.h"

#include <stdio.h>
#include <string.h>

/* x^8 + x^2 + x + 1 over the first 34 bits, ones at first, complemented; 19.3.9.4.4. */
static unsigned checksum(uint64_t bits)
{
    unsigned crc = 0xff;
    for (unsigned i = 0; i < 34; i++) {
        unsigned feedback = (crc >> 7 ^ (unsigned)(bits >> i)) & 1;
        crc = (crc << 1 & 0xff) ^ (feedback ? 7 : 0);
    }
    return crc ^ 0xff;
}

/* Its c7 is sent first, in bit 34. */
static bool checks(uint64_t bits)
{
    unsigned sent = 0;
    for (unsigned i = 0; i < 8; i++)
        sent |= (unsigned)(bits >> (34 + i) & 1) << (7 - i);
    return sent == checksum(bits);
}

struct header {
    float values[2][PENSTOCK__WIFI_CARRIERS]; /* of the two symbols as BPSK, weighted by the channel */
    float turned[2][PENSTOCK__WIFI_CARRIERS]; /* the same a quarter turned */
    float upright[2];                         /* 1: all of the power is upright BPSK, -1: turned */
};

static void look(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                 struct header *header)
{
    for (unsigned s = 0; s < 2; s++) {
        struct penstock__wifi_bins bins;
        float difference = 0, power = 0;
        penstock__wifi_symbol(tables, segment, 1 + s, &bins);
        penstock__wifi_weigh(&bins, &bins, &segment->channel);
        for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++) {
            const unsigned bin = (unsigned)penstock__wifi_data_carriers[i] & 63;
            const penstock_cf32 value = {bins.re[bin], bins.im[bin]};
            header->values[s][i] = value.re;
            header->turned[s][i] = value.im;
            difference += value.re * value.re - value.im * value.im;
            power += cf32_power(value);
        }
        header->upright[s] = power > 0 ? difference / power : 0;
    }
}

static bool try_ht(const struct penstock__wifi_tables *tables, const struct header *header,
                   struct penstock__wifi_node *node, void *viterbi)
{
    float agreement;
    if (header->upright[0] >= -0.15F || header->upright[1] >= -0.15F)
        return false;
    uint64_t bits = penstock__wifi_decode_header(tables, header->turned[0], 2, viterbi, &agreement);
    node->format = PENSTOCK_WIFI_HT;
    if (!checks(bits)) {
        snprintf(node->frame.reason, sizeof node->frame.reason,
                 "HT format not supported (checksum of HT-SIG is wrong)");
        return true;
    }
    unsigned mcs = (unsigned)(bits & 0x7f), streams = mcs < 32 ? mcs / 8 + 1 : 1;
    node->frame.sure = true;
    node->mcs = (int)mcs;
    node->length = (unsigned)(bits >> 8 & 0xffff);
    snprintf(node->frame.reason, sizeof node->frame.reason, "HT format (MCS %u, %u stream%s) not supported", mcs,
             streams, streams > 1 ? "s" : "");
    return true;
}

static bool try_vht(const struct penstock__wifi_tables *tables, const struct header *header,
                    struct penstock__wifi_node *node, void *viterbi)
{
    float values[2][PENSTOCK__WIFI_CARRIERS], agreement;
    if (header->upright[0] <= 0 || header->upright[1] >= 0 || node->length % 3)
        return false;
    memcpy(values[0], header->values[0], sizeof values[0]);
    memcpy(values[1], header->turned[1], sizeof values[1]);
    uint64_t bits = penstock__wifi_decode_header(tables, values[0], 2, viterbi, &agreement);
    bool good = checks(bits);
    unsigned group = (unsigned)(bits >> 4 & 0x3f);
    if (!good && header->upright[1] > -0.35F)
        return false;
    node->format = PENSTOCK_WIFI_VHT;
    node->frame.sure = good;
    if (!good) {
        snprintf(node->frame.reason, sizeof node->frame.reason,
                 "VHT format not supported (checksum of VHT-SIG-A is wrong)");
    } else if (group && group != 63) {
        snprintf(node->frame.reason, sizeof node->frame.reason, "VHT format (group %u) not supported", group);
    } else {
        unsigned streams = (unsigned)(bits >> 10 & 7) + 1;
        node->mcs = (int)(bits >> 28 & 15);
        snprintf(node->frame.reason, sizeof node->frame.reason, "VHT format (MCS %d, %u stream%s) not supported",
                 node->mcs, streams, streams > 1 ? "s" : "");
    }
    return true;
}

/* SIGNAL sent a second time. */
static bool try_repetition(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                           const struct header *header, struct penstock__wifi_node *node)
{
    struct penstock__wifi_bins bins;
    float both = 0, first = 0, second = 0;
    penstock__wifi_symbol(tables, segment, 0, &bins);
    penstock__wifi_weigh(&bins, &bins, &segment->channel);
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++) {
        const float value = bins.re[penstock__wifi_data_carriers[i] & 63];
        both += value * header->values[0][i];
        first += value * value;
        second += header->values[0][i] * header->values[0][i];
    }
    if (both < 0.65F * sqrtf(first * second) || node->length % 3 == 0)
        return false;
    node->format = PENSTOCK_WIFI_VHT;
    snprintf(node->frame.reason, sizeof node->frame.reason, "HE or later format not supported");
    return true;
}

unsigned penstock__wifi_later_symbols(const struct penstock__wifi_node *node)
{
    return node->rate && !node->rate->index && node->frame.symbols >= 3 ? 2 : 0;
}

void penstock__wifi_recognise(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment,
                              struct penstock__wifi_node *node, void *viterbi)
{
    struct header header;
    if (!penstock__wifi_later_symbols(node))
        return;
    look(tables, segment, &header);
    unsigned legacy_length = node->length;
    if (try_ht(tables, &header, node, viterbi) || try_vht(tables, &header, node, viterbi) ||
        try_repetition(tables, segment, &header, node)) {
        if (node->length == legacy_length)
            node->length = 0; /* it only spoofs a duration */
        node->frame.state = PENSTOCK__RX_DONE;
    }
}
