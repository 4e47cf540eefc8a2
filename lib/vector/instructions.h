/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which of the builds that cmake/PenstockVectors.cmake makes this processor runs. */
#ifndef PENSTOCK_VECTOR_INSTRUCTIONS_H
#define PENSTOCK_VECTOR_INSTRUCTIONS_H

#include <stdbool.h>
#include <stddef.h>

bool penstock__processor_has_avx2(void);   /* and FMA */
bool penstock__processor_has_avx512(void); /* F, DQ, and FMA */

/* The address of a build for these instructions, or NULL where there is none and where the processor lacks them. */
#ifdef PENSTOCK_BUILDS_AVX2
#define AVX2_BUILD(address) (penstock__processor_has_avx2() ? (address) : NULL)
#else
#define AVX2_BUILD(address) NULL
#endif
#ifdef PENSTOCK_BUILDS_AVX512
#define AVX512_BUILD(address) (penstock__processor_has_avx512() ? (address) : NULL)
#else
#define AVX512_BUILD(address) NULL
#endif

#endif
