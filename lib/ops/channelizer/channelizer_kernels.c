/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of the filter bank taken apart into streams, in vectors of the processor's. */
#include "ops/channelizer/channelizer_kernels.h"

#ifndef CHANNELIZER_KERNELS
#define CHANNELIZER_KERNELS penstock__channelizer_kernels_plain
#define VECTOR_FLOATS       4
#define NAME                "vectors of 4"
#endif

#include "ops/channelizer/channelizer_apart.h"

const struct channelizer_kernels CHANNELIZER_KERNELS = {.name = NAME, .take_apart = take_apart};
