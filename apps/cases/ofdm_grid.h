/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Grids of OFDM symbols by name. */
#ifndef PENSTOCK_APPS_OFDM_GRID_H
#define PENSTOCK_APPS_OFDM_GRID_H

#include <penstock/penstock.h>

enum { GRID_CARRIERS = 4096, GRID_PILOTS = 256 };

struct ofdm_grid {
    const char *name;
    size_t n, guard;
    int32_t outermost; /* carriers -outermost .. -innermost and innermost .. outermost are used */
    int32_t innermost;
    int32_t pilot_first; /* pilots at +-pilot_first, +-(pilot_first + pilot_step), ... */
    int32_t pilot_step;
};

/* A grid by its name, or "N/GUARD/CARRIERS"; false if it is neither. */
bool ofdm_grid_find(struct ofdm_grid *grid, const char *name);

/* Fills the carriers in rising order and the pilots; GRID_CARRIERS and GRID_PILOTS are enough room. */
void ofdm_grid_carriers(const struct ofdm_grid *grid, int32_t *carriers, size_t *carrier_count, int32_t *pilots,
                        size_t *pilot_count);

#endif
