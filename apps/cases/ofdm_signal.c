/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "ofdm_signal.h"
#include "reference_dft.h"
#include "shared/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double turn = 6.28318530717958647692;

static double complex polar(double phase)
{
    return cos(phase) + I * sin(phase);
}

size_t ofdm_bin(int32_t carrier, size_t n)
{
    return carrier < 0 ? n - (size_t)-carrier : (size_t)carrier;
}

/* Amplitudes of one axis: 0...0 the lowest. */
static double axis_level(unsigned bits, unsigned width, bool both_axes)
{
    unsigned level = 0;
    double count = (double)(1u << width), power = (count * count - 1) / 3 * (both_axes ? 2 : 1);
    for (unsigned shift = width; shift-- > 0;)
        level = level << 1 | ((bits >> shift & 1) ^ (level & 1));
    return (2.0 * level - count + 1) / sqrt(power);
}

double complex ofdm_point(unsigned bits, penstock_constellation constellation)
{
    unsigned width = (unsigned)constellation;
    if (width == 1)
        return axis_level(bits, 1, false);
    return axis_level(bits >> width / 2, width / 2, true) +
           I * axis_level(bits & ((1u << width / 2) - 1), width / 2, true);
}

/* Three echoes within the guard interval. */
static double complex channel_at(const struct ofdm_grid *grid, int32_t carrier)
{
    double step = -turn * carrier / (double)grid->n;
    return 1 + 0.4 * polar(1 + 2 * step) + 0.2 * I * polar(5 * step);
}

static void fill_symbol(struct ofdm_signal *signal, size_t index, bool turned, double *bins, uint64_t *state)
{
    const struct ofdm_grid *grid = signal->grid;
    double phase = turned ? 2 * random_uniform(state) - 1 : 0;
    double slope = turned ? (0.4 * random_uniform(state) - 0.2) * 2 / (double)grid->n : 0;
    signal->symbols[index].phase = (float)phase; /* used where there are no pilots */
    signal->symbols[index].slope = (float)slope;
    phase = signal->pilot_count ? phase : (double)signal->symbols[index].phase;
    slope = signal->pilot_count ? slope : (double)signal->symbols[index].slope;
    memset(bins, 0, 2 * grid->n * sizeof *bins);
    for (size_t i = 0; i < signal->carrier_count + signal->pilot_count; i++) {
        bool pilot = i >= signal->carrier_count;
        int32_t carrier = pilot ? signal->pilots[i - signal->carrier_count] : signal->carriers[i];
        double complex value = 1;
        if (pilot) {
            value = signal->pilot_values[i - signal->carrier_count].re;
        } else {
            penstock_constellation constellation = signal->frame.constellation;
            value = ofdm_point((unsigned)random_bits(state) & ((1u << constellation) - 1), constellation);
            signal->sent[index * signal->carrier_count + i] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
        }
        value *= channel_at(grid, carrier) * polar(phase + slope * carrier);
        bins[2 * ofdm_bin(carrier, grid->n)] = creal(value);
        bins[2 * ofdm_bin(carrier, grid->n) + 1] = cimag(value);
    }
}

/* One symbol with its guard interval, carrier offset on it. */
static void modulate(struct ofdm_signal *signal, size_t index, const struct reference_dft *dft, const double *bins)
{
    const struct ofdm_grid *grid = signal->grid;
    size_t start = index * (grid->n + grid->guard);
    for (size_t j = 0; j < grid->n; j++) {
        double value[2];
        reference_dft_bin(dft, bins, true, j, value);
        for (int copy = 0; copy < 2; copy++) {
            size_t at = start + grid->guard + j - (copy ? grid->n : 0);
            if (copy && j < grid->n - grid->guard)
                continue;
            double complex sample =
                (value[0] + I * value[1]) / (double)grid->n * polar(turn * signal->frame.cfo * (double)at);
            signal->samples[at] = (penstock_cf32){(float)creal(sample), (float)cimag(sample)};
        }
    }
}

enum { MADE_SAMPLES = 1 << 18 }; /* of symbols that others may repeat */

static bool make_symbols(struct ofdm_signal *signal, bool repeated)
{
    uint64_t state = signal->grid->n + (uint64_t)signal->frame.constellation;
    struct reference_dft dft;
    double *bins = malloc(2 * signal->grid->n * sizeof *bins);
    bool good = reference_dft_init(&dft, signal->grid->n) && bins;
    size_t each = signal->grid->n + signal->grid->guard, most = MADE_SAMPLES / each + 1,
           made = repeated && signal->symbol_count > most ? most : signal->symbol_count;
    for (size_t i = 0; good && i < made; i++) {
        fill_symbol(signal, i, !repeated, bins, &state);
        modulate(signal, i, &dft, bins);
        signal->symbols[i].start = i * (signal->grid->n + signal->grid->guard);
    }
    for (size_t i = made; good && i < signal->symbol_count; i++) { /* more of them are the same again */
        memcpy(signal->samples + i * each, signal->samples + (i - made) * each, each * sizeof *signal->samples);
        memcpy(signal->sent + i * signal->carrier_count, signal->sent + (i - made) * signal->carrier_count,
               signal->carrier_count * sizeof *signal->sent);
        signal->symbols[i] = signal->symbols[i - made];
        signal->symbols[i].start = i * each;
    }
    reference_dft_free(&dft);
    free(bins);
    return good;
}

static bool allocate(struct ofdm_signal *signal)
{
    size_t values = signal->symbol_count * signal->carrier_count;
    signal->channel = calloc(signal->grid->n, sizeof *signal->channel);
    signal->samples = calloc(signal->sample_count, sizeof *signal->samples);
    signal->sent = calloc(values, sizeof *signal->sent);
    signal->symbols = calloc(signal->symbol_count, sizeof *signal->symbols);
    return signal->channel && signal->samples && signal->sent && signal->symbols;
}

bool ofdm_signal_make(struct ofdm_signal *signal, const struct ofdm_grid *grid, penstock_constellation constellation,
                      size_t symbols, bool repeated)
{
    *signal =
        (struct ofdm_signal){.grid = grid, .symbol_count = symbols, .sample_count = symbols * (grid->n + grid->guard)};
    ofdm_grid_carriers(grid, signal->carriers, &signal->carrier_count, signal->pilots, &signal->pilot_count);
    for (size_t i = 0; i < signal->pilot_count; i++)
        signal->pilot_values[i].re = i % 3 ? 1 : -1;
    signal->frame = (penstock_ofdm_frame){.noise = 0.02f, .cfo = 1.7e-4, .constellation = constellation};
    if (!allocate(signal))
        return false;
    for (size_t i = 0; i < signal->carrier_count + signal->pilot_count; i++) {
        int32_t carrier = i < signal->carrier_count ? signal->carriers[i] : signal->pilots[i - signal->carrier_count];
        double complex value = channel_at(grid, carrier);
        signal->channel[ofdm_bin(carrier, grid->n)] = (penstock_cf32){(float)creal(value), (float)cimag(value)};
    }
    signal->frame.channel = signal->channel;
    return make_symbols(signal, repeated);
}

void ofdm_signal_free(struct ofdm_signal *signal)
{
    free(signal->channel);
    free(signal->samples);
    free(signal->sent);
    free(signal->symbols);
}

void ofdm_signal_quantise(struct ofdm_signal *signal, int16_t *integers)
{
    const float *values = &signal->samples->re;
    double power = 0;
    for (size_t i = 0; i < 2 * signal->sample_count; i++)
        power += (double)values[i] * (double)values[i];
    float gain = (float)(0.1 / sqrt(power / (double)(2 * signal->sample_count)));
    for (size_t i = 0; i < 2 * signal->sample_count; i++)
        integers[i] = (int16_t)lrintf(fminf(fmaxf(32768 * gain * values[i], -32768), 32767));
    for (size_t k = 0; k < signal->grid->n; k++)
        signal->channel[k] = (penstock_cf32){gain * signal->channel[k].re, gain * signal->channel[k].im};
    signal->frame.noise *= gain * gain;
}
