/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem as bytes, for another process with the same version of the library. */
#ifndef PENSTOCK_CORE_PROBLEM_BYTES_H
#define PENSTOCK_CORE_PROBLEM_BYTES_H

#include "backends/backend.h"

/* With its arrays; NULL where there is no memory. Free with penstock__free(). */
void *penstock__problem_pack(size_t *bytes, const struct penstock_problem *problem);

/* The problem's arrays stay where they are in `packed`. False where it is none of this version. */
bool penstock__problem_unpack(struct penstock_problem *problem, const void *packed, size_t bytes);

#endif
