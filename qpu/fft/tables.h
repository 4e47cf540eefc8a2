/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Vectors that the program reads. All in words of 32 bits; angles are computed in double precision. */
#ifndef PENSTOCK_QPU_FFT_TABLES_H
#define PENSTOCK_QPU_FFT_TABLES_H

#include "geometry.h"

enum { VECTOR_BYTES = 64, ROW_BYTES = 128, CONSTANT_VECTORS = 7 };

/* For `begin`: flags and signs by lane, and twiddles within lanes_16. */
void qpu_fft__constants(uint32_t to[CONSTANT_VECTORS * LANES]);

/* For `shape`: bytes from a group's first point to the lane's. */
void qpu_fft__lane_offsets(const struct qpu_fft__geometry *g, unsigned pass, uint32_t to[LANES]);

/* A row is a vector of sines and one of cosines. Rows 1 and up of the table inside of a group, one a register. */
uint32_t qpu_fft__inner_rows(const struct qpu_fft__geometry *g, unsigned pass);
void qpu_fft__inner_table(const struct qpu_fft__geometry *g, unsigned pass, uint32_t *to);

/* What points that are not plain take: for each point its `parts` weights (1, or 2 of a complex number), then, if lanes
 * take part and it is not the first, cosine and sine. `weights` has `parts` numbers for each sample. */
uint32_t qpu_fft__sequence_vectors(const struct qpu_fft__geometry *g, unsigned parts);
void qpu_fft__sequence(const struct qpu_fft__geometry *g, uint32_t group, const float *weights, unsigned parts,
                       uint32_t sample_bytes, uint32_t *to);

/* The rows by which the results of one group are multiplied, in the order in which they are stored. */
uint32_t qpu_fft__outer_rows(const struct qpu_fft__geometry *g, unsigned pass);
void qpu_fft__outer_table(const struct qpu_fft__geometry *g, unsigned pass, uint32_t table, uint32_t *to);

#endif
