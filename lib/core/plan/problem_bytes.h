/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem as bytes, for another process with the same version of the library; and as a key of measured answers. */
#ifndef PENSTOCK_CORE_PROBLEM_BYTES_H
#define PENSTOCK_CORE_PROBLEM_BYTES_H

#include "backends/backend.h"

/* With its arrays; NULL where there is no memory. Free with penstock__free(). */
void *penstock__problem_pack(size_t *bytes, const struct penstock_problem *problem);

/* The problem's arrays stay where they are in `packed`. False where it is none of this version. */
bool penstock__problem_unpack(struct penstock_problem *problem, const void *packed, size_t bytes);

#define PENSTOCK__PROBLEM_KEY_BYTES 1536

/* A line that tells problems apart by all that their time may depend on: every field that is not zero. Of a window, a
 * frequency and a scale, which change while a stream runs, it tells whether there are any: one value takes as long as
 * another. Returns its length. */
size_t penstock__problem_key(char key[PENSTOCK__PROBLEM_KEY_BYTES], const struct penstock_problem *problem);

#endif
