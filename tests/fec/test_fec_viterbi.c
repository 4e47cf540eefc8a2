/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The decoder against a plain one in double precision and the code's shift register, both written here; every variant
 * against the generic one; bit error rates against the union bound.
 */
#include "fec/convolutional.h"
#include "fec/viterbi.h"

#include "test.h"

#define MAX_STEPS 33000

static int8_t soft[2 * MAX_STEPS];
static uint8_t sent[MAX_STEPS / 8 + 8], coded[2 * MAX_STEPS], received[MAX_STEPS / 8 + 8];
static _Alignas(64) uint64_t workspace[2 * MAX_STEPS];

/* ---------------------------------------------------------------- independent chunks ---------- */

/* Figure 17-8: g0 = 133 and g1 = 171 (octal), where the leftmost digit weighs the newest bit. */
static void encode_step(unsigned bit, unsigned *last_six, unsigned out[2])
{
    static const char *const taps[2] = {"1011011", "1111001"};
    for (int g = 0; g < 2; g++) {
        out[g] = taps[g][0] == '1' ? bit : 0;
        for (int age = 1; age <= 6; age++)
            if (taps[g][age] == '1')
                out[g] ^= *last_six >> (age - 1) & 1;
    }
    *last_six = (*last_six << 1 | bit) & 63;
}

static unsigned bit_of(const uint8_t *packed, size_t i)
{
    return packed[i / 8] >> i % 8 & 1;
}

/* How well `packed` fits the soft bits: what the decoder maximises. */
static double correlation(const uint8_t *packed, size_t steps)
{
    unsigned last_six = 0, out[2];
    double sum = 0;
    for (size_t t = 0; t < steps; t++) {
        encode_step(bit_of(packed, t), &last_six, out);
        for (int g = 0; g < 2; g++)
            sum += out[g] ? -soft[2 * t + (size_t)g] : soft[2 * t + (size_t)g];
    }
    return sum;
}

/* The best correlation of any bits; ends in state zero if `closed`. */
static double best_correlation(size_t steps, bool closed)
{
    double now[64], next[64], best;
    for (int s = 0; s < 64; s++)
        now[s] = s ? -INFINITY : 0;
    for (size_t t = 0; t < steps; t++) {
        for (int s = 0; s < 64; s++)
            next[s] = -INFINITY;
        for (unsigned s = 0; s < 64; s++)
            for (unsigned bit = 0; bit < 2; bit++) {
                unsigned to = s, out[2];
                double metric = now[s];
                encode_step(bit, &to, out);
                for (int g = 0; g < 2; g++)
                    metric += out[g] ? -soft[2 * t + (size_t)g] : soft[2 * t + (size_t)g];
                next[to] = fmax(next[to], metric);
            }
        memcpy(now, next, sizeof now);
    }
    best = now[0];
    for (int s = 0; !closed && s < 64; s++)
        best = fmax(best, now[s]);
    return best;
}

/* ---------------------------------------------------------------- inputs ---------------------- */

static void random_bits(size_t steps, bool tail, uint64_t *state)
{
    memset(sent, 0, sizeof sent);
    for (size_t t = 0; t + (tail ? 6 : 0) < steps; t++)
        sent[t / 8] |= (uint8_t)((test_random(state) & 1) << t % 8);
}

/* Kinds of soft bits, from nothing to the worst that there is. */
enum kind { NOISE, EXTREME_NOISE, ERASED, TIES, ALL_LOW, ALL_HIGH, ALTERNATING, BURSTS, KINDS };

static void fill_soft(enum kind kind, size_t steps, uint64_t *state)
{
    for (size_t i = 0; i < 2 * steps; i++) {
        uint64_t r = test_random(state);
        switch (kind) {
        case NOISE:
            soft[i] = (int8_t)(r & 255);
            break;
        case EXTREME_NOISE:
            soft[i] = r & 1 ? 127 : -128;
            break;
        case ERASED:
            soft[i] = 0;
            break;
        case TIES:
            soft[i] = (int8_t)((int)(r % 3) - 1);
            break;
        case ALL_LOW:
            soft[i] = -128;
            break;
        case ALL_HIGH:
            soft[i] = 127;
            break;
        case ALTERNATING:
            soft[i] = i & 1 ? -128 : 127;
            break;
        default: /* long stretches of one code word each */
            soft[i] = (int8_t)((i / 700 * 2654435761u >> 7 & 1) ? -128 : 127);
        }
    }
}

static size_t hash_steps(int i, uint64_t *state)
{
    return i < 140 ? (size_t)i + 1 : 1 + test_random(state) % 3000;
}

/* ---------------------------------------------------------------- tests ----------------------- */

/* Whatever the input: what is decoded correlates as well as anything can. */
static void test_maximum_likelihood(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 200; i++)
        for (enum kind kind = NOISE; kind < KINDS; kind++)
            for (int end = 0; end < 2; end++) {
                size_t steps = hash_steps(i, &state);
                bool closed = end == PENSTOCK__TRELLIS_ZERO;
                if (closed && steps < 6)
                    continue;
                if (i > 20 && (i + (int)kind) % 8)
                    continue;
                fill_soft(kind, steps, &state);
                penstock__viterbi_decode(received, soft, steps, (enum penstock__trellis_end)end, workspace);
                CHECK(correlation(received, steps) == best_correlation(steps, closed), "kind %d, %zu steps, end %d",
                      kind, steps, end);
                for (size_t t = steps - 6; closed && t < steps; t++)
                    CHECK(!bit_of(received, t), "tail bit %zu of %zu is set", t, steps);
                for (size_t t = steps; t < (steps + 7) / 8 * 8; t++)
                    CHECK(!bit_of(received, t), "spare bit %zu after %zu is set", t, steps);
            }
}

/* The longest frame: 4095 bytes, 22 more bits. */
static void test_longest(void)
{
    const size_t steps = 16 + 8 * 4095 + 6;
    uint64_t state = 2;
    for (enum kind kind = NOISE; kind < KINDS; kind++) {
        fill_soft(kind, steps, &state);
        penstock__viterbi_decode(received, soft, steps, PENSTOCK__TRELLIS_OPEN, workspace);
        CHECK(correlation(received, steps) == best_correlation(steps, false), "kind %d", kind);
    }
}

static void test_variants_equal(void)
{
    size_t count = penstock__viterbi_variant_count, used = 0;
    const struct penstock__viterbi_variant *generic = penstock__viterbi_variants[count - 1];
    static uint8_t want[sizeof received];
    CHECK(!strcmp(generic->name, "generic") && generic->usable(), "the last variant is %s", generic->name);
    for (size_t v = 0; v + 1 < count; v++) {
        const struct penstock__viterbi_variant *variant = penstock__viterbi_variants[v];
        uint64_t state = 3;
        if (!variant->usable()) {
            printf("%s: not on this processor\n", variant->name);
            continue;
        }
        used++;
        for (int i = 0; i < 240; i++)
            for (enum kind kind = NOISE; kind < KINDS; kind++) {
                size_t steps = i == 239 ? 32782 : hash_steps(i, &state);
                enum penstock__trellis_end end = i & 1 ? PENSTOCK__TRELLIS_ZERO : PENSTOCK__TRELLIS_OPEN;
                fill_soft(kind, steps, &state);
                memset(received, 0xaa, sizeof received);
                memset(want, 0xaa, sizeof want);
                penstock__viterbi_decode_with(generic, want, soft, steps, end, workspace);
                penstock__viterbi_decode_with(variant, received, soft, steps, end, workspace);
                CHECK(!memcmp(received, want, sizeof want), "%s: kind %d, %zu steps", variant->name, kind, steps);
            }
        printf("%s: equal\n", variant->name);
    }
    printf("%zu variants besides generic\n", used);
}

/* Guard words around the workspace and the output stay as they are. */
static void test_bounds(void)
{
    uint64_t state = 4;
    for (size_t steps = 1; steps < 300; steps++)
        for (size_t v = 0; v < penstock__viterbi_variant_count; v++) {
            const struct penstock__viterbi_variant *variant = penstock__viterbi_variants[v];
            size_t bytes = penstock__viterbi_workspace(steps), out = (steps + 7) / 8;
            if (!variant->usable())
                continue;
            fill_soft(NOISE, steps, &state);
            memset(workspace, 0x55, bytes + 64);
            memset(received, 0x55, out + 8);
            penstock__viterbi_decode_with(variant, received, soft, steps, PENSTOCK__TRELLIS_OPEN, workspace);
            for (size_t i = 0; i < 64; i++)
                CHECK(((uint8_t *)workspace)[bytes + i] == 0x55, "%s: workspace of %zu steps", variant->name, steps);
            for (size_t i = 0; i < 8; i++)
                CHECK(received[out + i] == 0x55, "%s: output of %zu steps", variant->name, steps);
        }
}

static const enum penstock__code_rate rates[] = {PENSTOCK__CODE_1_2, PENSTOCK__CODE_2_3, PENSTOCK__CODE_3_4};

/* Figure 17-9, as rows of stolen (0) and sent (1) bits of A and B. */
static const struct {
    size_t period;
    const char *a, *b;
} figure[] = {{1, "1", "1"}, {2, "11", "10"}, {3, "110", "101"}};

static void test_encoder(void)
{
    uint64_t state = 5;
    for (size_t steps = 1; steps < 400; steps++)
        for (int r = 0; r < 3; r++) {
            unsigned last_six = 0, out[2];
            size_t n = 0;
            random_bits(steps, false, &state);
            CHECK_EQ(penstock__convolutional_encode(coded, sent, steps, rates[r]),
                     penstock__coded_count(rates[r], steps));
            for (size_t t = 0; t < steps; t++) {
                encode_step(bit_of(sent, t), &last_six, out);
                if (figure[r].a[t % figure[r].period] == '1') {
                    CHECK(coded[n] == out[0] && penstock__puncture_place(rates[r], n) == 2 * t, "A of step %zu", t);
                    n++;
                }
                if (figure[r].b[t % figure[r].period] == '1') {
                    CHECK(coded[n] == out[1] && penstock__puncture_place(rates[r], n) == 2 * t + 1, "B of step %zu", t);
                    n++;
                }
            }
            CHECK_EQ(n, penstock__coded_count(rates[r], steps));
        }
}

/* Without noise every block comes back, whether it ends in tail bits or not. */
static void test_round_trip(void)
{
    uint64_t state = 6;
    for (int i = 0; i < 300; i++)
        for (int r = 0; r < 3; r++) {
            size_t steps = 48 + test_random(&state) % 2000, count;
            bool tail = i & 1;
            int8_t punctured[2 * 2048];
            random_bits(steps, tail, &state);
            count = penstock__convolutional_encode(coded, sent, steps, rates[r]);
            for (size_t k = 0; k < count; k++)
                punctured[k] = coded[k] ? -1 - (int8_t)(k % 128) : 1 + (int8_t)(k % 127);
            penstock__depuncture(soft, punctured, steps, rates[r]);
            penstock__viterbi_decode(received, soft, steps, tail ? PENSTOCK__TRELLIS_ZERO : PENSTOCK__TRELLIS_OPEN,
                                     workspace);
            /* Without a tail, the last bits of a punctured code may not be determined. */
            for (size_t t = 0; t < steps - (tail ? 0 : 6); t++)
                CHECK(bit_of(received, t) == bit_of(sent, t), "rate %d, bit %zu of %zu", r, t, steps);
        }
}

/* ---------------------------------------------------------------- bit error rate -------------- */

static double normal(uint64_t *state)
{
    double u = ((double)(test_random(state) >> 11) + 0.5) * 0x1p-53, v = (double)(test_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.28318530717958647692 * v);
}

/*
 * Union bound on the bit error rate, sum of c_d Q(sqrt(2 d R Eb/N0)) / k, with the weight spectra c_d from d_free on of
 * D. Haccoun and G. Begin, "High-rate punctured convolutional codes for Viterbi and sequential decoding", IEEE Trans.
 * Comm. 37(11), 1989, tables of M = 6 (rate 1/2: J. P. Odenwalder).
 */
static const struct spectrum {
    double rate, k;
    int d_free, step;
    double c[8];
    double ebn0_db;
} spectra[] = {
    {1 / 2.0, 1, 10, 2, {36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910}, 3.3},
    {2 / 3.0, 2, 6, 1, {3, 70, 285, 1276, 6160, 27128, 117019, 498860}, 3.9},
    {3 / 4.0, 3, 5, 1, {42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811}, 4.5},
};

static double union_bound(const struct spectrum *s)
{
    double sum = 0, ebn0 = pow(10, s->ebn0_db / 10);
    for (int i = 0; i < 8; i++)
        sum += s->c[i] * 0.5 * erfc(sqrt((s->d_free + i * s->step) * s->rate * ebn0));
    return sum / s->k;
}

static void test_bit_error_rate(void)
{
    uint64_t state = 7;
    for (int r = 0; r < 3; r++) {
        const size_t steps = 12000, blocks = getenv("PENSTOCK_TEST_FULL") ? 4000 : 400;
        double sigma = sqrt(0.5 / (spectra[r].rate * pow(10, spectra[r].ebn0_db / 10))),
               bound = union_bound(&spectra[r]);
        double ber;
        size_t errors = 0;
        static int8_t punctured[2 * MAX_STEPS];
        for (size_t block = 0; block < blocks; block++) {
            size_t count;
            random_bits(steps, true, &state);
            count = penstock__convolutional_encode(coded, sent, steps, rates[r]);
            for (size_t i = 0; i < count; i++) {
                double y = (coded[i] ? -1 : 1) + sigma * normal(&state);
                punctured[i] = (int8_t)fmax(-127, fmin(127, rint(40 * y)));
            }
            penstock__depuncture(soft, punctured, steps, rates[r]);
            penstock__viterbi_decode(received, soft, steps, PENSTOCK__TRELLIS_ZERO, workspace);
            for (size_t t = 0; t < steps; t++)
                errors += bit_of(received, t) != bit_of(sent, t);
        }
        ber = (double)errors / (double)(steps * blocks);
        printf("rate %.3f, Eb/N0 %.1f dB: bit error rate %.3g, union bound %.3g\n", spectra[r].rate, spectra[r].ebn0_db,
               ber, bound);
        /* The bound is tight within a factor of two here; some 200 bursts of errors are seen. */
        CHECK(ber < 1.25 * bound && ber > 0.4 * bound, "rate %.3f: %.3g is not near %.3g", spectra[r].rate, ber, bound);
    }
}

int main(void)
{
    test_encoder();
    test_maximum_likelihood();
    test_longest();
    test_variants_equal();
    test_bounds();
    test_round_trip();
    test_bit_error_rate();
    return test_finish();
}
