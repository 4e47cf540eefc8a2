/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the ways of an engine have in common: the product and the store of a row, and what turns it back. */
#include "ops/filter/filter_run.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static penstock_cf32 unit(uint64_t turns)
{
    double angle = 2 * PI * 0x1p-64 * (double)(int64_t)turns;
    return (penstock_cf32){(float)cos(angle), (float)sin(angle)};
}

void penstock__filter_multiply(const struct filter_engine *engine, penstock_cf32 *to, const penstock_cf32 *spectrum,
                               const struct filter_taps *taps)
{
    const struct filter_shape *shape = &engine->shape;
    const struct filter_kernels *kernels = engine->kernels;
    (shape->real ? kernels->multiply_half : kernels->multiply)(to, spectrum, taps->spectrum, shape->n, shape->high,
                                                               shape->m);
}

static void pick(const struct filter_shape *shape, void *out, const char *made, size_t first, size_t count)
{
    size_t at = shape->first + first * shape->step, step = shape->step;
    const penstock_cf32 *values = (const void *)made;
    const float *floats = (const void *)made;
    if (shape->real_values)
        for (size_t j = 0; j < count; j++)
            ((float *)out)[j] = values[at + j * step].re;
    else if (step == 1)
        memcpy(out, made + at * shape->value_bytes, count * shape->value_bytes);
    else if (shape->real)
        for (size_t j = 0; j < count; j++)
            ((float *)out)[j] = floats[at + j * step];
    else
        for (size_t j = 0; j < count; j++)
            ((penstock_cf32 *)out)[j] = values[at + j * step];
}

void penstock__filter_store(const struct filter_engine *engine, const struct filter_taps *taps, void *out,
                            const void *made, uint64_t block, size_t first, size_t end)
{
    const struct filter_shape *shape = &engine->shape;
    const penstock_cf32 *table = taps->rotation ? taps->rotation->table : NULL;
    const penstock_cf32 *from = out;
    char *to = (char *)out + first * shape->value_bytes;
    if (table && shape->step == 1)
        from = (const penstock_cf32 *)made + shape->first + first;
    else
        pick(shape, to, made, first, end - first);
    if (table)
        engine->kernels->rotate(
            (penstock_cf32 *)(void *)to, shape->step == 1 ? from : (penstock_cf32 *)(void *)to, table + first,
            unit(penstock__filter_phase_at(shape, taps->shift, penstock__filter_position(shape, block))), end - first);
}

size_t penstock__filter_taps_end(const struct filter_shape *shape, const struct filter_taps *taps, uint64_t block)
{
    uint64_t start = penstock__filter_position(shape, block);
    if (!taps->next || taps->next->from >= start + (uint64_t)shape->values * shape->decimation)
        return shape->values;
    return taps->next->from <= start ? 0
                                     : (size_t)((taps->next->from - start + shape->decimation - 1) / shape->decimation);
}
