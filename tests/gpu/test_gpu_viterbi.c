/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of convolutional codes on a GPU: the bits of the CPU, for codes of every constraint length, puncturings, ends,
 * formats, lengths and windows, from soft bits of every quality, and with failing allocations.
 */
#include "core/base/memory.h"
#include "device.h"

#include <penstock/penstock.h>

#include <math.h>

enum { MOST = 60000, BLOCKS = 21 };

struct form {
    const char *code; /* NULL: the generators below */
    size_t bits;
    penstock_soft soft;
    penstock_bits result;
    unsigned generators[4];
    penstock_trellis_end end;
    const char *puncture, *config; /* PENSTOCK_VITERBI_SHAPE */
};

/* Of the first ones each second, the others with PENSTOCK_TEST_FULL=1: PoCL takes seconds to compile each. Of two
 * neighbours both have the path's metrics in registers, or neither has. */
static const struct form forms[] = {
    {.code = "wifi", .bits = 251, .config = "windows=2"},
    {.code = "dvb:7/8", .bits = 700, .result = PENSTOCK_BITS_UNPACKED},
    {.code = "lte", .bits = 40, .soft = PENSTOCK_SOFT_F32, .result = PENSTOCK_BITS_MSB_FIRST},
    {.code = "dab", .bits = 97, .soft = PENSTOCK_SOFT_HARD},
    {.bits = 100, .generators = {07, 05}},
    {.bits = 200, .generators = {0561, 0753}, .end = PENSTOCK_TRELLIS_OPEN, .puncture = "1110"},
    {.code = "wifi", .bits = 2500, .config = "windows=7,warm=24,lag=3"},
    {.code = "ccsds", .bits = 1111, .result = PENSTOCK_BITS_MSB_FIRST},
    {.code = "ccsds:3/4", .bits = 900, .soft = PENSTOCK_SOFT_F32},
    {.code = "dvb:5/6", .bits = 1300, .soft = PENSTOCK_SOFT_HARD, .config = "windows=3"},
    {.code = "lte", .bits = 1, .end = PENSTOCK_TRELLIS_TAIL_BITING},
    {.code = "wifi:2/3", .bits = 1, .result = PENSTOCK_BITS_UNPACKED},
    {.code = "dab", .bits = 1800, .config = "windows=5"},
    {.bits = 77, .generators = {013, 015, 017}, .end = PENSTOCK_TRELLIS_TAIL_BITING},
    {.bits = 333, .generators = {023, 035}, .result = PENSTOCK_BITS_UNPACKED},
    {.bits = 60, .generators = {051, 067, 075, 077}},
    {.bits = 60, .generators = {0165, 0127}, .end = PENSTOCK_TRELLIS_OPEN},
    {.bits = 260, .generators = {0133, 0171, 0165}, .puncture = "111011", .soft = PENSTOCK_SOFT_F32},
    {.bits = 128, .generators = {0247, 0371}, .soft = PENSTOCK_SOFT_F32},
    {.bits = 501, .generators = {0557, 0663, 0711}, .end = PENSTOCK_TRELLIS_TAIL_BITING},
    {.bits = 300, .generators = {0177, 0171, 0165, 0133}, .end = PENSTOCK_TRELLIS_OPEN},
};
enum { FORMS = sizeof forms / sizeof *forms, USUAL = 6 };

static penstock_context *context;
static const char *device;
static int8_t bytes[8 * MOST];
static float floats[8 * MOST];
static uint8_t hard[8 * MOST], got[BLOCKS * MOST / 8], want[BLOCKS * MOST / 8];

static int describe(penstock_viterbi_desc *desc, const struct form *form)
{
    *desc = PENSTOCK_VITERBI_DESC(.bits = form->bits, .soft = form->soft, .result = form->result, .end = form->end,
                                  .puncture = form->puncture);
    memcpy(desc->generators, form->generators, sizeof desc->generators);
    return form->code ? penstock_viterbi_code(desc, form->code) : PENSTOCK_OK;
}

static const char *const kinds[] = {"noise", "one value", "extremes", "hardly anything", "tiny", "huge"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Soft bits that no code has, all the same, of both extremes, and none at all; and floats of any magnitude. */
static const void *fill(penstock_soft soft, size_t count, unsigned kind, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        int value = (int)(test_random(state) >> 20 & 255) - 128;
        if (kind == 1)
            value = -128;
        else if (kind == 2)
            value = value < 0 ? -128 : 127;
        else if (kind == 3)
            value = i % 7 ? 0 : value / 32;
        bytes[i] = (int8_t)value;
        hard[i] = value < 0;
        floats[i] = kind == 2 && value < 0 ? (i % 3 ? -INFINITY : NAN) : 0.37F * (float)value;
        floats[i] = ldexpf(floats[i], kind == 4 ? -120 : kind == 5 ? 120 : 0);
    }
    return soft == PENSTOCK_SOFT_S8 ? (const void *)bytes : soft == PENSTOCK_SOFT_F32 ? (const void *)floats : hard;
}

static size_t out_bytes(const penstock_viterbi_desc *desc)
{
    return desc->result == PENSTOCK_BITS_UNPACKED ? desc->bits : (desc->bits + 7) / 8;
}

static void compare(const penstock_viterbi_desc *desc, size_t form, const char *what)
{
    CHECK(!memcmp(got, want, BLOCKS * out_bytes(desc) + 1), "form %zu, %s: not the CPU's bits", form, what);
}

/* Blocks of the form, then such of all lengths up to it. */
static void check_blocks(penstock_plan *plan, penstock_plan *cpu, const penstock_viterbi_desc *desc, size_t form)
{
    static penstock_viterbi_block blocks[BLOCKS];
    uint64_t state = form + 1;
    size_t sent = 0;
    CHECK_OK(penstock_viterbi_sent(&sent, desc));
    for (unsigned kind = 0; kind < (desc->soft == PENSTOCK_SOFT_F32 ? KINDS : 4); kind++) {
        const void *in = fill(desc->soft, BLOCKS * sent, kind, &state);
        memset(got, 0xaa, sizeof got);
        memset(want, 0xaa, sizeof want);
        CHECK_OK(penstock_plan_run(cpu, in, want, BLOCKS));
        CHECK_OK(penstock_plan_run(plan, in, got, BLOCKS));
        compare(desc, form, kinds[kind]);
    }
    const void *in = fill(desc->soft, 2 * sent, 0, &state);
    for (size_t i = 0; i < BLOCKS; i++)
        blocks[i] = (penstock_viterbi_block){.at = test_random(&state) % (sent + 1),
                                             .bits = (uint32_t)(i ? 1 + test_random(&state) % desc->bits : desc->bits)};
    const penstock_viterbi_batch batch = PENSTOCK_VITERBI_BATCH(.soft = in, .soft_count = 2 * sent, .blocks = blocks,
                                                                .block_count = BLOCKS, .out = want);
    penstock_viterbi_batch other = batch;
    other.out = got;
    memset(got, 0, sizeof got);
    memset(want, 0, sizeof want);
    CHECK_OK(penstock_viterbi_run(cpu, &batch));
    CHECK_OK(penstock_viterbi_run(plan, &other));
    for (size_t i = 0; i < BLOCKS; i++) { /* what is behind a shorter block's bits is undefined */
        size_t own = desc->result == PENSTOCK_BITS_UNPACKED ? blocks[i].bits : (blocks[i].bits + 7) / 8;
        CHECK(!memcmp(got + i * out_bytes(desc), want + i * out_bytes(desc), own), "form %zu: block %zu of %u bits",
              form, i, (unsigned)blocks[i].bits);
    }
}

static void check(size_t form)
{
    penstock_viterbi_desc desc;
    penstock_plan *plan = NULL, *cpu = NULL;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(describe(&desc, &forms[form]));
    if (forms[form].config)
        setenv("PENSTOCK_VITERBI_SHAPE", forms[form].config, 1);
    else
        unsetenv("PENSTOCK_VITERBI_SHAPE");
    CHECK_OK(penstock_viterbi_plan(&cpu, context, &desc, "cpu"));
    CHECK_OK(penstock_viterbi_plan(&plan, context, &desc, device));
    if (plan && cpu) {
        CHECK_OK(penstock_plan_get_info(plan, &info));
        check_blocks(plan, cpu, &desc, form);
        CHECK(!!strstr(info.variant, "registers") ==
                  (form < 4 || forms[form].code || form == 16 || form == 17 || form == 20),
              "form %zu: %s", form, info.variant);
    }
    penstock_plan_free(plan);
    penstock_plan_free(cpu);
}

/* Allocation k of the host fails, for every k of a run; the next one is whole. */
static void test_memory(void)
{
    const penstock_viterbi_block block = {.bits = 90};
    penstock_viterbi_desc desc;
    penstock_plan *plan = NULL;
    long k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    unsetenv("PENSTOCK_VITERBI_SHAPE");
    CHECK_OK(describe(&desc, &forms[4]));
    for (; status && k < 4000; k++) {
        penstock__memory_fail_at(k);
        if (!(status = penstock_viterbi_plan(&plan, context, &desc, device)))
            status =
                penstock_viterbi_run(plan, &PENSTOCK_VITERBI_BATCH(.soft = bytes, .soft_count = 900, .blocks = &block,
                                                                   .block_count = 1, .out = got));
        penstock__memory_fail_at(-1);
        if (plan)
            CHECK_OK(penstock_plan_run(plan, bytes, got, 3));
        penstock_plan_free(plan);
        plan = NULL;
    }
    CHECK(!status && k > 8, "%ld allocations were failed, the last run gave %d", k, status);
}

int main(int count, char **arguments)
{
    device = count > 1 ? arguments[1] : "opencl";
    int exits = test_device(&context, device);
    if (exits || !context)
        return exits;
    const bool slow = !strncmp(device, "opencl", 6);
    for (size_t i = 0; i < (getenv("PENSTOCK_TEST_FULL") || !slow ? FORMS : USUAL); i++)
        if (test_drawn(i, slow ? 3 : 1))
            check(i);
    test_memory();
    penstock_context_free(context);
    return test_finish();
}
