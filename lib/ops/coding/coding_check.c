/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The checks of what descriptions of decoders have in common. */
#include "ops/coding/coding_check.h"
#include "backends/backend.h"

#define MOST_SLOTS  16
#define LEAST_SCALE 1e-9F
#define MOST_SCALE  1e9F

#define bad(text, ...) penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: " text, name, __VA_ARGS__)

int penstock__coding_check(const char *name, penstock_soft soft, penstock_bits result, float scale, unsigned slots)
{
    if ((unsigned)soft > PENSTOCK_SOFT_HARD)
        return bad("soft %d is not PENSTOCK_SOFT_S8, _F32 or _HARD", (int)soft);
    if ((unsigned)result > PENSTOCK_BITS_UNPACKED)
        return bad("result %d is not PENSTOCK_BITS_LSB_FIRST, _MSB_FIRST or _UNPACKED", (int)result);
    if (scale != 0 && !(scale >= LEAST_SCALE && scale <= MOST_SCALE))
        return bad("scale %g is not in %g .. %g", (double)scale, (double)LEAST_SCALE, (double)MOST_SCALE);
    if (slots > MOST_SLOTS)
        return bad("%u slots are not in 1 .. %d", slots, MOST_SLOTS);
    return PENSTOCK_OK;
}
