/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Load and store on the CPU, one frame at a time in memory that its caches hold. */
#include "backends/qpu/qpu.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.28318530717958647692

int penstock__qpu_stages_init(struct qpu_plan *p, const struct penstock_fft_problem *fft)
{
    bool factors = fft->window || (fft->shift != 0 && !fft->gathered);
    p->frame = penstock__alloc(fft->n * sizeof *p->frame);
    p->factors = factors ? penstock__alloc(fft->n * sizeof *p->factors) : NULL;
    p->sums = fft->average > 1 ? penstock__alloc(fft->n * sizeof *p->sums) : NULL;
    if (!p->frame || (factors && !p->factors) || (fft->average > 1 && !p->sums)) {
        penstock__qpu_stages_free(p);
        return PENSTOCK_ERR_MEMORY;
    }
    for (size_t j = 0; factors && j < fft->n; j++) {
        double turns = fft->gathered ? 0 : fft->shift * (double)j, angle = TWO_PI * (turns - rint(turns));
        double factor = fft->window ? (double)fft->window[j] : 1;
        p->factors[j] = (penstock_cf32){(float)(factor * cos(angle)), (float)(factor * sin(angle))};
    }
    return PENSTOCK_OK;
}

void penstock__qpu_stages_free(struct qpu_plan *p)
{
    penstock__free(p->frame);
    penstock__free(p->factors);
    penstock__free(p->sums);
    penstock__free(p->kept);
}

static penstock_cf32 product(penstock_cf32 a, penstock_cf32 b)
{
    return (penstock_cf32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void rotate(penstock_cf32 *frame, size_t n, const struct penstock_gather *gather)
{
    uint32_t phase = gather->phase;
    for (size_t j = 0; j < n; j++, phase += gather->step) {
        double angle = TWO_PI / 4294967296.0 * (int32_t)phase;
        frame[j] = product(frame[j], (penstock_cf32){(float)cos(angle), (float)sin(angle)});
    }
}

void penstock__qpu_load(const struct qpu_plan *p, const struct penstock_fft_problem *fft,
                        const struct penstock_job *job, size_t frame)
{
    const struct penstock_gather *gather =
        job->gather ? (const struct penstock_gather *)job->gather->host + frame : NULL;
    size_t first = gather ? gather->start : frame * fft->spacing + fft->skip;
    penstock__convert(p->frame, job->in->host, fft->format, first, fft->n, job->samples);
    for (size_t j = 0; p->factors && j < fft->n; j++)
        p->frame[j] = product(p->frame[j], p->factors[j]);
    if (gather && (gather->phase || gather->step))
        rotate(p->frame, fft->n, gather);
}

static float level(const struct penstock_fft_problem *fft, double power)
{
    if (fft->output == PENSTOCK_OUTPUT_POWER)
        return (float)power;
    return power < 1e-30 ? -300.0f : (float)(10 * log10(power));
}

void penstock__qpu_store(const struct qpu_plan *p, const struct penstock_fft_problem *fft, void *out, unsigned k)
{
    size_t low = fft->centered ? fft->n - fft->n / 2 : 0;
    for (size_t i = 0; i < fft->n; i++) {
        size_t bin = (i + low) % fft->n;
        penstock_cf32 value = p->frame[bin]; /* the kernels have scaled it */
        double power = (double)value.re * (double)value.re + (double)value.im * (double)value.im;
        if (fft->output == PENSTOCK_OUTPUT_COMPLEX) {
            ((penstock_cf32 *)out)[i] = value;
            continue;
        }
        if (p->sums)
            power = p->sums[bin] = power + (k ? p->sums[bin] : 0);
        if (k + 1 == fft->average)
            ((float *)out)[i] = level(fft, power / fft->average);
    }
}
