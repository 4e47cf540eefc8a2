/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Counting of troubles: loops without branches, which compilers turn into vector code, on all threads. */
#include "radio/troubles.h"

#include <stdatomic.h>
#include <string.h>

#define STEP 4096 /* samples: they stay in the cache, and a 32-bit count of one step cannot overflow */

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

/* ---------------------------------------------------------------- side by side ---------------- */

struct looking {
    void (*look)(const void *owner, size_t first, size_t count, struct penstock__troubles *troubles);
    const void *owner;
    size_t count, share;
    atomic_uint_fast64_t clipped, not_finite;
};

/* In steps, one after the other. */
static void look_at_share(void *argument, size_t index, unsigned worker)
{
    struct looking *looking = argument;
    const size_t first = index * looking->share, left = looking->count - first,
                 end = first + (left < looking->share ? left : looking->share);
    struct penstock__troubles troubles = {0};
    (void)worker;
    for (size_t at = first, some; at < end; at += some) {
        some = end - at < STEP ? end - at : STEP;
        looking->look(looking->owner, at, some, &troubles);
    }
    if (troubles.clipped)
        atomic_fetch_add(&looking->clipped, troubles.clipped);
    if (troubles.not_finite)
        atomic_fetch_add(&looking->not_finite, troubles.not_finite);
}

void penstock__troubles_among(struct penstock__troubles *troubles, penstock_context *context, size_t count,
                              void (*look)(const void *owner, size_t first, size_t count,
                                           struct penstock__troubles *troubles),
                              const void *owner)
{
    struct looking looking = {.look = look, .owner = owner, .count = count, .share = count};
    if (context && count > LEAST_SHARE)
        looking.share = penstock__fair_share(context, count, LEAST_SHARE, MOST_SHARE);
    if (looking.share < count)
        penstock__parallel(context, (count + looking.share - 1) / looking.share, look_at_share, &looking);
    else if (count)
        look_at_share(&looking, 0, 0);
    troubles->clipped += atomic_load(&looking.clipped);
    troubles->not_finite += atomic_load(&looking.not_finite);
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

struct received {
    const char *samples;
    penstock_format format;
};

static void look_at_received(const void *owner, size_t first, size_t count, struct penstock__troubles *troubles)
{
    const struct received *received = owner;
    const void *from = received->samples + first * penstock_format_bytes(received->format);
    switch (received->format) {
    case PENSTOCK_CF32:
        troubles->not_finite += wrong_cf32(from, count);
        break;
    case PENSTOCK_F32:
        troubles->not_finite += wrong_f32(from, count);
        break;
    case PENSTOCK_CF16:
        troubles->not_finite += wrong_cf16(from, count);
        break;
    case PENSTOCK_CS16:
        troubles->clipped += limit_cs16(from, count);
        break;
    case PENSTOCK_CS8:
        troubles->clipped += limit_cs8(from, count);
        break;
    default:
        troubles->clipped += limit_cu8(from, count);
    }
}

void penstock__count_received(struct penstock__troubles *troubles, penstock_context *context, const void *samples,
                              penstock_format format, size_t count)
{
    penstock__troubles_among(troubles, context, count, look_at_received, &(struct received){samples, format});
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
    troubles->not_finite += wrong_cf32(&samples->re, count);
    if (format != PENSTOCK_CF32)
        troubles->clipped += beyond(&samples->re, least, most, count);
}
