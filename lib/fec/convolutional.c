/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The encoder, eight to forty-eight steps at a time in one word, and the puncturing patterns as tables. */
#include "fec/convolutional.h"

#include <string.h>

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

#define BLOCK 48 /* a multiple of 8 and of every pattern's steps */

/* The four lowest bits, each in every second byte of a word from the lowest on. */
static uint64_t spread_four(uint64_t bits)
{
    return (bits & 15) * 0x0000200040008001u & 0x0001000100010001u;
}

/* All coded bits of `steps` <= BLOCK steps, of which a and b hold a bit each. */
static uint8_t *put_all(uint8_t *next, uint64_t a, uint64_t b, size_t steps)
{
    size_t step = 0;
    for (; step + 4 <= steps; step += 4, next += 8) {
        uint64_t word = spread_four(a >> step) | spread_four(b >> step) << 8;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        memcpy(next, &word, sizeof word);
    }
    for (; step < steps; step++, next += 2) {
        next[0] = (uint8_t)(a >> step & 1);
        next[1] = (uint8_t)(b >> step & 1);
    }
    return next;
}

size_t penstock__convolutional_encode(uint8_t *coded, const uint8_t *packed, size_t steps,
                                      enum penstock__code_rate rate)
{
    const struct pattern *p = &patterns[rate];
    uint8_t *next = coded;
    uint64_t last_six = 0;

    for (size_t done = 0; done < steps; done += BLOCK) {
        size_t here = steps - done < BLOCK ? steps - done : BLOCK;
        uint64_t x = last_six, a, b;
        for (size_t byte = 0; byte < (here + 7) / 8; byte++)
            x |= (uint64_t)packed[done / 8 + byte] << (6 + 8 * byte);
        /* Bit i + 6 is the input of step i, so the input k steps earlier is bit i + 6 - k. */
        a = x >> 6 ^ x >> 4 ^ x >> 3 ^ x >> 1 ^ x;
        b = x >> 6 ^ x >> 5 ^ x >> 4 ^ x >> 3 ^ x;
        if (rate == PENSTOCK__CODE_1_2)
            next = put_all(next, a, b, here);
        for (size_t step = 0; step < here && rate != PENSTOCK__CODE_1_2; step += p->steps)
            for (unsigned i = 0; i < p->kept; i++) {
                size_t place = 2 * step + p->place[i];
                if (place < 2 * here)
                    *next++ = (uint8_t)((place & 1 ? b : a) >> place / 2 & 1);
            }
        last_six = x >> BLOCK & 63;
    }
    return (size_t)(next - coded);
}
