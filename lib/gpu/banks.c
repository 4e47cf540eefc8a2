/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which banks of local memory a work-group's neighbours touch together. */
#include "gpu/banks.h"

#define BANKS 32

struct access {
    const struct gpu_shape *shape;
    unsigned s, b, k;
    bool give;      /* what stage s leaves; else what it takes */
    unsigned limit; /* work-items of a transform that take part */
};

static unsigned point_of(const struct access *access, unsigned lane)
{
    const struct gpu_shape *shape = access->shape;
    unsigned j = lane + access->b * shape->lanes, span = shape->span[access->s];
    if (access->give)
        return lane + penstock__gpu_offset(shape, access->s, access->b, access->k);
    return j / span * span * shape->radix[access->s] + j % span + access->k * span;
}

/* In points, or in halves of points where these are exchanged one after the other. */
static unsigned place_of(const struct access *access, unsigned lane, unsigned member)
{
    const struct gpu_shape *shape = access->shape;
    unsigned place = penstock__gpu_place(shape, access->s + access->give, point_of(access, lane));
    if (shape->columns)
        return place * shape->per_group + member;
    return place + member * (shape->joined ? shape->region / 2 : shape->region);
}

/* Of `together` neighbours from work-item `first` on. */
static unsigned ways(const struct access *access, unsigned first, unsigned together)
{
    const struct gpu_shape *shape = access->shape;
    bool across = shape->columns || shape->lanes == 1; /* neighbours work on different transforms */
    unsigned used[BANKS] = {0}, most = 0;
    for (unsigned item = first; item < first + together && item < penstock__gpu_group_size(shape); item++) {
        unsigned lane = across ? item / shape->per_group : item % shape->lanes;
        unsigned member = across ? item % shape->per_group : item / shape->lanes;
        if (lane >= access->limit)
            continue;
        unsigned bank = place_of(access, lane, member) % together;
        used[bank]++;
        most = used[bank] > most ? used[bank] : most;
    }
    return most;
}

static unsigned ways_of_stage(const struct gpu_shape *shape, unsigned s, bool give)
{
    unsigned together = shape->joined ? BANKS / 2 : BANKS, most = 1;
    for (unsigned b = 0; b < shape->share[s]; b++)
        for (unsigned k = 0; k < shape->radix[s]; k++) {
            struct access access = {shape, s, b, k, give, penstock__gpu_limit(shape, s, b)};
            for (unsigned first = 0; first < penstock__gpu_group_size(shape); first += together) {
                unsigned found = ways(&access, first, together);
                most = found > most ? found : most;
            }
        }
    return most;
}

unsigned penstock__gpu_bank_ways(const struct gpu_shape *shape)
{
    unsigned most = 1;
    for (unsigned s = 1; s < shape->stages && !shape->cpu; s++)
        for (unsigned give = 0; give < 2 && s != shape->chain; give++) {
            unsigned found = ways_of_stage(shape, give ? s - 1 : s, give);
            most = found > most ? found : most;
        }
    return most;
}
