/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A frame as IEEE 802.11-2020 clause 17.3.2 builds it: training fields, SIGNAL, DATA symbols, each a spectrum, an
 * inverse DFT, a guard interval and soft edges of one sample (17.3.2.5), which is the window of annex I's example.
 */
#include "backends/backend.h"
#include "core/base/description.h"
#include "fec/interleaver.h"
#include "fec/scrambler.h"
#include "tx/wifi_training.h"

#include <penstock/wifi.h>

#include <math.h>
#include <string.h>

#define FFT          PENSTOCK__WIFI_FFT
#define DEFAULT_SEED 93 /* 1011101 in annex I */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "wifi transmit: " __VA_ARGS__)

/* ---------------------------------------------------------------- description ----------------- */

/* `*desc` becomes the caller's description with its defaults filled in, `*rate` its rate. */
static int read_description(penstock_wifi_transmit_desc *desc, const struct penstock__wifi_rate **rate,
                            const penstock_wifi_transmit_desc *from, size_t length)
{
    double clock;
    int status = penstock__description_read(desc, sizeof *desc, from, "penstock_wifi_transmit_desc");
    if (status)
        return status;
    if (!(clock = penstock_wifi_rate_hz(desc->profile) / 20e6))
        return bad("profile %d is none of PENSTOCK_WIFI, PENSTOCK_WIFI_10MHZ, PENSTOCK_WIFI_5MHZ", (int)desc->profile);
    *rate = desc->mbps == 0 ? &penstock__wifi_rates[0] : penstock__wifi_rate_by_mbps(desc->mbps / clock);
    if (!*rate)
        return bad("%g Mb/s is none of 6, 9, 12, 18, 24, 36, 48, 54 (half of it at 10 MHz, a quarter at 5 MHz)",
                   desc->mbps);
    if (desc->scrambler_seed > 127)
        return bad("scrambler seed %u is not in 1 .. 127", desc->scrambler_seed);
    if (!desc->scrambler_seed)
        desc->scrambler_seed = DEFAULT_SEED;
    if (length < 1 || length > PENSTOCK_WIFI_MAX_PSDU)
        return bad("a PSDU of %zu bytes is not in 1 .. %d", length, PENSTOCK_WIFI_MAX_PSDU);
    return PENSTOCK_OK;
}

static size_t frame_samples(const struct penstock__wifi_rate *rate, size_t length)
{
    return PENSTOCK__WIFI_PREAMBLE + PENSTOCK__WIFI_SYMBOL * (1 + penstock__wifi_symbols(rate, length)) + 1;
}

size_t penstock_wifi_frame_samples(const penstock_wifi_transmit_desc *desc, size_t length)
{
    penstock_wifi_transmit_desc own;
    const struct penstock__wifi_rate *rate = NULL;
    return read_description(&own, &rate, desc, length) ? 0 : frame_samples(rate, length);
}

/* ---------------------------------------------------------------- bits ------------------------ */

/* SERVICE, PSDU, tail and pad bits, scrambled, with the tail zero again (17.3.5.3). `packed` is all zero before. */
static void fill_data_bits(uint8_t *packed, size_t bytes, const uint8_t *psdu, size_t length, unsigned seed)
{
    size_t tail = PENSTOCK__WIFI_SERVICE / 8 + length;
    memcpy(packed + PENSTOCK__WIFI_SERVICE / 8, psdu, length);
    penstock__scramble(packed, bytes, seed);
    packed[tail] &= (uint8_t) ~((1u << PENSTOCK__WIFI_TAIL) - 1);
}

/* The amplitude that `count` Gray-coded bits choose, the first one most significant: -(2^count - 1) .. 2^count - 1. */
static int level(const uint8_t *bits, unsigned count)
{
    unsigned binary = 0, previous = 0;
    for (unsigned i = 0; i < count; i++) {
        previous ^= bits[i];
        binary = 2 * binary | previous;
    }
    return (int)(2 * binary) - (int)(1u << count) + 1;
}

/* One point of mean power one (17.3.5.8). */
static penstock_cf32 point(const uint8_t *bits, penstock_constellation constellation)
{
    unsigned half = (unsigned)constellation / 2;
    double scale;
    if (constellation == PENSTOCK_BPSK)
        return (penstock_cf32){(float)level(bits, 1), 0};
    scale = sqrt(1.5 / ((1u << constellation) - 1));
    return (penstock_cf32){(float)(scale * level(bits, half)), (float)(scale * level(bits + half, half))};
}

/* ---------------------------------------------------------------- symbols --------------------- */

struct modulator {
    struct penstock_dft_plan *idft;
    void *scratch;
    uint8_t *packed; /* data bits */
    uint8_t *coded;
    penstock_cf32 *samples; /* where the next field begins */
};

static void free_modulator(struct modulator *m)
{
    penstock__dft_plan_free(m->idft);
    penstock__free(m->scratch);
    penstock__free(m->packed);
    penstock__free(m->coded);
}

/* Adds a field of `count` samples (and half of one more) that repeats one transform of `spectrum` and starts `guard`
 * samples before its beginning. Neighbouring fields share the sample on their border, half of each. */
static void add_field(struct modulator *m, const penstock_cf32 spectrum[FFT], size_t guard, size_t count)
{
    double x[2 * FFT], scale = 1 / sqrt(PENSTOCK__WIFI_CARRIERS + PENSTOCK__WIFI_PILOTS);
    for (size_t k = 0; k < FFT; k++) {
        x[2 * k] = spectrum[k].re;
        x[2 * k + 1] = spectrum[k].im;
    }
    penstock__dft_plan_run(m->idft, x, m->scratch);
    for (size_t i = 0; i <= count; i++) {
        size_t n = (i + FFT - guard) % FFT;
        double edge = i == 0 || i == count ? scale / 2 : scale;
        m->samples[i].re += (float)(edge * x[2 * n]);
        m->samples[i].im += (float)(edge * x[2 * n + 1]);
    }
    m->samples += count;
}

/* OFDM symbol `index` (0: SIGNAL) from its rate->coded_bits coded bits. */
static void add_symbol(struct modulator *m, const struct penstock__wifi_rate *rate, const uint16_t *place,
                       const uint8_t *coded, size_t index)
{
    penstock_cf32 spectrum[FFT] = {{0, 0}};
    uint8_t sent[PENSTOCK__WIFI_MAX_CODED];
    float polarity = penstock__wifi_pilot_polarity[index % 127];
    for (size_t k = 0; k < rate->coded_bits; k++)
        sent[place[k]] = coded[k];
    for (size_t c = 0; c < PENSTOCK__WIFI_CARRIERS; c++)
        spectrum[penstock__wifi_data_carriers[c] & (FFT - 1)] =
            point(sent + c * (size_t)rate->constellation, rate->constellation);
    for (size_t p = 0; p < PENSTOCK__WIFI_PILOTS; p++)
        spectrum[penstock__wifi_pilot_carriers[p] & (FFT - 1)].re = polarity * penstock__wifi_pilot_values[p];
    add_field(m, spectrum, PENSTOCK__WIFI_GUARD, PENSTOCK__WIFI_SYMBOL);
}

static void add_preamble(struct modulator *m)
{
    add_field(m, penstock__wifi_short_training, 0, PENSTOCK__WIFI_SHORT_FIELD);
    add_field(m, penstock__wifi_long_training, 2 * PENSTOCK__WIFI_GUARD, PENSTOCK__WIFI_LONG_FIELD);
}

static void add_signal(struct modulator *m, const struct penstock__wifi_rate *rate, size_t length)
{
    const struct penstock__wifi_rate *slowest = &penstock__wifi_rates[0];
    uint32_t bits = penstock__wifi_signal_encode(rate, (unsigned)length);
    uint8_t packed[3] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)}, coded[48];
    uint16_t place[48];
    penstock__wifi_interleaver(place, slowest);
    penstock__convolutional_encode(coded, packed, slowest->data_bits, slowest->code_rate);
    add_symbol(m, slowest, place, coded, 0);
}

static void add_data(struct modulator *m, const struct penstock__wifi_rate *rate, size_t symbols)
{
    uint16_t place[PENSTOCK__WIFI_MAX_CODED];
    penstock__wifi_interleaver(place, rate);
    penstock__convolutional_encode(m->coded, m->packed, symbols * rate->data_bits, rate->code_rate);
    for (size_t i = 0; i < symbols; i++)
        add_symbol(m, rate, place, m->coded + i * rate->coded_bits, i + 1);
}

int penstock_wifi_modulate(const penstock_wifi_transmit_desc *desc, const uint8_t *psdu, size_t length,
                           penstock_cf32 *samples)
{
    penstock_wifi_transmit_desc own;
    const struct penstock__wifi_rate *rate = NULL;
    struct modulator m = {.samples = samples};
    size_t symbols, bytes;
    int status;

    if ((status = read_description(&own, &rate, desc, length)))
        return status;
    if (!psdu || !samples)
        return bad("%s is NULL", psdu ? "samples" : "psdu");
    symbols = penstock__wifi_symbols(rate, length);
    bytes = (symbols * rate->data_bits + 7) / 8;
    if ((status = penstock__dft_plan_new(&m.idft, FFT, PENSTOCK_REVERSE)))
        return status;
    if (!(m.scratch = penstock__alloc(penstock__dft_plan_scratch_bytes(m.idft))) ||
        !(m.packed = penstock__calloc(bytes, 1)) || !(m.coded = penstock__alloc(symbols * rate->coded_bits))) {
        free_modulator(&m);
        return PENSTOCK_ERR_MEMORY;
    }
    memset(samples, 0, frame_samples(rate, length) * sizeof *samples);
    fill_data_bits(m.packed, bytes, psdu, length, own.scrambler_seed);
    add_preamble(&m);
    add_signal(&m, rate, length);
    add_data(&m, rate, symbols);
    free_modulator(&m);
    return PENSTOCK_OK;
}
