/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's filter banks, for its struct peer. */
#ifndef PENSTOCK_APPS_LIQUID_CHANNELIZER_H
#define PENSTOCK_APPS_LIQUID_CHANNELIZER_H

#include <stddef.h>

void *liquid_channelizer_new(float *taps, size_t depth, size_t channels, size_t hop, const void *in, void *out,
                             size_t samples);
int liquid_channelizer_run(void *state);
void liquid_channelizer_free(void *state);

#endif
