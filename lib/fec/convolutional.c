/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The encoder, up to forty-eight steps at a time in one word, and the puncturing patterns as tables. */
#include "fec/convolutional.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Of each `steps` data bits, `kept` coded bits are sent: those at `place`, where A of step i is 2 i and B is 2 i + 1.
 */
static const struct pattern {
    unsigned steps, kept;
    unsigned char place[4];
} patterns[] = {
    [PENSTOCK__CODE_1_2] = {1, 2, {0, 1}},
    [PENSTOCK__CODE_2_3] = {2, 3, {0, 1, 2}},
    [PENSTOCK__CODE_3_4] = {3, 4, {0, 1, 2, 5}},
};

size_t penstock__puncture_place(enum penstock__code_rate rate, size_t i)
{
    const struct pattern *p = &patterns[rate];
    return i / p->kept * 2 * p->steps + p->place[i % p->kept];
}

size_t penstock__coded_count(enum penstock__code_rate rate, size_t steps)
{
    const struct pattern *p = &patterns[rate];
    size_t count = steps / p->steps * p->kept;
    for (unsigned i = 0; i < p->kept; i++)
        count += p->place[i] < 2 * (steps % p->steps);
    return count;
}

void penstock__depuncture(int8_t *soft, const int8_t *punctured, size_t steps, enum penstock__code_rate rate)
{
    size_t count = penstock__coded_count(rate, steps);
    memset(soft, 0, 2 * steps);
    for (size_t i = 0; i < count; i++)
        soft[penstock__puncture_place(rate, i)] = punctured[i];
}

/* ---------------------------------------------------------------- encoder --------------------- */

#define BLOCK 48 /* steps; a multiple of 8 and of every pattern's */

/* Both coded bits of up to BLOCK steps, a bit a step, and what the next steps need of them. */
struct block {
    uint64_t a, b, last_six;
};

static void encode(struct block *block, const uint8_t *packed, size_t steps)
{
    uint64_t x = block->last_six;
    for (size_t byte = 0; byte < (steps + 7) / 8; byte++)
        x |= (uint64_t)packed[byte] << (6 + 8 * byte);
    /* Bit i + 6 is the input of step i, so the input k steps earlier is bit i + 6 - k. */
    block->a = x >> 6 ^ x >> 4 ^ x >> 3 ^ x >> 1 ^ x;
    block->b = x >> 6 ^ x >> 5 ^ x >> 4 ^ x >> 3 ^ x;
    block->last_six = x >> BLOCK & 63;
}

/* Coded bits of the four steps from `step` on, one a byte, the first in the byte that comes first in memory. */
static uint64_t spread(const struct block *block, size_t step)
{
    const uint64_t a = block->a >> step & 15, b = block->b >> step & 15;
    const uint64_t word =
        (a * 0x0000200040008001u & 0x0001000100010001u) | (b * 0x0000200040008001u & 0x0001000100010001u) << 8;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* All coded bits of `steps` <= BLOCK steps. */
static uint8_t *put_all(uint8_t *next, const struct block *block, size_t steps)
{
    size_t step = 0;
    for (; step + 4 <= steps; step += 4, next += 8) {
        const uint64_t word = spread(block, step);
        memcpy(next, &word, sizeof word);
    }
    for (; step < steps; step++, next += 2) {
        next[0] = (uint8_t)(block->a >> step & 1);
        next[1] = (uint8_t)(block->b >> step & 1);
    }
    return next;
}

size_t penstock__convolutional_encode(uint8_t *coded, const uint8_t *packed, size_t steps,
                                      enum penstock__code_rate rate)
{
    const struct pattern *p = &patterns[rate];
    struct block block = {.last_six = 0};
    uint8_t *next = coded;

    for (size_t done = 0; done < steps; done += BLOCK) {
        size_t here = steps - done < BLOCK ? steps - done : BLOCK;
        encode(&block, packed + done / 8, here);
        if (rate == PENSTOCK__CODE_1_2)
            next = put_all(next, &block, here);
        for (size_t step = 0; step < here && rate != PENSTOCK__CODE_1_2; step += p->steps)
            for (unsigned i = 0; i < p->kept; i++) {
                size_t place = 2 * step + p->place[i];
                if (place < 2 * here)
                    *next++ = (uint8_t)((place & 1 ? block.b : block.a) >> place / 2 & 1);
            }
    }
    return (size_t)(next - coded);
}

/* ---------------------------------------------------------------- decisions ------------------- */

#define LOW_BITS 0x0101010101010101u /* of each byte */

#if defined(__SSE2__)

#define HALF_WORD 16 /* steps whose soft bits are a word of 32 */

static inline unsigned count_ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (unsigned)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * LOW_BITS >> 56);
}

/* The coded bits of HALF_WORD steps from `step` on, as they are sent. */
static inline uint32_t interleave(const struct block *block, size_t step)
{
    uint64_t x = (block->a >> step & 0xffff) | (block->b >> step & 0xffff) << 32;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x << 2) & 0x3333333333333333u;
    x = (x | x << 1) & 0x5555555555555555u;
    return (uint32_t)x | (uint32_t)(x >> 32) << 1;
}

/* A bit for each of two vectors' bytes. */
static uint32_t sign_bits(__m128i low, __m128i high)
{
    return (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
}

/* Of HALF_WORD steps, a bit for each soft bit that decides for the other one. */
static inline uint32_t differ_here(const struct block *block, size_t step, const int8_t *soft)
{
    const __m128i *in = (const void *)(soft + 2 * step), zero = _mm_setzero_si128();
    const __m128i low = _mm_loadu_si128(in), high = _mm_loadu_si128(in + 1);
    const uint32_t zeros = sign_bits(_mm_cmpeq_epi8(low, zero), _mm_cmpeq_epi8(high, zero));
    return (sign_bits(low, high) ^ interleave(block, step)) & ~zeros;
}

/* Of a whole block. */
static size_t count_block(const struct block *block, const int8_t *soft)
{
    const uint32_t first = differ_here(block, 0, soft), second = differ_here(block, HALF_WORD, soft);
    return count_ones(first | (uint64_t)second << 32) + count_ones(differ_here(block, 2 * HALF_WORD, soft));
}

#else

#define LOW_SEVEN 0x7f7f7f7f7f7f7f7fu

/* Of eight coded bits, one a byte: 1 where the soft bit decides for the other one. */
static uint64_t differ(uint64_t coded, const int8_t *soft)
{
    uint64_t word;
    memcpy(&word, soft, sizeof word);
    const uint64_t not_zero = (((word & LOW_SEVEN) + LOW_SEVEN) | word) >> 7;
    return (word >> 7 ^ coded) & not_zero & LOW_BITS;
}

static size_t count_block(const struct block *block, const int8_t *soft)
{
    uint64_t sums = 0; /* one a byte, of BLOCK / 4 */
    for (size_t step = 0; step < BLOCK; step += 4)
        sums += differ(spread(block, step), soft + 2 * step);
    return sums * LOW_BITS >> 56;
}

#endif

size_t penstock__convolutional_errors(const uint8_t *packed, const int8_t *soft, size_t steps)
{
    struct block block = {.last_six = 0};
    size_t errors = 0;
    for (size_t done = 0; done < steps; done += BLOCK, soft += 2 * BLOCK) {
        const size_t here = steps - done < BLOCK ? steps - done : BLOCK;
        encode(&block, packed + done / 8, here);
        if (here == BLOCK) {
            errors += count_block(&block, soft);
            continue;
        }
        for (size_t step = 0; step < here; step++) {
            errors += block.a >> step & 1 ? soft[2 * step] > 0 : soft[2 * step] < 0;
            errors += block.b >> step & 1 ? soft[2 * step + 1] > 0 : soft[2 * step + 1] < 0;
        }
    }
    return errors;
}
