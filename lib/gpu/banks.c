/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which banks of local memory a work-group's neighbours touch together. */
#include "gpu/banks.h"

#define BANKS 32

/* What a stage takes and gives; its values and their mates where a spectrum is unpacked; columns that become rows. */
enum kind { TAKE, GIVE, OWN, MATE, TURN, LEAVE };

struct access {
    const struct gpu_shape *shape;
    enum kind kind;
    unsigned s, b, k; /* LEAVE: k is the round */
    unsigned limit;   /* work-items of a transform that take part */
};

struct item {
    unsigned number, lane, member; /* of the group; of the transform; which transform */
};

static struct item item_of(const struct gpu_shape *shape, unsigned number)
{
    if (shape->columns || shape->lanes == 1) /* neighbours work on different transforms */
        return (struct item){number, number / shape->per_group, number % shape->per_group};
    return (struct item){number, number % shape->lanes, number / shape->lanes};
}

static unsigned point_of(const struct access *access, unsigned lane)
{
    const struct gpu_shape *shape = access->shape;
    unsigned j = lane + access->b * shape->lanes, span = shape->span[access->s];
    if (access->kind == TAKE)
        return j / span * span * shape->radix[access->s] + j % span + access->k * span;
    return lane + penstock__gpu_offset(shape, access->s, access->b, access->k);
}

/* In points, or in halves of points where these are exchanged one after the other. */
static unsigned place_of(const struct access *access, const struct item *item)
{
    const struct gpu_shape *shape = access->shape;
    unsigned row = shape->n | 1, place;
    if (access->kind == LEAVE) {
        unsigned at = access->k * penstock__gpu_group_size(shape) + item->number;
        return at / shape->n * row + at % shape->n;
    }
    place = point_of(access, item->lane);
    if (access->kind == TURN)
        return item->member * row + place;
    if (access->kind == MATE && place)
        place = shape->n - place;
    if (access->kind == TAKE || access->kind == GIVE)
        place = penstock__gpu_place(shape, access->s + (access->kind == GIVE), place);
    if (shape->columns)
        return place * shape->per_group + item->member;
    return place + item->member * (shape->joined ? shape->region / 2 : shape->region);
}

static bool takes_part(const struct access *access, const struct item *item)
{
    const struct gpu_shape *shape = access->shape;
    if (access->kind == LEAVE)
        return access->k * penstock__gpu_group_size(shape) + item->number < shape->n * shape->per_group;
    return item->lane < access->limit;
}

/* Of `together` neighbours from work-item `first` on. */
static unsigned ways(const struct access *access, unsigned first, unsigned together)
{
    unsigned used[BANKS] = {0}, most = 0, banks = access->shape->joined ? BANKS / 2 : BANKS; /* a point has two */
    for (unsigned i = first; i < first + together && i < penstock__gpu_group_size(access->shape); i++) {
        struct item item = item_of(access->shape, i);
        if (!takes_part(access, &item))
            continue;
        unsigned bank = place_of(access, &item) % banks;
        used[bank]++;
        most = used[bank] > most ? used[bank] : most;
    }
    return most;
}

static unsigned ways_of_group(const struct access *access)
{
    bool whole = access->shape->joined && access->kind != MATE; /* whose parts are read one after the other */
    unsigned together = whole ? BANKS / 2 : BANKS, most = 1;
    for (unsigned first = 0; first < penstock__gpu_group_size(access->shape); first += together) {
        unsigned found = ways(access, first, together);
        most = found > most ? found : most;
    }
    return most;
}

static unsigned ways_of_stage(const struct gpu_shape *shape, unsigned s, enum kind kind)
{
    unsigned most = 1;
    for (unsigned b = 0; b < shape->share[s]; b++)
        for (unsigned k = 0; k < shape->radix[s]; k++) {
            struct access access = {shape, kind, s, b, k, penstock__gpu_limit(shape, s, b)};
            unsigned found = ways_of_group(&access);
            most = found > most ? found : most;
        }
    return most;
}

static unsigned ways_of_leaving(const struct gpu_shape *shape)
{
    unsigned most = 1;
    for (unsigned k = 0; k * shape->lanes < shape->n; k++) {
        struct access access = {.shape = shape, .kind = LEAVE, .k = k};
        unsigned found = ways_of_group(&access);
        most = found > most ? found : most;
    }
    return most;
}

unsigned penstock__gpu_bank_ways(const struct gpu_shape *shape)
{
    unsigned most = 1, last = shape->stages - 1;
    unsigned between = shape->chain - 1 + (shape->stages > shape->chain ? shape->chain - 1 : 0);
    unsigned found[2 * GPU_MAX_STAGES + 4], count = 0;
    if (shape->cpu)
        return 1;
    for (unsigned s = 1; s < shape->stages; s++)
        if (s != shape->chain) {
            found[count++] = ways_of_stage(shape, s - 1, GIVE);
            found[count++] = ways_of_stage(shape, s, TAKE);
        }
    if (shape->exchanges > between) { /* unpacked */
        found[count++] = ways_of_stage(shape, last, OWN);
        found[count++] = ways_of_stage(shape, last, MATE);
    }
    if (shape->turned) {
        found[count++] = ways_of_stage(shape, last, TURN);
        found[count++] = ways_of_leaving(shape);
    }
    for (unsigned i = 0; i < count; i++)
        most = found[i] > most ? found[i] : most;
    return most;
}

/* Texels of two points are put together of four words, by neighbours that are four words apart. */
unsigned penstock__gpu_node_bank_ways(const struct gpu_scheme *scheme, unsigned index)
{
    unsigned found = penstock__gpu_bank_ways(&scheme->node[index].shape);
    bool texels = scheme->texel == 2 && scheme->node[index].last && !scheme->node[index].shape.cpu;
    return texels && found < 4 ? 4 : found;
}
