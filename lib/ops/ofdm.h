/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation as receivers see it, beyond penstock/ofdm.h. */
#ifndef PENSTOCK_OPS_OFDM_H
#define PENSTOCK_OPS_OFDM_H

#include <penstock/ofdm.h>

/* Whether the device's own kernel is used, if it has one: where it pays, in any case, or not. */
enum ofdm_way { OFDM_WHERE_IT_PAYS, OFDM_ONE_KERNEL, OFDM_TRANSFORMS };

/* penstock_ofdm_new() in one of these ways; its own is the first. */
int penstock__ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                       const char *device, enum ofdm_way way);

/* Blocks that went through one kernel so far. */
uint64_t penstock__ofdm_fused_blocks(const penstock_ofdm *ofdm);

/* Batches that the CPU did because the device failed. */
uint64_t penstock__ofdm_fallbacks(const penstock_ofdm *ofdm);

/* Batches that it did because the device was not ready yet. */
uint64_t penstock__ofdm_meanwhile(const penstock_ofdm *ofdm);

/* As penstock__plan_has_clock() and penstock__plan_set_times(). */
struct penstock__times;
bool penstock__ofdm_has_clock(const penstock_ofdm *ofdm);
void penstock__ofdm_set_times(penstock_ofdm *ofdm, struct penstock__times *times);

#endif
