/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Conversion with a look at each sample's value: loops without branches, which compilers turn into vector code. */
#include "rx/condition.h"

#include <string.h>

#define STEP 4096 /* so that a 32-bit count of one step cannot overflow */

static uint32_t from_cf32(penstock_cf32 *out, const void *in, size_t count)
{
    const float largest = PENSTOCK__CONDITION_LARGEST;
    uint32_t limit, wrong = 0;
    memcpy(&limit, &largest, sizeof limit);
    memcpy(out, in, count * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        /* As integers without sign, floats are in the order of their size, and NaN is above infinity. */
        uint32_t bits[2];
        memcpy(bits, &out[i], sizeof bits);
        uint32_t bad = (bits[0] & 0x7fffffffU) > limit || (bits[1] & 0x7fffffffU) > limit;
        bits[0] &= bad - 1;
        bits[1] &= bad - 1;
        wrong += bad;
        memcpy(&out[i], bits, sizeof bits);
    }
    return wrong;
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

void penstock__condition(penstock_cf32 *out, const void *in, penstock_format format, size_t count, uint64_t *clipped,
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
