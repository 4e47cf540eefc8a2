/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The interleaver of one OFDM symbol, IEEE 802.11-2020 clause 17.3.5.7, alone and joined with the puncturing. */
#ifndef PENSTOCK_FEC_INTERLEAVER_H
#define PENSTOCK_FEC_INTERLEAVER_H

#include "fec/wifi_rates.h"

/* place[k], for 0 <= k < coded_bits: where coded bit k goes, counted in bits sent: carrier * bits a carrier + bit. */
void penstock__wifi_interleaver(uint16_t *place, const struct penstock__wifi_rate *rate);

/* From a symbol's demapped soft bits straight to the decoder's input. */
struct penstock__wifi_soft_map {
    unsigned bits_per_carrier;
    unsigned soft_count;                      /* soft bits that a symbol gives the decoder, 2 * data_bits */
    uint16_t place[PENSTOCK__WIFI_MAX_CODED]; /* of each bit sent, among them */
};

void penstock__wifi_soft_map_init(struct penstock__wifi_soft_map *map, const struct penstock__wifi_rate *rate);

/* `soft`: map->soft_count values, of which the punctured become 0. `demapped`: bit b of carrier c is at c * pitch + b.
 */
void penstock__wifi_soft_map_apply(const struct penstock__wifi_soft_map *map, int8_t *soft, const int8_t *demapped,
                                   size_t pitch);

#endif
