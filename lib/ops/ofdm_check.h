/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Whether a caller's OFDM description and batches are what ofdm.h asks for. */
#ifndef PENSTOCK_OPS_OFDM_CHECK_H
#define PENSTOCK_OPS_OFDM_CHECK_H

#include "ops/ofdm_symbol.h"

/* Fills in the defaults as well. */
int penstock__ofdm_check_desc(penstock_ofdm_desc *desc);

/* `skip`: samples from a symbol's start to its FFT window. */
int penstock__ofdm_check_batch(penstock_context *context, const struct ofdm_grid *grid,
                               const penstock_ofdm_batch *batch, size_t skip);

#endif
