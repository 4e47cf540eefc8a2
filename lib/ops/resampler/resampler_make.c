/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Outputs of a resampler, in blocks that threads make side by side. */
#include "backends/backend.h"
#include "ops/resampler/resampler_engine.h"

#define BLOCK          ((size_t)256)       /* outputs that are made together, at most, */
#define BLOCK_PRODUCTS ((size_t)1 << 17)   /* and products of them where these are many */
#define MOST_BLOCKS    ((size_t)256)       /* that threads share in one go */
#define WORTH_A_WAKE   ((uint64_t)1 << 21) /* products for which another thread is woken */

/* Outputs that threads make side by side. */
struct outputs {
    const struct resampler *resampler;
    char *out;
    size_t block; /* of them, at most BLOCK, that one thread makes together */
    size_t count, end;
    struct {
        size_t at;
        uint64_t part;
    } starts[MOST_BLOCKS];
};

/* With many taps fewer, so that there is a block for each thread. */
static size_t block_for(const struct resampler_arms *arms)
{
    size_t block = BLOCK;
    while (block > 8 && block * arms->tables[0].length > BLOCK_PRODUCTS)
        block /= 2;
    return block;
}

/* Real parts' sums a and imaginary parts' sums b to a + i b. */
static void join_parts(penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = (penstock_cf32){a[i].re - b[i].im, a[i].im + b[i].re};
}

static void sum_places(const struct resampler *resampler, const struct resampler_table *table, penstock_cf32 *to,
                       const struct resampler_place *places, size_t count, bool exact)
{
    const struct resampler_kernels *kernels = resampler->kernels;
    const size_t period = resampler->cycle.count ? resampler->cycle.count : resampler->arms->count;
    if (exact)
        kernels->sum_cycle(&to->re, resampler->line, table, places, count, period);
    else
        kernels->sum(&to->re, resampler->line, table, places, count, false);
}

static void make_block(void *argument, size_t block, unsigned worker)
{
    const struct outputs *outputs = argument;
    const struct resampler *resampler = outputs->resampler;
    const struct resampler_arms *arms = resampler->arms;
    const size_t from = block * outputs->block, left = outputs->count - from;
    const size_t count = left < outputs->block ? left : outputs->block;
    struct resampler_place places[BLOCK];
    penstock_cf32 sums[BLOCK];
    (void)worker;
    const struct resampler_cycle *cycle = &resampler->cycle;
    const struct resampler_table *tables = cycle->count ? cycle->tables : arms->tables;
    const size_t each = resampler->real ? 1 : 2;
    const bool exact = penstock__resampler_places(places, count, &resampler->clock, arms, cycle,
                                                  (outputs->starts[block].at - arms->before) * each,
                                                  outputs->starts[block].part, each);
    penstock_cf32 *values = (penstock_cf32 *)(void *)(outputs->out + from * sizeof(penstock_cf32));
    if (resampler->real)
        values = sums;
    sum_places(resampler, &tables[0], values, places, count, exact);
    if (arms->complex) {
        sum_places(resampler, &tables[1], sums, places, count, exact);
        join_parts(values, sums, count);
    }
    float *reals = (float *)(void *)(outputs->out + from * sizeof(float));
    for (size_t i = 0; resampler->real && i < count; i++)
        reals[i] = sums[i].re + sums[i].im;
}

/* How many of the next `most` outputs stand before place `end`, and where blocks of them begin. */
static size_t plan_outputs(struct outputs *outputs, size_t most, size_t *at, uint64_t *part)
{
    const struct resampler_clock *clock = &outputs->resampler->clock;
    const size_t block = outputs->block;
    size_t count = 0;
    most = most < MOST_BLOCKS * block ? most : MOST_BLOCKS * block;
    while (count < most && *at < outputs->end) {
        size_t some = most - count < block ? most - count : block, next = *at;
        uint64_t rest = *part;
        outputs->starts[count / block].at = *at;
        outputs->starts[count / block].part = *part;
        next += (size_t)penstock__resampler_advance(clock, &rest, some - 1); /* the last one of them */
        if (next < outputs->end) {
            next += (size_t)penstock__resampler_advance(clock, &rest, 1);
        } else {
            for (some = 0, next = *at, rest = *part; next < outputs->end; some++)
                next += (size_t)penstock__resampler_advance(clock, &rest, 1);
        }
        *at = next;
        *part = rest;
        count += some;
    }
    return count;
}

static size_t make_some(struct resampler *resampler, char *out, size_t capacity)
{
    struct outputs outputs;
    size_t at = resampler->at;
    uint64_t part = resampler->part;
    outputs.resampler = resampler;
    outputs.out = out;
    outputs.end = penstock__resampler_outputs_end(resampler);
    outputs.block = block_for(resampler->arms);
    outputs.count = plan_outputs(&outputs, capacity, &at, &part);
    const size_t blocks = (outputs.count + outputs.block - 1) / outputs.block;
    const uint64_t products = (uint64_t)outputs.count * resampler->arms->tables[0].length;
    if (resampler->context && products >= WORTH_A_WAKE && blocks > 1)
        penstock__parallel_waking(resampler->context, blocks, (size_t)(products / WORTH_A_WAKE), make_block, &outputs);
    else
        for (size_t block = 0; block < blocks; block++)
            make_block(&outputs, block, 0);
    resampler->at = at;
    resampler->part = part;
    return outputs.count;
}

size_t penstock__resampler_make(struct resampler *resampler, void *out, size_t capacity)
{
    size_t made = 0, some = 1;
    while (made < capacity && some) {
        penstock__resampler_apply_changes(resampler);
        some = make_some(resampler, (char *)out + made * resampler->value_bytes, capacity - made);
        made += some;
    }
    return made;
}
