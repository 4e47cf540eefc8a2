/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of penstock fec share. */
#ifndef PENSTOCK_APPS_FEC_H
#define PENSTOCK_APPS_FEC_H

#include "shared/command.h"

struct fec {
    char *code, *soft_name, *order, *device, *input, *output, *csv, *png;
    uint64_t bits, count, errors, seed;
    double first_db, last_db, step_db;
    penstock_viterbi_desc desc; /* of a block */
    size_t sent, bytes;         /* soft bits and bytes of bits of a block */
};

enum { FEC_MOST_BITS = 1 << 20 }; /* of a block */

/* desc.bits, and what follows from it. Returns an exit code. */
int fec_set_bits(struct fec *fec, size_t bits);

/* From file to file, by blocks of desc.bits bits or as a stream. Returns an exit code. */
int fec_files(struct fec *fec, bool encodes, bool streams);

/* Bit errors of a code at some signal-to-noise ratios, beside theory. Returns an exit code. */
int fec_ber(struct fec *fec);

/*
 * The union bound of the bit error rate with soft bits that are not rounded, in white noise: of all ways out of state 0
 * and back to it of up to `MOST` coded bits that are 1, their bits that are 1 times the probability that one of that
 * weight wins, over all phases of the puncturing. A. J. Viterbi, "Convolutional codes and their performance in
 * communication systems", IEEE Trans. Commun. Technol. 19(5), 1971. `bit_weights` is filled in by fec_weights().
 */
enum { FEC_MOST_WEIGHT = 40 };
int fec_weights(double bit_weights[FEC_MOST_WEIGHT], const penstock_viterbi_desc *desc);
double fec_bound(const double bit_weights[FEC_MOST_WEIGHT], double rate, double ebn0_db);

/* Of bits that are sent without a code. */
double fec_uncoded(double ebn0_db);

#endif
