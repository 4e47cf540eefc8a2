/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Encoders and decoders against libfec (P. Karn), which nobody here wrote: what is encoded here it decodes, with every
 * puncturing; and of noisy soft bits both make the same or, where libfec's symbols of 8 bits, which have no middle, tip
 * a balance, what fits them no better.
 */
#include <fec.h>

#include "test.h"

#include <penstock/penstock.h>

enum { BITS = 1000, BLOCKS = 20, MOST_CODED = 3 * (BITS + 8) };

/* libfec writes generators with the newest bit lowest. */
struct peer {
    const char *name;
    unsigned constraint, rate;
    void *(*create)(int);
    void (*set)(int *);
    int (*init)(void *, int);
    int (*update)(void *, unsigned char *, int);
    int (*chainback)(void *, unsigned char *, unsigned, unsigned);
    void (*delete)(void *);
};

static const struct peer peers[] = {
    {"K 7, rate 1/2", 7, 2, create_viterbi27, set_viterbi27_polynomial, init_viterbi27, update_viterbi27_blk,
     chainback_viterbi27, delete_viterbi27},
    {"K 9, rate 1/2", 9, 2, create_viterbi29, set_viterbi29_polynomial, init_viterbi29, update_viterbi29_blk,
     chainback_viterbi29, delete_viterbi29},
    {"K 9, rate 1/3", 9, 3, create_viterbi39, set_viterbi39_polynomial, init_viterbi39, update_viterbi39_blk,
     chainback_viterbi39, delete_viterbi39},
};
static const unsigned generators[][4] = {{0171, 0133}, {0561, 0753}, {0557, 0663, 0711}};
static const char *const patterns[][6] = {{NULL, "1101", "110110", "1101100110", "11010101100110", NULL},
                                          {NULL, "1110", "111001", NULL, NULL, NULL},
                                          {NULL, "111110", "110101", "111010001", NULL, NULL}};

static uint8_t sent[BLOCKS * (BITS / 8)], coded[BLOCKS * MOST_CODED], ours[BLOCKS * (BITS / 8)], theirs[BITS / 8 + 8];
static int8_t soft[BLOCKS * MOST_CODED];

static double normal(uint64_t *state)
{
    double u = ((double)(test_random(state) >> 11) + 0.5) * 0x1p-53, v = (double)(test_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.28318530717958647692 * v);
}

static int reversed(unsigned value, unsigned bits)
{
    int out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (int)(value >> i & 1) << (bits - 1 - i);
    return out;
}

static void their_decode(const struct peer *peer, const unsigned *code, const char *pattern, const int8_t *block)
{
    static unsigned char symbols[MOST_CODED];
    const int steps = BITS + (int)peer->constraint - 1;
    int polynomials[3];
    void *decoder;
    for (unsigned g = 0; g < peer->rate; g++)
        polynomials[g] = reversed(code[g], peer->constraint);
    for (size_t i = 0, period = pattern ? strlen(pattern) : 1; i < (size_t)steps * peer->rate; i++)
        symbols[i] = !pattern || pattern[i % period] == '1' ? (unsigned char)(127 - *block++) : 127;
    peer->set(polynomials);
    decoder = peer->create(steps);
    CHECK(decoder, "libfec has no memory");
    if (!decoder)
        return;
    peer->init(decoder, 0);
    peer->update(decoder, symbols, steps);
    peer->chainback(decoder, theirs, BITS, 0);
    peer->delete (decoder);
}

static size_t differing(const uint8_t *a, const uint8_t *b)
{
    size_t count = 0;
    for (size_t i = 0; i < BITS / 8; i++)
        count += (size_t)__builtin_popcount(a[i] ^ b[i]);
    return count;
}

/* How well a block's bits fit its soft bits. */
static long fit(penstock_viterbi_desc desc, const uint8_t *bits, const int8_t *block, size_t count)
{
    static uint8_t again[MOST_CODED];
    long sum = 0;
    CHECK_OK(penstock_viterbi_encode(&desc, again, bits, 1));
    for (size_t i = 0; i < count; i++)
        sum += again[i] ? -block[i] : block[i];
    return sum;
}

static void test_code(penstock_context *context, const struct peer *peer, const unsigned *code, const char *pattern,
                      uint64_t *state)
{
    penstock_viterbi_desc desc =
        PENSTOCK_VITERBI_DESC(.puncture = pattern, .bits = BITS, .result = PENSTOCK_BITS_MSB_FIRST);
    size_t count, our_errors = 0, their_errors = 0, differ = 0;
    penstock_plan *plan;
    memcpy(desc.generators, code, peer->rate * sizeof *code);
    CHECK_OK(penstock_viterbi_sent(&count, &desc));
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)(test_random(state) >> 20);
    CHECK_OK(penstock_viterbi_encode(&desc, coded, sent, BLOCKS));
    for (size_t i = 0; i < BLOCKS * count; i++)
        soft[i] = coded[i] ? -100 : 100;
    for (size_t i = 0; i < BLOCKS; i++) {
        their_decode(peer, code, pattern, soft + i * count);
        CHECK(!differing(theirs, sent + i * (BITS / 8)), "%s, %s: libfec does not decode block %zu", peer->name,
              pattern ? pattern : "all", i);
    }
    for (size_t i = 0; i < BLOCKS * count; i++)
        soft[i] = (int8_t)fmax(-127, fmin(127, rint(40 * ((coded[i] ? -1 : 1) + 0.55 * normal(state)))));
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
    CHECK_OK(penstock_plan_run(plan, soft, ours, BLOCKS));
    penstock_plan_free(plan);
    for (size_t i = 0; i < BLOCKS; i++) {
        const uint8_t *block = ours + i * (BITS / 8);
        their_decode(peer, code, pattern, soft + i * count);
        our_errors += differing(block, sent + i * (BITS / 8));
        their_errors += differing(theirs, sent + i * (BITS / 8));
        differ += differing(block, theirs);
        CHECK(fit(desc, block, soft + i * count, count) >= fit(desc, theirs, soft + i * count, count),
              "%s, %s: libfec's block %zu fits better", peer->name, pattern ? pattern : "all", i);
    }
    printf("%s, %s: %zu errors, libfec %zu, %zu of %d bits differ\n", peer->name, pattern ? pattern : "all", our_errors,
           their_errors, differ, BLOCKS * BITS);
    CHECK((double)our_errors <= 1.1 * (double)their_errors + 40, "%s, %s: %zu errors, libfec has %zu", peer->name,
          pattern ? pattern : "all", our_errors, their_errors);
}

int main(void)
{
    penstock_context *context;
    uint64_t state = 1;
    int codes = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        for (size_t p = 0; p < 6; p++)
            if (!p || patterns[i][p]) {
                test_code(context, &peers[i], generators[i], patterns[i][p], &state);
                codes++;
            }
    CHECK_EQ(codes, 12);
    penstock_context_free(context);
    return test_finish();
}
