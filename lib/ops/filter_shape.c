/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lengths of the filter's blocks and transforms. */
#include "ops/filter_engine.h"

/* A multiple that keeps frames aligned for vector instructions: 64 bytes of the smallest samples with vectors. */
#define ALIGNED_SAMPLES 16

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

bool penstock__filter_shape_set(struct filter_shape *shape, size_t n)
{
    size_t up = shape->interpolation, down = shape->decimation;
    size_t whole = down / common_divisor(down, up); /* samples of the shortest block: one with whole values */
    size_t unit = whole / common_divisor(whole, ALIGNED_SAMPLES) * ALIGNED_SAMPLES;
    size_t late = shape->advance % up ? 1 : 0; /* samples after a block that its last values see */
    shape->n = n;
    shape->pair = NULL;
    shape->high = n * up;
    shape->fold = common_divisor(down, shape->high);
    shape->m = shape->high / shape->fold;
    shape->step = down / shape->fold;
    shape->history = round_up((shape->taps - 1 + up - 1) / up, shape->fold / common_divisor(shape->fold, up));
    if (n < shape->history + whole + late)
        return false;
    size_t room = n - shape->history - late;
    if (room / unit < 16)
        unit = whole;
    shape->block = room / unit * unit;
    shape->first = shape->history * up / shape->fold;
    shape->values = shape->block * up / down;
    shape->sample_bytes = penstock_format_bytes(shape->format);
    shape->value_bytes = shape->real || shape->real_values ? sizeof(float) : sizeof(penstock_cf32);
    return true;
}

uint64_t penstock__filter_position(const struct filter_shape *shape, uint64_t block)
{
    return block * shape->block * shape->interpolation + shape->advance;
}
