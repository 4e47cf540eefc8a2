/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation as receivers see it, beyond penstock/ofdm.h. */
#ifndef PENSTOCK_OPS_OFDM_H
#define PENSTOCK_OPS_OFDM_H

#include <penstock/ofdm.h>

/* Batches that the CPU did because the device failed. */
uint64_t penstock__ofdm_fallbacks(const penstock_ofdm *ofdm);

/* Whether a run is nothing but computing. */
bool penstock__ofdm_in_host_memory(const penstock_ofdm *ofdm);

#endif
