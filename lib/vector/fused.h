/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The multiply-add of an instruction set for vectors of the compiler's, by their size: FUSED(a, b, c) is a b + c,
 * rounded once where there is such an instruction. For sources that are built once for each size, define VECTOR_FLOATS,
 * and call their type of as many floats `vector`.
 */
#ifndef PENSTOCK_VECTOR_FUSED_H
#define PENSTOCK_VECTOR_FUSED_H

#if VECTOR_FLOATS == 16
#include <immintrin.h>
#define FUSED(a, b, c) ((vector)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#elif VECTOR_FLOATS == 8
#include <immintrin.h>
#define FUSED(a, b, c) ((vector)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define FUSED(a, b, c) ((vector)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

#endif
