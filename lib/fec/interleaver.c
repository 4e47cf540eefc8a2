/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Both permutations of clause 17.3.5.7, and the receiver's table that undoes them and the puncturing in one go. */
#include "fec/interleaver.h"

#include <string.h>

void penstock__wifi_interleaver(uint16_t *place, const struct penstock__wifi_rate *rate)
{
    unsigned n = rate->coded_bits;
    unsigned s = rate->constellation > 2 ? (unsigned)rate->constellation / 2 : 1;
    for (unsigned k = 0; k < n; k++) {
        unsigned i = n / 16 * (k % 16) + k / 16;             /* equation 17-19 */
        unsigned j = s * (i / s) + (i + n - 16 * i / n) % s; /* equation 17-20 */
        place[k] = (uint16_t)j;
    }
}

void penstock__wifi_soft_map_init(struct penstock__wifi_soft_map *map, const struct penstock__wifi_rate *rate)
{
    uint16_t sent[PENSTOCK__WIFI_MAX_CODED];
    *map = (struct penstock__wifi_soft_map){
        .bits_per_carrier = rate->constellation,
        .soft_count = 2u * rate->data_bits,
    };
    penstock__wifi_interleaver(sent, rate);
    for (unsigned k = 0; k < rate->coded_bits; k++)
        map->place[sent[k]] = (uint16_t)penstock__puncture_place(rate->code_rate, k);
}

void penstock__wifi_soft_map_apply(const struct penstock__wifi_soft_map *map, int8_t *soft, const int8_t *demapped,
                                   size_t pitch)
{
    const uint16_t *place = map->place;
    memset(soft, 0, map->soft_count);
    for (unsigned carrier = 0; carrier < PENSTOCK__WIFI_CARRIERS; carrier++) {
        for (unsigned bit = 0; bit < map->bits_per_carrier; bit++)
            soft[*place++] = demapped[bit];
        demapped += pitch;
    }
}
