/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* 802.11a/g's code (IEEE 802.11-2020 clause 17.3.5), for devices that decode it. */
#include "fec/interleaver.h"
#include "rx/wifi/receiver.h"

#include <string.h>

#define SOFT_BITS 6 /* that a carrier has room for, of all rates */

static void fill_rate(unsigned index, int32_t *row)
{
    const struct penstock__wifi_rate *rate = &penstock__wifi_rates[index];
    const unsigned bits = (unsigned)rate->constellation;
    struct penstock__wifi_soft_map map;
    penstock__wifi_soft_map_init(&map, rate);
    row[PENSTOCK__CODED_STEPS] = rate->data_bits;
    row[PENSTOCK__CODED_BITS] = (int32_t)bits;
    for (unsigned i = 0; i < rate->coded_bits; i++)
        row[PENSTOCK__CODED_MAP + map.place[i]] = (int32_t)(i / bits * SOFT_BITS + i % bits);
}

static void describe(const struct penstock__rx_frame *frame, unsigned *rate, size_t *steps)
{
    const struct penstock__wifi_node *node = (const struct penstock__wifi_node *)(const void *)frame;
    *rate = node->rate->index;
    *steps = penstock__wifi_steps(node->length);
}

static void finish(void *own, struct penstock__rx_frame *frame, const uint8_t *bits, uint64_t wrong, double error)
{
    struct penstock__wifi_worker *worker = own;
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    memcpy(worker->packed, bits, PENSTOCK__WIFI_SERVICE / 8 + node->length);
    penstock__wifi_complete(worker, node, wrong, error);
}

const struct penstock__rx_code penstock__wifi_code = {
    .generators = {0133, 0171},
    .constraint = 7,
    .rates = PENSTOCK__WIFI_RATES,
    .most_steps = 216,
    .most_bits = PENSTOCK__WIFI_SERVICE + 8 * PENSTOCK__WIFI_MAX_LENGTH,
    .rate = fill_rate,
    .frame = describe,
    .finish = finish,
};
