/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Conversions on the way from and to registers: 16- and 8-bit parts, half floats, colours, saturation. */
#include <string.h>

#include "alu.h"

static uint32_t float_of_half(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = (half & 0x3ff) << 13;
    if (exponent == 0)
        return sign | mantissa; /* not normalised: the ALU takes it for 0 */
    return sign | (exponent == 31 ? 255 : exponent + 127 - 15) << 23 | mantissa;
}

/* byte / 255, cut. No quotient but 0 and 1 lies near enough to a float for double's rounding to matter. */
static uint32_t float_of_byte(uint32_t byte)
{
    double value = byte / 255.0;
    uint64_t bits;
    if (byte == 0)
        return 0;
    memcpy(&bits, &value, sizeof bits);
    return (uint32_t)((bits >> 29) - ((uint64_t)(1023 - 127) << 23));
}

static uint32_t sign_extended(uint32_t half)
{
    return half & 0x8000 ? half | 0xffff0000u : half;
}

void qpu_emu__unpack(unsigned mode, bool as_float, const struct qpu_lanes *in, struct qpu_lanes *out)
{
    for (int i = 0; i < QPU_LANES; i++) {
        uint32_t x = in->v[i], part;
        switch (mode) {
        case 0:
            out->v[i] = x;
            break;
        case 1:
        case 2:
            part = x >> 16 * (mode - 1) & 0xffff;
            out->v[i] = as_float ? float_of_half(part) : sign_extended(part);
            break;
        case 3:
            out->v[i] = (x >> 24) * 0x01010101u;
            break;
        default:
            part = x >> 8 * (mode - 4) & 0xff;
            out->v[i] = as_float ? float_of_byte(part) : part;
        }
    }
}

/* Away from zero; what a normal half cannot hold becomes 0 or infinite. */
static uint32_t half_of_float(uint32_t x)
{
    uint32_t sign = x >> 16 & 0x8000, exponent = x >> 23 & 255, rounded;
    if (exponent == 255)
        return sign | 0x7c00;
    if (exponent <= 127 - 15)
        return 0;
    rounded = (((exponent - (127 - 15)) << 23 | (x & 0x7fffff)) + 0x1fff) >> 13;
    return sign | (rounded >= 0x7c00 ? 0x7c00 : rounded);
}

static uint32_t colour_of_float(uint32_t x)
{
    float value;
    if (x & 0x80000000u || !(x & 0x7f800000u))
        return 0;
    if (x >= 0x3f800000u)
        return 255;
    memcpy(&value, &x, sizeof value);
    return (uint32_t)((double)value * 255.0 + 0.5);
}

static uint32_t clamped(uint32_t x, int32_t low, int32_t high)
{
    int32_t value = (int32_t)x;
    return (uint32_t)(value < low ? low : value > high ? high : value);
}

static uint32_t with_part(uint32_t old, uint32_t part, unsigned shift, uint32_t mask)
{
    return (old & ~(mask << shift)) | (part & mask) << shift;
}

/* Integer modes see a result that already stopped at the ends of 32 bits, at the end that the carry names. */
static uint32_t saturated(uint32_t x, bool overflow, bool carry)
{
    if (!overflow)
        return x;
    return carry ? 0x80000000u : 0x7fffffffu;
}

static uint32_t packed(unsigned mode, bool is_float, uint32_t x, uint32_t old)
{
    switch (mode) {
    case 1:
    case 2:
        return with_part(old, is_float ? half_of_float(x) : x, 16 * (mode - 1), 0xffff);
    case 3:
        return (x & 0xff) * 0x01010101u;
    case 4:
    case 5:
    case 6:
    case 7:
        return with_part(old, x, 8 * (mode - 4), 0xff);
    case 9:
    case 10:
        return with_part(old, is_float ? half_of_float(x) : clamped(x, -32768, 32767), 16 * (mode - 9), 0xffff);
    case 11:
        return clamped(x, 0, 255) * 0x01010101u;
    case 12:
    case 13:
    case 14:
    case 15:
        return with_part(old, clamped(x, 0, 255), 8 * (mode - 12), 0xff);
    default:
        return x;
    }
}

static uint32_t packed_colour(unsigned mode, uint32_t x, uint32_t old)
{
    if (mode == 3)
        return colour_of_float(x) * 0x01010101u;
    if (mode >= 4 && mode <= 7)
        return with_part(old, colour_of_float(x), 8 * (mode - 4), 0xff);
    return x;
}

void qpu_emu__pack(const struct qpu_packing *packing, const struct qpu_lanes *result, const struct qpu_lanes *old,
                   struct qpu_lanes *out)
{
    for (int i = 0; i < QPU_LANES; i++) {
        uint32_t x = result->v[i];
        if (packing->colour) {
            out->v[i] = packed_colour(packing->mode, x, old->v[i]);
            continue;
        }
        if (packing->mode && !packing->is_float)
            x = saturated(x, packing->overflow >> i & 1, packing->carry >> i & 1);
        out->v[i] = packed(packing->mode, packing->is_float, x, old->v[i]);
    }
}

bool qpu_emu__pack_is_partial(unsigned mode, bool colour)
{
    if (colour)
        return mode >= 4 && mode <= 7;
    return mode == 1 || mode == 2 || (mode >= 4 && mode <= 7) || mode == 9 || mode == 10 || mode >= 12;
}
