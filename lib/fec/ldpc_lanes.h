/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Decoders of low-density parity-check codes, by the rule of penstock_ldpc_plan(): many blocks side by side, each in
 * one lane of 8 bits of the processor's vectors, or one block with the checks of a base row side by side. All variants
 * give the same bits.
 *
 * Nothing overflows: |T| <= 95 + 32, since |L| <= 95 and |R| <= 32, as floor((6 * 42 + 2) / 8) and floor(7 * 37 / 8)
 * are not more; sums of T and R are limited to 8 bits by the instruction, and then to +-95.
 */
#ifndef PENSTOCK_FEC_LDPC_LANES_H
#define PENSTOCK_FEC_LDPC_LANES_H

#include "backends/ldpc_rule.h"

struct penstock__ldpc_block {
    const int8_t *word; /* soft bits of the whole word, -95 .. 95 */
    uint8_t *packed;    /* data bits without filler, the first in the least significant bit; spare bits are 0 */
    int8_t *values;     /* or NULL: of the same bits */
    penstock_ldpc_report report;
};

struct penstock__ldpc_kernel {
    const char *name; /* "avx512", "avx2", "neon", "generic" */
    unsigned lanes;
    bool (*usable)(void);

    /* Bytes of workspace, aligned to 64, for decode(), and for decode_one(). */
    size_t (*workspace)(const struct penstock_ldpc_problem *problem);
    size_t (*workspace_one)(const struct penstock_ldpc_problem *problem);

    /* 1 .. lanes blocks. */
    void (*decode)(const struct penstock_ldpc_problem *problem, struct penstock__ldpc_block *blocks, unsigned count,
                   void *workspace);
    void (*decode_one)(const struct penstock_ldpc_problem *problem, struct penstock__ldpc_block *block,
                       void *workspace);
};

/* The variants of this build, the fastest first; the last one is generic and always usable. */
extern const struct penstock__ldpc_kernel *const penstock__ldpc_kernels[];
extern const size_t penstock__ldpc_kernel_count;

#endif
