/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples for cases. The meaning of the formats is written down here once more, apart from the library. */
#include "signals.h"

#include "shared/random.h"

#include <math.h>

void signal_random(void *samples, penstock_format format, size_t count, uint64_t *state)
{
    size_t bytes = count * penstock_format_bytes(format);
    if (format == PENSTOCK_CS16 || format == PENSTOCK_CS8 || format == PENSTOCK_CU8) {
        for (size_t i = 0; i < bytes; i++)
            ((uint8_t *)samples)[i] = (uint8_t)random_bits(state);
        return;
    }
    for (size_t i = 0; format == PENSTOCK_CF16 && i < bytes / sizeof(uint16_t); i++) {
        float value = (float)(2 * random_uniform(state) - 1);
        penstock_half_from_float((uint16_t *)samples + i, &value, 1);
    }
    if (format == PENSTOCK_CF16)
        return;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        ((float *)samples)[i] = (float)(2 * random_uniform(state) - 1);
}

double signal_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = ldexp(exponent ? 1024 + fraction : fraction, exponent ? exponent - 25 : -24);
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -value : value;
}

void signal_value(const void *samples, penstock_format format, size_t index, size_t total, double value[2])
{
    const float *reals = samples;
    const int16_t *words = samples;
    const int8_t *octets = samples;
    const uint8_t *offsets = samples;
    const uint16_t *halves = samples;
    for (size_t part = 0; part < 2; part++)
        switch (format) {
        case PENSTOCK_CF32:
            value[part] = reals[2 * index + part];
            break;
        case PENSTOCK_CS16:
            value[part] = words[2 * index + part] / 32768.0;
            break;
        case PENSTOCK_CS8:
            value[part] = octets[2 * index + part] / 128.0;
            break;
        case PENSTOCK_CU8:
            value[part] = (offsets[2 * index + part] - 127.5) / 128.0;
            break;
        case PENSTOCK_PLANAR:
            value[part] = reals[part * total + index];
            break;
        case PENSTOCK_F32:
            value[part] = part ? 0 : reals[index];
            break;
        case PENSTOCK_CF16:
            value[part] = signal_half(halves[2 * index + part]);
            break;
        }
}
