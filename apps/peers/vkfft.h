/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* VkFFT's two ways to a device; `reason` of one that this build lacks. */
#ifndef PENSTOCK_APPS_VKFFT_H
#define PENSTOCK_APPS_VKFFT_H

#include "peers.h"

extern const struct peer vkfft_opencl, vkfft_cuda;

const char *vkfft_version(void);

#endif
