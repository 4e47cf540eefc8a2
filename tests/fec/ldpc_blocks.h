/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of an LDPC code with noise, for tests: what was sent, what came, and which of them are decoded wrongly. */
#ifndef LDPC_BLOCKS_H
#define LDPC_BLOCKS_H

#include "test.h"

#include <penstock/penstock.h>

#include <math.h>

struct blocks {
    penstock_ldpc_desc desc;
    size_t count, data, sent, pitch;
    uint8_t *bits, *coded, *out, *other;
    void *soft;
};

static inline void blocks_free(struct blocks *blocks)
{
    free(blocks->bits);
    free(blocks->coded);
    free(blocks->out);
    free(blocks->other);
    free(blocks->soft);
}

static inline double blocks_gauss(uint64_t *state)
{
    double u = 0.5 * (test_uniform(state) + 1) + 1e-300, v = test_uniform(state);
    return sqrt(-2 * log(u)) * cos(3.14159265358979323846 * v);
}

/* Coded random bits, with noise of `sigma` at levels of +-16 (1 for floats). */
static inline void blocks_new(struct blocks *blocks, penstock_ldpc_desc desc, size_t count, double sigma,
                              uint64_t *seed)
{
    const size_t item = desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
    *blocks = (struct blocks){.desc = desc, .count = count};
    CHECK_OK(penstock_ldpc_sizes(&blocks->data, &blocks->sent, &desc));
    blocks->pitch = desc.result == PENSTOCK_BITS_UNPACKED || desc.soft_result ? blocks->data : (blocks->data + 7) / 8;
    if (desc.report)
        blocks->pitch = (blocks->pitch + 3) / 4 * 4 + sizeof(penstock_ldpc_report);
    blocks->bits = calloc(count, blocks->data);
    blocks->coded = calloc(count, blocks->sent);
    blocks->out = calloc(count, blocks->pitch);
    blocks->other = calloc(count, blocks->pitch);
    blocks->soft = calloc(count, blocks->sent * item);
    desc.result = PENSTOCK_BITS_UNPACKED;
    for (size_t i = 0; i < count * blocks->data; i++)
        blocks->bits[i] = test_random(seed) >> 33 & 1;
    CHECK_OK(penstock_ldpc_encode(&desc, blocks->coded, blocks->bits, count));
    for (size_t i = 0; i < count * blocks->sent; i++) {
        double value = (blocks->coded[i] ? -1 : 1) + sigma * blocks_gauss(seed);
        if (desc.soft == PENSTOCK_SOFT_F32)
            ((float *)blocks->soft)[i] = (float)value;
        else if (desc.soft == PENSTOCK_SOFT_S8)
            ((int8_t *)blocks->soft)[i] = (int8_t)rint(fmax(-127, fmin(127, 16 * value)));
        else
            ((uint8_t *)blocks->soft)[i] = value < 0;
    }
}

static inline unsigned blocks_bit(const struct blocks *blocks, const uint8_t *out, size_t i)
{
    return blocks->desc.soft_result                         ? (int8_t)out[i] < 0
           : blocks->desc.result == PENSTOCK_BITS_UNPACKED  ? out[i]
           : blocks->desc.result == PENSTOCK_BITS_LSB_FIRST ? out[i / 8] >> i % 8 & 1u
                                                            : out[i / 8] >> (7 - i % 8) & 1u;
}

static inline bool blocks_is_wrong(const struct blocks *blocks, size_t block, const uint8_t *out)
{
    for (size_t i = 0; i < blocks->data; i++)
        if (blocks_bit(blocks, out + block * blocks->pitch, i) != blocks->bits[block * blocks->data + i])
            return true;
    return false;
}

static inline size_t blocks_wrong(const struct blocks *blocks)
{
    size_t wrong = 0;
    for (size_t b = 0; b < blocks->count; b++)
        wrong += blocks_is_wrong(blocks, b, blocks->out);
    return wrong;
}

static inline void blocks_decode(const struct blocks *blocks, uint8_t *out, penstock_context *context,
                                 const char *device)
{
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_ldpc_plan(&plan, context, &blocks->desc, device));
    if (plan)
        CHECK_OK(penstock_plan_run(plan, blocks->soft, out, blocks->count));
    penstock_plan_free(plan);
}

#endif
