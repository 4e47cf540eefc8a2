/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables of an OFDM grid, and the memory that a thread needs to demodulate it. */
#include "backends/backend.h"
#include "ops/ofdm/ofdm_symbol.h"

#include <math.h>

#define TAU 6.283185307179586

static int make_carriers(struct ofdm_carriers *carriers, const int32_t *numbers, size_t count, size_t n,
                         size_t window_offset)
{
    carriers->count = count;
    carriers->padded = penstock__round_up(count, OFDM_LANES);
    if (!count)
        return PENSTOCK_OK;
    carriers->bin = penstock__alloc(carriers->padded * sizeof *carriers->bin);
    carriers->number = penstock__alloc(carriers->padded * sizeof *carriers->number);
    carriers->ramp = penstock__alloc(carriers->padded * sizeof *carriers->ramp);
    if (!carriers->bin || !carriers->number || !carriers->ramp)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < carriers->padded; k++) {
        int32_t number = numbers[k < count ? k : 0];
        uint32_t bin = (uint32_t)(number < 0 ? number + (int32_t)n : number);
        double angle = TAU * (double)((uint64_t)bin * window_offset % n) / (double)n;
        carriers->bin[k] = bin;
        carriers->number[k] = (float)number;
        carriers->ramp[k] = (penstock_cf32){(float)cos(angle), (float)sin(angle)};
    }
    return PENSTOCK_OK;
}

static void free_carriers(struct ofdm_carriers *carriers)
{
    penstock__free(carriers->bin);
    penstock__free(carriers->number);
    penstock__free(carriers->ramp);
}

static int make_pilot_values(struct ofdm_grid *grid, const penstock_ofdm_desc *desc)
{
    size_t count = desc->pilot_count * desc->pilot_rows;
    if (!count)
        return PENSTOCK_OK;
    grid->pilot_inverse = penstock__alloc(count * sizeof *grid->pilot_inverse);
    grid->pilot_power = penstock__alloc(count * sizeof *grid->pilot_power);
    if (!grid->pilot_inverse || !grid->pilot_power)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        double re = (double)desc->pilot_values[i].re, im = (double)desc->pilot_values[i].im, power = re * re + im * im;
        grid->pilot_inverse[i] = (penstock_cf32){(float)(re / power), (float)(-im / power)};
        grid->pilot_power[i] = (float)power;
    }
    return PENSTOCK_OK;
}

int penstock__ofdm_grid_init(struct ofdm_grid *grid, const penstock_ofdm_desc *desc)
{
    grid->n = desc->n;
    grid->pilot_rows = desc->pilot_rows;
    grid->tracking = desc->tracking;
    grid->pitch = (size_t)desc->max_constellation;
    int status = make_carriers(&grid->data, desc->carriers, desc->carrier_count, desc->n, desc->window_offset);
    if (!status)
        status = make_carriers(&grid->pilots, desc->pilots, desc->pilot_count, desc->n, desc->window_offset);
    return status ? status : make_pilot_values(grid, desc);
}

void penstock__ofdm_grid_free(struct ofdm_grid *grid)
{
    free_carriers(&grid->data);
    free_carriers(&grid->pilots);
    penstock__free(grid->pilot_inverse);
    penstock__free(grid->pilot_power);
}

static int make_inverse(struct ofdm_inverse *inverse, size_t padded)
{
    if (!padded)
        return PENSTOCK_OK;
    inverse->re = penstock__alloc(padded * sizeof *inverse->re);
    inverse->im = penstock__alloc(padded * sizeof *inverse->im);
    inverse->weight = penstock__alloc(padded * sizeof *inverse->weight);
    return inverse->re && inverse->im && inverse->weight ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void free_inverse(struct ofdm_inverse *inverse)
{
    penstock__free(inverse->re);
    penstock__free(inverse->im);
    penstock__free(inverse->weight);
}

int penstock__ofdm_worker_init(struct ofdm_worker *worker, const struct ofdm_grid *grid)
{
    size_t padded = grid->data.padded;
    if (make_inverse(&worker->data, padded) || make_inverse(&worker->pilots, grid->pilots.padded))
        return PENSTOCK_ERR_MEMORY;
    worker->re = penstock__alloc(padded * sizeof *worker->re);
    worker->im = penstock__alloc(padded * sizeof *worker->im);
    worker->words = penstock__alloc(3 * padded * sizeof *worker->words);
    worker->received = penstock__alloc((grid->pilots.count + 1) * sizeof *worker->received);
    return worker->re && worker->im && worker->words && worker->received ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__ofdm_worker_free(struct ofdm_worker *worker)
{
    free_inverse(&worker->data);
    free_inverse(&worker->pilots);
    penstock__free(worker->re);
    penstock__free(worker->im);
    penstock__free(worker->words);
    penstock__free(worker->received);
}
