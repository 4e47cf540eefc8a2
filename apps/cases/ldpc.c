/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* ldpc: blocks of a low-density parity-check code. Coded bits of random strength with an error here and there, which
 * every code can correct, must give the bits that were coded. */
#include "bench/bench_run.h"
#include "cases.h"
#include "coded_blocks.h"
#include "shared/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 97, LEAST = 12, SPREAD = 16, WRONG = 8, CHECKED = 67, BENCHED = 64, MOST_ITERATIONS = 1000 };

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

static int prepare(struct coded_blocks *run, const struct ldpc_case *ldpc, size_t blocks,
                   const struct case_target *target)
{
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
    int status;
    *run = (struct coded_blocks){.blocks = blocks, .soft_format = ldpc->soft};
    if ((status = penstock_ldpc_code(&desc, ldpc->code)))
        return status;
    desc.soft = ldpc->soft;
    desc.stop_early = ldpc->stop_early;
    desc.iterations = (unsigned)ldpc->iterations;
    desc.batch = blocks;
    if ((status = penstock_ldpc_sizes(&run->bits, &run->sent, &desc)) || (status = coded_blocks_new(run)) ||
        (status = penstock_ldpc_encode(&desc, run->coded, run->data, blocks)))
        return status;
    for (size_t i = 0; i < blocks * run->sent; i++) {
        bool wrong = i % run->sent % APART == APART / 2;
        coded_blocks_put(run, i, wrong, wrong ? WRONG : LEAST + (int)(random_bits(&run->seed) % SPREAD));
    }
    return penstock_ldpc_plan(&run->plan, target->context, &desc, target->device);
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    struct coded_blocks run;
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
    coded_blocks_free(&run);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct ldpc_case *ldpc = &test->ldpc;
    size_t blocks = ldpc->blocks, bits = 0;
    penstock_ldpc_desc desc = PENSTOCK_LDPC_DESC();
    struct coded_blocks run = {0};
    int status = penstock_ldpc_code(&desc, ldpc->code), code;
    if (!status && !(status = penstock_ldpc_sizes(&bits, NULL, &desc)) && !blocks)
        blocks = (4 * case_bench_samples(target) / bits / BENCHED + 1) * BENCHED;
    if (!status)
        status = prepare(&run, ldpc, blocks, target);
    code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code)
        code = coded_blocks_bench(&run, target, row);
    coded_blocks_free(&run);
    return code;
}

const struct case_kind case_ldpc = {
    .name = "ldpc",
    .syntax = "ldpc:wifi:WORD:RATE|nr:bg1|bg2:LIFTING[:ROWS]|ccsds:BITS:RATE"
              "[:f32|hard][:iITERATIONS][:early][:xBLOCKS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
