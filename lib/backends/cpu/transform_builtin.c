/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The ladder of transforms of a build without FFTW. */
#include "backends/cpu/transform.h"

const struct cpu_transform_kind *const penstock__cpu_transforms[] = {
    &penstock__cpu_transform_power, &penstock__cpu_transform_natural_order, &penstock__cpu_transform_interleaved,
    &penstock__cpu_transform_plain, NULL};

void penstock__cpu_transform_library(char text[32])
{
    text[0] = 0;
}
