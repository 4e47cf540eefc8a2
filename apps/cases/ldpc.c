/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* ldpc: blocks of a low-density parity-check code. Coded bits of random
 * strength with an error here and there, which every code can correct, must
 * give the bits that were coded. */
#include "bench_on_device.h"
#include "bench_run.h"
#include "cases.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 97, CHECKED = 67, BENCHED = 64, MOST_ITERATIONS = 1000, CHUNK = 16 };

/* The longest name of a code at the start of the words; its words. */
static size_t read_code(struct ldpc_case *ldpc, char *const *words, size_t count)
{
    char name[sizeof ldpc->code] = "";
    size_t used = 0, found = 0;
    for (size_t i = 0; i < count && i < 4; i++) {
        penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
        int length = snprintf(name + used, sizeof name - used, "%s%s", i ? ":" : "", words[i]);
        if (length < 0 || (used += (size_t)length) >= sizeof name)
            break;
        if (penstock_ldpc_code(&desc, name))
            continue;
        strcpy(ldpc->code, name);
        found = i + 1;
    }
    return found;
}

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct ldpc_case *ldpc = &test->ldpc;
    size_t next = read_code(ldpc, words, count);
    *problem = count ? words[0] : "no code";
    if (!next)
        return false;
    for (; next < count; next++) {
        *problem = words[next];
        if (!strcmp(words[next], "early") && !ldpc->stop_early)
            ldpc->stop_early = true;
        else if (!strcmp(words[next], "f32") && ldpc->soft == PENSTOCK_SOFT_S8)
            ldpc->soft = PENSTOCK_SOFT_F32;
        else if (!strcmp(words[next], "hard") && ldpc->soft == PENSTOCK_SOFT_S8)
            ldpc->soft = PENSTOCK_SOFT_HARD;
        else if (!ldpc->iterations && parse_count(words[next], "i", &ldpc->iterations)) {
            if (ldpc->iterations > MOST_ITERATIONS)
                return false;
        } else if (ldpc->blocks || !parse_count(words[next], "x", &ldpc->blocks))
            return false;
    }
    return true;
}

struct ldpc_run {
    penstock_ldpc_desc desc;
    penstock_plan *plan;
    size_t blocks, bits, sent, out_bytes;
    uint8_t *data, *coded, *out;
    void *soft;
};

static void put_soft(const struct ldpc_run *run, size_t i, bool wrong, uint64_t *seed)
{
    bool one = run->coded[i] != wrong;
    int level = wrong ? 8 : 12 + (int)(random_bits(seed) % 16);
    if (run->desc.soft == PENSTOCK_SOFT_HARD)
        ((uint8_t *)run->soft)[i] = one;
    else if (run->desc.soft == PENSTOCK_SOFT_S8)
        ((int8_t *)run->soft)[i] = (int8_t)(one ? -level : level);
    else
        ((float *)run->soft)[i] = (float)(one ? -level : level);
}

static int prepare(struct ldpc_run *run, const struct ldpc_case *ldpc, size_t blocks, const struct case_target *target)
{
    uint64_t seed = 1;
    int status;
    *run = (struct ldpc_run){.desc = PENSTOCK_LDPC_DESC(), .blocks = blocks};
    if ((status = penstock_ldpc_code(&run->desc, ldpc->code)))
        return status;
    run->desc.soft = ldpc->soft;
    run->desc.stop_early = ldpc->stop_early;
    run->desc.iterations = (unsigned)ldpc->iterations;
    run->desc.batch = blocks;
    if ((status = penstock_ldpc_sizes(&run->bits, &run->sent, &run->desc)))
        return status;
    run->out_bytes = (run->bits + 7) / 8;
    run->data = calloc(blocks, run->out_bytes);
    run->out = calloc(blocks, run->out_bytes);
    run->coded = calloc(blocks, run->sent);
    run->soft = calloc(blocks * run->sent * sizeof(float) + CHUNK, 1);
    if (!run->data || !run->out || !run->coded || !run->soft)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < blocks * run->out_bytes; i++)
        run->data[i] = (uint8_t)random_bits(&seed);
    for (size_t i = 0; i < blocks && run->bits % 8; i++) /* spare bits */
        run->data[(i + 1) * run->out_bytes - 1] &= (uint8_t)((1u << run->bits % 8) - 1);
    if ((status = penstock_ldpc_encode(&run->desc, run->coded, run->data, blocks)))
        return status;
    for (size_t i = 0; i < blocks * run->sent; i++)
        put_soft(run, i, i % run->sent % APART == APART / 2, &seed);
    return penstock_ldpc_plan(&run->plan, target->context, &run->desc, target->device);
}

static void release(struct ldpc_run *run)
{
    penstock_plan_free(run->plan);
    free(run->data);
    free(run->coded);
    free(run->out);
    free(run->soft);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    struct ldpc_run run;
    int status = prepare(&run, &test->ldpc, test->ldpc.blocks ? test->ldpc.blocks : CHECKED, target);
    size_t wrong = 0;
    if (!status && !(status = penstock_plan_run(run.plan, run.soft, run.out, run.blocks)))
        for (size_t i = 0; i < run.blocks * run.out_bytes; i++)
            wrong += (size_t)__builtin_popcount(run.data[i] ^ run.out[i]);
    if (status == PENSTOCK_ERR_MEMORY)
        verdict_failed(verdict, "out of memory");
    else if (status)
        verdict_status(verdict, status);
    else if (wrong)
        verdict_failed(verdict, "%zu of %zu bits are wrong", wrong, run.blocks * run.bits);
    else
        verdict_held(verdict, "%zu blocks of %zu bits", run.blocks, run.bits);
    release(&run);
}

static int decode(void *state)
{
    struct ldpc_run *run = state;
    int status = penstock_plan_run(run->plan, run->soft, run->out, run->blocks);
    return status ? fail_status(status) : EXIT_DONE;
}

static int make_bench(penstock_bench **on_device, void *argument, const void *in, size_t in_bytes, size_t frames)
{
    return penstock_bench_new(on_device, ((const struct ldpc_run *)argument)->plan, in, in_bytes, frames);
}

/* The device repeats as many blocks as are a multiple of 16 bytes. */
static int measure_on_device(struct ldpc_run *run, const struct case_target *target, struct bench_row *row)
{
    const size_t block_bytes = run->sent * (run->desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1);
    size_t blocks = run->blocks > CHUNK ? run->blocks - run->blocks % CHUNK : run->blocks;
    bool done = false;
    struct device_bench bench = {.make = make_bench,
                                 .argument = run,
                                 .frames = run->blocks,
                                 .frame_samples = run->bits,
                                 .average = 1,
                                 .block = run->soft,
                                 .block_bytes = (blocks * block_bytes + CHUNK - 1) / CHUNK * CHUNK,
                                 .frame_bytes = block_bytes};
    return bench_on_device(row, target, &bench, &done);
}

/* A sample is a decoded bit. */
static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct ldpc_case *ldpc = &test->ldpc;
    size_t blocks = ldpc->blocks, bits = 0;
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
    struct ldpc_run run = {0};
    int status = penstock_ldpc_code(&desc, ldpc->code), code;
    if (!status && !(status = penstock_ldpc_sizes(&bits, NULL, &desc)) && !blocks)
        blocks = (4 * case_bench_samples(target) / bits / BENCHED + 1) * BENCHED;
    if (!status)
        status = prepare(&run, ldpc, blocks, target);
    code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->batch = run.blocks;
        row->samples_per_run = (double)run.blocks * (double)run.bits;
        row->bytes_per_sample =
            (double)run.sent / (double)run.bits * (run.desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1) + 0.125;
        code = bench_measure(row, &(struct workload){.run = decode, .state = &run}, NULL, 0.5);
        if (!code)
            code = measure_on_device(&run, target, row);
    }
    release(&run);
    return code;
}

const struct case_kind case_ldpc = {
    .name = "ldpc",
    .syntax = "ldpc:wifi:WORD:RATE|nr:bg1|bg2:LIFTING[:ROWS]|ccsds:BITS:RATE[:"
              "f32|hard][:iITERATIONS][:early][:xBLOCKS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
