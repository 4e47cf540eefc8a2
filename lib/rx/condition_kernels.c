/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Conversion with a look at each sample's value: loops without branches, which compilers turn into vector code. */
#include "rx/condition.h"

#include <string.h>

#ifndef CONDITION
#define CONDITION penstock__condition_plain
#endif

#define STEP 4096 /* so that a 32-bit count of one step cannot overflow */
#ifdef __AVX2__
#define WORDS 8
#else
#define WORDS 4
#endif

typedef int32_t words __attribute__((vector_size(4 * WORDS)));
typedef uint64_t pairs __attribute__((vector_size(4 * WORDS)));

/* As integers without sign, floats are in the order of their size, and NaN is above infinity. All ones for each part of
 * a sample of which one is beyond `limit`. */
static inline words find_bad(words parts, int32_t limit)
{
    const pairs beyond = (pairs)((parts & 0x7fffffff) > limit);
    return (words)(beyond | beyond << 32 | beyond >> 32);
}

static uint32_t from_cf32(penstock_cf32 *out, const void *in, size_t count)
{
    const float largest = PENSTOCK__CONDITION_LARGEST;
    const char *from = in;
    words found = {0};
    int32_t limit;
    uint32_t wrong = 0;
    memcpy(&limit, &largest, sizeof limit);
    for (size_t i = 0; i < count; i += WORDS / 2) {
        const size_t bytes = (count - i < WORDS / 2 ? count - i : WORDS / 2) * sizeof *out;
        words parts = {0};
        if (bytes == sizeof parts)
            memcpy(&parts, from + i * sizeof *out, sizeof parts);
        else
            memcpy(&parts, from + i * sizeof *out, bytes);
        const words bad = find_bad(parts, limit);
        parts &= ~bad;
        found -= bad;
        if (bytes == sizeof parts)
            memcpy(out + i, &parts, sizeof parts);
        else
            memcpy(out + i, &parts, bytes);
    }
    for (unsigned i = 0; i < WORDS; i++)
        wrong += (uint32_t)found[i];
    return wrong / 2;
}

static uint32_t from_cs16(penstock_cf32 *out, const void *in, size_t count)
{
    const int16_t *parts = in;
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t re = parts[2 * i], im = parts[2 * i + 1];
        out[i].re = (float)re * 0x1p-15F;
        out[i].im = (float)im * 0x1p-15F;
        clipped += (uint32_t)((re >= 32767) | (re <= -32768) | (im >= 32767) | (im <= -32768));
    }
    return clipped;
}

static uint32_t from_cs8(penstock_cf32 *out, const void *in, size_t count)
{
    const int8_t *parts = in;
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t re = parts[2 * i], im = parts[2 * i + 1];
        out[i].re = (float)re * 0x1p-7F;
        out[i].im = (float)im * 0x1p-7F;
        clipped += (uint32_t)((re >= 127) | (re <= -128) | (im >= 127) | (im <= -128));
    }
    return clipped;
}

static uint32_t from_cu8(penstock_cf32 *out, const void *in, size_t count)
{
    const uint8_t *parts = in;
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t re = parts[2 * i], im = parts[2 * i + 1];
        out[i].re = ((float)re - 127.5F) * 0x1p-7F;
        out[i].im = ((float)im - 127.5F) * 0x1p-7F;
        clipped += (uint32_t)((re >= 255) | (re <= 0) | (im >= 255) | (im <= 0));
    }
    return clipped;
}

void CONDITION(penstock_cf32 *out, const void *in, penstock_format format, size_t count, uint64_t *clipped,
               uint64_t *not_finite)
{
    const uint8_t *bytes = in;
    size_t width = penstock_format_bytes(format);
    for (size_t done = 0; done < count; done += STEP) {
        size_t part = count - done < STEP ? count - done : STEP;
        if (format == PENSTOCK_CF32)
            *not_finite += from_cf32(out + done, bytes + done * width, part);
        else if (format == PENSTOCK_CS16)
            *clipped += from_cs16(out + done, bytes + done * width, part);
        else if (format == PENSTOCK_CS8)
            *clipped += from_cs8(out + done, bytes + done * width, part);
        else
            *clipped += from_cu8(out + done, bytes + done * width, part);
    }
}
