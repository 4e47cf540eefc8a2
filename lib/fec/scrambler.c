/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The scrambler's sequence satisfies x[n] = x[n-4] ^ x[n-7]: four bits come from one exclusive or. */
#include "fec/scrambler.h"

#include <string.h>

#define PERIOD 127 /* of the sequence, in bits, and so in octets too */
#define WORD   8   /* octets */

/* `window` holds the last seven bits, the oldest (X7) in bit 0. */
static unsigned next_four(unsigned window)
{
    return (window ^ window >> 3) & 15;
}

static unsigned advance(unsigned window)
{
    return window >> 4 | next_four(window) << 3;
}

static unsigned reverse_seven(unsigned x)
{
    unsigned y = 0;
    for (int i = 0; i < 7; i++)
        y |= (x >> i & 1) << (6 - i);
    return y;
}

void penstock__scramble(uint8_t *packed, size_t bytes, unsigned seed)
{
    unsigned window = reverse_seven(seed & 127);
    uint8_t sequence[PERIOD + WORD]; /* the first octets once more, for whole words */
    size_t done = 0;
    for (size_t i = 0; i < sizeof sequence; i++) {
        unsigned low = next_four(window);
        window = advance(window);
        sequence[i] = (uint8_t)(low | next_four(window) << 4);
        window = advance(window);
    }
    for (size_t at = 0; done + WORD <= bytes; done += WORD, at = at + WORD < PERIOD ? at + WORD : at + WORD - PERIOD) {
        uint64_t word, turn;
        memcpy(&word, packed + done, sizeof word);
        memcpy(&turn, sequence + at, sizeof turn);
        word ^= turn;
        memcpy(packed + done, &word, sizeof word);
    }
    for (; done < bytes; done++)
        packed[done] ^= sequence[done % PERIOD];
}

unsigned penstock__scrambler_seed(uint8_t first)
{
    /* x[n-7] = x[n] ^ x[n-4], from the newest of the wanted bits to the oldest. */
    unsigned x = (unsigned)(first & 127) << 7;
    for (int n = 6; n >= 0; n--)
        x |= ((x >> (n + 7) ^ x >> (n + 3)) & 1) << n;
    return reverse_seven(x & 127);
}
