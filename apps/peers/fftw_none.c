/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The comparison with FFTW in a build without it. */
#include "peers.h"

const struct peer peer_fftw = {.name = "fftw", .reason = PENSTOCK_WHY_NO_FFTW};
