/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The variants of this build. */
#include "fec/viterbi_lanes.h"

#ifdef PENSTOCK_VITERBI_X86
extern const struct penstock__viterbi_kernel penstock__viterbi_lanes_avx512, penstock__viterbi_lanes_avx2;
#elif defined PENSTOCK_VITERBI_NEON
extern const struct penstock__viterbi_kernel penstock__viterbi_lanes_neon;
#endif
extern const struct penstock__viterbi_kernel penstock__viterbi_lanes_generic;

const struct penstock__viterbi_kernel *const penstock__viterbi_kernels[] = {
#ifdef PENSTOCK_VITERBI_X86
    &penstock__viterbi_lanes_avx512,
    &penstock__viterbi_lanes_avx2,
#elif defined PENSTOCK_VITERBI_NEON
    &penstock__viterbi_lanes_neon,
#endif
    &penstock__viterbi_lanes_generic,
};
const size_t penstock__viterbi_kernel_count = sizeof penstock__viterbi_kernels / sizeof *penstock__viterbi_kernels;
