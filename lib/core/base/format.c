/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sample formats: sizes, names and conversion to float. */
#include "backends/backend.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} formats[] = {
    [PENSTOCK_CF32] = {"cf32", 8}, [PENSTOCK_CS16] = {"cs16", 4},     [PENSTOCK_CS8] = {"cs8", 2},
    [PENSTOCK_CU8] = {"cu8", 2},   [PENSTOCK_PLANAR] = {"planar", 8}, [PENSTOCK_F32] = {"f32", 4},
    [PENSTOCK_CF16] = {"cf16", 4},
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

size_t penstock_format_bytes(penstock_format format)
{
    return (size_t)format < FORMAT_COUNT ? formats[format].bytes : 0;
}

const char *penstock_format_name(penstock_format format)
{
    return (size_t)format < FORMAT_COUNT ? formats[format].name : NULL;
}

int penstock_format_parse(penstock_format *format, const char *text)
{
    if (!format)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_format_parse: format is NULL");
    for (size_t i = 0; text && i < FORMAT_COUNT; i++)
        if (!strcmp(text, formats[i].name)) {
            *format = (penstock_format)i;
            return PENSTOCK_OK;
        }
    return penstock__error(PENSTOCK_ERR_ARGUMENT,
                           "unknown sample format '%s' (cf32, cs16, cs8, cu8, planar, f32, cf16)", text ? text : "");
}

void penstock__convert(penstock_cf32 *out, const void *in, penstock_format format, size_t first, size_t count,
                       size_t total)
{
    float *flat = &out->re;
    switch (format) {
    case PENSTOCK_CF32:
        memcpy(out, (const penstock_cf32 *)in + first, count * sizeof *out);
        break;
    case PENSTOCK_CS16: {
        const int16_t *from = (const int16_t *)in + 2 * first;
        for (size_t i = 0; i < 2 * count; i++)
            flat[i] = (float)from[i] * (1.0f / 32768.0f);
        break;
    }
    case PENSTOCK_CS8: {
        const int8_t *from = (const int8_t *)in + 2 * first;
        for (size_t i = 0; i < 2 * count; i++)
            flat[i] = (float)from[i] * (1.0f / 128.0f);
        break;
    }
    case PENSTOCK_CU8: {
        const uint8_t *from = (const uint8_t *)in + 2 * first;
        for (size_t i = 0; i < 2 * count; i++)
            flat[i] = ((float)from[i] - 127.5f) * (1.0f / 128.0f);
        break;
    }
    case PENSTOCK_PLANAR: {
        const float *re = (const float *)in + first, *im = re + total;
        for (size_t i = 0; i < count; i++)
            out[i] = (penstock_cf32){re[i], im[i]};
        break;
    }
    case PENSTOCK_F32: {
        const float *from = (const float *)in + first;
        for (size_t i = 0; i < count; i++)
            out[i] = (penstock_cf32){from[i], 0.0f};
        break;
    }
    case PENSTOCK_CF16:
        penstock_half_to_float(flat, (const uint16_t *)in + 2 * first, 2 * count);
        break;
    }
}
