/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Formats of soft bits and of bits, as decoders of all kinds read and write them. */
#include "backends/cpu/soft.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_LEVEL 127.0F
#define HARD_LEVEL 32 /* PENSTOCK__LDPC_HARD */

/* ---------------------------------------------------------------- soft bits ------------------- */

#define PARTS 8 /* that a sum over a block is made of, side by side */

/* Adds up the absolute values of finite numbers, and how many they are. */
static void add_levels(double sum[PARTS], uint32_t finite[PARTS], const float *in, size_t count)
{
    for (size_t i = 0; i < count; i += PARTS)
        for (size_t j = 0; j < PARTS; j++) {
            float level = i + j < count ? fabsf(in[i + j]) : INFINITY;
            bool counts = level <= FLT_MAX;
            sum[j] += (double)(counts ? level : 0);
            finite[j] += counts;
        }
}

float penstock__cpu_soft_scale(const float *in, size_t count, double mean)
{
    double sum[PARTS] = {0}, all = 0, scale;
    uint32_t finite[PARTS] = {0};
    size_t whole = count / PARTS * PARTS, there = 0;
    add_levels(sum, finite, in, whole);
    add_levels(sum, finite, in + whole, count - whole);
    for (unsigned j = 0; j < PARTS; j++) {
        all += sum[j];
        there += finite[j];
    }
    scale = all > 0 ? mean * (double)there / all : 1;
    return scale < (double)FLT_MAX ? (float)scale : FLT_MAX;
}

/* To the nearest whole number, of two the even one. */
static int8_t quantised(float value)
{
    const float whole = 0x1.8p23F;      /* numbers from here on have no fractions */
    value = value == value ? value : 0; /* nothing is known */
    value = value < MOST_LEVEL ? value : MOST_LEVEL;
    value = value > -MOST_LEVEL ? value : -MOST_LEVEL;
    return (int8_t)(int)(value + whole - whole);
}

void penstock__cpu_soft_convert(int8_t *out, penstock_soft soft, const void *in, size_t first, size_t count,
                                float scale)
{
    if (soft == PENSTOCK_SOFT_S8) {
        memcpy(out, (const int8_t *)in + first, count);
    } else if (soft == PENSTOCK_SOFT_F32) {
        for (size_t i = 0; i < count; i++)
            out[i] = quantised(((const float *)in)[first + i] * scale);
    } else {
        for (size_t i = 0; i < count; i++)
            out[i] = ((const uint8_t *)in)[first + i] ? -HARD_LEVEL : HARD_LEVEL;
    }
}

/* ---------------------------------------------------------------- bits ------------------------ */

/* Eight bits from bit i on; bytes up to that of the last of `end` bits are read. */
static unsigned byte_from(const uint8_t *packed, size_t i, size_t end)
{
    unsigned value = packed[i / 8] >> i % 8;
    if (i % 8 && i / 8 + 1 < (end + 7) / 8)
        value |= (unsigned)packed[i / 8 + 1] << (8 - i % 8);
    return end - i < 8 ? value & ((1u << (end - i)) - 1) : value & 255;
}

static unsigned reversed(unsigned byte)
{
    byte = (byte & 15) << 4 | byte >> 4;
    byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
    return (byte & 0x55) << 1 | (byte >> 1 & 0x55);
}

/* Bit i of eight to byte i of eight. */
static void unpack(uint8_t out[8], unsigned byte)
{
    uint64_t alone = byte * 0x0101010101010101u & 0x8040201008040201u;
    uint64_t bits = (alone + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
    for (unsigned i = 0; i < 8; i++)
        out[i] = (uint8_t)(bits >> 8 * i);
}

static void store_unpacked(uint8_t *out, const uint8_t *packed, size_t first, size_t bits)
{
    uint8_t last[8];
    size_t i = 0;
    for (; i + 8 <= bits; i += 8)
        unpack(out + i, byte_from(packed, first + i, first + bits));
    if (i == bits)
        return;
    unpack(last, byte_from(packed, first + i, first + bits));
    memcpy(out + i, last, bits - i);
}

void penstock__cpu_store_bits(uint8_t *out, penstock_bits result, const uint8_t *packed, size_t first, size_t bits)
{
    const size_t end = first + bits;
    size_t i = 0;
    if (result == PENSTOCK_BITS_UNPACKED) {
        store_unpacked(out, packed, first, bits);
        return;
    }
    if (!first && result == PENSTOCK_BITS_LSB_FIRST) {
        memcpy(out, packed, bits / 8);
        i = bits / 8 * 8;
    }
    for (; i < bits; i += 8) {
        unsigned byte = byte_from(packed, first + i, end);
        out[i / 8] = (uint8_t)(result == PENSTOCK_BITS_MSB_FIRST ? reversed(byte) : byte);
    }
}
