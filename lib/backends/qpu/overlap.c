/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlapped transforms: rows on the QPUs, their sums on the CPU. */
#include "backends/qpu/qpu.h"

#include <string.h>

int penstock__qpu_overlap_init(struct qpu_plan *p, const struct penstock_fft_problem *fft)
{
    p->rows = *fft;
    p->rows.fold = p->rows.hop = 0;
    p->rows.window = NULL;
    p->kept = penstock__alloc((fft->fold - 1 + p->batch) * fft->n * sizeof *p->kept);
    return p->kept ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* The sums over rows `last`, the one before it, ... */
static void sum(penstock_cf32 *out, const struct penstock_fft_problem *fft, const penstock_cf32 *last, size_t turn)
{
    for (size_t i = 0; i < fft->hop; i++) {
        const penstock_cf32 *value = last + (turn + i) % fft->n;
        penstock_cf32 sum = {0, 0};
        for (size_t t = 0; t < fft->fold; t++, value -= fft->n) {
            sum.re += fft->window[t * fft->hop + i] * value->re;
            sum.im += fft->window[t * fft->hop + i] * value->im;
        }
        out[i] = sum;
    }
}

int penstock__qpu_overlap_run(const struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    const struct qpu_plan *p = plan->priv;
    const size_t before = fft->fold - 1, rows = job->frames + before;
    size_t row = 0, there = 0; /* rows of the job that were transformed, and that are kept */
    penstock_cf32 *to = job->out->host;
    int status = PENSTOCK_OK;
    while (row < rows && !status) {
        const size_t left = rows - row, count = left < p->batch ? left : p->batch;
        status = penstock__qpu_transform(plan, &p->rows, job, row, count, p->kept + there * fft->n);
        row += count;
        there += count;
        if (there <= before && row < rows)
            continue;
        for (size_t made = there - before, f = 0; f < made && !status; f++, to += fft->hop)
            sum(to, fft, p->kept + (f + before) * fft->n,
                penstock__fft_turn(fft, job->spacing, row - before - made + f));
        memmove(p->kept, p->kept + (there - before) * fft->n, before * fft->n * sizeof *p->kept);
        there = before;
    }
    return status;
}
