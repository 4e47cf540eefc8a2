/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What descriptions of decoders have in common. */
#ifndef PENSTOCK_OPS_CODING_CHECK_H
#define PENSTOCK_OPS_CODING_CHECK_H

#include <penstock/fec.h>

/* PENSTOCK_OK where each is one that there is; the error begins with `name`. */
int penstock__coding_check(const char *name, penstock_soft soft, penstock_bits result, float scale, unsigned slots);

#endif
