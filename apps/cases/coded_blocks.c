/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "coded_blocks.h"
#include "bench/bench_on_device.h"
#include "bench/bench_run.h"
#include "shared/random.h"

#include <stdlib.h>

enum { CHUNK = 16, MOST_REPEATED = 1 << 16 };

static size_t soft_bytes(const struct coded_blocks *run)
{
    return run->soft_format == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

int coded_blocks_new(struct coded_blocks *run)
{
    run->out_bytes = (run->bits + 7) / 8;
    run->data = calloc(run->blocks, run->out_bytes);
    run->out = calloc(run->blocks, run->out_bytes);
    run->coded = calloc(run->blocks, run->sent);
    run->soft = calloc(run->blocks * run->sent * soft_bytes(run) + CHUNK, 1);
    run->seed = 1;
    if (!run->data || !run->out || !run->coded || !run->soft)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < run->blocks * run->out_bytes; i++)
        run->data[i] = (uint8_t)random_bits(&run->seed);
    for (size_t i = 0; i < run->blocks && run->bits % 8; i++) /* spare bits */
        run->data[(i + 1) * run->out_bytes - 1] &= (uint8_t)((1u << run->bits % 8) - 1);
    return PENSTOCK_OK;
}

void coded_blocks_free(struct coded_blocks *run)
{
    penstock_plan_free(run->plan);
    free(run->data);
    free(run->coded);
    free(run->out);
    free(run->soft);
}

void coded_blocks_put(struct coded_blocks *run, size_t i, bool wrong, int level)
{
    bool one = run->coded[i] != wrong;
    if (run->soft_format == PENSTOCK_SOFT_HARD)
        ((uint8_t *)run->soft)[i] = one;
    else if (run->soft_format == PENSTOCK_SOFT_S8)
        ((int8_t *)run->soft)[i] = (int8_t)(one ? -level : level);
    else
        ((float *)run->soft)[i] = (float)(one ? -level : level);
}

size_t coded_blocks_wrong(const struct coded_blocks *run, const void *decoded, size_t count,
                          const penstock_viterbi_desc *desc)
{
    enum { UNSURE = 64 };
    const uint8_t *out = decoded;
    size_t sure = run->bits, wrong = 0;
    if (desc->end == PENSTOCK_TRELLIS_OPEN)
        sure = sure > UNSURE ? sure - UNSURE : 0;
    for (size_t block = 0; block < count; block++)
        for (size_t i = 0; i < sure; i++)
            wrong += (run->data[block % run->blocks * run->out_bytes + i / 8] ^ out[block * run->out_bytes + i / 8]) >>
                         i % 8 &
                     1;
    return wrong;
}

static int decode(void *state)
{
    struct coded_blocks *run = state;
    int status = penstock_plan_run(run->plan, run->soft, run->out, run->blocks);
    return status ? fail_status(status) : EXIT_DONE;
}

/* The device repeats as many blocks as are a multiple of 16 bytes. */
static int measure_on_device(struct coded_blocks *run, const struct case_target *target, struct bench_row *row)
{
    const size_t block_bytes = run->sent * soft_bytes(run);
    size_t blocks = run->blocks < MOST_REPEATED ? run->blocks : MOST_REPEATED;
    bool done = false;
    if (run->blocks > CHUNK)
        blocks -= blocks % CHUNK;
    struct device_bench bench = {.frames = run->blocks,
                                 .frame_samples = run->bits,
                                 .average = 1,
                                 .block = run->soft,
                                 .block_bytes = (blocks * block_bytes + CHUNK - 1) / CHUNK * CHUNK,
                                 .frame_bytes = block_bytes};
    int status = device_bench_of_plan(&bench, run->plan);
    return status ? fail_status(status) : bench_on_device(row, target, &bench, &done);
}

int coded_blocks_bench(struct coded_blocks *run, const struct case_target *target, struct bench_row *row)
{
    int code;
    row->batch = run->blocks;
    row->samples_per_run = (double)run->blocks * (double)run->bits;
    row->bytes_per_sample = (double)(run->sent * soft_bytes(run)) / (double)run->bits + 0.125;
    code = bench_measure(row, &(struct workload){.run = decode, .state = run}, NULL, 0.5);
    return code ? code : measure_on_device(run, target, row);
}
