/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The comparison with clFFT in a build without OpenCL. */
#include "peers.h"

const struct peer peer_clfft = {.name = "clfft", .reason = PENSTOCK_WHY_NO_OPENCL};
