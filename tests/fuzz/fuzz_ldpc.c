/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Descriptions of low-density parity-check codes, tables that a caller brings first of all, and what is decoded by
 * them. Bytes: a name; graph, rows, columns, lifting, punctured, punctured_end and filler (two each), iterations,
 * soft, result, flags, and the number of shifts, these (two each), and soft bits, over and over again. A code that is
 * taken must give the same alone as beside others, and its own words must come back; one that is not must be an error
 * of one line from every function.
 */
#include <penstock/penstock.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAME = 24, HEAD = NAME + 19, MOST_SHIFTS = 4096, MOST_WORD = 4096, BLOCKS = 3 };

static penstock_context *context;

static void require(bool good)
{
    if (!good)
        abort();
}

static unsigned two(const uint8_t *data)
{
    return data[0] | (unsigned)data[1] << 8;
}

static void refused(const penstock_ldpc_desc *desc)
{
    penstock_plan *plan = NULL;
    uint8_t coded[1], bits[1] = {0};
    require(penstock_ldpc_plan(&plan, context, desc, "cpu") == PENSTOCK_ERR_ARGUMENT && !plan);
    require(*penstock_error_text() && !strchr(penstock_error_text(), '\n'));
    require(penstock_ldpc_encode(desc, coded, bits, 1) == PENSTOCK_ERR_ARGUMENT);
}

static void run(const penstock_ldpc_desc *desc, const void *soft, uint8_t *out, size_t blocks, size_t out_bytes)
{
    penstock_plan_info info = {.size = sizeof info};
    penstock_plan *plan;
    require(!penstock_ldpc_plan(&plan, context, desc, "cpu"));
    require(!penstock_plan_get_info(plan, &info) && info.out_bytes <= out_bytes);
    require(!penstock_plan_run(plan, soft, out, blocks));
    penstock_plan_free(plan);
}

/* Any soft bits: blocks that are the same have the same results, however many there are. */
static void decode(const penstock_ldpc_desc *desc, size_t sent, const uint8_t *data, size_t size)
{
    static float memory[MOST_WORD * BLOCKS];
    static uint8_t alone[MOST_WORD + 8], together[(MOST_WORD + 8) * BLOCKS];
    const size_t bytes = sent * (desc->soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1);
    uint8_t *soft = (uint8_t *)memory;
    penstock_plan_info info = {.size = sizeof info};
    penstock_plan *plan;
    for (size_t i = 0; i < bytes; i++)
        soft[i] = size ? data[i % size] : 0;
    for (size_t i = bytes; i < bytes * BLOCKS; i++)
        soft[i] = soft[i - bytes];
    run(desc, soft, alone, 1, sizeof alone);
    run(desc, soft, together, BLOCKS, sizeof alone);
    require(!penstock_ldpc_plan(&plan, context, desc, "cpu") && !penstock_plan_get_info(plan, &info));
    penstock_plan_free(plan);
    for (size_t i = 0; i < BLOCKS; i++)
        require(!memcmp(alone, together + i * info.out_bytes, info.out_bytes));
}

/* A word without noise: its checks hold, and its data bits come back where all of them are sent. */
static void bring_back(penstock_ldpc_desc desc, size_t bits, size_t sent, const uint8_t *data, size_t size)
{
    static uint8_t given[MOST_WORD], coded[MOST_WORD + 1], out[MOST_WORD + 8];
    penstock_ldpc_report report;
    int status;
    desc.soft = PENSTOCK_SOFT_HARD;
    desc.result = PENSTOCK_BITS_UNPACKED;
    desc.soft_result = false;
    desc.report = true;
    for (size_t i = 0; i < bits; i++)
        given[i] = size ? data[i % size] & 1 : 0;
    coded[sent] = 0xaa;
    status = penstock_ldpc_encode(&desc, coded, given, 1);
    require(coded[sent] == 0xaa);
    if (status == PENSTOCK_ERR_UNSUPPORTED) /* the data bits do not determine the others */
        return;
    require(!status);
    run(&desc, coded, out, 1, sizeof out);
    memcpy(&report, out + (bits + 3) / 4 * 4, sizeof report);
    if (desc.punctured || desc.punctured_end)
        return;
    require(report.parity == 1 && report.iterations >= 1 && !memcmp(out, given, bits));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int16_t base[MOST_SHIFTS];
    static const float scales[] = {0, 1, -1, 1e-30F, 1e30F, NAN, INFINITY, 12};
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
    char name[NAME + 1] = "";
    const uint8_t *head = data + NAME;
    size_t shifts, bits = 0, sent = 0;
    if (!context && penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .cache_dir = "")))
        return 0;
    if (size < HEAD)
        return 0;
    memcpy(name, data, NAME);
    shifts = (size_t)head[18] * 8 < (size - HEAD) / 2 ? (size_t)head[18] * 8 : (size - HEAD) / 2;
    for (size_t i = 0; i < MOST_SHIFTS; i++)
        base[i] = i < shifts ? (int16_t)two(data + HEAD + 2 * i) : -1;
    if (penstock_ldpc_code(&desc, name)) {
        desc = PENSTOCK_LDPC_DESC(.graph = (penstock_ldpc_graph)(head[0] % 5), .base = base, .rows = head[1],
                                  .columns = head[2], .lifting = two(head + 3));
        if ((size_t)desc.rows * desc.columns > MOST_SHIFTS)
            return 0;
        desc.punctured = two(head + 5);
    }
    desc.punctured_end = two(head + 7);
    desc.filler = two(head + 9);
    desc.iterations = head[11];
    desc.soft = (penstock_soft)(head[12] % 4);
    desc.result = (penstock_bits)(head[13] % 4);
    desc.stop_early = head[14] & 1;
    desc.soft_result = head[14] & 2;
    desc.report = head[14] & 4;
    desc.scale = scales[head[15] % 8];
    desc.slots = head[16] % 32;
    desc.batch = head[17];
    if (penstock_ldpc_sizes(&bits, &sent, &desc)) {
        refused(&desc);
        return 0;
    }
    require(bits > 0 && sent >= bits);
    if (sent > MOST_WORD || (size_t)desc.lifting * desc.columns > MOST_WORD)
        return 0;
    decode(&desc, sent, data + HEAD + 2 * shifts, size - HEAD - 2 * shifts);
    bring_back(desc, bits, sent, data + HEAD + 2 * shifts, size - HEAD - 2 * shifts);
    return 0;
}
