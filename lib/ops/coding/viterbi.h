/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Descriptions of convolutional codes as problems. */
#ifndef PENSTOCK_OPS_VITERBI_H
#define PENSTOCK_OPS_VITERBI_H

#include "backends/backend.h"

/* Checks a description and fills in its defaults; `checked`, if not NULL, gets it as this library knows it. An error of
 * one line says what is wrong. */
int penstock__viterbi_problem(struct penstock_problem *problem, penstock_viterbi_desc *checked,
                              const penstock_viterbi_desc *desc);

/* Whether some input but zeros, endless or not, gives only zeros in what is sent: then a few wrong bits received can be
 * followed by wrong bits without end, or different blocks are sent alike. J. L. Massey and M. K. Sain, "Inverses of
 * linear sequential circuits", IEEE Trans. Comp. C-17(4), 1968. Or an error for want of memory. */
int penstock__viterbi_is_catastrophic(bool *catastrophic, const struct penstock_viterbi_problem *viterbi);

#endif
