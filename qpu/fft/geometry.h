/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How a transform is cut into passes, and where the samples lie before and after each.
 *
 * A transform of N = R1 R2 ... Rp points: the index before is n = n1 (N / R1) + n2 (N / R1 R2) + ... + np, the
 * frequency after is k = k1 + R1 k2 + R1 R2 k3 + ... . Pass i turns digit ni into ki (W. M. Gentleman and G. Sande,
 * 1966): a transform of Ri points, then, but for the last, times exp(-2 pi j ki b / (Ri ... Rp)), b being the number
 * that the digits n(i+1) ... np make.
 *
 * In two dimensions the digits of both are transformed in turn, each as if the other dimension's were not there.
 *
 * All sizes are powers of two, so an address is a sum of weights of the bits of the digits. A pass works on groups:
 * all bits of its digit in registers and lanes, and in the lanes that are left some bits of other digits.
 */
#ifndef PENSTOCK_QPU_FFT_GEOMETRY_H
#define PENSTOCK_QPU_FFT_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { PASSES = 4, DIGIT_BITS = 16, LANES = 16, LANE_BITS = 4, REGISTER_BITS = 4, GROUP_BITS = 20 };

struct qpu_fft__bit {
    uint8_t digit, bit;
};

/* Where bit `bit` of digit `digit`, n or k, lies: bytes. */
struct qpu_fft__layout {
    uint32_t weight[PASSES][DIGIT_BITS];
};

struct qpu_fft__pass {
    unsigned register_bits,
        lane_bits; /* of its digit: registers hold n's low and k's high, lanes n's high and k's low */
    struct qpu_fft__bit lane_before[LANE_BITS], lane_after[LANE_BITS];
    struct qpu_fft__bit group[GROUP_BITS]; /* bits that tell groups apart, the nearest in memory first */
    unsigned group_bits;
    struct qpu_fft__layout before, after;
};

struct qpu_fft__geometry {
    unsigned log_points, pass_count;
    unsigned digit_bits[PASSES];
    uint8_t dimension[PASSES]; /* 0, or of two dimensions 1: down the columns */
    unsigned log_columns;
    struct qpu_fft__pass pass[PASSES];
};

/* Of input samples of that many bytes. False: no way to do that many points. */
bool qpu_fft__geometry(struct qpu_fft__geometry *g, uint32_t points, uint32_t rows, uint32_t sample_bytes);

/* No transform: `rows` rows of `points` samples become columns. Registers hold columns, lanes rows. */
bool qpu_fft__transposition(struct qpu_fft__geometry *g, uint32_t points, uint32_t rows, uint32_t sample_bytes);

/* What the bits of `value`, in the order of `bits`, weigh. */
uint32_t qpu_fft__weigh(const struct qpu_fft__layout *layout, const struct qpu_fft__bit *bits, unsigned count,
                        uint32_t value);

/* `bits` low bits of a number, reversed. */
unsigned qpu_fft__reversed(unsigned number, unsigned bits);

/* Bytes from the first sample to the one that a group of the first pass has in a register and lane. */
uint32_t qpu_fft__sample(const struct qpu_fft__geometry *g, uint32_t group, unsigned point, unsigned lane);

/* Bytes from a group's beginning to result `i` of a pass, in the order in which results are stored. */
uint32_t qpu_fft__result(const struct qpu_fft__geometry *g, unsigned pass, unsigned i);

/* The part of b, see above, that a pass's group and lane have. */
uint32_t qpu_fft__rest(const struct qpu_fft__geometry *g, unsigned pass, uint32_t group, unsigned lane);

/* Groups whose b differ use different tables: how many there are, which one a group uses, and a group that uses it. */
uint32_t qpu_fft__table_count(const struct qpu_fft__geometry *g, unsigned pass);
uint32_t qpu_fft__table_of(const struct qpu_fft__geometry *g, unsigned pass, uint32_t group);
uint32_t qpu_fft__group_of(const struct qpu_fft__geometry *g, unsigned pass, uint32_t table);

#endif
