/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A resampler's life, its changes, and samples in. */
#include "ops/resampler/resampler_engine.h"
#include "backends/backend.h"

#include <string.h>

#define ROOM_SAMPLES ((size_t)1 << 15) /* that gather for each thread, besides what taps reach */
#define MOST_ROOM    ((size_t)1 << 30) /* places are numbers of floats in 32 bits */

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
        resampler->history = penstock__round_up(most, step);
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
    if (order->apart || resampler->arms->count == resampler->clock.unit) /* an arm for each part: no line is drawn */
        return PENSTOCK_OK;
    status = penstock__resampler_cycle_new(&resampler->cycle, resampler->ratio, resampler->arms);
    penstock__resampler_cycle_fill(&resampler->cycle, resampler->ratio, resampler->clock, resampler->part,
                                   resampler->arms);
    return status;
}

static void drop_change(struct resampler *resampler)
{
    struct resampler_change *change = resampler->changes;
    resampler->changes = change->next;
    penstock__resampler_arms_leave(change->arms);
    penstock__resampler_cycle_free(&change->cycle);
    penstock__free(change);
}

void penstock__resampler_clear(struct resampler *resampler)
{
    while (resampler->changes)
        drop_change(resampler);
    penstock__resampler_arms_leave(resampler->arms);
    penstock__resampler_arms_leave(resampler->first_arms);
    penstock__resampler_prototype_free(&resampler->prototype);
    penstock__resampler_cycle_free(&resampler->cycle);
    penstock__free(resampler->line);
}

static void use_arms(struct resampler_arms **place, struct resampler_arms *arms)
{
    penstock__resampler_arms_keep(arms);
    penstock__resampler_arms_leave(*place);
    *place = arms;
}

static struct resampler_change *last_change(const struct resampler *resampler)
{
    struct resampler_change *change = resampler->changes;
    while (change && change->next)
        change = change->next;
    return change;
}

/* After ratio, arms and the next output's place. `change`: whose cycle is wanted, or NULL. */
static void use_cycle(struct resampler *resampler, struct resampler_change *change)
{
    if (change) {
        penstock__resampler_cycle_free(&resampler->cycle);
        resampler->cycle = change->cycle;
        change->cycle = (struct resampler_cycle){0};
    }
    penstock__resampler_cycle_fill(&resampler->cycle, resampler->ratio, resampler->clock, resampler->part,
                                   resampler->arms);
}

void penstock__resampler_rewind(struct resampler *resampler)
{
    const size_t each = floats_each(resampler);
    use_arms(&resampler->first_arms, penstock__resampler_last_arms(resampler));
    resampler->first_ratio = penstock__resampler_last_ratio(resampler);
    use_arms(&resampler->arms, resampler->first_arms);
    resampler->ratio = resampler->first_ratio;
    resampler->clock = penstock__resampler_clock(resampler->ratio, false);
    const double units = resampler->first_phase * (double)resampler->clock.unit;
    resampler->part = (uint64_t)units;
    if ((double)resampler->part != units || resampler->arms->count != resampler->clock.unit) {
        resampler->clock = penstock__resampler_clock(resampler->ratio, true);
        resampler->part = (uint64_t)(resampler->first_phase * (double)resampler->clock.unit);
    }
    use_cycle(resampler, last_change(resampler));
    while (resampler->changes)
        drop_change(resampler);
    if (resampler->line)
        memset(resampler->line, 0, resampler->history * each * sizeof *resampler->line);
    resampler->count = resampler->at = resampler->history;
    resampler->first = 0;
    resampler->finished = false;
}

/* ---------------------------------------------------------------- changes --------------------- */

struct resampler_ratio penstock__resampler_last_ratio(const struct resampler *resampler)
{
    const struct resampler_change *change = last_change(resampler);
    return change ? change->ratio : resampler->ratio;
}

struct resampler_arms *penstock__resampler_last_arms(const struct resampler *resampler)
{
    const struct resampler_change *change = last_change(resampler);
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
    int status = resampler->line ? penstock__resampler_cycle_new(&change->cycle, ratio, arms) : PENSTOCK_OK;
    if (status) {
        penstock__resampler_arms_leave(arms);
        penstock__free(change);
        return status;
    }
    while (*place)
        place = &(*place)->next;
    *place = change;
    return PENSTOCK_OK;
}

/* The next output stands where it would have stood, to 2^-52 of a sample. */
static void apply_change(struct resampler *resampler)
{
    struct resampler_change *change = resampler->changes;
    const double place = (double)resampler->part / (double)resampler->clock.unit;
    use_arms(&resampler->arms, change->arms);
    resampler->ratio = change->ratio;
    resampler->clock = penstock__resampler_clock(change->ratio, true);
    resampler->part = (uint64_t)(place * (double)resampler->clock.unit);
    if (resampler->part >= resampler->clock.unit)
        resampler->part = resampler->clock.unit - 1;
    use_cycle(resampler, change);
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
