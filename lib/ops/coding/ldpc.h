/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Descriptions of low-density parity-check codes as problems, and their graphs. */
#ifndef PENSTOCK_OPS_LDPC_H
#define PENSTOCK_OPS_LDPC_H

#include "backends/backend.h"

/* Checks a description and fills in its defaults; `checked`, if not NULL, gets it as this library knows it. An error of
 * one line says what is wrong. */
int penstock__ldpc_problem(struct penstock_problem *problem, penstock_ldpc_desc *checked,
                           const penstock_ldpc_desc *desc);

/* The rows of a base graph of 3GPP TS 38.212: of each edge the column, and its shift for each of the eight sets of
 * liftings. `last`: the row ends behind it. */
struct penstock__ldpc_nr_edge {
    uint8_t column, last;
    uint16_t shift[8];
};
extern const struct penstock__ldpc_nr_edge penstock__ldpc_nr_bg1[], penstock__ldpc_nr_bg2[];

/* The set that a lifting belongs to, table 5.3.2-1; -1: none. */
int penstock__ldpc_nr_set(unsigned lifting);

/* Fills in rows, columns, lifting, first and edges. */
int penstock__ldpc_nr_graph(struct penstock_ldpc_problem *ldpc, unsigned base_graph, unsigned rows, unsigned lifting);
int penstock__ldpc_ar4ja_graph(struct penstock_ldpc_problem *ldpc, unsigned columns, unsigned lifting);

/* IEEE 802.11-2020 tables F-1 to F-3: the base matrix of 24 columns of a code word's length and of a rate over
 * denominator numerator + 1, and its rows; NULL: none. */
const int16_t *penstock__ldpc_wifi_base(unsigned *rows, size_t word, unsigned numerator);

/* Puts an edge at the end of row `row`, the last one that there is, or begins that row. False where there are too many.
 */
bool penstock__ldpc_add_edge(struct penstock_ldpc_problem *ldpc, unsigned row, unsigned column, unsigned shift);

#endif
