/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Viterbi decoders for many blocks side by side, each in one lane of 16 bits of the processor's vectors: A. J. Viterbi,
 * "Error bounds for convolutional codes and an asymptotically optimum decoding algorithm", IEEE Trans. Inf. Theory
 * 13(2), 1967. All variants give the same bits.
 *
 * Metrics are exact sums of soft bits (positive: 0), whatever these are: trellis.c shows why they do not overflow.
 *
 * Ties. Of two branches into a state with equal metrics that one wins whose older state has 0 as its oldest bit. Of
 * states with equal metrics at an open end that one wins whose oldest bit is 0, of such those whose next one is, and so
 * on.
 */
#ifndef PENSTOCK_FEC_VITERBI_LANES_H
#define PENSTOCK_FEC_VITERBI_LANES_H

#include "fec/trellis.h"

struct penstock__viterbi_block {
    const int8_t *soft; /* `count` of the trellis for each step */
    size_t steps;       /* >= 1 */
    uint8_t *packed;    /* (steps + 7) / 8 bytes, the first bit in the least significant one; spare bits are 0 */
};

/* What is known of the states at both ends; what is not is decided by the metrics. */
struct penstock__viterbi_ends {
    bool start_zero, end_zero;
};

#define PENSTOCK__VITERBI_WARM 96 /* steps before a window from which its metrics are made */
#define PENSTOCK__VITERBI_LONG (4 * PENSTOCK__VITERBI_WARM)

struct penstock__viterbi_kernel {
    const char *name; /* "avx512", "avx2", "neon", "generic" */
    unsigned lanes;
    bool (*usable)(void);

    /* Bytes of workspace, aligned to 64, for blocks of at most `steps` with decode(), and with decode_long(). */
    size_t (*workspace)(const struct penstock__trellis *trellis, size_t steps);
    size_t (*workspace_long)(const struct penstock__trellis *trellis, size_t steps);

    /* 1 .. lanes blocks, the longest first. */
    void (*decode)(const struct penstock__trellis *trellis, const struct penstock__viterbi_block *blocks,
                   unsigned count, struct penstock__viterbi_ends ends, void *workspace);

    /* One long block as windows side by side; where the windows do not continue each other exactly, they are done again
     * from where the ones before them ended. Same bits as decode(). False, and nothing done, if it has less
     * than PENSTOCK__VITERBI_LONG steps. */
    bool (*decode_long)(const struct penstock__trellis *trellis, const struct penstock__viterbi_block *block,
                        struct penstock__viterbi_ends ends, void *workspace);
};

/* The variants of this build, the fastest first; the last one is generic and always usable. */
extern const struct penstock__viterbi_kernel *const penstock__viterbi_kernels[];
extern const size_t penstock__viterbi_kernel_count;

#endif
