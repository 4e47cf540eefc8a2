/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* FFT plans for operators that look at a plan's device once, when they are made. */
#ifndef PENSTOCK_OPS_FFT_H
#define PENSTOCK_OPS_FFT_H

#include <penstock/penstock.h>

/* As penstock_fft_plan(), on the device that is to do the work from the start: penstock__plan_new_there(). */
int penstock__fft_plan_there(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc,
                             const char *device);

#endif
