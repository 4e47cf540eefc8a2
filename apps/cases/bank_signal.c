/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What goes into a case's filter bank, at random, and its values by their definition. */
#include "bank_signal.h"
#include "accuracy.h"
#include "bank_words.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- what goes in ---------------- */

/* With the advance of the analysis, R - 1, and `tail`, F frames give F R samples. */
static void count_items(struct bank_signal *signal, size_t samples)
{
    const struct channelizer_case *bank = signal->bank;
    signal->frames = (samples + bank->hop - 1) / bank->hop;
    signal->kept = bank->keep ? bank->keep : bank->channels;
    signal->tap_count = bank_tap_count(bank);
    signal->samples = bank->synthesis ? signal->frames * bank->hop : samples;
    signal->in_items = bank->synthesis ? signal->frames : signal->samples;
    signal->out_items = bank->synthesis ? signal->samples : signal->frames;
    signal->in_bytes = bank->synthesis ? signal->kept * sizeof(penstock_cf32) : penstock_format_bytes(bank->format);
    signal->out_bytes = (bank->synthesis ? 1 : signal->kept) * sizeof(penstock_cf32);
}

static int allocate(struct bank_signal *signal)
{
    signal->in = malloc(signal->in_items * signal->in_bytes);
    signal->taps = malloc(signal->tap_count * sizeof *signal->taps);
    signal->select = malloc(signal->kept * sizeof *signal->select);
    return signal->in && signal->taps && signal->select ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* The usual prototype, of the depth that is asked for; or what undoes it, as a synthesis bank has where none is. */
static int make_taps(struct bank_signal *signal)
{
    const struct channelizer_case *bank = signal->bank;
    const size_t count = signal->tap_count;
    int status = penstock_channelizer_taps(signal->taps, count, bank->channels, bank->hop);
    if (status || !bank->synthesis || bank->depth)
        return status;
    float *dual = malloc(count * sizeof *dual);
    if (!dual)
        return PENSTOCK_ERR_MEMORY;
    status = penstock_channelizer_dual(dual, count, signal->taps, count, bank->channels, bank->hop, count - 1, NULL);
    free(signal->taps);
    signal->taps = dual;
    return status;
}

int bank_signal_make(struct bank_signal *signal, const struct channelizer_case *bank, size_t samples)
{
    uint64_t seed = bank->channels;
    *signal = (struct bank_signal){.bank = bank};
    count_items(signal, samples);
    int status = allocate(signal);
    if (status)
        return status;
    signal_random(signal->in, bank->format, signal->in_items * signal->in_bytes / penstock_format_bytes(bank->format),
                  &seed);
    for (size_t c = 0; c < signal->kept; c++)
        signal->select[c] = bank->channels - 1 - c;
    return make_taps(signal);
}

void bank_signal_free(struct bank_signal *signal)
{
    free(signal->in);
    free(signal->taps);
    free(signal->select);
}

/* ---------------------------------------------------------------- the stream ------------------ */

static size_t advance_of(const struct bank_signal *signal)
{
    return signal->bank->hop - 1;
}

int bank_signal_open(const struct bank_signal *signal, penstock_stream **stream, const struct case_target *target)
{
    const struct channelizer_case *bank = signal->bank;
    const size_t *select = bank->keep ? signal->select : NULL, count = signal->tap_count, advance = advance_of(signal);
    if (!bank->synthesis)
        return penstock_channelizer_open(stream, target->context,
                                         &PENSTOCK_CHANNELIZER_DESC(.channels = bank->channels, .hop = bank->hop,
                                                                    .taps = signal->taps, .tap_count = count,
                                                                    .format = bank->format, .advance = advance,
                                                                    .select = select, .select_count = bank->keep),
                                         target->device);
    return penstock_synthesizer_open(
        stream, target->context,
        &PENSTOCK_SYNTHESIZER_DESC(.channels = bank->channels, .hop = bank->hop,
                                   .taps = bank->depth ? signal->taps : NULL, .tap_count = bank->depth ? count : 0,
                                   .delay = count - 1, .advance = advance, .select = select, .select_count = bank->keep,
                                   .tail = true),
        target->device);
}

/* ---------------------------------------------------------------- the definition -------------- */

/* x h exp(2 pi i turns / M), added to y. */
static void add_turned(double y[2], const double x[2], double h, size_t turns, size_t channels)
{
    const double angle = 2 * PI * (double)(turns % channels) / (double)channels;
    y[0] += h * (x[0] * cos(angle) - x[1] * sin(angle));
    y[1] += h * (x[0] * sin(angle) + x[1] * cos(angle));
}

static size_t channel_of(const struct bank_signal *signal, size_t c)
{
    return signal->bank->keep ? signal->select[c] : c;
}

/* Of the samples p - l in reach. */
static void analyse(const struct bank_signal *signal, size_t m, size_t c, double y[2])
{
    const struct channelizer_case *bank = signal->bank;
    const size_t p = m * bank->hop + advance_of(signal), back = bank->channels - channel_of(signal, c);
    for (size_t l = 0; l < signal->tap_count && l <= p; l++) {
        const size_t j = p - l;
        double x[2];
        if (j >= signal->samples)
            continue;
        signal_value(signal->in, bank->format, j, signal->samples, x);
        add_turned(y, x, (double)signal->taps[l], j % bank->channels * back, bank->channels);
    }
}

/* Of the frames in reach, each transformed back: the samples of frame m begin m hops after q = 0. */
static void synthesize(const struct bank_signal *signal, size_t n, double s[2])
{
    const struct channelizer_case *bank = signal->bank;
    const size_t q = n + signal->tap_count - 1 - advance_of(signal);
    for (size_t m = 0; m < signal->frames && m * bank->hop <= q; m++) {
        const size_t l = q - m * bank->hop;
        for (size_t c = 0; c < signal->kept && l < signal->tap_count; c++) {
            double y[2];
            signal_value(signal->in, bank->format, bank->streams ? c * signal->frames + m : m * signal->kept + c, 0, y);
            add_turned(s, y, (double)signal->taps[l], n % bank->channels * channel_of(signal, c), bank->channels);
        }
    }
}

void bank_signal_value(const struct bank_signal *signal, size_t m, size_t c, double y[2])
{
    y[0] = y[1] = 0;
    if (signal->bank->synthesis)
        synthesize(signal, m, y);
    else
        analyse(signal, m, c, y);
}

size_t bank_signal_products(const struct bank_signal *signal)
{
    return signal->bank->synthesis ? (signal->tap_count / signal->bank->hop + 1) * signal->kept : signal->tap_count;
}

double bank_signal_bound(const struct bank_signal *signal, const struct case_target *target)
{
    const struct channelizer_case *bank = signal->bank;
    const double terms = (double)signal->tap_count / (double)(bank->synthesis ? bank->hop : bank->channels);
    return 1e-7 * (sqrt(log2((double)bank->channels)) + sqrt(terms) / 4) *
           accuracy_factor(target->device, bank->channels);
}
