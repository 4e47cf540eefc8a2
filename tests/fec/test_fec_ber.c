/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Bit error rates at 2, 3 and 4 dB: at most 1.1 times those of a decoder of whole blocks in floating point, given the
 * same noise, for each puncturing and each way to end; of tail-biting blocks also against the most likely of all paths
 * that end where they begin, found by trying each state. PENSTOCK_TEST_FULL=1: 10^8 bits a point.
 */
#include "test.h"
#include "viterbi_plain.h"

#include <penstock/penstock.h>

enum { BITS = 1000, MOST_BLOCKS = 200, MOST_CODED = 4 * (BITS + 6) };

static penstock_context *context;
static uint8_t sent[MOST_BLOCKS * BITS / 8], ours[MOST_BLOCKS * BITS / 8], theirs[MOST_BLOCKS * BITS / 8];
static uint8_t coded[MOST_BLOCKS * MOST_CODED];
static float soft[MOST_BLOCKS * MOST_CODED];

static double normal(uint64_t *state)
{
    double u = ((double)(test_random(state) >> 11) + 0.5) * 0x1p-53, v = (double)(test_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.28318530717958647692 * v);
}

static size_t differing(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += (size_t)__builtin_popcount(a[i] ^ b[i]);
    return count;
}

/* Noisy blocks of random bits at Eb/N0. */
static void receive(const penstock_viterbi_desc *desc, size_t blocks, double ebn0_db, uint64_t *state)
{
    size_t count;
    double sigma;
    CHECK_OK(penstock_viterbi_sent(&count, desc));
    sigma = sqrt(0.5 * (double)count / ((double)desc->bits * pow(10, ebn0_db / 10)));
    for (size_t i = 0; i < blocks * desc->bits / 8; i++)
        sent[i] = (uint8_t)(test_random(state) >> 20);
    CHECK_OK(penstock_viterbi_encode(desc, coded, sent, blocks));
    for (size_t i = 0; i < blocks * count; i++)
        soft[i] = (float)((coded[i] ? -1 : 1) + sigma * normal(state));
}

static void test_point(const char *name, penstock_trellis_end end, double ebn0_db, size_t bits, uint64_t *state)
{
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = BITS, .soft = PENSTOCK_SOFT_F32);
    size_t our_errors = 0, their_errors = 0, done = 0;
    penstock_plan *plan, *reference;
    CHECK_OK(penstock_viterbi_code(&desc, name));
    desc.end = end;
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
    CHECK_OK(penstock_viterbi_plan(&reference, context, &desc, "reference"));
    for (; plan && reference && done < bits; done += MOST_BLOCKS * BITS) {
        receive(&desc, MOST_BLOCKS, ebn0_db, state);
        CHECK_OK(penstock_plan_run(plan, soft, ours, MOST_BLOCKS));
        CHECK_OK(penstock_plan_run(reference, soft, theirs, MOST_BLOCKS));
        our_errors += differing(ours, sent, sizeof sent);
        their_errors += differing(theirs, sent, sizeof sent);
    }
    penstock_plan_free(plan);
    penstock_plan_free(reference);
    printf("%-9s end %d, %.0f dB: %zu errors of %zu bits, reference %zu\n", name, (int)end, ebn0_db, our_errors, done,
           their_errors);
    /* one event more is chance where there are few */
    CHECK((double)our_errors <= 1.1 * (double)their_errors + 12, "%s, end %d, %.0f dB: %zu errors, reference %zu", name,
          (int)end, ebn0_db, our_errors, their_errors);
}

/* The most likely path that ends where it begins: its bits, one a byte. */
static void decode_circle(const penstock_viterbi_desc *desc, const struct plain_code *code, const float *in,
                          uint8_t *best_bits)
{
    const unsigned states = 1u << (code->constraint - 1);
    static uint8_t came[64][64];
    double best = -INFINITY;
    for (unsigned start = 0; start < states; start++) {
        double now[64], next[64];
        unsigned s = start;
        for (unsigned i = 0; i < states; i++)
            now[i] = i == start ? 0 : -INFINITY;
        for (size_t t = 0; t < desc->bits; t++) {
            for (unsigned i = 0; i < states; i++)
                next[i] = -INFINITY;
            for (unsigned from = 0; from < states; from++)
                for (unsigned bit = 0; bit < 2; bit++) {
                    unsigned to = from;
                    uint8_t out[4];
                    double metric = now[from];
                    plain_encode_step(code, &to, bit, out);
                    for (unsigned g = 0; g < code->count; g++)
                        metric += (double)(out[g] ? -in[t * code->count + g] : in[t * code->count + g]);
                    if (metric > next[to]) {
                        next[to] = metric;
                        came[t][to] = (uint8_t)from;
                    }
                }
            memcpy(now, next, sizeof now);
        }
        if (now[start] <= best)
            continue;
        best = now[start];
        for (size_t t = desc->bits; t--; s = came[t][s])
            best_bits[t] = s & 1;
    }
}

static void test_circle(double ebn0_db, uint64_t *state)
{
    const size_t blocks = getenv("PENSTOCK_TEST_FULL") ? 4000 : 150;
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = 40, .soft = PENSTOCK_SOFT_F32);
    const struct plain_code code = {{0133, 0171, 0165}, 3, 7, 0};
    size_t our_wrong = 0, their_wrong = 0;
    penstock_plan *plan;
    CHECK_OK(penstock_viterbi_code(&desc, "lte"));
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
    for (size_t i = 0; plan && i < blocks; i++) {
        uint8_t best[40], packed[5] = {0};
        receive(&desc, 1, ebn0_db, state);
        CHECK_OK(penstock_plan_run(plan, soft, ours, 1));
        decode_circle(&desc, &code, soft, best);
        for (size_t t = 0; t < 40; t++)
            packed[t / 8] |= (uint8_t)(best[t] << t % 8);
        our_wrong += differing(ours, sent, 5) > 0;
        their_wrong += differing(packed, sent, 5) > 0;
    }
    penstock_plan_free(plan);
    printf("40 bits, tail-biting, %.0f dB: %zu blocks of %zu wrong, most likely paths %zu\n", ebn0_db, our_wrong,
           blocks, their_wrong);
    CHECK(their_wrong > 5 && (double)our_wrong <= 1.1 * (double)their_wrong + 2, "%zu blocks wrong, most likely %zu",
          our_wrong, their_wrong);
}

int main(void)
{
    static const char *const names[] = {"wifi", "wifi:2/3", "wifi:3/4", "wifi:5/6", "dvb:7/8", "lte", "dab"};
    const bool full = getenv("PENSTOCK_TEST_FULL");
    uint64_t state = 1;
    size_t index, point = 0;
    CHECK_OK(penstock_context_new(&context, NULL));
    if (penstock_device_find(context, "reference", &index)) {
        penstock_context_free(context);
        return test_skip("there is no reference device in this build");
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int end = 0; end < 3; end++)
            for (int db = 2; db <= 4; db++, point++)
                if (full || point % 3 == i % 3)
                    test_point(names[i], (penstock_trellis_end)end, db, full ? 100000000 : 200000, &state);
    test_circle(0, &state);
    test_circle(1, &state);
    penstock_context_free(context);
    return test_finish();
}
