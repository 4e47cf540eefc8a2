/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Float operations of the QPU. Numbers with exponent 0 are +0, those with exponent 255 are infinite, results round
 * toward zero. Every intermediate is exact in double (or its rounding error is known), so truncating a double's bits
 * truncates the exact result.
 */
#include "alu.h"

#include <stddef.h>
#include <string.h>

#include "isa.h"

static const uint32_t SIGN = 0x80000000u, INFINITE = 0x7f800000u;

static inline double as_double(uint32_t bits)
{
    float value;
    bits = bits & INFINITE ? bits : 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A finite double, given by its bits, cut to float: below the normal numbers +0, above them infinite. */
static inline uint32_t truncated(uint64_t bits)
{
    uint32_t sign = (uint32_t)(bits >> 32) & SIGN;
    uint64_t magnitude = bits & ~(UINT64_C(1) << 63);
    uint32_t result = (uint32_t)((magnitude >> 29) - ((uint64_t)(1023 - 127) << 23));
    result = magnitude >> 52 >= 255 + 1023 - 127 ? INFINITE : result;
    return magnitude >> 52 <= 1023 - 127 ? 0 : sign | result;
}

static inline bool is_infinite(uint32_t bits)
{
    return (bits & INFINITE) == INFINITE;
}

/* The sum in double and its exact error (Knuth's two-sum); the error moves a sum that it undercuts one step down. */
static inline uint32_t sum(uint32_t a, uint32_t b)
{
    double x = as_double(a), y = as_double(b);
    double s = x + y, part = s - x;
    double error = (x - (s - part)) + (y - part);
    uint64_t bits = bits_of(s), error_bits = bits_of(error);
    uint64_t undercut = (bits ^ error_bits) >> 63 & (error_bits << 1 != 0);
    uint32_t infinite = INFINITE | ((is_infinite(b) ? b : a) & SIGN);
    uint32_t result = truncated(bits - undercut);
    return is_infinite(a) || is_infinite(b) ? infinite : result;
}

static inline uint32_t product(uint32_t a, uint32_t b)
{
    uint32_t result = truncated(bits_of(as_double(a) * as_double(b)));
    uint32_t infinite = INFINITE | ((a ^ b) & SIGN);
    bool zero = !(a & INFINITE) || !(b & INFINITE);
    result = is_infinite(a) || is_infinite(b) ? infinite : result;
    return zero ? 0 : result;
}

static inline uint32_t to_integer(uint32_t bits)
{
    bool fits = (bits & ~SIGN) < 0x4f000000u; /* below 2^31, so neither infinite */
    float value;
    bits = fits ? bits : 0;
    memcpy(&value, &bits, sizeof value);
    return (uint32_t)(int32_t)value;
}

static inline uint32_t to_float(uint32_t integer)
{
    return truncated(bits_of((double)(int32_t)integer));
}

int32_t qpu_emu__float_order(uint32_t bits, bool absolute)
{
    int32_t magnitude = (int32_t)(bits & ~SIGN);
    return bits & SIGN && !absolute ? -magnitude : magnitude;
}

void qpu_emu__fmul(const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out)
{
    for (int i = 0; i < QPU_LANES; i++)
        out->v[i] = product(a->v[i], b->v[i]);
}

static void extreme(const struct qpu_lanes *a, const struct qpu_lanes *b, bool absolute, bool larger,
                    struct qpu_lanes *out)
{
    uint32_t kept = absolute ? ~SIGN : ~UINT32_C(0);
    for (int i = 0; i < QPU_LANES; i++) {
        bool greater = qpu_emu__float_order(a->v[i], absolute) > qpu_emu__float_order(b->v[i], absolute);
        out->v[i] = (greater == larger ? a->v[i] : b->v[i]) & kept;
    }
}

bool qpu_emu__float_add_alu(unsigned op, const struct qpu_lanes *a, const struct qpu_lanes *b, struct qpu_lanes *out)
{
    switch (op) {
    case QPU_FADD:
        for (int i = 0; i < QPU_LANES; i++)
            out->v[i] = sum(a->v[i], b->v[i]);
        return true;
    case QPU_FSUB:
        for (int i = 0; i < QPU_LANES; i++)
            out->v[i] = sum(a->v[i], b->v[i] ^ SIGN);
        return true;
    case QPU_FMIN:
    case QPU_FMAX:
    case QPU_FMINABS:
    case QPU_FMAXABS:
        extreme(a, b, op >= QPU_FMINABS, op == QPU_FMAX || op == QPU_FMAXABS, out);
        return true;
    case QPU_FTOI:
        for (int i = 0; i < QPU_LANES; i++)
            out->v[i] = to_integer(a->v[i]);
        return true;
    case QPU_ITOF:
        for (int i = 0; i < QPU_LANES; i++)
            out->v[i] = to_float(a->v[i]);
        return true;
    default:
        return false;
    }
}

bool qpu_emu__add_takes_float(unsigned op)
{
    return op >= QPU_FADD && op <= QPU_FTOI;
}

bool qpu_emu__add_gives_float(unsigned op)
{
    return op >= QPU_FADD && op <= QPU_ITOF && op != QPU_FTOI;
}
