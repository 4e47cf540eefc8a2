/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Viterbi plans: codes coded and decoded again in every format, blocks of unequal length, the same bits on every
 * processor, what descriptions are refused, and failing allocations.
 */
#include "core/base/memory.h"
#include "test.h"
#include "viterbi_plain.h"

#include <penstock/penstock.h>

#include <math.h>

static const char *const codes[] = {"wifi",      "wifi:2/3",  "wifi:3/4",  "wifi:5/6", "dvb", "dvb:2/3",
                                    "dvb:3/4",   "dvb:5/6",   "dvb:7/8",   "dab",      "lte", "ccsds",
                                    "ccsds:2/3", "ccsds:3/4", "ccsds:5/6", "ccsds:7/8"};
enum { CODES = sizeof codes / sizeof *codes, MOST = 40000, BLOCKS = 41 };

static penstock_context *context;
static bool reference; /* is there */
static uint8_t bits[MOST], coded[4 * MOST], hard[4 * MOST], out[2 * MOST], other[2 * MOST];
static int8_t soft[4 * MOST];
static float floats[4 * MOST];

static size_t out_bytes(const penstock_viterbi_desc *desc)
{
    return desc->result == PENSTOCK_BITS_UNPACKED ? desc->bits : (desc->bits + 7) / 8;
}

static size_t sent_of(const penstock_viterbi_desc *desc)
{
    size_t sent = 0;
    CHECK_OK(penstock_viterbi_sent(&sent, desc));
    return sent;
}

/* Random bits, those behind a block's in its last byte being 0. */
static void fill_bits(const penstock_viterbi_desc *desc, size_t blocks, uint64_t *state)
{
    const size_t bytes = out_bytes(desc);
    for (size_t i = 0; i < blocks * bytes; i++)
        bits[i] = (uint8_t)(test_random(state) >> 30 & (desc->result == PENSTOCK_BITS_UNPACKED ? 1 : 255));
    for (size_t i = 0; i < blocks && desc->result != PENSTOCK_BITS_UNPACKED && desc->bits % 8; i++)
        bits[(i + 1) * bytes - 1] &= (uint8_t)(desc->result == PENSTOCK_BITS_LSB_FIRST ? 255 >> (8 - desc->bits % 8)
                                                                                       : 255 << (8 - desc->bits % 8));
}

/* Soft bits of what was coded: without noise, or with so much that some bits change sign. */
static const void *receive(const penstock_viterbi_desc *desc, size_t count, bool noisy, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        int level = noisy ? (int)(test_random(state) >> 20 & 127) - 30 : 1 + (int)((test_random(state) >> 20) % 127);
        hard[i] = (uint8_t)((level < 0) ^ coded[i]);
        soft[i] = (int8_t)(coded[i] ? -level : level);
        floats[i] = 0.03F * (float)soft[i];
    }
    return desc->soft == PENSTOCK_SOFT_S8    ? (const void *)soft
           : desc->soft == PENSTOCK_SOFT_F32 ? (const void *)floats
                                             : hard;
}

static void decode(void *to, const penstock_viterbi_desc *desc, const char *device, const void *in, size_t blocks)
{
    penstock_plan *plan;
    memset(to, 0xaa, blocks * out_bytes(desc) + 1);
    CHECK_OK(penstock_viterbi_plan(&plan, context, desc, device));
    if (plan)
        CHECK_OK(penstock_plan_run(plan, in, to, blocks));
    CHECK(((uint8_t *)to)[blocks * out_bytes(desc)] == 0xaa, "%s: written behind the output", device);
    penstock_plan_free(plan);
}

/* Every code, format of soft bits, format of bits and length: what was coded comes back, and of noisy soft bits every
 * device makes the same. */
static void test_round_trips(void)
{
    static const size_t lengths[] = {1, 7, 8, 40, 97, 300, 900};
    uint64_t state = 1;
    int i = 0;
    for (int code = 0; code < CODES; code++)
        for (int format = 0; format < 9; format++, i++) {
            size_t length = lengths[(size_t)i % 7];
            penstock_viterbi_desc desc =
                PENSTOCK_VITERBI_DESC(.soft = (penstock_soft)(format % 3), .result = (penstock_bits)(format / 3));
            bool open;
            CHECK_OK(penstock_viterbi_code(&desc, codes[code]));
            open = desc.end == PENSTOCK_TRELLIS_OPEN;
            desc.bits = desc.end == PENSTOCK_TRELLIS_TAIL_BITING && length < 7 ? 40 : length;
            fill_bits(&desc, BLOCKS, &state);
            CHECK_OK(penstock_viterbi_encode(&desc, coded, bits, BLOCKS));
            if (!open) { /* the last bits of an open punctured code may not be determined */
                decode(out, &desc, "cpu", receive(&desc, BLOCKS * sent_of(&desc), false, &state), BLOCKS);
                CHECK(!memcmp(out, bits, BLOCKS * out_bytes(&desc)), "%s, format %d, %zu bits", codes[code], format,
                      desc.bits);
            }
            if (reference && desc.soft != PENSTOCK_SOFT_F32) {
                const void *in = receive(&desc, BLOCKS * sent_of(&desc), true, &state);
                decode(out, &desc, "cpu", in, BLOCKS);
                decode(other, &desc, "reference", in, BLOCKS);
                CHECK(!memcmp(out, other, BLOCKS * out_bytes(&desc)), "%s, format %d, %zu bits: cpu is not reference",
                      codes[code], format, desc.bits);
            }
        }
}

/* What is encoded, against the shift register. */
static void test_encoder(void)
{
    uint64_t state = 2;
    for (int code = 0; code < CODES; code++)
        for (size_t length = 1; length < 200; length += 1 + length / 9) {
            penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = length, .result = PENSTOCK_BITS_UNPACKED);
            struct plain_code plain = {.constraint = 7};
            unsigned past = 0;
            size_t next = 0, wrong = 0, place = 0, period;
            CHECK_OK(penstock_viterbi_code(&desc, codes[code]));
            memcpy(plain.generators, desc.generators, sizeof plain.generators);
            plain.inverted = desc.inverted;
            while (plain.count < 4 && plain.generators[plain.count])
                plain.count++;
            period = desc.puncture ? strlen(desc.puncture) : 1;
            fill_bits(&desc, 1, &state);
            CHECK_OK(penstock_viterbi_encode(&desc, coded, bits, 1));
            for (size_t t = 0; t < 7 * length && desc.end == PENSTOCK_TRELLIS_TAIL_BITING; t++)
                plain_encode_step(&plain, &past, bits[t % length], out);
            for (size_t t = 0; t < length + (desc.end == PENSTOCK_TRELLIS_ZERO ? 6 : 0); t++) {
                plain_encode_step(&plain, &past, t < length ? bits[t] : 0, out);
                for (unsigned g = 0; g < plain.count; g++, place++)
                    if (!desc.puncture || desc.puncture[place % period] == '1')
                        wrong += coded[next++] != out[g];
            }
            CHECK(!wrong && next == sent_of(&desc), "%s, %zu bits: %zu of %zu coded bits differ", codes[code], length,
                  wrong, next);
        }
}

/* Blocks of all lengths in one batch, in any order and overlapping: each as alone. */
static void test_unequal(void)
{
    static penstock_viterbi_block blocks[300];
    uint64_t state = 3;
    for (int code = 0; code < CODES; code++) {
        penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = 700);
        const size_t count = 300, pitch = 88, soft_count = 9000;
        penstock_plan *plan, *alone;
        CHECK_OK(penstock_viterbi_code(&desc, codes[code]));
        CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
        for (size_t i = 0; i < soft_count; i++)
            soft[i] = (int8_t)(test_random(&state) >> 20);
        for (size_t i = 0; i < count; i++)
            blocks[i] =
                (penstock_viterbi_block){.at = test_random(&state) >> 20 & 4095,
                                         .bits = 1 + (uint32_t)(test_random(&state) >> 20) % (i % 3 ? 700 : 50)};
        CHECK_OK(
            penstock_viterbi_run(plan, &PENSTOCK_VITERBI_BATCH(.soft = soft, .soft_count = soft_count, .blocks = blocks,
                                                               .block_count = count, .out = out)));
        for (size_t i = 0; i < count; i += 13) {
            desc.bits = blocks[i].bits;
            CHECK_OK(penstock_viterbi_plan(&alone, context, &desc, "cpu"));
            CHECK_OK(penstock_plan_run(alone, soft + blocks[i].at, other, 1));
            CHECK(!memcmp(out + i * pitch, other, out_bytes(&desc)), "%s: block %zu of %u bits", codes[code], i,
                  (unsigned)blocks[i].bits);
            penstock_plan_free(alone);
        }
        penstock_plan_free(plan);
    }
}

/* Few, many, long ones: the way that is taken does not show in the bits. Floats scaled by the block are those that were
 * rounded before, and NaN is nothing known. */
static void test_ways(void)
{
    uint64_t state = 4;
    for (int i = 0; i < 12; i++) {
        penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = i < 6 ? 1500 : 4700);
        const size_t blocks = i < 6 ? 18 : 5;
        penstock_plan *plan;
        size_t sent;
        CHECK_OK(penstock_viterbi_code(&desc, i % 3 == 0 ? "wifi" : i % 3 == 1 ? "dvb:3/4" : "lte"));
        sent = sent_of(&desc);
        for (size_t j = 0; j < blocks * sent; j++)
            soft[j] = (int8_t)(test_random(&state) >> 20);
        decode(out, &desc, "cpu", soft, blocks);
        CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "cpu"));
        for (size_t first = 0, some = 1; plan && first < blocks; first += some, some = some % 3 + 1) {
            some = blocks - first < some ? blocks - first : some;
            CHECK_OK(penstock_plan_run(plan, soft + first * sent, other + first * out_bytes(&desc), some));
        }
        CHECK(!memcmp(out, other, blocks * out_bytes(&desc)), "case %d: chunks of a batch differ", i);
        penstock_plan_free(plan);
        for (size_t j = 0; j < blocks * sent; j++) {
            soft[j] = soft[j] == -128 ? -127 : soft[j];
            floats[j] = soft[j] ? 0.25F * (float)soft[j] : NAN;
        }
        decode(out, &desc, "cpu", soft, blocks);
        desc.soft = PENSTOCK_SOFT_F32;
        desc.scale = 4;
        decode(other, &desc, "cpu", floats, blocks);
        CHECK(!memcmp(out, other, blocks * out_bytes(&desc)), "case %d: floats differ", i);
    }
}

/* Floats with a scale of their own: the same bits of all magnitudes that have no rounding of their own, and the bits
 * that sums in double precision give. */
static void test_magnitudes(void)
{
    static const int exponents[] = {0, -120, -110, -100, -90, -40, 40, 100, 126};
    uint64_t state = 29;
    for (unsigned i = 0; i < 3; i++) {
        penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = 300, .soft = PENSTOCK_SOFT_F32);
        CHECK_OK(penstock_viterbi_code(&desc, i == 0 ? "wifi" : i == 1 ? "dvb:3/4" : "lte"));
        const size_t sent = BLOCKS * sent_of(&desc);
        static float scaled[4 * MOST];
        fill_bits(&desc, BLOCKS, &state);
        CHECK_OK(penstock_viterbi_encode(&desc, coded, bits, BLOCKS));
        receive(&desc, sent, i == 2, &state);
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            for (size_t j = 0; j < sent; j++)
                scaled[j] = ldexpf(floats[j], exponents[e]);
            decode(e ? other : out, &desc, "cpu", scaled, BLOCKS);
            CHECK(!e || !memcmp(out, other, BLOCKS * out_bytes(&desc)), "code %u, 2^%d: other bits", i, exponents[e]);
            if (!reference)
                continue;
            decode(other, &desc, "reference", scaled, BLOCKS);
            CHECK(!memcmp(out, other, BLOCKS * out_bytes(&desc)), "code %u, 2^%d: not those of the reference", i,
                  exponents[e]);
        }
    }
}

static void refused(const penstock_viterbi_desc *desc, const char *word)
{
    penstock_plan *plan = (penstock_plan *)&plan;
    int status = penstock_viterbi_plan(&plan, context, desc, "cpu");
    const char *text = penstock_error_text();
    CHECK(status == PENSTOCK_ERR_ARGUMENT && !plan && strstr(text, word) && !strchr(text, '\n'),
          "status %d, '%s', not '%s'", status, text, word);
}

static void test_refused(void)
{
    char wide[300];
    penstock_plan *plan;
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC(.bits = 10);
    memset(wide, '1', sizeof wide - 1);
    wide[sizeof wide - 1] = 0;
    refused(NULL, "penstock_viterbi_desc");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 0), "0 bits");
    refused(&PENSTOCK_VITERBI_DESC(.bits = (1 << 20) + 1), "1048577 bits");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {01777, 01}), "constraint length 10");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {3, 2}), "constraint length 2");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {0133, 0171}, .constraint = 6), "7 bits");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {0133, 0, 0171}), "generator 2");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .inverted = 4), "inverted");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {5, 5 << 1}, .constraint = 4), "catastrophic");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .generators = {06, 05}), "catastrophic");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "11010101100110"), "catastrophic with this puncturing");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "1111110000000000"), "too few");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "1111111111111100000000000000"), "catastrophic");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = ""), "1 .. 256");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = wide), "1 .. 256");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "111"), "multiple of 2");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "1x"), "character 1");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "0000"), "too few");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .puncture = "100010"), "too few");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .end = (penstock_trellis_end)3), "end 3");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .soft = (penstock_soft)3), "soft 3");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .result = (penstock_bits)9), "result 9");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .scale = NAN), "scale");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .scale = -1), "scale");
    refused(&PENSTOCK_VITERBI_DESC(.bits = 8, .slots = 17), "slots");
    CHECK_EQ(penstock_viterbi_code(&desc, "wifi:7/8"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_viterbi_code(&desc, ""), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_viterbi_code(&desc, "wif"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_viterbi_plan(&plan, context, &desc, "null"), PENSTOCK_ERR_UNSUPPORTED);
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, "auto"));
    CHECK_EQ(
        penstock_viterbi_run(plan, &PENSTOCK_VITERBI_BATCH(.soft = soft, .soft_count = 30, .block_count = 1, .out = out,
                                                           .blocks = &(penstock_viterbi_block){.at = 15, .bits = 8})),
        PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_viterbi_run(plan,
                                  &PENSTOCK_VITERBI_BATCH(.soft = soft, .soft_count = 900, .block_count = 1, .out = out,
                                                          .blocks = &(penstock_viterbi_block){.bits = 11})),
             PENSTOCK_ERR_ARGUMENT);
    penstock_plan_free(plan);
}

/* Circles shorter than the puncturing pattern, some of which are sent alike, are no reason to call a device wrong. */
static void test_short_circles(void)
{
    for (size_t length = 1; length <= 40; length++) {
        penstock_plan *plan;
        CHECK_OK(
            penstock_viterbi_plan(&plan, context,
                                  &PENSTOCK_VITERBI_DESC(.bits = length, .generators = {0232, 020},
                                                         .puncture = "11001111", .end = PENSTOCK_TRELLIS_TAIL_BITING),
                                  "cpu"));
        penstock_plan_free(plan);
    }
}

/* Allocation k fails for every k. */
static void test_memory(void)
{
    const penstock_viterbi_block blocks[] = {{.bits = 90}, {.bits = 100}, {.bits = 3}};
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 1000; k++) {
        penstock_context *own = NULL;
        penstock_plan *plan = NULL;
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&own, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))) &&
            !(status =
                  penstock_viterbi_plan(&plan, own, &PENSTOCK_VITERBI_DESC(.bits = 100, .puncture = "1110"), "cpu")) &&
            !(status = penstock_plan_run(plan, soft, out, 3)))
            status =
                penstock_viterbi_run(plan, &PENSTOCK_VITERBI_BATCH(.soft = soft, .soft_count = 900, .blocks = blocks,
                                                                   .block_count = 3, .out = other));
        penstock__memory_fail_at(-1);
        if (plan)
            CHECK_OK(penstock_plan_run(plan, soft, out, 3));
        penstock_plan_free(plan);
        penstock_context_free(own);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 10, "%ld allocations were failed, the last run gave %d", k, status);
}

int main(void)
{
    size_t index;
    CHECK_OK(penstock_context_new(&context, NULL));
    reference = !penstock_device_find(context, "reference", &index);
    test_encoder();
    test_round_trips();
    test_unequal();
    test_ways();
    test_magnitudes();
    test_refused();
    test_short_circles();
    test_memory();
    penstock_context_free(context);
    return test_finish();
}
