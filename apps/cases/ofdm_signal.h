/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols of random points through an echo channel, with a carrier offset and a phase and slope of each symbol's.
 */
#ifndef PENSTOCK_APPS_OFDM_SIGNAL_H
#define PENSTOCK_APPS_OFDM_SIGNAL_H

#include "ofdm_grid.h"

#include <complex.h>

struct ofdm_signal {
    const struct ofdm_grid *grid;
    int32_t carriers[GRID_CARRIERS], pilots[GRID_PILOTS];
    size_t carrier_count, pilot_count, symbol_count, sample_count;
    penstock_cf32 pilot_values[GRID_PILOTS];
    penstock_ofdm_frame frame;
    penstock_cf32 *channel, *samples, *sent; /* by bin; of all symbols; their points, by symbol and carrier */
    penstock_ofdm_symbol *symbols;
};

/* Makes `symbols` of them, each turned by a phase and slope of its own. With `repeated`, none is turned, and later ones
 * may be earlier ones again, whatever their carriers' offset: their points are not what was sent. False where memory is
 * short; to be freed in both cases. */
bool ofdm_signal_make(struct ofdm_signal *signal, const struct ofdm_grid *grid, penstock_constellation constellation,
                      size_t symbols, bool repeated);
void ofdm_signal_free(struct ofdm_signal *signal);

/* The samples, two integers each, at a tenth of full scale, which the channel and the noise take part in. */
void ofdm_signal_quantise(struct ofdm_signal *signal, int16_t *integers);

/* The point of some bits: Gray-coded, mean power of the whole constellation one. */
double complex ofdm_point(unsigned bits, penstock_constellation constellation);

size_t ofdm_bin(int32_t carrier, size_t n);

#endif
