/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Numbers of 16 bits, IEEE 754 binary16: 11 bits of significand, at most 65504, at least 2^-14 = 6.1e-5 with all of
 * them, steps of 2^-24 = 6.0e-8 below. Samples of PENSTOCK_CF16 and what penstock_store.half asks for are such.
 */
#ifndef PENSTOCK_HALF_H
#define PENSTOCK_HALF_H

#include <penstock/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Layout of OpenCL's half2 and CUDA's __half2: the bits of both parts. */
typedef struct penstock_cf16 {
    uint16_t re, im;
} penstock_cf16;

/* `count` numbers. Rounded to the nearest, of two such to the even one; 65520 and above give infinity. */
PENSTOCK_API void penstock_half_from_float(uint16_t *halves, const float *floats, size_t count);

/* Exact. */
PENSTOCK_API void penstock_half_to_float(float *floats, const uint16_t *halves, size_t count);

#ifdef __cplusplus
}
#endif

#endif
