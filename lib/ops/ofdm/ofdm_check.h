/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whether a caller's OFDM description and batches are what ofdm.h asks for. */
#ifndef PENSTOCK_OPS_OFDM_CHECK_H
#define PENSTOCK_OPS_OFDM_CHECK_H

#include "ops/ofdm/ofdm_symbol.h"

/* Fills in the defaults as well. */
int penstock__ofdm_check_desc(penstock_ofdm_desc *desc);

/* All of a batch but its symbols. */
int penstock__ofdm_check_frames(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch);

/* `skip`: samples from a symbol's start to its FFT window. */
int penstock__ofdm_check_symbols(penstock_context *context, const struct ofdm_grid *grid,
                                 const penstock_ofdm_batch *batch, size_t skip);

/* The same of symbols `first` .. `end` - 1, without a message. */
bool penstock__ofdm_good_symbols(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch, size_t skip,
                                 size_t first, size_t end);

#endif
