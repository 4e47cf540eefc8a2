/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples in and outputs out of a resampler, in blocks of outputs that threads make side by side. */
#include "ops/resampler_engine.h"
#include "backends/backend.h"

#include <string.h>

#define ROOM_SAMPLES   ((size_t)1 << 15)   /* that gather for each thread, besides what taps reach */
#define BLOCK          ((size_t)256)       /* outputs that are made together, at most, */
#define BLOCK_PRODUCTS ((size_t)1 << 17)   /* and products of them where these are many */
#define MOST_BLOCKS    ((size_t)256)       /* that threads share in one go */
#define WORTH_A_WAKE   ((uint64_t)1 << 21) /* products for which another thread is woken */
#define MOST_ROOM      ((size_t)1 << 30)   /* places are numbers of floats in 32 bits */

/* ---------------------------------------------------------------- life ------------------------ */

static size_t floats_each(const struct resampler *resampler)
{
    return resampler->real ? 1 : 2;
}

static size_t thread_count(const struct resampler *resampler)
{
    return resampler->context ? penstock__threads(resampler->context) : 1;
}

size_t penstock__resampler_ahead(const struct resampler_arms *arms)
{
    return arms->taps - 1 - arms->before;
}

/* The arms that are there at first, and how far others to come may reach. */
static int make_arms(struct resampler *resampler, const struct resampler_order *order)
{
    const penstock_resampler_desc *desc = &order->desc;
    int status;
    if (desc->taps || desc->real_taps) {
        status = penstock__resampler_arms_take(&resampler->arms, desc->real_taps, desc->taps, desc->tap_count,
                                               desc->arms, resampler->real);
        const size_t most = (desc->max_taps + desc->arms - 1) / desc->arms,
                     step = RESAMPLER_STEP / floats_each(resampler);
        resampler->history = (most + step - 1) / step * step;
        return status;
    }
    if ((status = penstock__resampler_prototype_init(&resampler->prototype, desc->attenuation_db, desc->passband,
                                                     desc->transition)) ||
        (status = penstock__resampler_arms_make(&resampler->arms, &resampler->prototype, order->ratio, desc->phase != 0,
                                                resampler->real)))
        return status;
    resampler->history = 1 + penstock__resampler_before(&resampler->prototype, desc->min_ratio, resampler->real);
    resampler->behind = resampler->history;
    return PENSTOCK_OK;
}

int penstock__resampler_init(struct resampler *resampler, penstock_context *context,
                             const struct resampler_order *order)
{
    const penstock_resampler_desc *desc = &order->desc;
    int status;
    *resampler =
        (struct resampler){.context = context, .kernels = penstock__resampler_kernels(), .format = desc->format};
    resampler->real = desc->format == PENSTOCK_F32 && !desc->taps;
    resampler->value_bytes = resampler->real ? sizeof(float) : sizeof(penstock_cf32);
    if ((status = make_arms(resampler, order)))
        return status;
    resampler->ratio = resampler->first_ratio = order->ratio;
    resampler->first_arms = penstock__resampler_arms_keep(resampler->arms);
    resampler->first_phase = desc->phase;
    resampler->room = thread_count(resampler) * ROOM_SAMPLES;
    resampler->room = 2 * resampler->history + (resampler->room < MOST_ROOM / 4 ? resampler->room : MOST_ROOM / 4);
    if (!order->apart && !(resampler->line = penstock__alloc((resampler->room + resampler->behind) *
                                                             floats_each(resampler) * sizeof *resampler->line)))
        return PENSTOCK_ERR_MEMORY;
    penstock__resampler_rewind(resampler);
    return PENSTOCK_OK;
}

static void drop_change(struct resampler *resampler)
{
    struct resampler_change *change = resampler->changes;
    resampler->changes = change->next;
    penstock__resampler_arms_leave(change->arms);
    penstock__free(change);
}

void penstock__resampler_clear(struct resampler *resampler)
{
    while (resampler->changes)
        drop_change(resampler);
    penstock__resampler_arms_leave(resampler->arms);
    penstock__resampler_arms_leave(resampler->first_arms);
    penstock__resampler_prototype_free(&resampler->prototype);
    penstock__free(resampler->line);
}

static void use_arms(struct resampler_arms **place, struct resampler_arms *arms)
{
    penstock__resampler_arms_keep(arms);
    penstock__resampler_arms_leave(*place);
    *place = arms;
}

void penstock__resampler_rewind(struct resampler *resampler)
{
    const size_t each = floats_each(resampler);
    use_arms(&resampler->first_arms, penstock__resampler_last_arms(resampler));
    resampler->first_ratio = penstock__resampler_last_ratio(resampler);
    while (resampler->changes)
        drop_change(resampler);
    use_arms(&resampler->arms, resampler->first_arms);
    resampler->ratio = resampler->first_ratio;
    resampler->clock = penstock__resampler_clock(resampler->ratio, false);
    const double units = resampler->first_phase * (double)resampler->clock.unit;
    resampler->part = (uint64_t)units;
    if ((double)resampler->part != units || resampler->arms->count != resampler->clock.unit) {
        resampler->clock = penstock__resampler_clock(resampler->ratio, true);
        resampler->part = (uint64_t)(resampler->first_phase * (double)resampler->clock.unit);
    }
    if (resampler->line)
        memset(resampler->line, 0, resampler->history * each * sizeof *resampler->line);
    resampler->count = resampler->at = resampler->history;
    resampler->first = 0;
    resampler->finished = false;
}

/* ---------------------------------------------------------------- changes --------------------- */

struct resampler_ratio penstock__resampler_last_ratio(const struct resampler *resampler)
{
    const struct resampler_change *change = resampler->changes;
    while (change && change->next)
        change = change->next;
    return change ? change->ratio : resampler->ratio;
}

struct resampler_arms *penstock__resampler_last_arms(const struct resampler *resampler)
{
    const struct resampler_change *change = resampler->changes;
    while (change && change->next)
        change = change->next;
    return change ? change->arms : resampler->arms;
}

int penstock__resampler_change(struct resampler *resampler, struct resampler_ratio ratio, struct resampler_arms *arms,
                               uint64_t at)
{
    struct resampler_change **place = &resampler->changes, *change = penstock__alloc(sizeof *change);
    if (!change) {
        penstock__resampler_arms_leave(arms);
        return PENSTOCK_ERR_MEMORY;
    }
    *change = (struct resampler_change){.at = at, .ratio = ratio, .arms = arms};
    while (*place)
        place = &(*place)->next;
    *place = change;
    return PENSTOCK_OK;
}

/* The next output stands where it would have stood, to 2^-52 of a sample. */
static void apply_change(struct resampler *resampler)
{
    const struct resampler_change *change = resampler->changes;
    const double place = (double)resampler->part / (double)resampler->clock.unit;
    use_arms(&resampler->arms, change->arms);
    resampler->ratio = change->ratio;
    resampler->clock = penstock__resampler_clock(change->ratio, true);
    resampler->part = (uint64_t)(place * (double)resampler->clock.unit);
    if (resampler->part >= resampler->clock.unit)
        resampler->part = resampler->clock.unit - 1;
    drop_change(resampler);
}

void penstock__resampler_apply_changes(struct resampler *resampler)
{
    while (resampler->changes && resampler->changes->at <= penstock__resampler_sample(resampler))
        apply_change(resampler);
}

/* ---------------------------------------------------------------- samples in ------------------ */

uint64_t penstock__resampler_sample(const struct resampler *resampler)
{
    return resampler->first + resampler->at - resampler->history;
}

size_t penstock__resampler_forget(struct resampler *resampler)
{
    size_t gone = resampler->at - resampler->history;
    gone = gone < resampler->count ? gone : resampler->count;
    resampler->count -= gone;
    resampler->at -= gone;
    resampler->first += gone;
    return gone;
}

static void to_front(struct resampler *resampler)
{
    const size_t each = floats_each(resampler), gone = penstock__resampler_forget(resampler);
    memmove(resampler->line, resampler->line + gone * each, resampler->count * each * sizeof *resampler->line);
}

size_t penstock__resampler_take(struct resampler *resampler, const void *samples, size_t count)
{
    float *to;
    size_t here;
    if (resampler->count + count > resampler->room && !penstock__resampler_ready(resampler))
        to_front(resampler);
    here = resampler->room - resampler->count < count ? resampler->room - resampler->count : count;
    to = resampler->line + resampler->count * floats_each(resampler);
    if (!here)
        return 0;
    if (resampler->real)
        memcpy(to, samples, here * sizeof *to);
    else if (resampler->context)
        penstock__convert_all(resampler->context, (penstock_cf32 *)(void *)to, samples, resampler->format, 0, here,
                              here);
    else
        penstock__convert((penstock_cf32 *)(void *)to, samples, resampler->format, 0, here, here);
    resampler->count += here;
    return here;
}

void penstock__resampler_end(struct resampler *resampler)
{
    const size_t each = floats_each(resampler);
    if (resampler->line)
        memset(resampler->line + resampler->count * each, 0, resampler->behind * each * sizeof *resampler->line);
    resampler->finished = true;
}

/* ---------------------------------------------------------------- outputs --------------------- */

size_t penstock__resampler_outputs_end(const struct resampler *resampler)
{
    const size_t ahead = penstock__resampler_ahead(resampler->arms);
    size_t end = resampler->finished ? resampler->count : resampler->count > ahead ? resampler->count - ahead : 0;
    if (!resampler->changes)
        return end;
    const uint64_t until = resampler->changes->at + resampler->history;
    return until < resampler->first + end ? (size_t)(until > resampler->first ? until - resampler->first : 0) : end;
}

bool penstock__resampler_ready(const struct resampler *resampler)
{
    const struct resampler_change *change = resampler->changes;
    size_t ahead = penstock__resampler_ahead(resampler->arms);
    for (; change && change->at <= penstock__resampler_sample(resampler); change = change->next)
        ahead = penstock__resampler_ahead(change->arms);
    return resampler->at + (resampler->finished ? 0 : ahead) < resampler->count;
}

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

/* Where `count` outputs are made; whether each is made by one arm alone. */
static bool find_places(const struct resampler *resampler, size_t at, uint64_t part, size_t count,
                        struct resampler_place *places)
{
    const struct resampler_clock clock = resampler->clock;
    const struct resampler_arms *arms = resampler->arms;
    const size_t each = floats_each(resampler);
    const bool exact = arms->count == clock.unit;
    const double scale = (double)arms->count / (double)clock.unit;
    size_t place = (at - arms->before) * each;
    const size_t whole = (size_t)clock.whole * each;
    for (size_t i = 0; i < count; i++) {
        const double arm = exact ? 0 : (double)part * scale;
        const uint32_t number = exact ? (uint32_t)part : (uint32_t)arm;
        places[i] = (struct resampler_place){(uint32_t)place, number, (float)(arm - number)};
        place += whole;
        part += clock.part;
        if (part >= clock.unit)
            part -= clock.unit, place += each;
    }
    return exact;
}

/* Real parts' sums a and imaginary parts' sums b to a + i b. */
static void join_parts(penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = (penstock_cf32){a[i].re - b[i].im, a[i].im + b[i].re};
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
    const bool exact = find_places(resampler, outputs->starts[block].at, outputs->starts[block].part, count, places);
    penstock_cf32 *values = (penstock_cf32 *)(void *)(outputs->out + from * sizeof(penstock_cf32));
    if (resampler->real)
        values = sums;
    resampler->kernels->sum(&values->re, resampler->line, &arms->tables[0], places, count, exact);
    if (arms->complex) {
        resampler->kernels->sum(&sums->re, resampler->line, &arms->tables[1], places, count, exact);
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
