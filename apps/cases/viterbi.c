/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* viterbi: blocks of a convolutional code. Coded bits of random strength with an error here and there, which every code
 * can correct, must give the bits that were coded. */
#include "bench/bench_run.h"
#include "cases.h"
#include "coded_blocks.h"
#include "shared/random.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BITS = 1024, MOST_BITS = 1 << 20, APART = 97, LEVEL = 40, MOST_DB = 40 };

static bool parse(struct test_case *test, char *const *words, size_t count, const char **problem)
{
    struct viterbi_case *viterbi = &test->viterbi;
    penstock_viterbi_desc desc = PENSTOCK_VITERBI_DESC();
    size_t next = 1;
    *problem = count ? words[0] : "no code";
    if (!count || strlen(words[0]) > 8)
        return false;
    strcpy(viterbi->code, words[0]);
    if (count > 1 && strchr(words[1], '/') && strlen(words[1]) < 8) {
        snprintf(viterbi->code + strlen(words[0]), sizeof viterbi->code - strlen(words[0]), ":%s", words[1]);
        *problem = words[1];
        next = 2;
    }
    if (penstock_viterbi_code(&desc, viterbi->code))
        return false;
    for (; next < count; next++) {
        *problem = words[next];
        if (isdigit((unsigned char)words[next][0]) && !viterbi->bits && !strchr(words[next], 'B')) {
            if (!parse_count(words[next], "", &viterbi->bits) || viterbi->bits > MOST_BITS)
                return false;
        } else if (strlen(words[next]) > 2 && !strcmp(words[next] + strlen(words[next]) - 2, "dB") && !viterbi->noisy) {
            char *end;
            viterbi->ebn0_db = strtod(words[next], &end);
            viterbi->noisy = !strcmp(end, "dB") && fabs(viterbi->ebn0_db) <= MOST_DB;
            if (!viterbi->noisy)
                return false;
        } else if (!strcmp(words[next], "f32") && viterbi->soft == PENSTOCK_SOFT_S8) {
            viterbi->soft = PENSTOCK_SOFT_F32;
        } else if (!strcmp(words[next], "hard") && viterbi->soft == PENSTOCK_SOFT_S8) {
            viterbi->soft = PENSTOCK_SOFT_HARD;
        } else if (viterbi->blocks || !parse_count(words[next], "x", &viterbi->blocks)) {
            return false;
        }
    }
    return true;
}

struct viterbi_run {
    struct coded_blocks coded;
    penstock_viterbi_desc desc;
};

/* Antipodal bits in white Gaussian noise, as a receiver gives them that makes LEVEL of a bit without noise. */
static void put_noisy(struct coded_blocks *run, size_t i, double sigma)
{
    double radius = sqrt(-2 * log(1 - random_uniform(&run->seed))),
           turn = 6.283185307179586 * random_uniform(&run->seed);
    double value = LEVEL * ((run->coded[i] ? -1 : 1) + sigma * radius * cos(turn));
    if (run->soft_format == PENSTOCK_SOFT_HARD)
        ((uint8_t *)run->soft)[i] = value < 0;
    else if (run->soft_format == PENSTOCK_SOFT_S8)
        ((int8_t *)run->soft)[i] = (int8_t)fmax(-127, fmin(127, rint(value)));
    else
        ((float *)run->soft)[i] = (float)value;
}

static int prepare(struct viterbi_run *run, const struct viterbi_case *viterbi, size_t blocks,
                   const struct case_target *target)
{
    struct coded_blocks *coded = &run->coded;
    int status;
    *run = (struct viterbi_run){.desc = PENSTOCK_VITERBI_DESC(), .coded = {.blocks = blocks}};
    if ((status = penstock_viterbi_code(&run->desc, viterbi->code)))
        return status;
    coded->bits = run->desc.bits = viterbi->bits ? viterbi->bits : USUAL_BITS;
    coded->soft_format = run->desc.soft = viterbi->soft;
    run->desc.batch = blocks;
    if ((status = penstock_viterbi_sent(&coded->sent, &run->desc)) || (status = coded_blocks_new(coded)) ||
        (status = penstock_viterbi_encode(&run->desc, coded->coded, coded->data, blocks)))
        return status;
    double sigma = sqrt(0.5 * (double)coded->sent / (double)coded->bits * pow(10, -viterbi->ebn0_db / 10));
    for (size_t i = 0; i < blocks * coded->sent && viterbi->noisy; i++)
        put_noisy(coded, i, sigma);
    for (size_t i = 0; i < blocks * coded->sent && !viterbi->noisy; i++) {
        bool wrong = coded->sent > 4 * APART && i % coded->sent % APART == APART / 2;
        coded_blocks_put(coded, i, wrong, wrong ? LEVEL / 2 : LEVEL + (int)(random_bits(&coded->seed) % LEVEL));
    }
    return penstock_viterbi_plan(&coded->plan, target->context, &run->desc, target->device);
}

/* Bits that the CPU decodes otherwise. */
static int compare_with_cpu(struct viterbi_run *run, const struct case_target *target, size_t *differ)
{
    const size_t bytes = run->coded.blocks * run->coded.out_bytes;
    uint8_t *want = malloc(bytes);
    penstock_plan *plan = NULL;
    int status = want ? penstock_viterbi_plan(&plan, target->context, &run->desc, "cpu") : PENSTOCK_ERR_MEMORY;
    if (!status)
        status = penstock_plan_run(plan, run->coded.soft, want, run->coded.blocks);
    *differ = 0;
    for (size_t i = 0; i < bytes && !status; i++)
        *differ += (size_t)__builtin_popcount(want[i] ^ run->coded.out[i]);
    penstock_plan_free(plan);
    free(want);
    return status;
}

static void check(const struct test_case *test, const struct case_target *target, struct case_verdict *verdict)
{
    enum { BLOCKS = 67 };
    struct viterbi_run run;
    int status = prepare(&run, &test->viterbi, test->viterbi.blocks ? test->viterbi.blocks : BLOCKS, target);
    size_t wrong;
    if (status == PENSTOCK_ERR_MEMORY)
        verdict_failed(verdict, "out of memory");
    else if (status || (status = penstock_plan_run(run.coded.plan, run.coded.soft, run.coded.out, run.coded.blocks)))
        verdict_status(verdict, status);
    else if (test->viterbi.noisy && (status = compare_with_cpu(&run, target, &wrong)))
        verdict_status(verdict, status);
    else if (test->viterbi.noisy && wrong)
        verdict_failed(verdict, "%zu of %zu bits are others than the CPU's", wrong, run.coded.blocks * run.desc.bits);
    else if (!test->viterbi.noisy &&
             (wrong = coded_blocks_wrong(&run.coded, run.coded.out, run.coded.blocks, &run.desc)))
        verdict_failed(verdict, "%zu of %zu bits are wrong", wrong, run.coded.blocks * run.desc.bits);
    else
        verdict_held(verdict, "%zu blocks of %zu bits", run.coded.blocks, run.desc.bits);
    coded_blocks_free(&run.coded);
}

static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct viterbi_case *viterbi = &test->viterbi;
    const size_t bits = viterbi->bits ? viterbi->bits : USUAL_BITS, all = 4 * case_bench_samples(target);
    struct viterbi_run run;
    int status = prepare(&run, viterbi, viterbi->blocks ? viterbi->blocks : all / bits + 1, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code)
        code = coded_blocks_bench(&run.coded, target, row);
    coded_blocks_free(&run.coded);
    return code;
}

const struct case_kind case_viterbi = {
    .name = "viterbi",
    .syntax = "viterbi:wifi|dvb|dab|lte|ccsds[:RATE][:BITS][:f32|hard][:EBN0dB][:xBLOCKS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
