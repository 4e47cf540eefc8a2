/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of low-density parity-check codes, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_LDPC_H
#define PENSTOCK_PROBLEM_LDPC_H

#include <penstock/penstock.h>

/*
 * Blocks of a quasi-cyclic low-density parity-check code: a penstock_ldpc_desc, checked, its graph made. A frame is a
 * block; a sample is a soft bit. The rule of the decoder is that of penstock_ldpc_plan().
 */
struct penstock_ldpc_edge {
    uint16_t column, shift;
};

struct penstock_ldpc_problem {
    unsigned rows, columns, lifting;
    uint16_t first[PENSTOCK_MAX_LDPC_ROWS + 1]; /* edges of row r: first[r] .. first[r + 1] - 1 */
    struct penstock_ldpc_edge edges[PENSTOCK_MAX_LDPC_EDGES];
    size_t punctured, punctured_end, filler;
    unsigned iterations;
    bool stop_early;
    penstock_soft soft;
    float scale; /* 0: of each block its own */
    penstock_bits result;
    bool soft_result, report;
};

#define PENSTOCK__LDPC_HARD 32 /* the level of hard bits */

/* Bits of a word; its data bits; those of them that are in the result; and those bits that are sent. */
static inline size_t penstock__ldpc_word(const struct penstock_ldpc_problem *ldpc)
{
    return (size_t)ldpc->columns * ldpc->lifting;
}

static inline size_t penstock__ldpc_data(const struct penstock_ldpc_problem *ldpc)
{
    return (size_t)(ldpc->columns - ldpc->rows) * ldpc->lifting;
}

static inline size_t penstock__ldpc_bits(const struct penstock_ldpc_problem *ldpc)
{
    return penstock__ldpc_data(ldpc) - ldpc->filler;
}

static inline size_t penstock__ldpc_sent(const struct penstock_ldpc_problem *ldpc)
{
    return penstock__ldpc_word(ldpc) - ldpc->punctured - ldpc->punctured_end - ldpc->filler;
}

/* The parts of a word that are sent: bits [at, end) of it, before and behind the filler; `first` of what is sent. */
struct penstock_ldpc_part {
    size_t at, end, first;
};

static inline void penstock__ldpc_parts(struct penstock_ldpc_part parts[2], const struct penstock_ldpc_problem *ldpc)
{
    const size_t end = penstock__ldpc_word(ldpc) - ldpc->punctured_end, bits = penstock__ldpc_bits(ldpc);
    parts[0] = (struct penstock_ldpc_part){.at = ldpc->punctured, .end = bits};
    parts[1] = (struct penstock_ldpc_part){penstock__ldpc_data(ldpc), end, bits - ldpc->punctured};
}

static inline size_t penstock__ldpc_soft_bytes(const struct penstock_ldpc_problem *ldpc)
{
    return ldpc->soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* Bytes of a result, and of its bits alone. */
static inline size_t penstock__ldpc_bits_bytes(const struct penstock_ldpc_problem *ldpc)
{
    size_t bits = penstock__ldpc_bits(ldpc);
    return ldpc->soft_result || ldpc->result == PENSTOCK_BITS_UNPACKED ? bits : (bits + 7) / 8;
}

static inline size_t penstock__ldpc_out_bytes(const struct penstock_ldpc_problem *ldpc)
{
    size_t bytes = penstock__ldpc_bits_bytes(ldpc);
    return ldpc->report ? (bytes + 3) / 4 * 4 + sizeof(penstock_ldpc_report) : bytes;
}

#endif
