/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of low-density parity-check codes on a GPU: the bytes of the CPU, for codes of every rule of messages, all
 * formats and ends of a word, and liftings up to more than a work-group has work-items.
 */
#include "device.h"

#include <penstock/penstock.h>

/* Blocks: on a GPU of one unit with few registers more than there is memory for at once; an odd number. */
enum { MOST = 30000, BLOCKS = 37 };

/* Two rows of four columns: liftings that no standard has. */
static const int16_t own[] = {0, 1, 2, -1, 3, -1, 1, 0};

struct form {
    const char *code; /* NULL: `own` */
    penstock_ldpc_desc desc;
};

/* Of the first ones each second, the others with PENSTOCK_TEST_FULL=1: PoCL takes seconds to compile each. */
static const struct form forms[] = {
    {"wifi:648:1/2", {.stop_early = true, .report = true}},
    {"nr:bg1:384:4", {.iterations = 3, .soft_result = true, .report = true, .filler = 100}},
    {NULL, {.lifting = 500, .soft = PENSTOCK_SOFT_HARD, .result = PENSTOCK_BITS_UNPACKED, .stop_early = true}},
    {"nr:bg2:20:12", {.soft = PENSTOCK_SOFT_F32, .scale = 9, .result = PENSTOCK_BITS_MSB_FIRST, .punctured_end = 37}},
    {"nr:bg2:6:4", {.iterations = 2, .soft_result = true}},
    {"wifi:1944:5/6", {.iterations = 4, .soft = PENSTOCK_SOFT_F32, .scale = 31, .stop_early = true, .report = true}},
    {"ccsds:1024:1/2", {.iterations = 4, .result = PENSTOCK_BITS_UNPACKED}},
    {"nr:bg2:384:5", {.iterations = 3, .stop_early = true, .report = true}},
    {"nr:bg1:320:12", {.iterations = 2, .soft_result = true}},
    {NULL, {.lifting = 2047, .iterations = 5, .soft_result = true, .report = true}},
    {NULL, {.lifting = 257, .iterations = 5, .soft_result = true, .stop_early = true}},
};
enum { FORMS = sizeof forms / sizeof *forms, USUAL = 5 };

static penstock_context *context;
static int8_t bytes[BLOCKS * MOST];
static float floats[BLOCKS * MOST];
static uint8_t hard[BLOCKS * MOST], got[BLOCKS * MOST + 1], want[BLOCKS * MOST + 1];

static int describe(penstock_ldpc_desc *desc, const struct form *form)
{
    int status = PENSTOCK_OK;
    *desc = form->desc;
    desc->size = sizeof *desc;
    if (form->code)
        status = penstock_ldpc_code(desc, form->code);
    else {
        desc->base = own;
        desc->rows = 2;
        desc->columns = 4;
    }
    desc->filler = form->desc.filler;
    desc->punctured_end += form->desc.punctured_end;
    return status;
}

/* Mostly ones of a word of zeros, noise alone, all the same, and both extremes. */
static const void *fill(penstock_soft soft, size_t count, unsigned kind, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        int value = (int)(test_random(state) >> 20 & 255) - 128;
        if (kind == 0)
            value = abs(value) / 3 - 8;
        else if (kind == 2)
            value = -128;
        else if (kind == 3)
            value = value < 0 ? -128 : 127;
        bytes[i] = (int8_t)value;
        hard[i] = value < 0;
        floats[i] = kind == 3 && value < 0 ? (i % 3 ? -INFINITY : NAN) : 0.037F * (float)value;
    }
    return soft == PENSTOCK_SOFT_S8 ? (const void *)bytes : soft == PENSTOCK_SOFT_F32 ? (const void *)floats : hard;
}

static void check(size_t form, const char *device)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan = NULL, *cpu = NULL;
    penstock_ldpc_desc desc;
    uint64_t state = form + 1;
    size_t sent = 0;
    CHECK_OK(describe(&desc, &forms[form]));
    CHECK_OK(penstock_ldpc_sizes(NULL, &sent, &desc));
    CHECK_OK(penstock_ldpc_plan(&cpu, context, &desc, "cpu"));
    CHECK_OK(penstock_ldpc_plan(&plan, context, &desc, device));
    if (plan && cpu)
        CHECK_OK(penstock_plan_get_info(plan, &info));
    for (unsigned kind = 0; plan && cpu && kind < 4; kind++) {
        const void *in = fill(desc.soft, BLOCKS * sent, kind, &state);
        memset(got, 0xaa, sizeof got);
        memset(want, 0xaa, sizeof want);
        CHECK_OK(penstock_plan_run(cpu, in, want, BLOCKS));
        CHECK_OK(penstock_plan_run(plan, in, got, BLOCKS));
        CHECK(!memcmp(got, want, BLOCKS * info.out_bytes + 1), "form %zu, kind %u (%s): not the CPU's bytes", form,
              kind, info.variant);
    }
    if (plan)
        printf("form %zu: %s\n", form, info.variant);
    penstock_plan_free(plan);
    penstock_plan_free(cpu);
}

int main(int count, char **arguments)
{
    const char *device = count > 1 ? arguments[1] : "opencl";
    int exits = test_device(&context, device);
    if (exits || !context)
        return exits;
    const bool slow = !strncmp(device, "opencl", 6);
    const char *limits = getenv("PENSTOCK_SHIM_GPU"); /* "bytes:items:wave": other forms are drawn for each */
    const size_t first = limits ? strtoul(strrchr(limits, ':') + 1, NULL, 10) : 0;
    for (size_t i = 0; i < (getenv("PENSTOCK_TEST_FULL") || !slow ? FORMS : USUAL); i++)
        if (test_drawn(first + i, slow ? 3 : 1))
            check(i, device);
    penstock_context_free(context);
    return test_finish();
}
