/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Forward error correction: convolutional codes, decoded by the Viterbi algorithm, and low-density parity-check codes,
 * decoded by layered min-sum, in batches of blocks.
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
#include <penstock/stream.h>

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
    unsigned slots; /* batches in flight, of several devices on each, 1 .. 16; 0: 3 */
} penstock_viterbi_desc;

#define PENSTOCK_VITERBI_DESC(...) PENSTOCK_DESCRIPTION(penstock_viterbi_desc, __VA_ARGS__)

/*
 * Fills in generators, constraint, inverted, puncture and end of a description by a code's name, with or without a rate
 * after a colon ("wifi" is "wifi:1/2"), and leaves the rest alone:
 *     wifi:1/2, 2/3, 3/4, 5/6       IEEE 802.11-2020 17.3.5.6, 17.3.5.7, 19.3.11.6: zero-terminated
 *     dvb:1/2, 2/3, 3/4, 5/6, 7/8   ETSI EN 300 421 4.4.3: a stream, cut open
 *     dab:1/4                       ETSI EN 300 401 11.1.1, the mother code: zero-terminated
 *     lte:1/3                       3GPP TS 36.212 5.1.3.1: tail-biting
 *     ccsds:1/2, 2/3, 3/4, 5/6, 7/8 CCSDS 131.0-B 3.3, 3.4 (punctured ones not inverted): a stream, cut open
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

/* Decodes them and returns when they are done. `out` has penstock_plan_info.out_bytes for each block; of bytes after a
 * shorter block's result it is undefined what they hold. Each block gives the bits that it gives alone. */
PENSTOCK_API int penstock_viterbi_run(penstock_plan *plan, const penstock_viterbi_batch *batch);

/*
 * A stream without blocks, as DVB-S and CCSDS have it: items in are soft bits as desc->soft says, the first one being
 * the first of the puncturing pattern; items out are bytes of eight bits, or bits, as desc->result says. At the end
 * bits that make no whole byte come with zeros after them; soft bits that make no whole step are left out.
 *
 * It is decoded in windows at fixed places, of desc->bits bits (0: 2048; rounded up to whole bytes and patterns), from
 * some steps before each to as many after it, 16 (K - 1) at rate 1/2 and more where fewer coded bits are sent. Nothing
 * is known of the states at its ends: desc->end must be PENSTOCK_TRELLIS_OPEN. desc->batch windows are decoded at once
 * (0: a million bits), or those that are there, by penstock_stream_flush() and where one has been complete for
 * penstock_stream_set_max_latency(). A scale of 0 is one for each window.
 *
 * An error of the device loses nothing: the next call tries the same windows again.
 */
PENSTOCK_API int penstock_viterbi_stream_open(penstock_stream **stream, penstock_context *context,
                                              const penstock_viterbi_desc *desc, const char *device);

/*
 * A stream of blocks of equal length: an item in is the soft bits of one that are sent, an item out its result, as in
 * penstock_viterbi_plan(). Those that came are decoded together, as many as the device likes, or when
 * penstock_stream_set_max_latency() says so.
 */
PENSTOCK_API int penstock_viterbi_blocks_open(penstock_stream **stream, penstock_context *context,
                                              const penstock_viterbi_desc *desc, const char *device);

/* Coded bits that are sent for a block of `desc->bits`. */
PENSTOCK_API int penstock_viterbi_sent(size_t *count, const penstock_viterbi_desc *desc);

/* Encodes `blocks` blocks, each of desc->bits bits as desc->result says (packed ones from a whole byte on), into what
 * is sent of them, one bit a byte, 0 or 1, one block after the other. `bits` and `coded` lie apart. */
PENSTOCK_API int penstock_viterbi_encode(const penstock_viterbi_desc *desc, uint8_t *coded, const uint8_t *bits,
                                         size_t blocks);

/* ---------------------------------------------------------------- LDPC ------------------------ */

/* Where a quasi-cyclic code's base matrix comes from. */
typedef enum penstock_ldpc_graph {
    PENSTOCK_LDPC_BASE,   /* the description's `base` */
    PENSTOCK_LDPC_NR_BG1, /* 3GPP TS 38.212 table 5.3.2-2 */
    PENSTOCK_LDPC_NR_BG2, /* table 5.3.2-3 */
    PENSTOCK_LDPC_AR4JA   /* CCSDS 131.0-B 7.4 */
} penstock_ldpc_graph;

#define PENSTOCK_MAX_LDPC_EDGES   1024 /* blocks of a base matrix that are not zero */
#define PENSTOCK_MAX_LDPC_ROWS    128
#define PENSTOCK_MAX_LDPC_COLUMNS 512
#define PENSTOCK_MAX_LDPC_LIFTING 2048
#define PENSTOCK_MAX_LDPC_DEGREE  64 /* of them in a row */
#define PENSTOCK_LDPC_LEVEL       95 /* the largest soft value */

/*
 * A code word is `columns` times `lifting` bits, of which the first (columns - rows) lifting are the data bits. Of base
 * row r, check i sums bit (i + shift) mod lifting of each column whose block is not zero. Not sent are `punctured` bits
 * at the word's start, `punctured_end` at its end, and the last `filler` data bits, which are 0 and not in the result.
 */
typedef struct penstock_ldpc_desc {
    size_t size;
    penstock_ldpc_graph graph;
    const int16_t *base; /* PENSTOCK_LDPC_BASE: rows of `columns` shifts, taken modulo the lifting; -1: a zero block */
    unsigned rows, columns; /* of blocks. NR: 4 .. 46 or 42 rows, 0: all, and columns follow; AR4JA: 12 rows, and 20, 28
                               or 44 columns */
    unsigned lifting; /* rows and columns of a block, 2 .. 2048. NR: one of table 5.3.2-1; AR4JA: a power of two from
                         32 on */
    size_t punctured, punctured_end, filler;
    unsigned iterations; /* 1 .. 1000; 0: 10 */
    bool stop_early;     /* after an iteration after which all checks hold */
    penstock_soft soft;
    float scale; /* PENSTOCK_SOFT_F32: factor before rounding. 0: of each block its own, which makes 12 of the mean
                    absolute value of its finite numbers, at rates above 1/2 up to 32; where bits are punctured at the
                    start 10 at rates up to 1/3, and up to 40 above. GPUs have none of a block's own */
    penstock_bits result;
    bool soft_result; /* instead of bits an int8_t for each data bit, -95 .. 95, positive where 0 is likelier */
    bool report;      /* each result ends with a penstock_ldpc_report */
    size_t batch;     /* blocks that one call usually brings; 0: the library's choice. A hint, no limit. */
    unsigned slots;   /* batches in flight, of several devices on each, 1 .. 16; 0: 3 */
} penstock_ldpc_desc;

#define PENSTOCK_LDPC_DESC(...) PENSTOCK_DESCRIPTION(penstock_ldpc_desc, __VA_ARGS__)

/* The last bytes of a block's penstock_plan_info.out_bytes, from a multiple of 4 on. */
typedef struct penstock_ldpc_report {
    uint16_t iterations; /* that were done */
    uint16_t parity;     /* 1 where all checks hold, 0 otherwise */
} penstock_ldpc_report;

/*
 * Fills in the code's part of a description (graph .. filler) by a name and leaves the rest alone:
 *     wifi:1944:1/2          IEEE 802.11-2020 annex F: 648, 1296 or 1944 bits; 1/2, 2/3, 3/4 or 5/6
 *     nr:bg1:384, nr:bg2:52:12   3GPP TS 38.212 5.3.2: lifting and, if not all, rows; the first two columns punctured.
 *                            Filler and what rate matching does not send are for the caller to set.
 *     ccsds:1024:1/2         CCSDS 131.0-B 7.4 (AR4JA): 1024, 4096 or 16384 data bits; 1/2, 2/3 or 4/5
 */
PENSTOCK_API int penstock_ldpc_code(penstock_ldpc_desc *desc, const char *name);

/*
 * Plan decoding of blocks, as penstock_viterbi_plan(): frame i of a call has the soft bits of block i that are sent, in
 * the order of the word, and its result begins at i times penstock_plan_info.out_bytes.
 *
 * The decoder is normalised min-sum by layers: J. Chen, A. Dholakia, E. Eleftheriou, M. Fossorier, X.-Y. Hu,
 * "Reduced-complexity decoding of LDPC codes", IEEE Trans. Comm. 53(8), 2005; D. E. Hocevar, "A reduced complexity
 * decoder architecture via layered decoding of LDPC codes", Proc. SIPS 2004. Every device and variant gives the same
 * bits, by whole numbers: a bit's value L begins as its soft bit, limited to -95 .. 95 (0 where it is not sent, 95 for
 * filler), a check's message R to a bit as 0. For base rows in their order, and all checks of each: T = L - R of its
 * bits; R' has the product of the signs of the other bits' T (0 counts as positive) and floor((a m + b) / 8) of the
 * smallest m of their absolute values, at most 42, or 37 where a is 7; L' = T + R', limited to -95 .. 95. A bit is 1
 * where L < 0. "reference" does the same with a factor of 3/4, or 13/16 where a is 7, in double precision,
 * without limits.
 *
 * a and b are the code's: 6 or 7, and 0 or 2 (docs/fec.md).
 *
 * Levels of soft bits: a mean absolute value of 10 to 14 suits rates up to 1/2 best, about 32 rate 5/6.
 */
PENSTOCK_API int penstock_ldpc_plan(penstock_plan **plan, penstock_context *context, const penstock_ldpc_desc *desc,
                                    const char *device);

/* A stream of blocks, as penstock_viterbi_blocks_open(). */
PENSTOCK_API int penstock_ldpc_blocks_open(penstock_stream **stream, penstock_context *context,
                                           const penstock_ldpc_desc *desc, const char *device);

/* Data bits of a block's result, and bits that are sent for it; each may be NULL. */
PENSTOCK_API int penstock_ldpc_sizes(size_t *bits, size_t *sent, const penstock_ldpc_desc *desc);

/*
 * Encodes `blocks` blocks, each of its data bits as desc->result says (packed ones from a whole byte on), into what is
 * sent of them, one bit a byte, 0 or 1, one block after the other. `bits` and `coded` lie apart. An error where the
 * data bits do not determine the others. T. J. Richardson and R. L. Urbanke, "Efficient encoding of low-density
 * parity-check codes", IEEE Trans. Inf. Theory 47(2), 2001.
 */
PENSTOCK_API int penstock_ldpc_encode(const penstock_ldpc_desc *desc, uint8_t *coded, const uint8_t *bits,
                                      size_t blocks);

#ifdef __cplusplus
}
#endif

#endif
