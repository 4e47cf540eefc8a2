/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The SIGNAL field: one BPSK symbol with rate 1/2. Once it is read it serves as a third training symbol for the channel
 * and, 112 samples after the middle of the long symbols, for the carrier offset.
 */
#include "rx/wifi/receiver.h"

#include "fec/viterbi.h"

#include <stdio.h>

#define DISTANCE      112         /* samples from the long symbols' middle to SIGNAL's */
#define SIGNAL_WEIGHT 0.2         /* of its phase against that of the training fields' comparison, by their variances */
#define ROUNDER       12582912.0F /* added and subtracted, it rounds to an integer */
#define MIN_AGREEMENT 0.45F /* random soft bits reach 0.6, but they rarely have parity, rate, reserved and tail too */

uint64_t penstock__wifi_decode_header(const struct penstock__wifi_tables *tables, const float *values, unsigned symbols,
                                      void *viterbi, float *agreement)
{
    int8_t demapped[PENSTOCK__WIFI_CARRIERS], soft[2 * PENSTOCK__WIFI_CARRIERS] = {0};
    uint8_t packed[6], coded[2 * PENSTOCK__WIFI_CARRIERS];
    unsigned count = symbols * PENSTOCK__WIFI_CARRIERS;
    float mean = 0, agreed = 0;
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        mean += fabsf(values[i]);
    const float scale = mean > 0 ? -32 * (float)count / mean : 0;
    for (unsigned s = 0; s < symbols; s++) {
        for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++) {
            /* Positive: bit 0, which is sent as -1. */
            float scaled = values[s * PENSTOCK__WIFI_CARRIERS + i] * scale;
            scaled = scaled > -127 ? scaled : -127;
            scaled = scaled < 127 ? scaled : 127;
            demapped[i] = (int8_t)((scaled + ROUNDER) - ROUNDER);
        }
        penstock__wifi_soft_map_apply(&tables->soft_maps[0], soft + s * PENSTOCK__WIFI_CARRIERS, demapped, 1);
    }
    penstock__viterbi_decode(packed, soft, count / 2, PENSTOCK__TRELLIS_ZERO, viterbi);
    penstock__convolutional_encode(coded, packed, count / 2, PENSTOCK__CODE_1_2);
    for (unsigned i = 0; i < count; i++)
        agreed += (float)(coded[i] ? -soft[i] : soft[i]);
    *agreement = agreed / (32 * (float)count);
    for (unsigned i = 0; i < count / 16; i++)
        bits |= (uint64_t)packed[i] << (8 * i);
    return bits;
}

/* Channel and offset again, with the symbol as it must have been sent. */
static void learn(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                  const penstock_cf32 *bins, uint32_t bits)
{
    uint8_t packed[3] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)}, coded[48];
    penstock_cf32 seen[PENSTOCK__WIFI_FFT] = {{0, 0}}, sum = {0, 0};
    penstock__convolutional_encode(coded, packed, 24, PENSTOCK__CODE_1_2);
    for (unsigned i = 0; i < 48; i++) {
        unsigned bin = (unsigned)penstock__wifi_data_carriers[i] & 63;
        seen[bin] = cf32_scale(bins[bin], coded[tables->soft_maps[0].place[i]] ? 1 : -1);
    }
    for (unsigned i = 0; i < PENSTOCK__WIFI_PILOTS; i++) {
        unsigned bin = (unsigned)penstock__wifi_pilot_carriers[i] & 63;
        seen[bin] = cf32_scale(bins[bin], penstock__wifi_pilot_values[i]);
    }
    for (unsigned i = 0; i < USED_CARRIERS; i++) {
        unsigned bin = (unsigned)tables->used[i] & 63;
        sum = cf32_add(sum, cf32_mul_conj(seen[bin], segment->channel[bin]));
    }
    double turns = (double)cf32_angle(sum) / TWO_PI, offset = SIGNAL_WEIGHT * turns / DISTANCE;
    penstock_cf32 back = cf32_turn(-turns);
    /* The rotation's phase is zero at sample 0 of the segment; the estimate stays what it is at the symbols' middle. */
    penstock_cf32 keep = cf32_turn(-offset * (double)(segment->first + PENSTOCK__WIFI_FFT));
    for (unsigned i = 0; i < USED_CARRIERS; i++) {
        unsigned bin = (unsigned)tables->used[i] & 63;
        penstock_cf32 three = cf32_add(cf32_scale(segment->least_squares[bin], 2), cf32_mul(seen[bin], back));
        segment->least_squares[bin] = cf32_mul(cf32_scale(three, 1 / 3.0F), keep);
    }
    segment->cfo += offset;
    penstock__wifi_smooth(tables, segment, segment->noise / 3);
}

static void refuse(struct penstock__wifi_node *node, const char *reason)
{
    node->format = PENSTOCK_WIFI_UNKNOWN;
    node->rate = NULL;
    node->length = 0;
    node->frame.state = PENSTOCK__RX_DONE;
    node->frame.end = node->frame.start + PENSTOCK__WIFI_PREAMBLE + PENSTOCK__WIFI_SYMBOL;
    snprintf(node->frame.reason, sizeof node->frame.reason, "%s", reason);
}

void penstock__wifi_signal(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                           struct penstock__wifi_node *node, void *viterbi)
{
    penstock_cf32 bins[PENSTOCK__WIFI_FFT];
    float values[PENSTOCK__WIFI_CARRIERS], agreement;
    struct penstock__wifi_signal signal;
    penstock__wifi_symbol(tables, segment, 0, bins);
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++) {
        unsigned bin = (unsigned)penstock__wifi_data_carriers[i] & 63;
        values[i] = cf32_mul_conj(bins[bin], segment->channel[bin]).re;
    }
    uint32_t bits = (uint32_t)penstock__wifi_decode_header(tables, values, 1, viterbi, &agreement);
    switch (penstock__wifi_signal_decode(&signal, bits)) {
    case PENSTOCK__SIGNAL_PARITY:
        refuse(node, "SIGNAL parity");
        return;
    case PENSTOCK__SIGNAL_RATE:
        refuse(node, "SIGNAL names no rate of clause 17");
        return;
    case PENSTOCK__SIGNAL_TAIL:
        refuse(node, "SIGNAL tail bits");
        return;
    case PENSTOCK__SIGNAL_OK:
        break;
    }
    if (signal.reserved || !signal.length || agreement < MIN_AGREEMENT) {
        refuse(node, signal.reserved  ? "SIGNAL reserved bit"
                     : !signal.length ? "SIGNAL length is zero"
                                      : "SIGNAL too weak");
        return;
    }
    learn(tables, segment, bins, bits);
    node->format = PENSTOCK_WIFI_LEGACY;
    node->rate = signal.rate;
    node->length = signal.length;
    node->frame.symbols = (unsigned)penstock__wifi_symbols(signal.rate, signal.length);
    node->frame.end =
        node->frame.start + PENSTOCK__WIFI_PREAMBLE + (int64_t)PENSTOCK__WIFI_SYMBOL * (1 + node->frame.symbols);
}
