/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Forward error correction: convolutional codes, decoded by the Viterbi algorithm, in batches of blocks.
 *
 *     penstock_viterbi_desc code = PENSTOCK_VITERBI_DESC(.bits = 1024);
 *     if (penstock_viterbi_code(&code, "dvb:3/4") ||
 *         penstock_viterbi_plan(&plan, context, &code, "auto") ||
 *         penstock_plan_run(plan, soft, bytes, blocks))
 *         fprintf(stderr, "%s\n", penstock_error_text());
 *
 * Soft bits: positive where 0 is likelier, 0 where nothing is known, as penstock_ofdm_result.soft.
 */
#ifndef PENSTOCK_FEC_H
#define PENSTOCK_FEC_H

#include <penstock/context.h>
#include <penstock/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a block ends. Every one but a tail-biting one begins in state 0. */
typedef enum penstock_trellis_end {
    PENSTOCK_TRELLIS_ZERO,       /* K - 1 zeros follow the block's bits and are coded too; they are not in the result */
    PENSTOCK_TRELLIS_OPEN,       /* nothing follows: the last bits are less certain */
    PENSTOCK_TRELLIS_TAIL_BITING /* the block begins in the state in which it ends */
} penstock_trellis_end;

/* How received bits lie in memory. */
typedef enum penstock_soft {
    PENSTOCK_SOFT_S8,  /* int8_t, -128 .. 127; all values count */
    PENSTOCK_SOFT_F32, /* float; rounded to -127 .. 127 after a factor. NaN is taken for 0, infinity for +-127 */
    PENSTOCK_SOFT_HARD /* uint8_t, one bit a byte: 0, or anything else for 1 */
} penstock_soft;

/* How decoded bits lie in memory. Spare bits of a block's last byte are 0. */
typedef enum penstock_bits {
    PENSTOCK_BITS_LSB_FIRST, /* eight a byte, the first one in the least significant bit (IEEE 802.11) */
    PENSTOCK_BITS_MSB_FIRST, /* eight a byte, the first one in the most significant bit */
    PENSTOCK_BITS_UNPACKED   /* one a byte, 0 or 1 */
} penstock_bits;

#define PENSTOCK_MAX_GENERATORS 4
#define PENSTOCK_MAX_PUNCTURE   256 /* characters */

typedef struct penstock_viterbi_desc {
    size_t size;
    unsigned generators[PENSTOCK_MAX_GENERATORS]; /* in the order in which a step's coded bits are sent, usually written
                                                     in octal; the highest of K bits weighs the newest bit; the first
                                                     that is 0 ends the list. None: 0133, 0171 */
    unsigned constraint;                          /* K, 3 .. 9; 0: as many bits as the longest generator has */
    unsigned inverted;                            /* bit i: the bits of generators[i] are sent inverted */
    const char *puncture; /* '1' for coded bits that are sent and '0' for others, in the order of sending, over and over
                             again from the block's start on; a multiple of the generators long. At least as many are
                             sent as there are steps, and errors do not go on for ever. NULL: all are sent. */
    penstock_trellis_end end;
    size_t bits; /* data bits of a block, 1 .. 2^20 */
    penstock_soft soft;
    float scale; /* PENSTOCK_SOFT_F32: factor before rounding. 0: of each block its own, which makes 32 of the mean
                    absolute value of its finite numbers */
    penstock_bits result;
    size_t batch;   /* blocks that one call usually brings; 0: the library's choice. A hint, no limit. */
    unsigned slots; /* batches in flight, 1 .. 16; 0: 3 */
} penstock_viterbi_desc;

#define PENSTOCK_VITERBI_DESC(...) PENSTOCK_DESCRIPTION(penstock_viterbi_desc, __VA_ARGS__)

/*
 * Fills in generators, constraint, inverted, puncture and end of a description by a code's name, with or without a rate
 * behind a colon ("wifi" is "wifi:1/2"), and leaves the rest alone:
 *     wifi:1/2, 2/3, 3/4, 5/6       IEEE 802.11-2020 17.3.5.6, 17.3.5.7, 19.3.11.6: zero-terminated
 *     dvb:1/2, 2/3, 3/4, 5/6, 7/8   ETSI EN 300 421 4.4.3: a stream, cut open
 *     dab:1/4                       ETSI EN 300 401 11.1.1, the mother code: zero-terminated
 *     lte:1/3                       3GPP TS 36.212 5.1.3.1: tail-biting
 *     ccsds:1/2, 2/3, 3/4, 5/6, 7/8 CCSDS 131.0-B 3.3 and 3.4 (the punctured ones without inversion): a stream, cut
 * open
 */
PENSTOCK_API int penstock_viterbi_code(penstock_viterbi_desc *desc, const char *name);

/*
 * Plan decoding of blocks, of equal length for penstock_plan_run(): frame i of a call has the soft bits of block i,
 * those that are sent, and its result begins at i times penstock_plan_info.out_bytes. The result is the most likely
 * block, by exact sums of 8-bit soft bits; of a tail-biting one it is the most likely path around the block and some
 * way beyond. Every device and variant gives the same bits ("reference": of floats, which it does not round, nearly
 * so).
 *
 * Equally likely: of two ways into a state that one is taken whose older state has a 0 as its oldest bit; of two states
 * at an open end that one whose oldest bit is 0, where that is equal, whose next one is, and so on.
 */
PENSTOCK_API int penstock_viterbi_plan(penstock_plan **plan, penstock_context *context,
                                       const penstock_viterbi_desc *desc, const char *device);

/* A block of a batch with blocks of different lengths. */
typedef struct penstock_viterbi_block {
    uint64_t at;   /* its first soft bit, in soft bits of the batch */
    uint32_t bits; /* 1 .. what the description has */
    uint32_t reserved;
} penstock_viterbi_block;

typedef struct penstock_viterbi_batch {
    size_t size;
    const void *soft;
    size_t soft_count;
    const penstock_viterbi_block *blocks; /* in any order; they may overlap */
    size_t block_count;
    void *out; /* the result of block i from i times penstock_plan_info.out_bytes on, without what is beyond its bits */
} penstock_viterbi_batch;

#define PENSTOCK_VITERBI_BATCH(...) PENSTOCK_DESCRIPTION(penstock_viterbi_batch, __VA_ARGS__)

/* Decodes them and returns when they are done. `out` has penstock_plan_info.out_bytes for each block; of bytes behind a
 * shorter block's result it is undefined what they hold. Each block gives the bits that it gives alone. */
PENSTOCK_API int penstock_viterbi_run(penstock_plan *plan, const penstock_viterbi_batch *batch);

/* Coded bits that are sent for a block of `desc->bits`. */
PENSTOCK_API int penstock_viterbi_sent(size_t *count, const penstock_viterbi_desc *desc);

/* Encodes `blocks` blocks, each of desc->bits bits as desc->result says (packed ones from a whole byte on), into what
 * is sent of them, one bit a byte, 0 or 1, one block behind the other. `bits` and `coded` lie apart. */
PENSTOCK_API int penstock_viterbi_encode(const penstock_viterbi_desc *desc, uint8_t *coded, const uint8_t *bits,
                                         size_t blocks);

#ifdef __cplusplus
}
#endif

#endif
