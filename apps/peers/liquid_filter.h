/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's filters, as struct peer has them. */
#ifndef PENSTOCK_APPS_PEERS_LIQUID_FILTER_H
#define PENSTOCK_APPS_PEERS_LIQUID_FILTER_H

#include <stddef.h>

void *liquid_filter_new(float *taps, size_t tap_count, size_t decimation, const void *in, void *out, size_t samples);
int liquid_filter_run(void *state);
void liquid_filter_free(void *state);

#endif
