/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* viterbi: blocks of a convolutional code. Coded bits of random strength with an error here and there, which every code
 * can correct, must give the bits that were coded. */
#include "bench_on_device.h"
#include "bench_run.h"
#include "cases.h"
#include "random.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BITS = 1024, MOST_BITS = 1 << 20, APART = 97, LEVEL = 40, UNSURE = 64, MOST_DB = 40, CHUNK = 16 };

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
    penstock_viterbi_desc desc;
    penstock_plan *plan;
    size_t blocks, sent, out_bytes;
    uint8_t *bits, *coded, *out;
    void *soft;
};

static void put_soft(const struct viterbi_run *run, size_t i, bool wrong, uint64_t *seed)
{
    bool one = run->coded[i] != wrong;
    int level = wrong ? LEVEL / 2 : LEVEL + (int)(random_bits(seed) % LEVEL);
    if (run->desc.soft == PENSTOCK_SOFT_HARD)
        ((uint8_t *)run->soft)[i] = one;
    else if (run->desc.soft == PENSTOCK_SOFT_S8)
        ((int8_t *)run->soft)[i] = (int8_t)(one ? -level : level);
    else
        ((float *)run->soft)[i] = (float)(one ? -level : level);
}

/* Antipodal bits in white Gaussian noise, as a receiver gives them that makes LEVEL of a bit without noise. */
static void put_noisy(const struct viterbi_run *run, size_t i, double sigma, uint64_t *seed)
{
    double radius = sqrt(-2 * log(1 - random_uniform(seed))), turn = 6.283185307179586 * random_uniform(seed);
    double value = LEVEL * ((run->coded[i] ? -1 : 1) + sigma * radius * cos(turn));
    if (run->desc.soft == PENSTOCK_SOFT_HARD)
        ((uint8_t *)run->soft)[i] = value < 0;
    else if (run->desc.soft == PENSTOCK_SOFT_S8)
        ((int8_t *)run->soft)[i] = (int8_t)fmax(-127, fmin(127, rint(value)));
    else
        ((float *)run->soft)[i] = (float)value;
}

static size_t soft_bytes(const struct viterbi_run *run)
{
    return run->desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

static int prepare(struct viterbi_run *run, const struct viterbi_case *viterbi, size_t blocks,
                   const struct case_target *target)
{
    uint64_t seed = 1;
    int status;
    *run = (struct viterbi_run){.desc = PENSTOCK_VITERBI_DESC(), .blocks = blocks};
    if ((status = penstock_viterbi_code(&run->desc, viterbi->code)))
        return status;
    run->desc.bits = viterbi->bits ? viterbi->bits : USUAL_BITS;
    run->desc.soft = viterbi->soft;
    run->desc.batch = blocks;
    if ((status = penstock_viterbi_sent(&run->sent, &run->desc)))
        return status;
    run->out_bytes = (run->desc.bits + 7) / 8;
    run->bits = calloc(blocks, run->out_bytes);
    run->out = calloc(blocks, run->out_bytes);
    run->coded = calloc(blocks, run->sent);
    run->soft = calloc(blocks * run->sent * soft_bytes(run) + CHUNK, 1);
    if (!run->bits || !run->out || !run->coded || !run->soft)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < blocks * run->out_bytes; i++)
        run->bits[i] = (uint8_t)random_bits(&seed);
    for (size_t i = 0; i < blocks && run->desc.bits % 8; i++) /* spare bits */
        run->bits[(i + 1) * run->out_bytes - 1] &= (uint8_t)((1u << run->desc.bits % 8) - 1);
    if ((status = penstock_viterbi_encode(&run->desc, run->coded, run->bits, blocks)))
        return status;
    double sigma = sqrt(0.5 * (double)run->sent / (double)run->desc.bits * pow(10, -viterbi->ebn0_db / 10));
    for (size_t i = 0; i < blocks * run->sent && viterbi->noisy; i++)
        put_noisy(run, i, sigma, &seed);
    for (size_t i = 0; i < blocks * run->sent && !viterbi->noisy; i++)
        put_soft(run, i, run->sent > 4 * APART && i % run->sent % APART == APART / 2, &seed);
    return penstock_viterbi_plan(&run->plan, target->context, &run->desc, target->device);
}

static void release(struct viterbi_run *run)
{
    penstock_plan_free(run->plan);
    free(run->bits);
    free(run->coded);
    free(run->out);
    free(run->soft);
}

/* Bits that differ. The last ones of an open block are not as sure as the others. */
static size_t wrong_bits(const struct viterbi_run *run)
{
    const size_t bits = run->desc.bits;
    size_t sure = bits, wrong = 0;
    if (run->desc.end == PENSTOCK_TRELLIS_OPEN)
        sure = bits > UNSURE ? bits - UNSURE : 0;
    for (size_t block = 0; block < run->blocks; block++)
        for (size_t i = 0; i < sure; i++) {
            size_t byte = block * run->out_bytes + i / 8;
            wrong += (run->bits[byte] ^ run->out[byte]) >> i % 8 & 1;
        }
    return wrong;
}

/* Bits that the CPU decodes otherwise. */
static int compare_with_cpu(struct viterbi_run *run, const struct case_target *target, size_t *differ)
{
    const size_t bytes = run->blocks * run->out_bytes;
    uint8_t *want = malloc(bytes);
    penstock_plan *plan = NULL;
    int status = want ? penstock_viterbi_plan(&plan, target->context, &run->desc, "cpu") : PENSTOCK_ERR_MEMORY;
    if (!status)
        status = penstock_plan_run(plan, run->soft, want, run->blocks);
    *differ = 0;
    for (size_t i = 0; i < bytes && !status; i++)
        *differ += (size_t)__builtin_popcount(want[i] ^ run->out[i]);
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
    else if (status || (status = penstock_plan_run(run.plan, run.soft, run.out, run.blocks)))
        verdict_status(verdict, status);
    else if (test->viterbi.noisy && (status = compare_with_cpu(&run, target, &wrong)))
        verdict_status(verdict, status);
    else if (test->viterbi.noisy && wrong)
        verdict_failed(verdict, "%zu of %zu bits are others than the CPU's", wrong, run.blocks * run.desc.bits);
    else if (!test->viterbi.noisy && (wrong = wrong_bits(&run)))
        verdict_failed(verdict, "%zu of %zu bits are wrong", wrong, run.blocks * run.desc.bits);
    else
        verdict_held(verdict, "%zu blocks of %zu bits", run.blocks, run.desc.bits);
    release(&run);
}

static int decode(void *state)
{
    struct viterbi_run *run = state;
    int status = penstock_plan_run(run->plan, run->soft, run->out, run->blocks);
    return status ? fail_status(status) : EXIT_DONE;
}

static int make_bench(penstock_bench **on_device, void *argument, const void *in, size_t in_bytes, size_t frames)
{
    return penstock_bench_new(on_device, ((const struct viterbi_run *)argument)->plan, in, in_bytes, frames);
}

/* The device repeats as many blocks as are a multiple of 16 bytes. */
static int measure_on_device(struct viterbi_run *run, const struct case_target *target, struct bench_row *row)
{
    const size_t block_bytes = run->sent * soft_bytes(run), most = (size_t)1 << 16;
    size_t blocks = run->blocks < most ? run->blocks : most;
    bool done = false;
    if (run->blocks > CHUNK)
        blocks -= blocks % CHUNK;
    struct device_bench bench = {.make = make_bench,
                                 .argument = run,
                                 .frames = run->blocks,
                                 .frame_samples = run->desc.bits,
                                 .average = 1,
                                 .block = run->soft,
                                 .block_bytes = (blocks * block_bytes + CHUNK - 1) / CHUNK * CHUNK,
                                 .frame_bytes = block_bytes};
    return bench_on_device(row, target, &bench, &done);
}

/* A sample is a decoded bit. */
static int bench(const struct test_case *test, const struct case_target *target, struct bench_row *row)
{
    const struct viterbi_case *viterbi = &test->viterbi;
    const size_t bits = viterbi->bits ? viterbi->bits : USUAL_BITS, all = 4 * case_bench_samples(target);
    struct viterbi_run run;
    int status = prepare(&run, viterbi, viterbi->blocks ? viterbi->blocks : all / bits + 1, target);
    int code = status ? bench_status(row, status) : EXIT_DONE;
    if (!code) {
        row->batch = run.blocks;
        row->samples_per_run = (double)run.blocks * (double)bits;
        row->bytes_per_sample =
            (double)run.sent / (double)bits * (run.desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1) + 0.125;
        code = bench_measure(row, &(struct workload){.run = decode, .state = &run}, NULL, 0.5);
        if (!code)
            code = measure_on_device(&run, target, row);
    }
    release(&run);
    return code;
}

const struct case_kind case_viterbi = {
    .name = "viterbi",
    .syntax = "viterbi:wifi|dvb|dab|lte|ccsds[:RATE][:BITS][:f32|hard][:EBN0dB][:xBLOCKS]",
    .parse = parse,
    .check = check,
    .bench = bench,
};
