/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a build lacks of VkFFT: all of it, or its way to CUDA. */
#include "vkfft.h"

#ifdef PENSTOCK_WHY_NO_VKFFT
const struct peer peer_vkfft = {.name = "vkfft", .reason = PENSTOCK_WHY_NO_VKFFT};
#else
const struct peer vkfft_cuda = {.reason = "cuda.h, nvrtc.h or cuda_runtime_api.h not found"};
#endif
