/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The comparison with liquid-dsp in a build without it. */
#include "peers.h"

const struct peer peer_liquid = {.name = "liquid", .reason = PENSTOCK_WHY_NO_LIQUID};
