/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Outputs of a resampler, in shares that threads make side by side. Where an output stands follows from its number, so
 * that no thread needs to know how far another has come. */
#include "backends/backend.h"
#include "ops/resampler/resampler_engine.h"

#define BLOCK          ((size_t)256)       /* outputs that are made together, at most, */
#define BLOCK_PRODUCTS ((size_t)1 << 17)   /* and products of them where these are many */
#define SHARE_UNIT     ((size_t)32)        /* of outputs */
#define WORTH_A_WAKE   ((uint64_t)1 << 21) /* products for which another thread is woken */

/* Outputs that threads make side by side, shares of them, RESAMPLER_STEPS at most. */
struct outputs {
    const struct resampler *resampler;
    char *out;
    size_t block; /* of them, at most BLOCK, that one thread makes together */
    size_t share; /* of them, at most RESAMPLER_STEPS, that one thread takes at once */
    size_t count;
    struct resampler_clock shares; /* with steps of a share */
};

/* With many taps fewer, so that there is a block for each thread. */
static size_t block_for(const struct resampler_arms *arms)
{
    size_t block = BLOCK;
    while (block > 8 && block * arms->tables[0].length > BLOCK_PRODUCTS)
        block /= 2;
    return block;
}

/* ---------------------------------------------------------------- places ---------------------- */

/* Place of the sample at or before output `number`, and the part of a sample between the two. */
static size_t place_of(const struct outputs *outputs, size_t number, uint64_t *part)
{
    const struct resampler *resampler = outputs->resampler;
    *part = resampler->part;
    const uint64_t before = penstock__resampler_advance(&outputs->shares, part, number / outputs->share);
    return resampler->at +
           (size_t)(before + penstock__resampler_advance(&resampler->clock, part, number % outputs->share));
}

static bool stands_before(const struct outputs *outputs, size_t number, size_t end)
{
    uint64_t part;
    return place_of(outputs, number, &part) < end;
}

/* About how many outputs stand before place `end`, to one or two; `most` at most. */
static size_t estimate(const struct resampler *resampler, size_t end, size_t most)
{
    const struct resampler_clock *clock = &resampler->clock;
    if (resampler->at >= end)
        return 0;
    const double unit = (double)clock->unit, room = (double)(end - resampler->at) - (double)resampler->part / unit,
                 count = room / ((double)clock->whole + (double)clock->part / unit);
    return count < (double)most ? (size_t)count : most;
}

/* The next ones, up to `most`, and the shares that threads take of them. */
static void plan_outputs(struct outputs *outputs, size_t most)
{
    const struct resampler *resampler = outputs->resampler;
    const size_t end = penstock__resampler_outputs_end(resampler);
    size_t count = estimate(resampler, end, most);
    outputs->share = RESAMPLER_STEPS;
    if (resampler->context)
        outputs->share = penstock__round_up(
            penstock__fair_share(resampler->context, count, outputs->block, RESAMPLER_STEPS), SHARE_UNIT);
    outputs->shares = (struct resampler_clock){.unit = resampler->clock.unit};
    outputs->shares.whole = penstock__resampler_advance(&resampler->clock, &outputs->shares.part, outputs->share);
    most = most < RESAMPLER_STEPS * outputs->share ? most : RESAMPLER_STEPS * outputs->share;
    count = count < most ? count : most;
    while (count < most && stands_before(outputs, count, end))
        count++;
    while (count && !stands_before(outputs, count - 1, end))
        count--;
    outputs->count = count;
}

/* ---------------------------------------------------------------- outputs --------------------- */

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

/* `count` <= BLOCK outputs to `out`, the first one at a place and a part. */
static void make_block(const struct resampler *resampler, char *out, size_t count, size_t at, uint64_t part)
{
    const struct resampler_arms *arms = resampler->arms;
    struct resampler_place places[BLOCK];
    penstock_cf32 sums[BLOCK];
    const struct resampler_cycle *cycle = &resampler->cycle;
    const struct resampler_table *tables = cycle->count ? cycle->tables : arms->tables;
    const size_t each = resampler->real ? 1 : 2;
    const bool exact = penstock__resampler_places(places, count, &resampler->clock, arms, cycle,
                                                  (at - arms->before) * each, part, each);
    penstock_cf32 *values = resampler->real ? sums : (penstock_cf32 *)(void *)out;
    sum_places(resampler, &tables[0], values, places, count, exact);
    if (arms->complex) {
        sum_places(resampler, &tables[1], sums, places, count, exact);
        join_parts(values, sums, count);
    }
    float *reals = (float *)(void *)out;
    for (size_t i = 0; resampler->real && i < count; i++)
        reals[i] = sums[i].re + sums[i].im;
}

static void make_share(void *argument, size_t share, unsigned worker)
{
    const struct outputs *outputs = argument;
    const struct resampler *resampler = outputs->resampler;
    const size_t from = share * outputs->share, left = outputs->count - from,
                 count = left < outputs->share ? left : outputs->share;
    uint64_t part;
    size_t at = place_of(outputs, from, &part);
    (void)worker;
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < outputs->block ? count - done : outputs->block;
        make_block(resampler, outputs->out + (from + done) * resampler->value_bytes, some, at, part);
        at += (size_t)penstock__resampler_advance(&resampler->clock, &part, some);
    }
}

static size_t make_some(struct resampler *resampler, char *out, size_t capacity)
{
    struct outputs outputs = {.resampler = resampler, .out = out, .block = block_for(resampler->arms)};
    uint64_t part;
    plan_outputs(&outputs, capacity);
    const size_t shares = (outputs.count + outputs.share - 1) / outputs.share;
    const uint64_t products = (uint64_t)outputs.count * resampler->arms->tables[0].length;
    if (resampler->context && products >= WORTH_A_WAKE && shares > 1)
        penstock__parallel_waking(resampler->context, shares, (size_t)(products / WORTH_A_WAKE), make_share, &outputs);
    else
        for (size_t share = 0; share < shares; share++)
            make_share(&outputs, share, 0);
    resampler->at = place_of(&outputs, outputs.count, &part);
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
