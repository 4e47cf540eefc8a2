/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From a candidate of the detector to a frame whose data can be decoded, or that is known not to be decodable. */
#include "rx/wifi/receiver.h"

#define MIN_SNR_DB -3 /* two long symbols that differ by more than this are none; nothing could be decoded */

static double snr(const struct penstock__wifi_segment *segment)
{
    const float *re = segment->least_squares.re, *im = segment->least_squares.im;
    float powers[8] = {0};
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k += 8)
        for (unsigned i = 0; i < 8; i++)
            powers[i] += re[k + i] * re[k + i] + im[k + i] * im[k + i];
    double power = -USED_CARRIERS * (double)segment->noise / 2;
    for (unsigned i = 0; i < 8; i++)
        power += (double)powers[i];
    power /= PENSTOCK__WIFI_FFT * (double)segment->noise; /* in the whole bandwidth, as the noise is */
    return 10 * log10(power > 1e-3 ? power : 1e-3);
}

/* SIGNAL and what follows it; whether all of that is before `end`. */
static bool read_header(const struct penstock__wifi_tables *tables, struct penstock__wifi_segment *segment,
                        struct penstock__rx_candidate *candidate, int64_t end, struct penstock__wifi_node *node,
                        void *viterbi)
{
    candidate->until = node->frame.reference + SIGNAL_END;
    if (candidate->until > end)
        return false;
    penstock__wifi_signal(tables, segment, node, viterbi);
    const size_t later = (size_t)PENSTOCK__WIFI_SYMBOL * penstock__wifi_later_symbols(node);
    const size_t signal_end = segment->first + SIGNAL_END;
    candidate->until += (int64_t)later;
    if (candidate->until > end)
        return false;
    if (later) {
        penstock__wifi_turn(segment, signal_end, signal_end + later);
        penstock__wifi_rotate(segment, signal_end, signal_end + later);
    }
    penstock__wifi_recognise(tables, segment, node, viterbi);
    return true;
}

enum penstock__rx_finding penstock__wifi_examine(const struct penstock__rx *rx, void *worker,
                                                 struct penstock__rx_candidate *candidate, const penstock_cf32 *samples,
                                                 int64_t end, struct penstock__rx_frame *frame)
{
    const struct penstock__wifi_tables *tables = &penstock__wifi_of(rx)->tables;
    struct penstock__wifi_worker *own = worker;
    struct penstock__wifi_segment *segment = &own->segment;
    struct penstock__wifi_node *node = penstock__wifi_node(frame);
    if (!penstock__wifi_synchronise(tables, segment, candidate->position, samples))
        return PENSTOCK__RX_NOTHING;
    node->snr_db = snr(segment);
    if (!(node->snr_db >= MIN_SNR_DB && node->snr_db < 300)) /* not with NaN either */
        return PENSTOCK__RX_NOTHING;
    node->mcs = -1;
    node->evm_db = node->raw_ber = (double)NAN;
    frame->reference = segment->base + (int64_t)segment->first;
    frame->start = frame->reference - SHORT_TO_LONG;
    if (!read_header(tables, segment, candidate, end, node, own->viterbi))
        return PENSTOCK__RX_LATER;
    frame->headed = node->rate != NULL;
    frame->unsupported = node->format == PENSTOCK_WIFI_HT || node->format == PENSTOCK_WIFI_VHT;
    frame->until = frame->end - WINDOW_OFFSET;
    frame->mean = segment->correction.mean;
    frame->scale = segment->correction.scale;
    frame->ofdm.cfo = node->tracked_cfo = segment->correction.cfo;
    frame->ofdm.noise = segment->noise;
    const penstock_cf32 turn = cf32_turn(segment->correction.cfo * (double)segment->first);
    for (unsigned k = 0; k < PENSTOCK__WIFI_FFT; k++)
        node->channel[k] = cf32_mul((penstock_cf32){segment->channel.re[k], segment->channel.im[k]}, turn);
    return PENSTOCK__RX_FRAME;
}
