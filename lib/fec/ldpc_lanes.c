/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The variants of this build. */
#include "fec/ldpc_lanes.h"

#ifdef PENSTOCK_VITERBI_X86
extern const struct penstock__ldpc_kernel penstock__ldpc_lanes_avx512, penstock__ldpc_lanes_avx2;
#elif defined PENSTOCK_VITERBI_NEON
extern const struct penstock__ldpc_kernel penstock__ldpc_lanes_neon;
#endif
extern const struct penstock__ldpc_kernel penstock__ldpc_lanes_generic;

const struct penstock__ldpc_kernel *const penstock__ldpc_kernels[] = {
#ifdef PENSTOCK_VITERBI_X86
    &penstock__ldpc_lanes_avx512,
    &penstock__ldpc_lanes_avx2,
#elif defined PENSTOCK_VITERBI_NEON
    &penstock__ldpc_lanes_neon,
#endif
    &penstock__ldpc_lanes_generic,
};
const size_t penstock__ldpc_kernel_count = sizeof penstock__ldpc_kernels / sizeof *penstock__ldpc_kernels;
