/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Decoders of many blocks side by side, every variant: the bits of the plain decoder of viterbi_plain.h, ties included,
 * for codes of every size and for soft bits from nothing to the worst that there is, which a metric that runs over
 * would show.
 */
#include "fec/viterbi_lanes.h"

#include "test.h"
#include "viterbi_plain.h"

enum { MOST_STEPS = 40000, MOST_LANES = 64 };

static int8_t soft[MOST_LANES][4 * 3000], long_soft[4 * MOST_STEPS];
static uint8_t packed[MOST_LANES][3000 / 8 + 9], long_packed[MOST_STEPS / 8 + 9], bits[MOST_STEPS];
static bool full;

enum kind { NOISE, EXTREME_NOISE, ERASED, TIES, ALL_LOW, ALL_HIGH, ALTERNATING, CODE_WORD, BURSTS, WRONG_START, KINDS };

/* The worst for metrics that are kept apart by what a code can do: long stretches of code words at full scale, that of
 * zeros at first, and such as begin in another state than they may. */
static void fill_soft(int8_t *out, const struct plain_code *code, enum kind kind, size_t steps, uint64_t *state)
{
    unsigned past = kind == WRONG_START ? (unsigned)test_random(state) & ((1u << (code->constraint - 1)) - 1) : 0;
    uint8_t coded[4];
    for (size_t t = 0; t < steps; t++) {
        bool zero = kind == BURSTS && t / 50 % 3 == 0;
        plain_encode_step(code, &past, zero ? 0 : test_random(state) & 1, coded);
        for (unsigned g = 0; g < code->count; g++, out++) {
            uint64_t r = test_random(state) >> 7;
            *out = kind == NOISE           ? (int8_t)(r & 255)
                   : kind == EXTREME_NOISE ? (r & 1 ? 127 : -128)
                   : kind == ERASED        ? 0
                   : kind == TIES          ? (int8_t)((int)(r % 3) - 1)
                   : kind == ALL_LOW       ? -128
                   : kind == ALL_HIGH      ? 127
                   : kind == ALTERNATING   ? ((t + g) & 1 ? -128 : 127)
                   : zero                  ? (int8_t)((code->inverted >> g & 1) ? -128 : 127)
                                           : (int8_t)(coded[g] ? -128 : 127);
        }
    }
}

static void check_block(const char *what, const struct plain_code *code, const struct penstock__viterbi_block *block,
                        struct penstock__viterbi_ends ends)
{
    size_t wrong = 0, spare = 0;
    if (!plain_decode(code, bits, block->soft, block->steps, ends.start_zero, ends.end_zero)) {
        CHECK(false, "no memory");
        return;
    }
    for (size_t t = 0; t < block->steps; t++)
        wrong += bits[t] != (block->packed[t / 8] >> t % 8 & 1);
    for (size_t t = block->steps; t < (block->steps + 7) / 8 * 8; t++)
        spare += block->packed[t / 8] >> t % 8 & 1;
    CHECK(!wrong && !spare, "%s: K %u, generators %o %o %o %o: %zu of %zu bits differ, %zu spare bits are set", what,
          code->constraint, code->generators[0], code->generators[1], code->generators[2], code->generators[3], wrong,
          block->steps, spare);
    CHECK(block->packed[(block->steps + 7) / 8] == 0xaa, "%s: a byte behind %zu bits was written", what, block->steps);
}

static struct plain_code random_code(uint64_t *state)
{
    struct plain_code code = {.constraint = 3 + (unsigned)(test_random(state) >> 20) % 7,
                              .count = 1 + (unsigned)(test_random(state) >> 20) % 4,
                              .inverted = (unsigned)(test_random(state) >> 20) & 15};
    for (unsigned g = 0; g < code.count; g++)
        code.generators[g] = 1 + (unsigned)(test_random(state) >> 20) % ((1u << code.constraint) - 1);
    code.inverted &= (1u << code.count) - 1;
    return code;
}

static const struct plain_code named[] = {{{0133, 0171}, 2, 7, 0},
                                          {{0171, 0133}, 2, 7, 2},
                                          {{0133, 0171, 0145, 0133}, 4, 7, 0},
                                          {{0133, 0171, 0165}, 3, 7, 0},
                                          {{0561, 0753}, 2, 9, 0},
                                          {{0557, 0663, 0711}, 3, 9, 0},
                                          {{05, 07}, 2, 3, 0},
                                          {{0777, 0777, 0777, 0777}, 4, 9, 0},
                                          {{0177, 0177}, 2, 7, 0},
                                          {{023, 035}, 2, 5, 0},
                                          {{0765, 0671, 0513, 0473}, 4, 9, 5},
                                          {{04}, 1, 3, 0}};

/* Metrics in 16 bits have the room that trellis.c says they need. */
static void test_room(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 400; i++) {
        struct plain_code code = i < (int)(sizeof named / sizeof *named) ? named[i] : random_code(&state);
        struct penstock__trellis trellis;
        penstock__trellis_init(&trellis, code.generators, code.count, code.constraint, code.inverted);
        CHECK(trellis.floor + 64 * (int)code.count * (int)trellis.together < 1 << (15 - trellis.together),
              "K %u, %u generators: floor %d, %u together", code.constraint, code.count, trellis.floor,
              trellis.together);
    }
}

static void check_group(const struct penstock__viterbi_kernel *kernel, const struct plain_code *code, int i,
                        uint64_t *state)
{
    struct penstock__trellis trellis;
    struct penstock__viterbi_block blocks[MOST_LANES];
    struct penstock__viterbi_ends ends = {i & 1, i & 2};
    unsigned count = i % 5 ? kernel->lanes : 1 + (unsigned)(test_random(state) >> 9) % kernel->lanes;
    size_t most = i % 7 ? 1 + test_random(state) % (i % 3 ? 300 : 60) : 1 + test_random(state) % 1200;
    size_t bytes, steps = most;
    unsigned char *work;
    penstock__trellis_init(&trellis, code->generators, code->count, code->constraint, code->inverted);
    bytes = kernel->workspace(&trellis, most);
    CHECK(bytes % 64 == 0, "workspace of %zu bytes", bytes);
    if (!(work = aligned_alloc(64, bytes + 64)))
        return;
    memset(work, 0x55, bytes + 64);
    memset(packed, 0xaa, sizeof packed);
    for (unsigned lane = 0; lane < count; lane++) {
        /* at the end of the array, so that reading too far is found */
        int8_t *at = soft[lane] + sizeof soft[lane] - steps * code->count;
        fill_soft(at, code, (enum kind)((i + (int)lane) % KINDS), steps, state);
        blocks[lane] = (struct penstock__viterbi_block){at, steps, packed[lane]};
        if (i % 4 != 1)
            steps -= test_random(state) % 9 < 4 ? 0 : test_random(state) % (steps < 40 ? steps : 40);
    }
    kernel->decode(&trellis, blocks, count, ends, work);
    for (unsigned lane = 0; lane < count; lane++)
        check_block(kernel->name, code, &blocks[lane], ends);
    for (unsigned j = 0; j < 64; j++)
        CHECK(work[bytes + j] == 0x55, "%s: written behind the workspace", kernel->name);
    free(work);
}

static void test_groups(const struct penstock__viterbi_kernel *kernel)
{
    uint64_t state = 2;
    const int rounds = full ? 1500 : 130;
    for (int i = 0; i < rounds; i++) {
        struct plain_code code = i % 3 ? random_code(&state) : named[(size_t)(i / 3) % (sizeof named / sizeof *named)];
        check_group(kernel, &code, i, &state);
    }
    for (int i = 0; i < 4 * KINDS; i++)
        check_group(kernel, &named[0], i, &state);
}

/* As windows: also of noise, where they do not continue each other at first. */
static void test_long(const struct penstock__viterbi_kernel *kernel)
{
    uint64_t state = 3;
    int done = 0;
    const int rounds = full ? 300 : 24;
    for (int i = 0; i < rounds; i++) {
        const struct plain_code *code = &named[i % 2 ? 0 : (size_t)(i / 2) % 6];
        struct penstock__viterbi_ends ends = {i & 4, i & 8};
        size_t steps = i % 8 == 7 ? 33000 + (size_t)i : 1 + test_random(&state) % 5000, bytes;
        struct penstock__viterbi_block block = {long_soft + sizeof long_soft - steps * code->count, steps, long_packed};
        struct penstock__trellis trellis;
        unsigned char *work;
        penstock__trellis_init(&trellis, code->generators, code->count, code->constraint, code->inverted);
        bytes = kernel->workspace_long(&trellis, steps);
        CHECK((bytes == 0) == (steps < PENSTOCK__VITERBI_LONG), "%zu bytes for %zu steps", bytes, steps);
        if (!(work = aligned_alloc(64, bytes + 64)))
            return;
        memset(work, 0x55, bytes + 64);
        memset(long_packed, 0xaa, sizeof long_packed);
        fill_soft(long_soft + sizeof long_soft - steps * code->count, code, (enum kind)(i % KINDS), steps, &state);
        if (kernel->decode_long(&trellis, &block, ends, work)) {
            check_block(kernel->name, code, &block, ends);
            done++;
        } else {
            CHECK(steps < PENSTOCK__VITERBI_LONG, "%s: no windows for %zu steps", kernel->name, steps);
        }
        for (unsigned j = 0; j < 64; j++)
            CHECK(work[bytes + j] == 0x55, "%s: written behind the workspace of windows", kernel->name);
        free(work);
    }
    CHECK(done > rounds / 2, "%d blocks as windows", done);
}

int main(void)
{
    size_t used = 0;
    full = getenv("PENSTOCK_TEST_FULL");
    test_room();
    for (size_t i = 0; i < penstock__viterbi_kernel_count; i++) {
        const struct penstock__viterbi_kernel *kernel = penstock__viterbi_kernels[i];
        if (!kernel->usable()) {
            printf("%s: not on this processor\n", kernel->name);
            continue;
        }
        test_groups(kernel);
        test_long(kernel);
        printf("%s: %u lanes\n", kernel->name, kernel->lanes);
        used++;
    }
    CHECK(used >= 1 && penstock__viterbi_kernels[penstock__viterbi_kernel_count - 1]->usable(), "%zu variants", used);
    return test_finish();
}
