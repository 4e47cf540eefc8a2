/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which banks of local memory a work-group's neighbours touch together in the exchanges of lib/gpu/fused_pass.c. */
#include "gpu/banks.h"

#define BANKS 32

/* What work-item `lane` touches in the exchange after a pass, in values: value k of its butterfly b, or, `taking`, its
 * point k. */
struct access {
    const struct fused_config *config;
    unsigned pass, b, k;
    bool taking;
};

/* Of penstock__fused_swapped()'s forward transform; the reverse one gives where that takes, and the other way round. */
static unsigned place_in_regions(const struct access *access, unsigned lane)
{
    const struct fused_config *config = access->config;
    unsigned r = config->slots, region = config->lanes + 2 * r, low = lane % r, first = lane / r * region;
    if (!access->pass)
        return access->taking ? first + low + access->k * r : access->k * region + lane;
    return access->taking ? first + low + access->k * (r + 2) : first + low * (r + 2) + access->k;
}

static unsigned place_of(const struct access *access, unsigned lane)
{
    const struct fused_config *config = access->config;
    unsigned s = access->pass, span = config->before[s];
    unsigned point = lane + access->k * config->lanes, block = point;
    if (config->regions)
        return place_in_regions(access, lane);
    if (!access->taking) {
        unsigned j = lane + access->b * config->lanes;
        block = j / span * span * config->radix[s];
        point = block + j % span + access->k * span;
    }
    return penstock__gpu_moved(point, block / config->every[s] * config->gap[s], config->swizzled);
}

/* Words of 4 bytes that are touched at once: one where a point's parts change hands by themselves, two, or four where
 * two values that lie together are given. */
static unsigned words_of(const struct access *access)
{
    const struct fused_config *config = access->config;
    bool pairs = config->regions ? access->pass == 1 : config->before[access->pass] == 1;
    return config->halves ? 1 : access->taking || !pairs ? 2 : 4;
}

/* Of 128 bytes' worth of neighbours, from work-item `first` of the group on. */
static unsigned ways(const struct access *access, unsigned first)
{
    const struct fused_config *config = access->config;
    unsigned used[BANKS] = {0}, words = words_of(access), most = 0, value = config->halves ? 1 : 2;
    for (unsigned i = first; i < first + BANKS / words && i < config->lanes * config->per_group; i++) {
        unsigned word = value * place_of(access, i % config->lanes) + i / config->lanes * 2 * config->region;
        for (unsigned k = 0; k < words; k++) {
            unsigned count = ++used[(word + k) % BANKS];
            most = count > most ? count : most;
        }
    }
    return most;
}

static unsigned ways_of_group(const struct access *access)
{
    unsigned group = access->config->lanes * access->config->per_group, step = BANKS / words_of(access), most = 1;
    for (unsigned first = 0; first < group; first += step) {
        unsigned found = ways(access, first);
        most = found > most ? found : most;
    }
    return most;
}

static unsigned ways_of_pass(const struct fused_config *config, unsigned s)
{
    unsigned most = 1, radix = config->radix[s];
    for (unsigned k = 0; k < config->slots; k++) {
        struct access give = {config, s, k / radix, k % radix, false}, take = {config, s, 0, k, true};
        unsigned given = ways_of_group(&give), taken = ways_of_group(&take);
        if (words_of(&give) == 4 && k % 2) /* given along with the one before */
            given = 1;
        most = given > most ? given : most;
        most = taken > most ? taken : most;
    }
    return most;
}

unsigned penstock__fused_bank_ways(const struct fused_config *config)
{
    unsigned most = 1;
    for (unsigned s = 0; s + 1 < config->passes && !config->cpu; s++) {
        unsigned found = ways_of_pass(config, s);
        most = found > most ? found : most;
    }
    return most;
}
