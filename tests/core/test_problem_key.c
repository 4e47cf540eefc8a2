/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * No field of a problem is forgotten by the key of measured answers, and nothing that lies between fields is in it.
 * tests/interface/test_rules.py looks for the fields by their names, which holds with every compiler.
 */
#include "core/plan/problem_bytes.h"
#include "test.h"

#include <string.h>

static struct penstock_problem problem; /* too large for some stacks twice */

static bool changes(char *at, const char *key)
{
    char other[PENSTOCK__PROBLEM_KEY_BYTES];
    size_t length;
    *at ^= 1;
    length = penstock__problem_key(other, &problem);
    *at ^= 1;
    CHECK(length < sizeof other - 1 && length == strlen(other), "a key of %zu characters", length);
    return strcmp(key, other);
}

/* Of `bytes` bytes at `at`, those of fields have 1 in `mask`. */
static void flip_each(const char *name, char *at, const unsigned char *mask, size_t bytes)
{
    char key[PENSTOCK__PROBLEM_KEY_BYTES];
    size_t fields = 0;
    penstock__problem_key(key, &problem);
    for (size_t i = 0; i < bytes; i++) {
        CHECK(changes(at + i, key) == (mask[i] != 0), "%s: byte %zu is %s", name, i,
              mask[i] ? "not in the key" : "of no field and in the key");
        fields += mask[i] != 0;
    }
    CHECK(fields > 0, "%s has no fields", name);
}

static void begin(enum penstock_problem_kind kind)
{
    memset(&problem, 0, sizeof problem);
    problem.kind = kind;
}

/* What costs no time is not asked anew: sliders of a running stream change these. */
static void test_values_that_change(void)
{
    static const float one[4] = {1, 1, 1, 1}, two[4] = {2, 0, 1, 5};
    char key[PENSTOCK__PROBLEM_KEY_BYTES], other[PENSTOCK__PROBLEM_KEY_BYTES];
    begin(PENSTOCK_PROBLEM_FFT);
    problem.fft = (struct penstock_fft_problem){.n = 4, .window = one, .shift = 0.25, .scale = 3};
    penstock__problem_key(key, &problem);
    problem.fft.window = two;
    problem.fft.shift = -0.1;
    problem.fft.scale = 7;
    penstock__problem_key(other, &problem);
    CHECK(!strcmp(key, other), "%s and %s", key, other);
    problem.fft.scale = 1;
    penstock__problem_key(other, &problem);
    CHECK(strcmp(key, other), "a factor of 1 is one that is multiplied by");
}

static void test_content_of_arrays(void)
{
    static uint32_t bins[4] = {3, 1, 4, 15}, pilot_bins[2] = {9, 2};
    static penstock_cf32 values[2] = {{1, 0}, {-1, 0}};
    char key[PENSTOCK__PROBLEM_KEY_BYTES];
    begin(PENSTOCK_PROBLEM_OFDM);
    problem.ofdm = (struct penstock_ofdm_problem){.n = 16,
                                                  .carrier_count = 4,
                                                  .bins = bins,
                                                  .pilot_count = 2,
                                                  .pilot_rows = 1,
                                                  .pilot_bins = pilot_bins,
                                                  .pilot_values = values};
    penstock__problem_key(key, &problem);
    for (size_t i = 0; i < sizeof bins; i++)
        CHECK(changes((char *)bins + i, key), "byte %zu of the carriers is not in the key", i);
    for (size_t i = 0; i < sizeof pilot_bins; i++)
        CHECK(changes((char *)pilot_bins + i, key), "byte %zu of the pilots is not in the key", i);
    for (size_t i = 0; i < sizeof values; i++)
        CHECK(changes((char *)values + i, key), "byte %zu of the pilots' values is not in the key", i);
    static int32_t rates[2][6] = {{4, 1, 0, 1, 2, 3}, {4, 2, 3, 2, 1, 0}};
    begin(PENSTOCK_PROBLEM_CODED);
    problem.coded = (struct penstock_coded_problem){.rate_count = 2, .row = 6, .rates = rates[0]};
    penstock__problem_key(key, &problem);
    for (size_t i = 0; i < sizeof rates; i++)
        CHECK(changes((char *)rates + i, key), "byte %zu of the rates is not in the key", i);
}

#if defined __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define PADDING_IS_KNOWN
#endif
#endif

/* Arrays are used to their ends. */
static void fill(void)
{
    if (problem.kind == PENSTOCK_PROBLEM_VITERBI)
        problem.viterbi.period = PENSTOCK_MAX_PUNCTURE;
    if (problem.kind == PENSTOCK_PROBLEM_LDPC) {
        problem.ldpc.rows = PENSTOCK_MAX_LDPC_ROWS;
        problem.ldpc.first[PENSTOCK_MAX_LDPC_ROWS] = PENSTOCK_MAX_LDPC_EDGES;
    }
}

/* GCC 12's __builtin_clear_padding() mistakes the places of padding that lies behind 4096 bytes; before that is none.
 */
static void mark_ldpc(unsigned char *mask)
{
#define MARK(member) memset(mask + offsetof(struct penstock_ldpc_problem, member), 1, sizeof problem.ldpc.member)
    memset(mask, 0, sizeof problem.ldpc);
    memset(mask, 1, offsetof(struct penstock_ldpc_problem, edges) + sizeof problem.ldpc.edges);
    MARK(punctured);
    MARK(punctured_end);
    MARK(filler);
    MARK(iterations);
    MARK(stop_early);
    MARK(soft);
    MARK(scale);
    MARK(result);
    MARK(soft_result);
    MARK(report);
#undef MARK
}

static void test_numbers_of_every_kind(void)
{
    unsigned char all[sizeof problem.batch];
    memset(all, 1, sizeof all);
    for (enum penstock_problem_kind kind = PENSTOCK_PROBLEM_FFT; kind <= PENSTOCK_PROBLEM_CODED; kind++) {
        begin(kind);
        flip_each("in_bytes", (char *)&problem.in_bytes, all, sizeof problem.in_bytes);
        flip_each("out_bytes", (char *)&problem.out_bytes, all, sizeof problem.out_bytes);
        flip_each("batch", (char *)&problem.batch, all, sizeof problem.batch);
    }
}

/* A field beside these four would not be seen above. */
static void test_fields_of_every_kind(void)
{
    struct {
        enum penstock_problem_kind kind;
        size_t in_bytes, out_bytes, batch;
    } known;
    CHECK_EQ(offsetof(struct penstock_problem, fft), (sizeof known + _Alignof(struct penstock_fft_problem) - 1) /
                                                         _Alignof(struct penstock_fft_problem) *
                                                         _Alignof(struct penstock_fft_problem));
}

#ifdef PADDING_IS_KNOWN
/* All of it set: bytes that clear_padding() leaves are those of fields. */
#define FLIP(kind, enumerator)                                              \
    do {                                                                    \
        memset(&problem, 0xff, sizeof problem);                             \
        __builtin_clear_padding(&problem.kind);                             \
        memcpy(mask, &problem.kind, sizeof problem.kind);                   \
        begin(enumerator);                                                  \
        fill();                                                             \
        flip_each(#kind, (char *)&problem.kind, mask, sizeof problem.kind); \
    } while (0)
#else
#define FLIP(kind, enumerator) printf("%s: not flipped, as this compiler does not tell fields from padding\n", #kind)
#endif

static void test_every_field(void)
{
    static unsigned char mask[sizeof problem];
    FLIP(fft, PENSTOCK_PROBLEM_FFT);
    FLIP(ofdm, PENSTOCK_PROBLEM_OFDM);
    FLIP(filter, PENSTOCK_PROBLEM_FILTER);
    FLIP(viterbi, PENSTOCK_PROBLEM_VITERBI);
    FLIP(resample, PENSTOCK_PROBLEM_RESAMPLE);
    FLIP(coded, PENSTOCK_PROBLEM_CODED);
    mark_ldpc(mask);
    begin(PENSTOCK_PROBLEM_LDPC);
    fill();
    flip_each("ldpc", (char *)&problem.ldpc, mask, sizeof problem.ldpc);
}

static void test_kinds(void)
{
    char keys[PENSTOCK_PROBLEM_CODED + 1][PENSTOCK__PROBLEM_KEY_BYTES];
    for (enum penstock_problem_kind kind = PENSTOCK_PROBLEM_FFT; kind <= PENSTOCK_PROBLEM_CODED; kind++) {
        begin(kind);
        penstock__problem_key(keys[kind], &problem);
        for (enum penstock_problem_kind other = PENSTOCK_PROBLEM_FFT; other < kind; other++)
            CHECK(strcmp(keys[kind], keys[other]), "kinds %d and %d have one key", (int)other, (int)kind);
    }
}

int main(void)
{
    test_values_that_change();
    test_content_of_arrays();
    test_kinds();
    test_numbers_of_every_kind();
    test_fields_of_every_kind();
    test_every_field();
    return test_finish();
}
