/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Maximum-likelihood decoder of the code of convolutional.h: A. J. Viterbi, "Error bounds for convolutional codes
 * and an asymptotically optimum decoding algorithm", IEEE Trans. Inf. Theory 13(2), 1967.
 *
 * Metrics are exact: 16-bit correlations of the soft bits, brought back to zero every 60 steps, long before they
 * could overflow, whatever the input. The survivors of the whole block are kept and traced back once.
 */
#ifndef PENSTOCK_FEC_VITERBI_H
#define PENSTOCK_FEC_VITERBI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum penstock__trellis_end {
    PENSTOCK__TRELLIS_ZERO, /* the last six bits are zero (tail bits) */
    PENSTOCK__TRELLIS_OPEN  /* any: the end with the best metric */
};

/* Bytes of workspace, aligned to 64, that decoding at most `steps` bits needs. */
size_t penstock__viterbi_workspace(size_t steps);

/*
 * Decodes `steps` bits (>= 1) that were encoded from state zero, from 2 * steps soft bits, into (steps + 7) / 8
 * packed bytes; spare bits of the last byte are 0. Uses the fastest variant that this processor can run, of long blocks
 * windows side by side (viterbi_lanes.h); all of them give the same bits.
 */
void penstock__viterbi_decode(uint8_t *packed, const int8_t *soft, size_t steps, enum penstock__trellis_end end,
                              void *workspace);

/* One way to compute it. */
struct penstock__viterbi_variant {
    const char *name; /* "generic", "ssse3", "avx2", "neon" */
    bool (*usable)(void);
    /* Add, compare, select: fills in `decisions` for `steps` steps and leaves the metrics of the end states, each
     * relative to the same unknown constant, in `metrics`. The order of both is viterbi_kernel.h's. */
    void (*forward)(uint64_t *decisions, int16_t metrics[64], const int8_t *soft, size_t steps);
};

/* The variants of this build, the fastest first; the last one is generic and always usable. */
extern const struct penstock__viterbi_variant *const penstock__viterbi_variants[];
extern const size_t penstock__viterbi_variant_count;

/* As penstock__viterbi_decode() with the variant chosen by the caller. */
void penstock__viterbi_decode_with(const struct penstock__viterbi_variant *variant, uint8_t *packed, const int8_t *soft,
                                   size_t steps, enum penstock__trellis_end end, void *workspace);

#endif
