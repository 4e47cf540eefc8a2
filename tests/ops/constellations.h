/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Square constellations from the standard's tables, and soft bits by brute force over all points, in double precision.
 */
#ifndef PENSTOCK_TESTS_CONSTELLATIONS_H
#define PENSTOCK_TESTS_CONSTELLATIONS_H

#include <math.h>

/* By the bits on an axis: labels of the levels -(2^bits - 1), ..., -1, 1, ..., 2^bits - 1, as the tables list them:
 * IEEE 802.11-2020 tables 17-12 (BPSK) to 17-15 (64-QAM), figures 21-27 (256-QAM) and 27-39 (1024-QAM). */
static const char *const constellation_labels[6][32] = {
    [1] = {"0", "1"},
    [2] = {"00", "01", "11", "10"},
    [3] = {"000", "001", "011", "010", "110", "111", "101", "100"},
    [4] = {"0000", "0001", "0011", "0010", "0110", "0111", "0101", "0100", "1100", "1101", "1111", "1110", "1010",
           "1011", "1001", "1000"},
    [5] = {"00000", "00001", "00011", "00010", "00110", "00111", "00101", "00100", "01100", "01101", "01111",
           "01110", "01010", "01011", "01001", "01000", "11000", "11001", "11011", "11010", "11110", "11111",
           "11101", "11100", "10100", "10101", "10111", "10110", "10010", "10011", "10001", "10000"},
};

/* By the bits of a point: 1 / K_MOD of table 17-11 and clauses 21.3.10.9 and 27.3.12.9, the root of the mean power of
 * points on odd integers. */
static const double constellation_root[11] = {[1] = 1,
                                              [2] = 1.41421356237309505,
                                              [4] = 3.16227766016837933,
                                              [6] = 6.48074069840786023,
                                              [8] = 13.0384048104052974,
                                              [10] = 26.1151297144011938};

static inline int constellation_levels(int bits)
{
    return bits == 1 ? 2 : 1 << bits / 2;
}

static inline double constellation_level(int bits, int i)
{
    return (2 * i + 1 - constellation_levels(bits)) / constellation_root[bits];
}

/* llr[b] = weight * (least squared distance to a point with bit b 1, less that to one with bit b 0) */
static inline void constellation_llr(double llr[10], int bits, double re, double im, double weight)
{
    int axis = bits == 1 ? 1 : bits / 2, levels = 1 << axis, rows = bits == 1 ? 1 : levels;
    double best[10][2];
    for (int b = 0; b < bits; b++)
        best[b][0] = best[b][1] = INFINITY;
    for (int i = 0; i < levels; i++)
        for (int q = 0; q < rows; q++) {
            double d_re = re - constellation_level(bits, i);
            double d_im = bits == 1 ? im : im - constellation_level(bits, q);
            double distance = d_re * d_re + d_im * d_im;
            for (int b = 0; b < bits; b++) {
                char bit = b < axis ? constellation_labels[axis][i][b] : constellation_labels[axis][q][b - axis];
                if (distance < best[b][bit - '0'])
                    best[b][bit - '0'] = distance;
            }
        }
    for (int b = 0; b < bits; b++)
        llr[b] = weight * (best[b][1] - best[b][0]);
}

#endif
