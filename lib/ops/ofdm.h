/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation as receivers see it, beyond penstock/ofdm.h. */
#ifndef PENSTOCK_OPS_OFDM_H
#define PENSTOCK_OPS_OFDM_H

#include <penstock/ofdm.h>

#include <stdbool.h>

/* penstock_ofdm_new(), but with `anywhere` the device's kernel for all is used also where it does not pay. */
int penstock__ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                       const char *device, bool anywhere);

/* Blocks that went through one kernel so far. */
uint64_t penstock__ofdm_fused_blocks(const penstock_ofdm *ofdm);

/* Batches that the CPU did because the device failed. */
uint64_t penstock__ofdm_fallbacks(const penstock_ofdm *ofdm);

/* Whether a run is nothing but computing. */
bool penstock__ofdm_in_host_memory(const penstock_ofdm *ofdm);

#endif
