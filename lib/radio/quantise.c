/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From float to the formats of files: the reverse of penstock__convert(). Vectors are written out, as compilers make
 * none of a loop that limits what may be no number. */
#include "radio/sink.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define WIDTH 4
#define BLOCK (4 * WIDTH) /* values that are narrowed together */

typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));

/* A value times `scale` and `offset` more, from `least` to `most`. */
struct range {
    float scale, offset, least, most;
};

static const struct range range_cs16 = {32768.0f, 0.0f, -32768.0f, 32767.0f},
                          range_cs8 = {128.0f, 0.0f, -128.0f, 127.0f}, range_cu8 = {128.0f, 127.5f, 0.0f, 255.0f};

/* The bits of `a` where `take` is all ones, else those of `b`. */
static inline floats choose(ints take, floats a, floats b)
{
    return (floats)(((ints)a & take) | ((ints)b & ~take));
}

/* The nearest whole number, ties to even, for |x| < 2^22: adding 1.5 * 2^23 leaves no bits for the fraction. What is no
 * number is zero before the offset. */
static inline ints step(const float *values, const struct range *range)
{
    const float magic = 12582912.0f;
    const floats least = (floats){0} + range->least, most = (floats){0} + range->most;
    floats value, x;
    memcpy(&value, values, sizeof value);
    x = (floats)((ints)(value * range->scale) & (value == value)) + range->offset;
    x = choose(x > least, x, least);
    x = choose(x < most, x, most);
    return __builtin_convertvector((x + magic) - magic, ints);
}

/* A block's whole numbers in so many bits; they fit. */
static inline void narrow_16(void *to, const ints *from)
{
#if defined(__SSE2__)
    for (unsigned i = 0; i < 2; i++)
        _mm_storeu_si128((__m128i *)to + i, _mm_packs_epi32((__m128i)from[2 * i], (__m128i)from[2 * i + 1]));
#else
    int16_t narrow[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        narrow[i] = (int16_t)from[i / WIDTH][i % WIDTH];
    memcpy(to, narrow, sizeof narrow);
#endif
}

static inline void narrow_8(void *to, const ints *from)
{
#if defined(__SSE2__)
    const __m128i low = _mm_packs_epi32((__m128i)from[0], (__m128i)from[1]),
                  high = _mm_packs_epi32((__m128i)from[2], (__m128i)from[3]), bytes = _mm_set1_epi16(0xff);
    _mm_storeu_si128(to, _mm_packus_epi16(_mm_and_si128(low, bytes), _mm_and_si128(high, bytes)));
#else
    for (unsigned i = 0; i < BLOCK; i++)
        ((uint8_t *)to)[i] = (uint8_t)from[i / WIDTH][i % WIDTH];
#endif
}

/* A block to numbers of one or two bytes. */
static inline void quantise_block(void *to, size_t bytes, const float *values, const struct range *range)
{
    ints block[BLOCK / WIDTH];
    for (unsigned i = 0; i < BLOCK / WIDTH; i++)
        block[i] = step(values + i * WIDTH, range);
    if (bytes == 2)
        narrow_16(to, block);
    else
        narrow_8(to, block);
}

static inline void quantise(uint8_t *out, size_t bytes, const float *values, size_t count, const struct range *range)
{
    float rest[BLOCK] = {0};
    uint8_t narrow[2 * BLOCK];
    for (; count >= BLOCK; count -= BLOCK, values += BLOCK, out += BLOCK * bytes)
        quantise_block(out, bytes, values, range);
    memcpy(rest, values, count * sizeof *values);
    quantise_block(narrow, bytes, rest, range);
    memcpy(out, narrow, count * bytes);
}

void penstock__quantise(void *out, penstock_format format, const penstock_cf32 *in, size_t count)
{
    if (format == PENSTOCK_CS16)
        quantise(out, sizeof(int16_t), &in->re, 2 * count, &range_cs16);
    else if (format == PENSTOCK_CS8)
        quantise(out, sizeof(int8_t), &in->re, 2 * count, &range_cs8);
    else if (format == PENSTOCK_CU8)
        quantise(out, sizeof(uint8_t), &in->re, 2 * count, &range_cu8);
    else
        memcpy(out, in, count * sizeof *in);
}
