/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which banks of local memory a work-group's neighbours touch together. */
#include "gpu_banks.h"

#define BANKS 32

/* What a stage takes and gives; its values and their mates where a spectrum is unpacked; columns that become rows. */
enum kind { TAKE, GIVE, OWN, MATE, TURN, LEAVE };

struct access {
    const struct gpu_launch_config *config;
    enum kind kind;
    unsigned s, b, k; /* LEAVE: k is the round */
    unsigned limit;   /* work-items of a transform that take part */
};

struct item {
    unsigned number, lane, member; /* of the group; of the transform; which transform */
};

static struct item item_of(const struct gpu_launch_config *config, unsigned number)
{
    if (config->columns || config->lanes == 1) /* neighbours work on different transforms */
        return (struct item){number, number / config->per_group, number % config->per_group};
    return (struct item){number, number % config->lanes, number / config->lanes};
}

static unsigned point_of(const struct access *access, unsigned lane)
{
    const struct gpu_launch_config *config = access->config;
    unsigned j = lane + access->b * config->lanes, span = config->span[access->s];
    if (access->kind == TAKE)
        return j / span * span * config->radix[access->s] + j % span + access->k * span;
    return lane + penstock__gpu_offset(config, access->s, access->b, access->k);
}

/* In points, or in halves of points where these are exchanged one after the other. */
static unsigned place_of(const struct access *access, const struct item *item)
{
    const struct gpu_launch_config *config = access->config;
    unsigned row = config->n | 1, place;
    if (access->kind == LEAVE) {
        unsigned at = access->k * penstock__gpu_group_size(config) + item->number;
        return at / config->n * row + at % config->n;
    }
    place = point_of(access, item->lane);
    if (access->kind == TURN)
        return item->member * row + place;
    if (access->kind == MATE && place)
        place = config->n - place;
    if (access->kind == TAKE || access->kind == GIVE)
        place = penstock__gpu_place(config, access->s + (access->kind == GIVE), place);
    if (config->columns)
        return place * config->per_group + item->member;
    return place + item->member * (config->joined ? config->region / 2 : config->region);
}

static bool takes_part(const struct access *access, const struct item *item)
{
    const struct gpu_launch_config *config = access->config;
    if (access->kind == LEAVE)
        return access->k * penstock__gpu_group_size(config) + item->number < config->n * config->per_group;
    return item->lane < access->limit;
}

/* Of `together` neighbours from work-item `first` on. */
static unsigned ways(const struct access *access, unsigned first, unsigned together)
{
    unsigned used[BANKS] = {0}, most = 0, banks = access->config->joined ? BANKS / 2 : BANKS; /* a point has two */
    for (unsigned i = first; i < first + together && i < penstock__gpu_group_size(access->config); i++) {
        struct item item = item_of(access->config, i);
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
    bool whole = access->config->joined && access->kind != MATE; /* whose parts are read one after the other */
    unsigned together = whole ? BANKS / 2 : BANKS, most = 1;
    for (unsigned first = 0; first < penstock__gpu_group_size(access->config); first += together) {
        unsigned found = ways(access, first, together);
        most = found > most ? found : most;
    }
    return most;
}

static unsigned ways_of_stage(const struct gpu_launch_config *config, unsigned s, enum kind kind)
{
    unsigned most = 1;
    for (unsigned b = 0; b < config->share[s]; b++)
        for (unsigned k = 0; k < config->radix[s]; k++) {
            struct access access = {config, kind, s, b, k, penstock__gpu_limit(config, s, b)};
            unsigned found = ways_of_group(&access);
            most = found > most ? found : most;
        }
    return most;
}

static unsigned ways_of_leaving(const struct gpu_launch_config *config)
{
    unsigned most = 1;
    for (unsigned k = 0; k * config->lanes < config->n; k++) {
        struct access access = {.config = config, .kind = LEAVE, .k = k};
        unsigned found = ways_of_group(&access);
        most = found > most ? found : most;
    }
    return most;
}

unsigned gpu_bank_ways(const struct gpu_launch_config *config)
{
    unsigned most = 1, last = config->stages - 1;
    unsigned between = config->chain - 1 + (config->stages > config->chain ? config->chain - 1 : 0);
    unsigned found[2 * GPU_MAX_STAGES + 4], count = 0;
    if (config->cpu)
        return 1;
    for (unsigned s = 1; s < config->stages; s++)
        if (s != config->chain) {
            found[count++] = ways_of_stage(config, s - 1, GIVE);
            found[count++] = ways_of_stage(config, s, TAKE);
        }
    if (config->exchanges > between) { /* unpacked */
        found[count++] = ways_of_stage(config, last, OWN);
        found[count++] = ways_of_stage(config, last, MATE);
    }
    if (config->turned) {
        found[count++] = ways_of_stage(config, last, TURN);
        found[count++] = ways_of_leaving(config);
    }
    for (unsigned i = 0; i < count; i++)
        most = found[i] > most ? found[i] : most;
    return most;
}

/* Texels of two points are put together of four words, by neighbours that are four words apart. */
unsigned gpu_pass_bank_ways(const struct gpu_decomposition *decomposition, unsigned index)
{
    unsigned found = gpu_bank_ways(&decomposition->pass[index].config);
    bool texels =
        decomposition->texel == 2 && decomposition->pass[index].last && !decomposition->pass[index].config.cpu;
    return texels && found < 4 ? 4 : found;
}
