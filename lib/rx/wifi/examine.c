/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From a candidate of the detector to a frame whose data can be decoded, or that is known not to be decodable. */
#include "rx/wifi/receiver.h"

#include <string.h>

#define SHORT_TO_LONG 192 /* samples from the start of the short training field to the first long symbol */
#define MIN_SNR_DB    -3  /* two long symbols that differ by more than this are none; nothing could be decoded */

static double snr(const struct penstock__wifi_tables *tables, const struct penstock__wifi_segment *segment)
{
    double power = 0;
    for (unsigned i = 0; i < USED_CARRIERS; i++)
        power += (double)cf32_power(segment->least_squares[tables->used[i] & 63]) - (double)segment->noise / 2;
    power /= PENSTOCK__WIFI_FFT * (double)segment->noise; /* in the whole bandwidth, as the noise is */
    return 10 * log10(power > 1e-3 ? power : 1e-3);
}

bool penstock__wifi_examine(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                            const struct penstock__wifi_candidate *candidate, const penstock_cf32 *samples,
                            struct penstock__wifi_node *node, void *viterbi)
{
    memset(node, 0, sizeof *node);
    if (!penstock__wifi_synchronise(tables, segment, candidate, samples))
        return false;
    node->snr_db = snr(tables, segment);
    if (!(node->snr_db >= MIN_SNR_DB && node->snr_db < 300)) /* not with NaN either */
        return false;
    node->mcs = -1;
    node->evm_db = node->raw_ber = NAN;
    node->reference = segment->base + (int64_t)segment->first;
    node->start = node->reference - SHORT_TO_LONG;
    penstock__wifi_signal(tables, segment, node, viterbi);
    penstock__wifi_recognise(tables, segment, node, viterbi);
    node->mean = segment->mean;
    node->scale = segment->scale;
    node->cfo = node->tracked_cfo = segment->cfo;
    node->noise = segment->noise;
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        node->channel[k] = cf32_mul(segment->channel[k], cf32_turn(segment->cfo * (double)segment->first));
    return true;
}
