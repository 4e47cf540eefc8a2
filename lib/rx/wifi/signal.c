/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The SIGNAL field: one BPSK symbol with rate 1/2. Once it is read it serves as a third training symbol for the channel
 * and, 112 samples after the middle of the long symbols, for the carrier offset.
 */
#include "rx/wifi/receiver.h"

#include "fec/viterbi.h"
#include "rx/wifi/lanes.h"

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
    const unsigned count = symbols * PENSTOCK__WIFI_CARRIERS;
    float sizes[LANES] = {0};
    lanes size_of;
    int agreed = 0;
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        sizes[i % LANES] += fabsf(values[i]);
    lanes_load(&size_of, sizes);
    const float size = lanes_add(&size_of), scale = size > 0 ? -32 * (float)count / size : 0;
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
        agreed += coded[i] ? -soft[i] : soft[i];
    *agreement = (float)agreed / (32 * (float)count);
    for (unsigned i = 0; i < count / 16; i++)
        bits |= (uint64_t)packed[i] << (8 * i);
    return bits;
}

/* What the symbol must have been sent as. */
static void fill_sent(const struct penstock__wifi_tables *tables, float *sent, uint32_t bits)
{
    const uint8_t packed[3] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)};
    uint8_t coded[PENSTOCK__WIFI_CARRIERS];
    penstock__convolutional_encode(coded, packed, PENSTOCK__WIFI_CARRIERS / 2, PENSTOCK__CODE_1_2);
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++)
        sent[penstock__wifi_data_carriers[i] & 63] = (float)(2 * coded[tables->soft_maps[0].place[i]] - 1);
    for (unsigned i = 0; i < PENSTOCK__WIFI_PILOTS; i++)
        sent[penstock__wifi_pilot_carriers[i] & 63] = penstock__wifi_pilot_values[i];
}

/* Channel and offset again, with the symbol as it must have been sent. */
static void learn(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                  const struct penstock__wifi_bins *bins, const struct penstock__wifi_bins *weighted, uint32_t bits)
{
    float sent[PENSTOCK__WIFI_FFT] = {0};
    lanes sum_re = {0}, sum_im = {0};
    fill_sent(tables, sent, bits);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += LANES) {
        lanes re, im, sign;
        lanes_load_parts(&re, &im, weighted->re + k, weighted->im + k);
        lanes_load(&sign, sent + k);
        sum_re += re * sign;
        sum_im += im * sign;
    }
    const penstock_cf32 sum = {lanes_add(&sum_re), lanes_add(&sum_im)};
    const double turns = (double)cf32_angle(sum) / TWO_PI, offset = SIGNAL_WEIGHT * turns / DISTANCE;
    /* The rotation's phase is zero at sample 0 of the segment; the estimate stays what it is at the symbols' middle. */
    const penstock_cf32 keep = cf32_turn(-offset * (double)(segment->first + PENSTOCK__WIFI_FFT)),
                        two = cf32_scale(keep, 2 / 3.0F), one = cf32_scale(cf32_mul(cf32_turn(-turns), keep), 1 / 3.0F);
    float *ls_re = segment->least_squares.re, *ls_im = segment->least_squares.im;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++) {
        const float seen_re = bins->re[k] * sent[k], seen_im = bins->im[k] * sent[k], was_re = ls_re[k],
                    was_im = ls_im[k];
        ls_re[k] = (was_re * two.re - was_im * two.im) + (seen_re * one.re - seen_im * one.im);
        ls_im[k] = (was_re * two.im + was_im * two.re) + (seen_re * one.im + seen_im * one.re);
    }
    segment->correction.cfo += offset;
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
    struct penstock__wifi_bins bins, weighted;
    float values[PENSTOCK__WIFI_CARRIERS], agreement;
    struct penstock__wifi_signal signal;
    penstock__wifi_symbol(tables, segment, 0, &bins);
    penstock__wifi_weigh(&weighted, &bins, &segment->channel);
    for (unsigned i = 0; i < PENSTOCK__WIFI_CARRIERS; i++)
        values[i] = weighted.re[penstock__wifi_data_carriers[i] & 63];
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
    learn(tables, segment, &bins, &weighted, bits);
    node->format = PENSTOCK_WIFI_LEGACY;
    node->rate = signal.rate;
    node->length = signal.length;
    node->frame.symbols = (unsigned)penstock__wifi_symbols(signal.rate, signal.length);
    node->frame.end =
        node->frame.start + PENSTOCK__WIFI_PREAMBLE + (int64_t)PENSTOCK__WIFI_SYMBOL * (1 + node->frame.symbols);
}
