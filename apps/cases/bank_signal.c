/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Random samples of a case's filter bank, and its values by their definition. */
#include "bank_signal.h"
#include "accuracy.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static int allocate(struct bank_signal *signal)
{
    signal->in = malloc(signal->samples * penstock_format_bytes(signal->bank->format));
    signal->taps = malloc(signal->tap_count * sizeof *signal->taps);
    signal->select = malloc(signal->kept * sizeof *signal->select);
    return signal->in && signal->taps && signal->select ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int bank_signal_make(struct bank_signal *signal, const struct channelizer_case *bank, size_t samples)
{
    uint64_t seed = bank->channels;
    *signal = (struct bank_signal){.bank = bank, .samples = samples, .frames = (samples + bank->hop - 1) / bank->hop};
    signal->kept = bank->keep ? bank->keep : bank->channels;
    signal->tap_count =
        bank->depth ? bank->depth * bank->channels : penstock_channelizer_taps_length(bank->channels, bank->hop);
    int status = allocate(signal);
    if (status)
        return status;
    signal_random(signal->in, bank->format, samples, &seed);
    for (size_t c = 0; c < signal->kept; c++)
        signal->select[c] = bank->channels - 1 - c;
    return penstock_channelizer_taps(signal->taps, signal->tap_count, bank->channels, bank->hop);
}

void bank_signal_free(struct bank_signal *signal)
{
    free(signal->in);
    free(signal->taps);
    free(signal->select);
}

static size_t advance_of(const struct bank_signal *signal)
{
    return signal->bank->hop - 1 < signal->tap_count ? signal->bank->hop - 1 : 0;
}

int bank_signal_open(const struct bank_signal *signal, penstock_stream **stream, const struct case_target *target)
{
    const struct channelizer_case *bank = signal->bank;
    return penstock_channelizer_open(stream, target->context,
                                     &PENSTOCK_CHANNELIZER_DESC(.channels = bank->channels, .hop = bank->hop,
                                                                .taps = signal->taps, .tap_count = signal->tap_count,
                                                                .format = bank->format, .advance = advance_of(signal),
                                                                .select = bank->keep ? signal->select : NULL,
                                                                .select_count = bank->keep),
                                     target->device);
}

void bank_signal_value(const struct bank_signal *signal, size_t m, size_t c, double y[2])
{
    const struct channelizer_case *bank = signal->bank;
    size_t p = m * bank->hop + advance_of(signal), k = bank->keep ? signal->select[c] : c;
    y[0] = y[1] = 0;
    for (size_t l = 0; l < signal->tap_count && l <= p; l++) {
        size_t j = p - l;
        double angle = -2 * PI * (double)(j % bank->channels * k % bank->channels) / (double)bank->channels;
        double x[2], h = (double)signal->taps[l];
        if (j >= signal->samples)
            continue;
        signal_value(signal->in, bank->format, j, signal->samples, x);
        y[0] += h * (x[0] * cos(angle) - x[1] * sin(angle));
        y[1] += h * (x[0] * sin(angle) + x[1] * cos(angle));
    }
}

double bank_signal_bound(const struct bank_signal *signal, const struct case_target *target)
{
    const double channels = (double)signal->bank->channels, depth = (double)signal->tap_count / channels;
    return 1e-7 * (sqrt(log2(channels)) + sqrt(depth) / 4) * accuracy_factor(target->device, signal->bank->channels);
}
