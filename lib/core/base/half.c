/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Numbers of 16 bits from floats and back, by integers: no compiler and no processor needs to know them. */
#include "backends/backend.h"

#include <string.h>

#define FLOAT_INFINITY 0x7f800000u
#define BEYOND         0x47800000u /* 65536, the first power of two that is too large */
#define NORMAL         0x38800000u /* 2^-14 */
#define HALF           0x3f000000u /* 0.5f, whose last bit is worth 2^-24 */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A carry out of the significand makes the next power of two of it, and of the largest one infinity, as it should. */
static uint16_t from_float(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u;
    bits &= ~0u >> 1;
    if (bits >= BEYOND)
        return (uint16_t)(sign | (bits > FLOAT_INFINITY ? 0x7e00u : 0x7c00u));
    if (bits < NORMAL)
        return (uint16_t)(sign | (bits_of(float_of(bits) + 0.5f) - HALF));
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)(sign | (bits - (112u << 23)) >> 13);
}

static float to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest < 0x400u)
        return float_of(sign | bits_of((float)rest * 0x1p-24f));
    if (rest >= 0x7c00u)
        return float_of(sign | FLOAT_INFINITY | (rest & 0x3ffu) << 13);
    return float_of(sign | ((rest << 13) + (112u << 23)));
}

void penstock_half_from_float(uint16_t *halves, const float *floats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        halves[i] = from_float(floats[i]);
}

void penstock_half_to_float(float *floats, const uint16_t *halves, size_t count)
{
    for (size_t i = 0; i < count; i++)
        floats[i] = to_float(halves[i]);
}
