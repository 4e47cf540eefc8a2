/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What instructions of PTX compute, by their names: "fma.rn.f32". */
#include "ptx_run.h"

#include <math.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

float ptx_of_floats(const char *operation, float a, float b, float c)
{
    return starts(operation, "fma")   ? fmaf(a, b, c)
           : starts(operation, "mul") ? a * b
           : starts(operation, "add") ? a + b
           : starts(operation, "sub") ? a - b
           : starts(operation, "neg") ? -a
           : starts(operation, "mov") ? a
                                      : NAN;
}

static bool compared(const char *operation, int64_t a, int64_t b)
{
    return strstr(operation, ".lt.")   ? a < b
           : strstr(operation, ".le.") ? a <= b
           : strstr(operation, ".gt.") ? a > b
           : strstr(operation, ".ge.") ? a >= b
           : strstr(operation, ".eq.") ? a == b
                                       : a != b;
}

/* Byte i of the result is that of b a, eight bytes, which digit i of `selector` names. */
static int64_t permuted(uint32_t a, uint32_t b, int64_t selector)
{
    uint64_t both = (uint64_t)b << 32 | a, result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= (both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return (int64_t)result;
}

bool ptx_of_integers(int64_t *result, const char *operation, int64_t a, int64_t b, int64_t c)
{
    if (starts(operation, "mov") || starts(operation, "cvt"))
        *result = a;
    else if (starts(operation, "add"))
        *result = a + b;
    else if (starts(operation, "sub"))
        *result = a - b;
    else if (starts(operation, "mul"))
        *result = a * b;
    else if (starts(operation, "mad"))
        *result = a * b + c;
    else if (starts(operation, "shl"))
        *result = (int64_t)((uint64_t)a << b);
    else if (starts(operation, "shr"))
        *result = a >> b;
    else if (starts(operation, "and"))
        *result = a & b;
    else if (starts(operation, "or"))
        *result = a | b;
    else if (starts(operation, "xor"))
        *result = a ^ b;
    else if (starts(operation, "min"))
        *result = a < b ? a : b;
    else if (starts(operation, "max"))
        *result = a > b ? a : b;
    else if (starts(operation, "setp"))
        *result = compared(operation, a, b);
    else if (starts(operation, "selp"))
        *result = c ? a : b;
    else if (starts(operation, "prmt.b32"))
        *result = permuted((uint32_t)a, (uint32_t)b, c);
    else if (starts(operation, "not.pred"))
        *result = !a;
    else
        return false;
    return true;
}
