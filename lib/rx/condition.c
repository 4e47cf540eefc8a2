/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which build of the conversion this processor runs best. */
#include "rx/condition.h"
#include "vector/instructions.h"

void penstock__condition(penstock_cf32 *out, const void *in, penstock_format format, size_t count, uint64_t *clipped,
                         uint64_t *not_finite)
{
    penstock__conditioner *const avx2 = AVX2_BUILD(&penstock__condition_avx2);
    (avx2 ? avx2 : &penstock__condition_plain)(out, in, format, count, clipped, not_finite);
}
