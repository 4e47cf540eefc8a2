/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which banks of local memory a work-group's neighbours touch together in the exchanges of lib/gpu/fused_pass.c. */
#include "gpu_banks.h"

#include <stdlib.h>

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

unsigned fused_bank_ways(const struct fused_config *config)
{
    unsigned most = 1;
    for (unsigned s = 0; s + 1 < config->passes && !config->cpu; s++) {
        unsigned found = ways_of_pass(config, s);
        most = found > most ? found : most;
    }
    return most;
}

/* ---------------------------------------------------------------- soft bits ------------------- */

/* Bytes of a store of soft bits: STAGE_BITS of kernels/ofdm.cl. */
static unsigned stored_at_once(unsigned bits)
{
    return bits == 1 ? 1 : bits % 4 ? 2 : 4;
}

/* Of 32 neighbours that each store at a place of their own: how many different words of 4 bytes the fullest of 32 banks
 * has. */
static unsigned ways_of_stores(const size_t *bytes, unsigned count)
{
    size_t words[32];
    unsigned used[32] = {0}, different = 0, most = 1;
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        for (words[different] = bytes[i] / 4; words[k] != bytes[i] / 4;)
            k++;
        if (k < different)
            continue;
        different++;
        used[bytes[i] / 4 % 32]++;
        most = used[bytes[i] / 4 % 32] > most ? used[bytes[i] / 4 % 32] : most;
    }
    return most;
}

static unsigned ways_of_unit(const struct fused_ofdm_unit *unit, unsigned first, const struct fused_config *config,
                             const struct penstock_ofdm_problem *ofdm, const uint32_t *places)
{
    unsigned most = 1;
    for (unsigned part = 0; part < ofdm->bits; part += stored_at_once(ofdm->bits)) {
        size_t bytes[32];
        unsigned count = 0, ways;
        for (unsigned item = first; item < first + 32 && item < config->lanes * config->per_group; item++)
            for (unsigned i = 0; i < unit->count; i++) {
                uint32_t place = places[unit->slot[i] * config->lanes + item % config->lanes];
                if (place != FUSED_NO_CARRIER)
                    bytes[count++] = config->per_group * 8 * (size_t)config->region + part +
                                     (item / config->lanes * ofdm->carrier_count + place) * ofdm->bits;
            }
        ways = ways_of_stores(bytes, count);
        most = ways > most ? ways : most;
    }
    return most;
}

unsigned fused_ofdm_bank_ways(const struct fused_kernel *self, const struct penstock_ofdm_problem *ofdm)
{
    const struct fused_config *config = &self->config;
    unsigned most = fused_bank_ways(config), unit_count;
    struct fused_ofdm_unit units[GPU_MAX_SLOTS];
    uint32_t *places = malloc(ofdm->n * sizeof *places);
    if (!places)
        abort();
    for (size_t k = 0; k < ofdm->n; k++)
        places[k] = FUSED_NO_CARRIER;
    for (size_t c = 0; c < ofdm->carrier_count; c++)
        places[ofdm->bins[c]] = (uint32_t)c;
    unit_count = penstock__fused_ofdm_units(units, config, places);
    for (const struct fused_ofdm_unit *unit = units; unit < units + unit_count; unit++)
        for (unsigned first = 0; first < config->lanes * config->per_group; first += 32) {
            unsigned ways = ways_of_unit(unit, first, config, ofdm, places);
            most = ways > most ? ways : most;
        }
    free(places);
    return most;
}
