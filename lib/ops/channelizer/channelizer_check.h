/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Refuses what no filter bank can be, and says why. */
#ifndef PENSTOCK_OPS_CHANNELIZER_CHECK_H
#define PENSTOCK_OPS_CHANNELIZER_CHECK_H

#include "backends/backend.h"

/* M and R; a hop of 0 becomes M. */
int penstock__channels_check(size_t channels, size_t *hop);

/* Given taps, all finite, or the number of those to be designed, a 0 becoming the default. */
int penstock__prototype_check(const float *taps, size_t *count, size_t channels, size_t hop);

/* Channels to be kept: each < M, none twice. */
int penstock__selection_check(const size_t *select, size_t count, size_t channels);

#endif
