/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Resampling as the contract words it, in double precision: one output after the other, all its products. */
#include "backends/reference/reference.h"

#include <string.h>

struct work {
    const struct penstock_resample_problem *problem;
    const struct penstock_resample_head *head;
    const float *table;
    const penstock_cf32 *in;
};

/* Where an output stands. */
struct place {
    uint64_t sample, part;
};

int penstock__reference_resample_init(struct penstock_plan_state *plan, unsigned variant)
{
    if (variant)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "reference: there is no variant %u", variant);
    snprintf(plan->variant, sizeof plan->variant, "direct sums");
    plan->best_batch = 1;
    return PENSTOCK_OK;
}

static penstock_cf32 output(const struct work *work, struct place place)
{
    const struct penstock_resample_head *head = work->head;
    const size_t floats = work->problem->complex_taps ? 4 : 2;
    const double at = (double)place.part * (double)head->arms / (double)head->unit;
    size_t arm = (size_t)at;
    arm = arm < head->arms ? arm : head->arms - 1;
    const double between = at - (double)arm;
    double complex sum = 0;
    for (size_t tap = 0; tap < head->taps; tap++) {
        const float *pair = work->table + floats * (tap * head->arms + arm);
        const penstock_cf32 x = work->in[place.sample + tap];
        double complex h = (double)pair[0] + between * (double)pair[1];
        if (floats == 4)
            h += I * ((double)pair[2] + between * (double)pair[3]);
        sum += h * ((double)x.re + I * (double)x.im);
    }
    return (penstock_cf32){(float)creal(sum), (float)cimag(sum)};
}

static void step(struct place *place, const struct penstock_resample_head *head)
{
    place->sample += head->whole;
    place->part += head->part;
    if (place->part >= head->unit) {
        place->part -= head->unit;
        place->sample++;
    }
}

static void outputs(const struct work *work, const struct penstock_job *job)
{
    const struct penstock_resample_start *starts = job->gather->host;
    struct place place = {0, 0};
    for (size_t k = 0; k < job->frames; k++) {
        if (k % work->problem->block == 0)
            place = (struct place){starts[k / work->problem->block].at, starts[k / work->problem->block].part};
        const penstock_cf32 value = output(work, place);
        if (work->problem->real)
            ((float *)job->out->host)[k] = value.re;
        else
            ((penstock_cf32 *)job->out->host)[k] = value;
        step(&place, work->head);
    }
}

int penstock__reference_resample_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_resample_problem *problem = &plan->problem->resample;
    const struct penstock_resample_head *head = job->coefficients->host;
    const size_t count = job->samples + head->taps; /* and zeros behind them */
    penstock_cf32 *in = penstock__calloc(count, sizeof *in);
    if (!in)
        return PENSTOCK_ERR_MEMORY;
    if (job->spacing > job->start)
        penstock__convert(in + job->start, job->in->host, problem->format, job->start, job->spacing - job->start,
                          job->samples);
    outputs(&(struct work){problem, head, (const float *)(const void *)(head + 1), in}, job);
    penstock__free(in);
    return PENSTOCK_OK;
}
