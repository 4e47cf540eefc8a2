/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Counting of troubles: loops without branches, which compilers turn into vector code, on all threads. */
#include "radio/troubles.h"

#include <stdatomic.h>
#include <string.h>

#define STEP 4096 /* samples; so that a 32-bit count of one step cannot overflow */

#define LEAST_SHARE 16384 /* samples, of one of several threads */
#define MOST_SHARE  65536

/* All ones in the exponent: infinity or NaN. */
static inline uint32_t float_is_wrong(const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return (bits & 0x7f800000U) == 0x7f800000U;
}

static inline uint32_t half_is_wrong(uint16_t bits)
{
    return (bits & 0x7c00U) == 0x7c00U;
}

/* ---------------------------------------------------------------- as they come ---------------- */

static uint32_t wrong_cf32(const float *parts, size_t count)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += float_is_wrong(&parts[2 * i]) | float_is_wrong(&parts[2 * i + 1]);
    return wrong;
}

static uint32_t wrong_f32(const float *values, size_t count)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += float_is_wrong(&values[i]);
    return wrong;
}

static uint32_t wrong_cf16(const uint16_t *parts, size_t count)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += half_is_wrong(parts[2 * i]) | half_is_wrong(parts[2 * i + 1]);
    return wrong;
}

static uint32_t limit_cs16(const int16_t *parts, size_t count)
{
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        int16_t re = parts[2 * i], im = parts[2 * i + 1];
        clipped += (uint32_t)((re == INT16_MAX) | (re == INT16_MIN) | (im == INT16_MAX) | (im == INT16_MIN));
    }
    return clipped;
}

static uint32_t limit_cs8(const int8_t *parts, size_t count)
{
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        int8_t re = parts[2 * i], im = parts[2 * i + 1];
        clipped += (uint32_t)((re == INT8_MAX) | (re == INT8_MIN) | (im == INT8_MAX) | (im == INT8_MIN));
    }
    return clipped;
}

static uint32_t limit_cu8(const uint8_t *parts, size_t count)
{
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t re = parts[2 * i], im = parts[2 * i + 1];
        clipped += (uint32_t)((re == UINT8_MAX) | (re == 0) | (im == UINT8_MAX) | (im == 0));
    }
    return clipped;
}

/* In steps, one after the other. */
static struct penstock__troubles count_here(const char *next, penstock_format format, size_t count)
{
    struct penstock__troubles troubles = {0};
    for (size_t part; count; count -= part, next += part * penstock_format_bytes(format)) {
        const void *from = next;
        part = count < STEP ? count : STEP;
        switch (format) {
        case PENSTOCK_CF32:
            troubles.not_finite += wrong_cf32(from, part);
            break;
        case PENSTOCK_F32:
            troubles.not_finite += wrong_f32(from, part);
            break;
        case PENSTOCK_CF16:
            troubles.not_finite += wrong_cf16(from, part);
            break;
        case PENSTOCK_CS16:
            troubles.clipped += limit_cs16(from, part);
            break;
        case PENSTOCK_CS8:
            troubles.clipped += limit_cs8(from, part);
            break;
        default:
            troubles.clipped += limit_cu8(from, part);
        }
    }
    return troubles;
}

/* Side by side. */
struct counting {
    const char *samples;
    penstock_format format;
    size_t count, share;
    atomic_uint_fast64_t clipped, not_finite;
};

static void count_share(void *argument, size_t index, unsigned worker)
{
    struct counting *counting = argument;
    const size_t from = index * counting->share, left = counting->count - from,
                 count = left < counting->share ? left : counting->share;
    const struct penstock__troubles troubles =
        count_here(counting->samples + from * penstock_format_bytes(counting->format), counting->format, count);
    (void)worker;
    if (troubles.clipped)
        atomic_fetch_add(&counting->clipped, troubles.clipped);
    if (troubles.not_finite)
        atomic_fetch_add(&counting->not_finite, troubles.not_finite);
}

void penstock__count_received(struct penstock__troubles *troubles, penstock_context *context, const void *samples,
                              penstock_format format, size_t count)
{
    struct counting counting = {.samples = samples, .format = format, .count = count, .share = count};
    if (context && count > LEAST_SHARE)
        counting.share = penstock__fair_share(context, count, LEAST_SHARE, MOST_SHARE);
    if (counting.share < count)
        penstock__parallel(context, (count + counting.share - 1) / counting.share, count_share, &counting);
    else if (count)
        count_share(&counting, 0, 0);
    troubles->clipped += atomic_load(&counting.clipped);
    troubles->not_finite += atomic_load(&counting.not_finite);
}

/* ---------------------------------------------------------------- as they are written --------- */

/* Samples with a part below `least` or above `most`, but none with NaN or infinity. */
static uint32_t beyond(const float *parts, float least, float most, size_t count)
{
    uint32_t clipped = 0;
    for (size_t i = 0; i < count; i++) {
        float re = parts[2 * i], im = parts[2 * i + 1];
        uint32_t wrong = float_is_wrong(&parts[2 * i]) | float_is_wrong(&parts[2 * i + 1]);
        clipped += (uint32_t)((re < least) | (re > most) | (im < least) | (im > most)) & ~wrong;
    }
    return clipped;
}

void penstock__count_written(struct penstock__troubles *troubles, const penstock_cf32 *samples, penstock_format format,
                             size_t count)
{
    /* the range and half a step on either side, in exact floats */
    float least = -1.0f, most = 1.0f; /* CU8, whose values are (0 .. 255) / 128 - 127.5 / 128 */
    if (format == PENSTOCK_CS16) {
        least = -32768.5f / 32768.0f;
        most = 32767.5f / 32768.0f;
    } else if (format == PENSTOCK_CS8) {
        least = -128.5f / 128.0f;
        most = 127.5f / 128.0f;
    }
    penstock__count_received(troubles, NULL, samples, PENSTOCK_CF32, count);
    for (size_t part; count && format != PENSTOCK_CF32; count -= part, samples += part) {
        part = count < STEP ? count : STEP;
        troubles->clipped += beyond(&samples->re, least, most, part);
    }
}
