/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols on the calling thread: transforms, equaliser and soft bits of a few symbols, while all of that is in the
 * cache. Operators that have threads of their own do a frame so from one end to the other.
 */
#include "core/plan.h"
#include "ops/ofdm.h"
#include "ops/ofdm_demodulator.h"

/* Of a thread: transforms, what tells where they are, and the plan's scratch memory. */
static size_t transforms_bytes(const penstock_ofdm *ofdm)
{
    return PENSTOCK__OFDM_HERE * ofdm->grid.n * sizeof *ofdm->fft;
}

bool penstock__ofdm_here(penstock_ofdm *ofdm, size_t *bytes)
{
    size_t scratch;
    penstock__ofdm_welcome(ofdm);
    bool here = penstock__plan_runs_gathered(ofdm->plan, &scratch) && !ofdm->convert;
    *bytes = here ? (transforms_bytes(ofdm) + 63) / 64 * 64 + scratch : 0;
    return here;
}

void penstock__ofdm_run_here(penstock_ofdm *ofdm, unsigned worker, void *memory, const penstock_ofdm_batch *batch,
                             const penstock_ofdm_result *result)
{
    struct penstock_gather gather[PENSTOCK__OFDM_HERE] = {{0}};
    struct ofdm_worker *own = &ofdm->workers[worker];
    const size_t n = ofdm->grid.n, count = batch->symbol_count;
    penstock_cf32 *transforms = memory;
    char *scratch = (char *)memory + (transforms_bytes(ofdm) + 63) / 64 * 64;
    for (size_t i = 0; i < count; i++) {
        const uint64_t window = batch->symbols[i].start + ofdm->skip;
        penstock__ofdm_rotation(&gather[i], batch->frames, window, n);
        gather[i].start = (uint32_t)window;
    }
    penstock__plan_run_gathered_here(ofdm->plan, batch->samples, batch->sample_count, gather, count, transforms,
                                     scratch);
    own->frame = NULL;
    for (size_t i = 0; i < count; i++)
        penstock__ofdm_symbol(&ofdm->grid, ofdm->kernels, own, batch->frames, &batch->symbols[i], transforms + i * n,
                              result, i);
}

void penstock__ofdm_ran_here(penstock_ofdm *ofdm)
{
    ofdm->meanwhile += ofdm->arrival != NULL;
}
