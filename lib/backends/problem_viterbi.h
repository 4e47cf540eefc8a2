/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of convolutional codes, as a backend is asked for them. */
#ifndef PENSTOCK_PROBLEM_VITERBI_H
#define PENSTOCK_PROBLEM_VITERBI_H

#include <penstock/penstock.h>

/*
 * Blocks of a convolutional code: a penstock_viterbi_desc, checked, with every default filled in. A frame is a block; a
 * sample is a soft bit. A job with places (`gather`) has a penstock_viterbi_block for each of its blocks, whose results
 * are as far apart as if all had `bits`; without them blocks have `bits` and lie one behind the other.
 *
 * A tail-biting block is decoded as the steps from `depth` before it to `depth` behind it, going round it as often as
 * that takes, both ends open, of which the block's own are the result. With `depth` 0 it is a chunk of a stream.
 */
struct penstock_viterbi_problem {
    unsigned generators[PENSTOCK_MAX_GENERATORS];
    unsigned count, constraint, inverted;
    size_t period;                       /* coded bits of the puncturing pattern, a multiple of count */
    uint8_t kept[PENSTOCK_MAX_PUNCTURE]; /* whether each of these is sent: 0 or 1 */
    penstock_trellis_end end;
    size_t depth; /* 0 but for tail-biting blocks */
    size_t bits;
    penstock_soft soft;
    float scale; /* 0: of each block its own */
    penstock_bits result;
};

/* Steps of the trellis that are sent for so many bits, and coded bits that are sent for so many steps. */
static inline size_t penstock__viterbi_steps(const struct penstock_viterbi_problem *viterbi, size_t bits)
{
    return bits + (viterbi->end == PENSTOCK_TRELLIS_ZERO ? viterbi->constraint - 1 : 0);
}

static inline size_t penstock__viterbi_sent(const struct penstock_viterbi_problem *viterbi, size_t steps)
{
    size_t coded = steps * viterbi->count, sent = 0, part = 0;
    for (size_t i = 0; i < viterbi->period; i++) {
        sent += viterbi->kept[i];
        part += i < coded % viterbi->period && viterbi->kept[i];
    }
    return coded / viterbi->period * sent + part;
}

/*
 * Steps beyond a tail-biting block's ends, or before a window, after which the state is as good as known: some 12 times
 * the memory at rate 1/2, and inversely with the share of redundancy, R. J. McEliece and I. M. Onyszchuk, "Truncation
 * effects in Viterbi decoding", Proc. MILCOM 1989.
 */
static inline size_t penstock__viterbi_depth(const struct penstock_viterbi_problem *viterbi)
{
    size_t data = viterbi->period / viterbi->count, sent = penstock__viterbi_sent(viterbi, data);
    size_t redundant = sent > data ? sent - data : 1;
    return (6 * (viterbi->constraint - 1) * sent + redundant - 1) / redundant;
}

static inline size_t penstock__viterbi_soft_bytes(const struct penstock_viterbi_problem *viterbi)
{
    return viterbi->soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* Bytes of a result. */
static inline size_t penstock__viterbi_out_bytes(const struct penstock_viterbi_problem *viterbi, size_t bits)
{
    return viterbi->result == PENSTOCK_BITS_UNPACKED ? bits : (bits + 7) / 8;
}

#endif
