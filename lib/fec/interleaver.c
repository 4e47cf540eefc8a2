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

/* `bits` is constant in every call, so that the compiler writes the carrier's bits out. */
static inline __attribute__((always_inline)) void put(const uint16_t *place, int8_t *soft, const int8_t *demapped,
                                                      size_t pitch, unsigned bits)
{
    for (unsigned carrier = 0; carrier < PENSTOCK__WIFI_CARRIERS; carrier++, place += bits, demapped += pitch)
        for (unsigned bit = 0; bit < bits; bit++)
            soft[place[bit]] = demapped[bit];
}

void penstock__wifi_soft_map_apply(const struct penstock__wifi_soft_map *map, int8_t *soft, const int8_t *demapped,
                                   size_t pitch)
{
    memset(soft, 0, map->soft_count);
    switch (map->bits_per_carrier) {
    case 1:
        put(map->place, soft, demapped, pitch, 1);
        break;
    case 2:
        put(map->place, soft, demapped, pitch, 2);
        break;
    case 4:
        put(map->place, soft, demapped, pitch, 4);
        break;
    default:
        put(map->place, soft, demapped, pitch, 6);
        break;
    }
}
