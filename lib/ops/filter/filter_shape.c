/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lengths of the filter's blocks and transforms. */
#include "ops/filter/filter_engine.h"

/* Parts of a spectrum that are added up, at most: errors of sums grow with their number. What further decimation there
 * is picks values of a longer transform, which costs little then. */
#define MOST_FOLD 256

/* A multiple that keeps frames and values aligned for vector instructions: 64 bytes of the smallest samples with
 * vectors. It is worth some of a block's length. */
#define ALIGNED_SAMPLES 16
#define ALIGNED_SHARE   0.93

static size_t aligned(size_t unit)
{
    return unit / penstock__common_divisor(unit, ALIGNED_SAMPLES) * ALIGNED_SAMPLES;
}

/* History in whole units of one kind and a block in such of another, both longer where that costs little. */
static void divide(struct filter_shape *shape, size_t room, size_t history_unit, size_t block_unit)
{
    size_t history = penstock__round_up(shape->history, history_unit),
           block = (room - history) / block_unit * block_unit;
    size_t wide = penstock__round_up(history, aligned(history_unit)), unit = aligned(block_unit);
    shape->history = history;
    shape->block = block;
    if (wide >= room || (double)((room - wide) / unit * unit) < ALIGNED_SHARE * (double)block)
        return;
    shape->history = wide;
    shape->block = (room - wide) / unit * unit;
}

/* What follows from `history`, `block` and `m`. */
static void finish(struct filter_shape *shape)
{
    size_t up = shape->interpolation;
    shape->first = shape->history * up / shape->fold;
    shape->values = shape->block * up / shape->decimation;
    shape->frame = shape->n + (shape->partitions - 1) * shape->block;
    shape->sample_bytes = penstock_format_bytes(shape->format);
    shape->value_bytes = shape->real || shape->real_values ? sizeof(float) : sizeof(penstock_cf32);
}

/* Without its smallest factors, as many as that takes. */
static size_t limited_fold(size_t fold)
{
    for (size_t factor = 2; fold > MOST_FOLD; factor++)
        while (fold > MOST_FOLD && fold % factor == 0)
            fold /= factor;
    return fold;
}

bool penstock__filter_shape_set(struct filter_shape *shape, size_t n)
{
    size_t up = shape->interpolation, down = shape->decimation;
    size_t whole = down / penstock__common_divisor(down, up); /* samples of the shortest block: one with whole values */
    size_t history_unit;
    size_t late = shape->advance % up ? 1 : 0; /* samples after a block that its last values see */
    shape->n = n;
    shape->pair = NULL;
    shape->partitions = 1;
    shape->high = n * up;
    shape->fold = limited_fold(penstock__common_divisor(down, shape->high));
    shape->m = shape->high / shape->fold;
    shape->step = down / shape->fold;
    history_unit = shape->fold / penstock__common_divisor(shape->fold, up);
    shape->history = (shape->taps - 1 + up - 1) / up;
    if (n < penstock__round_up(shape->history, history_unit) + whole + late)
        return false;
    divide(shape, n - late, history_unit, whole);
    finish(shape);
    return true;
}

/* Neither folded nor repeated: sums are of whole spectra. */
bool penstock__filter_shape_partition(struct filter_shape *shape, size_t n)
{
    size_t unit = aligned(shape->decimation), block = n / 2 / unit * unit;
    if (shape->interpolation > 1 || !block || shape->taps <= block)
        return false;
    shape->n = shape->high = shape->m = n;
    shape->pair = NULL;
    shape->fold = 1;
    shape->step = shape->decimation;
    shape->block = block;
    shape->partitions = (shape->taps + block - 1) / block;
    shape->history = n - block;
    finish(shape);
    shape->history = shape->frame - block;
    return true;
}

uint64_t penstock__filter_position(const struct filter_shape *shape, uint64_t block)
{
    return (shape->origin + block * shape->block) * shape->interpolation + shape->advance;
}
