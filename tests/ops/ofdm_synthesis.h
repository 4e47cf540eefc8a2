/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols made in double precision from what is known: points, pilots, channels of random taps, carrier offsets,
 * phases and slopes. Symbols of several frames lie in random order with random gaps.
 */
#ifndef PENSTOCK_TESTS_OFDM_SYNTHESIS_H
#define PENSTOCK_TESTS_OFDM_SYNTHESIS_H

#include "backends/backend.h"
#include "constellations.h"
#include "test.h"

#define TAU 6.283185307179586

struct synthesis_grid {
    const char *name;
    size_t n, guard, window_offset;
    int edge; /* carriers -edge .. edge, 0 left out */
    int pilot_step, pilot_first;
    size_t rows, symbols, frames;
    size_t carrier_count, pilot_count; /* filled in */
};

struct synthesis {
    struct synthesis_grid grid;
    int32_t *carriers, *pilots;
    penstock_cf32 *pilot_values;
    double last_carrier;
    penstock_cf32 *samples, *channels; /* channels: n a frame */
    size_t sample_count;
    penstock_ofdm_frame *frames;
    double *weight; /* |channel|^2 / noise by frame and bin */
    penstock_ofdm_symbol *symbols;
    size_t frame_count, symbol_count;
    double (*sent)[2];     /* points by symbol and carrier: the equalised ones */
    double *phase, *slope; /* by symbol */
};

static inline size_t synthesis_bin(const struct synthesis *s, int32_t carrier)
{
    return (size_t)(carrier < 0 ? carrier + (int32_t)s->grid.n : carrier);
}

static inline void synthesis_carriers(struct synthesis *s)
{
    struct synthesis_grid *g = &s->grid;
    s->carriers = calloc(g->n, sizeof *s->carriers);
    s->pilots = calloc(g->n, sizeof *s->pilots);
    for (int k = -g->edge; k <= g->edge; k++)
        if (k && g->pilot_step && k >= g->pilot_first && (k - g->pilot_first) % g->pilot_step == 0)
            s->pilots[g->pilot_count++] = k;
        else if (k)
            s->carriers[g->carrier_count++] = k;
    s->last_carrier = g->edge;
    s->pilot_values = calloc(g->pilot_count * g->rows + 1, sizeof *s->pilot_values);
}

static inline void synthesis_frame(struct synthesis *s, size_t f, uint64_t *seed)
{
    static const penstock_constellation sizes[] = {PENSTOCK_BPSK,  PENSTOCK_QPSK,   PENSTOCK_QAM16,
                                                   PENSTOCK_QAM64, PENSTOCK_QAM256, PENSTOCK_QAM1024};
    size_t n = s->grid.n, taps = s->grid.guard - s->grid.window_offset + 1;
    penstock_cf32 *channel = s->channels + f * n;
    double noise = 0.02 + 0.01 * test_uniform(seed), tap[8][2];
    taps = taps < 8 ? taps : 8;
    for (size_t t = 0; t < taps; t++)
        for (int c = 0; c < 2; c++)
            tap[t][c] = test_uniform(seed) / (1 + 2 * (double)t);
    for (size_t k = 0; k < n; k++) {
        double re = 1, im = 0; /* so that no carrier vanishes */
        for (size_t t = 0; t < taps; t++) {
            double angle = -TAU * (double)(k * t % n) / (double)n;
            re += 0.3 * (tap[t][0] * cos(angle) - tap[t][1] * sin(angle));
            im += 0.3 * (tap[t][0] * sin(angle) + tap[t][1] * cos(angle));
        }
        channel[k] = (penstock_cf32){(float)re, (float)im};
        s->weight[f * n + k] = (pow((double)channel[k].re, 2) + pow((double)channel[k].im, 2)) / (double)(float)noise;
    }
    s->frames[f] = (penstock_ofdm_frame){.channel = channel,
                                         .noise = (float)noise,
                                         .llr_scale = 0.5f * (float)(1 + test_random(seed) % 4),
                                         .cfo = 0.5 * test_uniform(seed),
                                         .origin = test_random(seed) % 100000,
                                         .constellation = sizes[(f + s->grid.n) % 6]};
}

/* One symbol's n values by bin: constellation points pushed off their places, and pilots. */
static inline void synthesis_spectrum(struct synthesis *s, size_t i, double *spectrum, uint64_t *seed)
{
    const struct synthesis_grid *g = &s->grid;
    const penstock_ofdm_frame *frame = &s->frames[s->symbols[i].frame];
    int bits = (int)frame->constellation;
    memset(spectrum, 0, 2 * g->n * sizeof *spectrum);
    for (size_t k = 0; k < g->carrier_count + g->pilot_count; k++) {
        bool pilot = k >= g->carrier_count;
        int32_t carrier = pilot ? s->pilots[k - g->carrier_count] : s->carriers[k];
        double x[2], turn = s->phase[i] + s->slope[i] * carrier;
        penstock_cf32 h = frame->channel[synthesis_bin(s, carrier)];
        if (pilot) {
            penstock_cf32 value = s->pilot_values[s->symbols[i].pilot_row * g->pilot_count + k - g->carrier_count];
            x[0] = (double)value.re;
            x[1] = (double)value.im;
        } else {
            unsigned levels = (unsigned)constellation_levels(bits);
            x[0] = constellation_level(bits, (int)(test_random(seed) % levels)) + 0.1 * test_uniform(seed);
            x[1] = bits == 1 ? 0 : constellation_level(bits, (int)(test_random(seed) % levels));
            x[1] += 0.1 * test_uniform(seed);
            memcpy(s->sent[i * g->carrier_count + k], x, sizeof x);
        }
        double re = x[0] * (double)h.re - x[1] * (double)h.im, im = x[0] * (double)h.im + x[1] * (double)h.re;
        spectrum[2 * synthesis_bin(s, carrier)] = re * cos(turn) - im * sin(turn);
        spectrum[2 * synthesis_bin(s, carrier) + 1] = re * sin(turn) + im * cos(turn);
    }
}

static inline void synthesis_symbol(struct synthesis *s, size_t i, uint64_t *seed)
{
    const struct synthesis_grid *g = &s->grid;
    const penstock_ofdm_frame *frame = &s->frames[s->symbols[i].frame];
    double *wave = malloc(2 * g->n * sizeof *wave);
    synthesis_spectrum(s, i, wave, seed);
    CHECK_OK(penstock__dft(wave, g->n, PENSTOCK_REVERSE));
    for (size_t j = 0; j < g->guard + g->n; j++) {
        size_t from = (j + g->n * (g->guard / g->n + 1) - g->guard) % g->n;
        uint64_t at = s->symbols[i].start + j;
        double turn = TAU * remainder(frame->cfo * ((double)at - (double)frame->origin), 1);
        double re = wave[2 * from] / (double)g->n, im = wave[2 * from + 1] / (double)g->n;
        s->samples[at].re = (float)(re * cos(turn) - im * sin(turn));
        s->samples[at].im = (float)(re * sin(turn) + im * cos(turn));
    }
    free(wave);
}

/* Symbols get places one after the other, with a gap now and then a long one, in an order of their own. */
static inline void synthesis_places(struct synthesis *s, uint64_t *seed)
{
    size_t at = 0, length = s->grid.guard + s->grid.n;
    for (size_t i = 0; i < s->symbol_count; i++) {
        at += test_random(seed) % 3 + (test_random(seed) % 8 ? 0 : 5 * length);
        s->symbols[i] = (penstock_ofdm_symbol){.start = at, .frame = (uint32_t)(i * s->frame_count / s->symbol_count)};
        if (s->grid.rows)
            s->symbols[i].pilot_row = (uint32_t)(test_random(seed) % s->grid.rows);
        at += length;
    }
    s->sample_count = at;
    for (size_t i = s->symbol_count; i-- > 1;) {
        size_t other = i - test_random(seed) % (i < 4 ? i + 1 : 4);
        penstock_ofdm_symbol symbol = s->symbols[i];
        s->symbols[i] = s->symbols[other];
        s->symbols[other] = symbol;
    }
}

static inline void synthesis_make(struct synthesis *s, const struct synthesis_grid *grid, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->grid = *grid;
    s->frame_count = grid->frames;
    s->symbol_count = grid->symbols;
    synthesis_carriers(s);
    for (size_t i = 0; i < s->grid.pilot_count * grid->rows; i++) {
        double angle = TAU / 8 * (double)(test_random(&seed) % 8);
        s->pilot_values[i] = (penstock_cf32){1.5f * (float)cos(angle), 1.5f * (float)sin(angle)};
    }
    s->channels = calloc(grid->frames * grid->n, sizeof *s->channels);
    s->weight = calloc(grid->frames * grid->n, sizeof *s->weight);
    s->frames = calloc(grid->frames, sizeof *s->frames);
    s->symbols = calloc(grid->symbols, sizeof *s->symbols);
    s->sent = calloc(grid->symbols * s->grid.carrier_count, sizeof *s->sent);
    s->phase = calloc(grid->symbols, sizeof *s->phase);
    s->slope = calloc(grid->symbols, sizeof *s->slope);
    for (size_t f = 0; f < grid->frames; f++)
        synthesis_frame(s, f, &seed);
    synthesis_places(s, &seed);
    s->samples = calloc(s->sample_count, sizeof *s->samples);
    for (size_t i = 0; i < s->sample_count; i++)
        s->samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t i = 0; i < grid->symbols; i++) {
        s->phase[i] = s->grid.pilot_count ? (double)(float)(3.1 * test_uniform(&seed)) : 0;
        s->slope[i] = s->grid.pilot_count > 1 ? (double)(float)(1.5 / s->last_carrier * test_uniform(&seed)) : 0;
        s->symbols[i].phase = (float)s->phase[i];
        s->symbols[i].slope = (float)s->slope[i];
        synthesis_symbol(s, i, &seed);
    }
}

static inline void synthesis_free(struct synthesis *s)
{
    free(s->carriers);
    free(s->pilots);
    free(s->pilot_values);
    free(s->samples);
    free(s->channels);
    free(s->frames);
    free(s->weight);
    free(s->symbols);
    free(s->sent);
    free(s->phase);
    free(s->slope);
}

static inline penstock_ofdm_desc synthesis_desc(const struct synthesis *s, penstock_tracking tracking)
{
    return PENSTOCK_OFDM_DESC(.n = s->grid.n, .guard = s->grid.guard, .window_offset = s->grid.window_offset,
                              .carriers = s->carriers, .carrier_count = s->grid.carrier_count, .pilots = s->pilots,
                              .pilot_count = s->grid.pilot_count, .pilot_values = s->pilot_values,
                              .pilot_rows = s->grid.rows, .tracking = tracking, .max_constellation = PENSTOCK_QAM1024);
}

static inline penstock_ofdm_batch synthesis_batch(const struct synthesis *s)
{
    return PENSTOCK_OFDM_BATCH(.samples = s->samples, .sample_count = s->sample_count, .frames = s->frames,
                               .frame_count = s->frame_count, .symbols = s->symbols, .symbol_count = s->symbol_count);
}

#endif
