/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's multi-stage resampler, as struct peer has it. */
#ifndef PENSTOCK_APPS_PEERS_LIQUID_RESAMPLER_H
#define PENSTOCK_APPS_PEERS_LIQUID_RESAMPLER_H

#include <stddef.h>

void *liquid_resampler_new(double ratio, double attenuation_db, const void *in, size_t samples);
int liquid_resampler_run(void *state);
void liquid_resampler_free(void *state);

#endif
