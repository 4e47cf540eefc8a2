/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * LDPC plans and encoders: words of all codes fulfil their checks and are those of another encoder; they are decoded in
 * every format, with the same bits by every variant and device and however many are decoded together; what descriptions
 * are refused; failing allocations.
 */
#include "core/base/memory.h"
#include "fec/ldpc_lanes.h"
#include "ldpc_blocks.h"
#include "ops/coding/ldpc.h"
#include "test.h"

#include <penstock/penstock.h>

#include <math.h>

enum { MOST = 30000, BLOCKS = 131 };

static penstock_context *context;
static uint8_t bits[MOST], coded[MOST];

static const char *const wifi[] = {"wifi:648:1/2",  "wifi:648:2/3",  "wifi:648:3/4",  "wifi:648:5/6",
                                   "wifi:1296:1/2", "wifi:1296:2/3", "wifi:1296:3/4", "wifi:1296:5/6",
                                   "wifi:1944:1/2", "wifi:1944:2/3", "wifi:1944:3/4", "wifi:1944:5/6"};
static const char *const others[] = {"nr:bg1:384",      "nr:bg1:208:7",   "nr:bg1:2:4",     "nr:bg2:384:42",
                                     "nr:bg2:15:20",    "nr:bg2:3",       "ccsds:1024:1/2", "ccsds:1024:2/3",
                                     "ccsds:1024:4/5",  "ccsds:4096:1/2", "ccsds:4096:2/3", "ccsds:4096:4/5",
                                     "ccsds:16384:4/5", "wifi",           "nr:bg1",         "ccsds"};
enum { WIFI = sizeof wifi / sizeof *wifi, OTHERS = sizeof others / sizeof *others };

static const char *name_of(size_t i)
{
    return i < WIFI ? wifi[i] : others[i - WIFI];
}

/* ---------------------------------------------------------------- encoders -------------------- */

/* Whole words, nothing punctured, of random bits: every check of the graph holds. */
static void test_words(void)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < WIFI + OTHERS; i++) {
        penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.result = PENSTOCK_BITS_UNPACKED);
        struct penstock_problem problem;
        const struct penstock_ldpc_problem *ldpc = &problem.ldpc;
        size_t wrong = 0;
        CHECK_OK(penstock_ldpc_code(&desc, name_of(i)));
        desc.punctured = desc.punctured_end = 0;
        CHECK_OK(penstock__ldpc_problem(&problem, NULL, &desc));
        for (size_t j = 0; j < penstock__ldpc_bits(ldpc); j++)
            bits[j] = test_random(&seed) >> 40 & 1;
        CHECK_OK(penstock_ldpc_encode(&desc, coded, bits, 1));
        for (size_t j = 0; j < penstock__ldpc_data(ldpc); j++)
            wrong += coded[j] != bits[j];
        CHECK(!wrong, "%s: %zu data bits are not sent as they are", name_of(i), wrong);
        for (unsigned row = 0; row < ldpc->rows; row++)
            for (unsigned check = 0; check < ldpc->lifting; check++) {
                unsigned sum = 0;
                for (unsigned e = ldpc->first[row]; e < ldpc->first[row + 1]; e++)
                    sum ^=
                        coded[ldpc->edges[e].column * ldpc->lifting + (check + ldpc->edges[e].shift) % ldpc->lifting];
                wrong += sum;
            }
        CHECK(!wrong, "%s: %zu checks do not hold", name_of(i), wrong);
    }
}

/*
 * Hashes (FNV-1a) of what Sionna's NR encoder, as it is in PyPI's py3gpp 0.6.0 (nrLDPCEncode), makes of bits of a
 * linear congruential generator with seed 1000 base graph + lifting: all sets of liftings of both base graphs.
 */
static const struct {
    unsigned base_graph, lifting, sent;
    uint64_t hash;
} encoded[] = {
    {1, 16, 1056, 0x2c9a98132ce96546u},   {1, 24, 1584, 0xab59aa77a105c98eu},   {1, 40, 2640, 0x7f6588a7e3782e1fu},
    {1, 56, 3696, 0x8a45a7a8250e254fu},   {1, 72, 4752, 0x0729e2c5002c7acfu},   {1, 88, 5808, 0xe2ca391d53c9d2b8u},
    {1, 104, 6864, 0x66b00b166e76c1fbu},  {1, 120, 7920, 0x647aaf6a761b26d0u},  {1, 256, 16896, 0x9125aff7621d7776u},
    {1, 384, 25344, 0xf6da77ad6a9fc0a3u}, {1, 320, 21120, 0x720f75a0d3637c20u}, {1, 224, 14784, 0xcf6675f77bb6080bu},
    {1, 288, 19008, 0x43e48091f15cc279u}, {1, 352, 23232, 0xb6130602d256c4d9u}, {1, 208, 13728, 0x16f7dfd2e5e8c154u},
    {1, 240, 15840, 0xcc38cbb75ae26e67u}, {2, 128, 6400, 0xcf8184ffc88c903cu},  {2, 96, 4800, 0xbd39a60bba7188f2u},
    {2, 80, 4000, 0x755918f1f43b36f8u},   {2, 112, 5600, 0x8e8e0f9ea0b0f86au},  {2, 72, 3600, 0x0c126603fbbeab31u},
    {2, 88, 4400, 0x89a287c82b2f7858u},   {2, 104, 5200, 0x30a9c621b87f1361u},  {2, 120, 6000, 0x23db5ef9fbf6bf3bu},
    {2, 256, 12800, 0xb4b515d66640391au}, {2, 384, 19200, 0x3a507ffda7d62033u}, {2, 320, 16000, 0xfd48b102b9c7b644u},
    {2, 224, 11200, 0x263b6b5451f94905u}, {2, 288, 14400, 0xc0a366ce61ed2146u}, {2, 352, 17600, 0x6ce2c89be1d41d35u},
    {2, 208, 10400, 0x2b28dc5444407821u}, {2, 240, 12000, 0xe77d9fcf3c648ab7u},
};

static void test_nr_words(void)
{
    for (size_t i = 0; i < sizeof encoded / sizeof *encoded; i++) {
        char name[32];
        penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.result = PENSTOCK_BITS_UNPACKED);
        uint64_t state = encoded[i].base_graph * 1000 + encoded[i].lifting, hash = 0xcbf29ce484222325u;
        size_t data = 0, sent = 0;
        snprintf(name, sizeof name, "nr:bg%u:%u", encoded[i].base_graph, encoded[i].lifting);
        CHECK_OK(penstock_ldpc_code(&desc, name));
        CHECK_OK(penstock_ldpc_sizes(&data, &sent, &desc));
        CHECK_EQ(sent, encoded[i].sent);
        for (size_t j = 0; j < data; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bits[j] = state >> 63;
        }
        CHECK_OK(penstock_ldpc_encode(&desc, coded, bits, 1));
        for (size_t j = 0; j < sent; j++)
            hash = (hash ^ coded[j]) * 0x100000001b3u;
        CHECK(hash == encoded[i].hash, "%s: the word is not that of the other encoder", name);
    }
}

/*
 * Hashes (FNV-1a, of shifts plus 1, row by row) of the twelve matrices in the order of `wifi`, as PyPI's sim-ldpc 0.3.5
 * has them (ldpc/code_specs/ieee802.11). Those of 648 at 3/4, 1296 at 2/3 and 1944 at 2/3 have cycles of length 4 (2, 2
 * and 1), and were also compared, shift by shift, with a second public simulator.
 */
static const uint64_t wifi_graphs[] = {
    0xe74aeff0045cdb97u, 0x80277f737fc543b2u, 0xcaeda89c009834f0u, 0xfea692d0a1fc5f16u,
    0xfe38540a862c46abu, 0x2706733e9a35fe6au, 0xa3913abd83499263u, 0x32ed7e97ba86418eu,
    0xd7ae9029f33fe032u, 0x33fc213c510ae161u, 0x6dca565d51c0d0c9u, 0xb7227d256056978fu,
};

static void test_wifi_graphs(void)
{
    for (size_t i = 0; i < WIFI; i++) {
        penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
        uint64_t hash = 0xcbf29ce484222325u;
        CHECK_OK(penstock_ldpc_code(&desc, wifi[i]));
        CHECK_EQ(desc.columns, 24u);
        for (unsigned j = 0; j < desc.rows * desc.columns; j++)
            hash = (hash ^ (uint8_t)(desc.base[j] + 1)) * 0x100000001b3u;
        CHECK(hash == wifi_graphs[i], "%s: the base matrix is not that of the other source", wifi[i]);
    }
}

/* ---------------------------------------------------------------- decoders -------------------- */

/* Little noise, in every format: what was sent comes back. */
static void test_formats(void)
{
    uint64_t seed = 2;
    for (size_t i = 0; i < WIFI + OTHERS - 3; i++)
        for (unsigned format = 0; format < 3; format++) {
            struct blocks blocks;
            penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.soft = (penstock_soft)format, .stop_early = i % 2,
                                                         .result = (penstock_bits)((i + format) % 3), .iterations = 20,
                                                         .soft_result = i % 5 == 4, .report = i % 3 == 0);
            CHECK_OK(penstock_ldpc_code(&desc, name_of(i)));
            desc.filler = i % 4 == 3 ? desc.lifting / 2 : 0;
            blocks_new(&blocks, desc, 3, 0.3, &seed);
            blocks_decode(&blocks, blocks.out, context, "cpu");
            size_t wrong = blocks_wrong(&blocks);
            CHECK(!wrong || format == PENSTOCK_SOFT_HARD, "%s, format %u: %zu blocks are wrong", name_of(i), format,
                  wrong);
            blocks_free(&blocks);
        }
}

/* Much noise: blocks give the same bytes alone as beside others, and on other devices. */
static void test_same_bits(void)
{
    static const char *const names[] = {"wifi:648:1/2", "wifi:1944:5/6", "nr:bg2:20:9", "ccsds:1024:1/2",
                                        "nr:bg1:40:6"};
    uint64_t seed = 3;
    size_t index;
    bool opencl = !penstock_device_find(context, "opencl:0", &index);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned early = 0; early < 2; early++) {
            struct blocks blocks;
            penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.stop_early = early, .soft_result = i % 2, .report = true);
            penstock_plan *plan = NULL;
            size_t differ = 0;
            CHECK_OK(penstock_ldpc_code(&desc, names[i]));
            blocks_new(&blocks, desc, BLOCKS, 0.8, &seed);
            blocks_decode(&blocks, blocks.out, context, "cpu");
            CHECK_OK(penstock_ldpc_plan(&plan, context, &desc, "cpu"));
            for (size_t b = 0; b < BLOCKS; b++)
                CHECK_OK(penstock_plan_run(plan, (const char *)blocks.soft + b * blocks.sent,
                                           blocks.other + b * blocks.pitch, 1));
            penstock_plan_free(plan);
            for (size_t b = 0; b < BLOCKS; b++)
                differ += memcmp(blocks.out + b * blocks.pitch, blocks.other + b * blocks.pitch, blocks.pitch) != 0;
            CHECK(!differ, "%s: %zu blocks are others alone", names[i], differ);
            if (opencl && !early && test_drawn(i, 5)) { /* tests/gpu/test_gpu_ldpc.c has all forms */
                blocks_decode(&blocks, blocks.other, context, "opencl:0");
                CHECK(!memcmp(blocks.out, blocks.other, BLOCKS * blocks.pitch), "%s: OpenCL gives other bytes",
                      names[i]);
            }
            blocks_free(&blocks);
        }
}

/* Floats with a scale of their own: the same bits of all magnitudes, and what was sent, as the reference has it. */
static void test_magnitudes(void)
{
    static const int exponents[] = {0, -115, -100, -60, 60, 100, 120};
    uint64_t seed = 31;
    size_t index;
    const bool reference = !penstock_device_find(context, "reference", &index);
    struct blocks blocks;
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.soft = PENSTOCK_SOFT_F32, .iterations = 20);
    CHECK_OK(penstock_ldpc_code(&desc, "wifi:648:1/2"));
    blocks_new(&blocks, desc, 11, 0.6, &seed);
    float *values = blocks.soft;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        for (size_t i = 0; i < blocks.count * blocks.sent; i++)
            values[i] = ldexpf(values[i], exponents[e] - (e ? exponents[e - 1] : 0));
        blocks_decode(&blocks, blocks.out, context, "cpu");
        CHECK(!blocks_wrong(&blocks), "2^%d: %zu blocks are wrong", exponents[e], blocks_wrong(&blocks));
        if (!reference)
            continue;
        blocks_decode(&blocks, blocks.out, context, "reference");
        CHECK(!blocks_wrong(&blocks), "2^%d: %zu blocks are wrong", exponents[e], blocks_wrong(&blocks));
    }
    blocks_free(&blocks);
}

/* Every variant that this processor has, side by side and alone, with any soft bits. */
static void test_variants(void)
{
    static int8_t words[64][1944];
    static uint8_t packed[64][125], first[64][125];
    struct penstock_problem problem;
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.stop_early = true);
    uint64_t seed = 4;
    CHECK_OK(penstock_ldpc_code(&desc, "wifi:1944:1/2"));
    CHECK_OK(penstock__ldpc_problem(&problem, NULL, &desc));
    for (size_t i = 0; i < sizeof words; i++) {
        int level = (int)(test_random(&seed) >> 20) % (PENSTOCK_LDPC_LEVEL + 1);
        words[i / 1944][i % 1944] = (int8_t)((test_random(&seed) >> 30) % (i / 1944 % 3 ? 20 : 2) ? level : -level);
    }
    for (size_t k = 0; k < penstock__ldpc_kernel_count; k++) {
        const struct penstock__ldpc_kernel *kernel = penstock__ldpc_kernels[k];
        void *memory = kernel->usable() ? penstock__alloc(kernel->workspace(&problem.ldpc)) : NULL;
        size_t differ = 0;
        for (unsigned at = 0; memory && at < 64; at += kernel->lanes) {
            struct penstock__ldpc_block blocks[64];
            for (unsigned lane = 0; lane < kernel->lanes; lane++)
                blocks[lane] = (struct penstock__ldpc_block){.word = words[at + lane], .packed = packed[at + lane]};
            kernel->decode(&problem.ldpc, blocks, kernel->lanes, memory);
            for (unsigned lane = 0; lane < kernel->lanes; lane++) {
                struct penstock__ldpc_block one = {.word = words[at + lane], .packed = first[at + lane]};
                kernel->decode_one(&problem.ldpc, &one, memory);
                differ += memcmp(packed[at + lane], first[at + lane], 122) != 0 ||
                          one.report.iterations != blocks[lane].report.iterations ||
                          one.report.parity != blocks[lane].report.parity;
            }
        }
        CHECK(!differ, "%s: %zu blocks are others alone", kernel->name, differ);
        penstock__free(memory);
    }
}

/* ---------------------------------------------------------------- errors ---------------------- */

static const int16_t sound[] = {0, 1, 2, -1, 3, -1, 1, 0}, few[] = {0, -1, -1, -1, 3, -1, 1, 0},
                     unused[] = {-1, 1, 2, 1, -1, 2, 1, 0}, negative[] = {0, 1, 2, -2, 3, -1, 1, 0},
                     singular[] = {0, 1, 2, 3, 1, 0, 2, 3};

static void test_refused(void)
{
#define SOUND .base = sound, .rows = 2, .columns = 4, .lifting = 7
    const penstock_ldpc_desc bad[] = {
        PENSTOCK_LDPC_DESC(),
        PENSTOCK_LDPC_DESC(.rows = 2, .columns = 4, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = sound, .rows = 0, .columns = 4, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = sound, .rows = 2, .columns = 2, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = sound, .rows = 2, .columns = 4, .lifting = 1),
        PENSTOCK_LDPC_DESC(.base = sound, .rows = 2, .columns = 4, .lifting = 4000),
        PENSTOCK_LDPC_DESC(.base = sound, .rows = 1000, .columns = 4000, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = few, .rows = 2, .columns = 4, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = unused, .rows = 2, .columns = 4, .lifting = 7),
        PENSTOCK_LDPC_DESC(.base = negative, .rows = 2, .columns = 4, .lifting = 7),
        PENSTOCK_LDPC_DESC(SOUND, .filler = 14),
        PENSTOCK_LDPC_DESC(SOUND, .punctured = 15),
        PENSTOCK_LDPC_DESC(SOUND, .punctured_end = 15),
        PENSTOCK_LDPC_DESC(SOUND, .punctured = 10, .punctured_end = 10),
        PENSTOCK_LDPC_DESC(SOUND, .filler = SIZE_MAX),
        PENSTOCK_LDPC_DESC(SOUND, .iterations = 1001),
        PENSTOCK_LDPC_DESC(SOUND, .soft = (penstock_soft)3),
        PENSTOCK_LDPC_DESC(SOUND, .result = (penstock_bits)3),
        PENSTOCK_LDPC_DESC(SOUND, .scale = NAN),
        PENSTOCK_LDPC_DESC(SOUND, .scale = -1),
        PENSTOCK_LDPC_DESC(SOUND, .slots = 17),
        PENSTOCK_LDPC_DESC(SOUND, .graph = (penstock_ldpc_graph)4),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_NR_BG1, .lifting = 17),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_NR_BG1, .lifting = 768),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_NR_BG2, .lifting = 16, .rows = 43),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_NR_BG2, .lifting = 16, .rows = 3),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_AR4JA, .lifting = 33, .columns = 20),
        PENSTOCK_LDPC_DESC(.graph = PENSTOCK_LDPC_AR4JA, .lifting = 32, .columns = 24),
    };
    static const char *const names[] = {"",
                                        "wifi:",
                                        "wifi:1000",
                                        "wifi:648:4/5",
                                        "wifi:648:1/2:3",
                                        "nr",
                                        "nr:bg3",
                                        "nr:bg1:17",
                                        "nr:bg1:384:47",
                                        "nr:bg1:384:3",
                                        "ccsds:1000",
                                        "ccsds:1024:3/4",
                                        "dvb",
                                        "nr:bg1:384:4:",
                                        "nr:bg1:384:46:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1"};
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(SOUND);
    penstock_plan *plan;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = penstock_ldpc_plan(&plan, context, &bad[i], "cpu");
        CHECK(status == PENSTOCK_ERR_ARGUMENT && !plan, "description %zu gave %d", i, status);
        CHECK(!strchr(penstock_error_text(), '\n') && *penstock_error_text(), "description %zu has no line", i);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(penstock_ldpc_code(&desc, names[i]) == PENSTOCK_ERR_ARGUMENT, "'%s' is a code", names[i]);
    CHECK_EQ(penstock_ldpc_code(NULL, "wifi"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_ldpc_plan(NULL, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_ldpc_plan(&plan, context, &desc, "cpu"));
    penstock_plan_free(plan);
    desc.base = singular; /* rows whose parity part is the same decode, but do not encode */
    CHECK_EQ(penstock_ldpc_encode(&desc, coded, bits, 1), PENSTOCK_ERR_UNSUPPORTED);
    CHECK_OK(penstock_ldpc_plan(&plan, context, &desc, "cpu"));
    penstock_plan_free(plan);
}

/* Allocation k fails for every k. */
static void test_memory(void)
{
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC(.soft_result = true);
    static int8_t soft[3 * 648];
    static uint8_t out[3 * 648];
    long live, k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    CHECK_OK(penstock_ldpc_code(&desc, "wifi:648:1/2"));
    live = penstock__memory_live();
    for (; status && k < 1000; k++) {
        penstock_context *own = NULL;
        penstock_plan *plan = NULL;
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&own, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))) &&
            !(status = penstock_ldpc_plan(&plan, own, &desc, "cpu")) &&
            !(status = penstock_plan_run(plan, soft, out, 3)))
            status = penstock_ldpc_encode(&desc, coded, bits, 1);
        penstock__memory_fail_at(-1);
        penstock_plan_free(plan);
        penstock_context_free(own);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 15, "%ld allocations were failed, the last run gave %d", k, status);
}

int main(void)
{
    CHECK_OK(penstock_context_new(&context, NULL));
    test_words();
    test_nr_words();
    test_wifi_graphs();
    test_formats();
    test_same_bits();
    test_magnitudes();
    test_variants();
    test_refused();
    test_memory();
    penstock_context_free(context);
    return test_finish();
}
