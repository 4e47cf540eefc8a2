/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols on the calling thread: transforms, equaliser and soft bits of a few symbols, while all of that is in the
 * cache. Operators that have threads of their own do a frame so from one end to the other; a batch is done so in
 * parts side by side.
 */
#include "core/plan/plan.h"
#include "ops/ofdm/ofdm.h"
#include "ops/ofdm/ofdm_demodulator.h"

#define PART_CARRIERS 4096 /* that are worth another thread's attention */

/* Of a thread: transforms, what tells where they are, and the plan's scratch memory. */
static size_t transforms_bytes(const penstock_ofdm *ofdm)
{
    return PENSTOCK__OFDM_HERE * ofdm->grid.n * sizeof *ofdm->fft;
}

bool penstock__ofdm_here(penstock_ofdm *ofdm, size_t *bytes)
{
    size_t scratch;
    penstock__ofdm_collect(ofdm);
    bool here = penstock__plan_runs_gathered(ofdm->plan, &scratch) && !ofdm->convert;
    *bytes = here ? (transforms_bytes(ofdm) + 63) / 64 * 64 + scratch : 0;
    return here;
}

/* Symbols `first` .. `first` + `count`, and their rows of the result. */
static void run_part(penstock_ofdm *ofdm, unsigned worker, void *memory, const penstock_ofdm_batch *batch, size_t first,
                     size_t count, const penstock_ofdm_result *result)
{
    struct penstock_gather gather[PENSTOCK__OFDM_HERE] = {{0}};
    const penstock_ofdm_symbol *symbols = batch->symbols + first;
    const size_t n = ofdm->grid.n, sample = penstock_format_bytes(ofdm->format);
    penstock_cf32 *transforms = memory;
    char *scratch = (char *)memory + (transforms_bytes(ofdm) + 63) / 64 * 64;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = symbols[i].start < low ? symbols[i].start : low;
        high = symbols[i].start > high ? symbols[i].start : high;
    }
    if (high - low > UINT32_MAX / 2) {
        run_part(ofdm, worker, memory, batch, first, count / 2, result);
        run_part(ofdm, worker, memory, batch, first + count / 2, count - count / 2, result);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t window = symbols[i].start + ofdm->skip;
        penstock__ofdm_rotation(&gather[i], &batch->frames[symbols[i].frame], window, n);
        gather[i].start = (uint32_t)(window - low);
    }
    penstock__plan_run_gathered_here(ofdm->plan, (const char *)batch->samples + (size_t)low * sample,
                                     batch->sample_count - (size_t)low, gather, count, transforms, scratch);
    for (size_t i = 0; i < count; i++)
        penstock__ofdm_symbol(&ofdm->grid, ofdm->kernels, &ofdm->workers[worker], &batch->frames[symbols[i].frame],
                              &symbols[i], transforms + i * n, result, first + i);
}

void penstock__ofdm_run_here(penstock_ofdm *ofdm, unsigned worker, void *memory, const penstock_ofdm_batch *batch,
                             const penstock_ofdm_result *result)
{
    ofdm->workers[worker].frame = NULL;
    run_part(ofdm, worker, memory, batch, 0, batch->symbol_count, result);
}

void penstock__ofdm_serve(penstock_ofdm *ofdm)
{
    penstock__async_build_serve(ofdm->build);
}

void penstock__ofdm_served(penstock_ofdm *ofdm)
{
    penstock__async_build_served(ofdm->build);
}

void penstock__ofdm_ran_here(penstock_ofdm *ofdm)
{
    ofdm->cpu_while_compiling += ofdm->build != NULL;
}

/* ---------------------------------------------------------------- a batch --------------------- */

struct parts {
    penstock_ofdm *ofdm;
    const penstock_ofdm_batch *batch;
    const penstock_ofdm_result *result;
    size_t symbols; /* of a part */
    size_t bytes;   /* of a thread's memory */
};

static void run_one(void *argument, size_t part, unsigned worker)
{
    const struct parts *parts = argument;
    const size_t first = part * parts->symbols, left = parts->batch->symbol_count - first;
    run_part(parts->ofdm, worker, parts->ofdm->here + worker * parts->bytes, parts->batch, first,
             left < parts->symbols ? left : parts->symbols, parts->result);
}

/* Symbols of a part: enough to be worth a thread's attention, and so few that all threads have some. */
static size_t part_of(const penstock_ofdm *ofdm, size_t symbols)
{
    const size_t worth = PART_CARRIERS / (ofdm->grid.data.padded + ofdm->grid.pilots.padded) + 1;
    return penstock__fair_share(ofdm->context, symbols, worth, PENSTOCK__OFDM_HERE);
}

/* That a part of the samples is passed on needs a format whose samples have addresses. */
int penstock__ofdm_run_parts(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result,
                             bool *done)
{
    struct parts parts = {.ofdm = ofdm, .batch = batch, .result = result};
    size_t scratch;
    *done = penstock__plan_runs_gathered(ofdm->plan, &scratch) && !ofdm->convert;
    if (!*done || !batch->symbol_count)
        return PENSTOCK_OK;
    parts.symbols = part_of(ofdm, batch->symbol_count);
    parts.bytes = ((transforms_bytes(ofdm) + 63) / 64 * 64 + scratch + 63) / 64 * 64;
    if (parts.bytes > ofdm->here_bytes) {
        penstock__free(ofdm->here);
        ofdm->here_bytes = 0;
        if (!(ofdm->here = penstock__alloc(ofdm->worker_count * parts.bytes)))
            return PENSTOCK_ERR_MEMORY;
        ofdm->here_bytes = parts.bytes;
    }
    penstock__parallel(ofdm->context, (batch->symbol_count + parts.symbols - 1) / parts.symbols, run_one, &parts);
    return PENSTOCK_OK;
}
