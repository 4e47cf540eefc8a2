/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms by liquid-dsp, frame by frame on one thread. Every real transform is a complex one. liquid's own FFT is
 * less exact than others: up to 5.2e-7 sqrt(log2 n) at n = 17, in 1.5.0.
 */
#include "backends/reference/reference.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.28318530717958647692

/* liquid's plan of a prime length takes time with its square: 8 s for 65537 points. */
#define LARGEST_FACTOR 65536

int penstock__reference_supports(const struct penstock_fft_problem *fft)
{
    size_t rest = fft->n;
    for (size_t p = 2; p * p <= rest; p++)
        while (rest % p == 0)
            rest /= p;
    if (rest > LARGEST_FACTOR)
        return penstock__error(
            PENSTOCK_ERR_UNSUPPORTED,
            "reference: liquid-dsp takes minutes to plan length %zu, which has a prime factor above %d", fft->n,
            LARGEST_FACTOR);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- plan ------------------------ */

/* liquid does not say that its planner may be used by several threads. */
static struct penstock_guard planner = PENSTOCK_GUARD_AWAITED;

static void destroy(struct reference_plan *p)
{
    penstock__guard(&planner);
    if (p->fft_plan)
        fft_destroy_plan(p->fft_plan);
    if (p->column_plan)
        fft_destroy_plan(p->column_plan);
    penstock__unguard(&planner);
    penstock__free(p->in);
    penstock__free(p->out);
    penstock__free(p->sums);
    penstock__free(p->floats);
    penstock__free(p->line_in);
    penstock__free(p->line_out);
    pthread_mutex_destroy(&p->lock);
}

/* Values of a row, and of a column, of a frame. */
static size_t width_of(const struct penstock_fft_problem *fft)
{
    return fft->rows > 1 ? fft->n / fft->rows : fft->columns > 1 ? fft->columns : fft->n;
}

static bool make_plans(struct reference_plan *p)
{
    const struct penstock_fft_problem *fft = p->fft;
    int direction = fft->direction == PENSTOCK_FORWARD ? LIQUID_FFT_FORWARD : LIQUID_FFT_BACKWARD;
    bool plane = penstock__fft_is_plane(fft);
    unsigned width = (unsigned)width_of(fft), height = (unsigned)(fft->n / width);
    penstock__guard(&planner);
    if (fft->columns <= 1)
        p->fft_plan = fft_create_plan(width, plane ? p->line_in : p->in, plane ? p->line_out : p->out, direction, 0);
    if (plane)
        p->column_plan = fft_create_plan(height, p->line_in, p->line_out, direction, 0);
    penstock__unguard(&planner);
    return (fft->columns > 1 || p->fft_plan) && (!plane || p->column_plan);
}

int penstock__reference_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    struct reference_plan *p = plan->priv;
    if (variant > 0)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "reference has no variant %u", variant);
    p->fft = fft;
    pthread_mutex_init(&p->lock, NULL);
    p->in = penstock__alloc(fft->n * sizeof *p->in);
    p->out = penstock__alloc(fft->n * sizeof *p->out);
    p->sums = penstock__alloc(2 * fft->n * sizeof *p->sums);
    p->floats = fft->half ? penstock__alloc(2 * fft->n * sizeof *p->floats) : NULL;
    if (penstock__fft_is_plane(fft)) {
        p->line_in = penstock__alloc(fft->n * sizeof *p->line_in);
        p->line_out = penstock__alloc(fft->n * sizeof *p->line_out);
    }
    if (!p->in || !p->out || !p->sums || (fft->half && !p->floats) ||
        (penstock__fft_is_plane(fft) && (!p->line_in || !p->line_out))) {
        destroy(p);
        return PENSTOCK_ERR_MEMORY;
    }
    if (!make_plans(p)) {
        destroy(p);
        return penstock__error(PENSTOCK_ERR_DEVICE, "liquid-dsp made no plan for %zu points", fft->n);
    }
    strcpy(plan->variant, "liquid-dsp");
    plan->passes = 1;
    plan->best_batch = 1;
    return PENSTOCK_OK;
}

void penstock__reference_plan_free(struct penstock_plan_state *plan)
{
    destroy(plan->priv);
}

/* ---------------------------------------------------------------- stages ---------------------- */

static float complex rotation(const struct penstock_fft_problem *fft, const struct penstock_gather *gather, size_t j)
{
    double turns = fft->shift * (double)j;
    if (gather)
        turns = (double)(uint32_t)(gather->phase + (uint32_t)j * gather->step) / 4294967296.0;
    return (float complex)cexp(I * TWO_PI * (turns - floor(turns)));
}

static void load(struct reference_plan *p, const void *in, size_t first, size_t total,
                 const struct penstock_gather *gather)
{
    const struct penstock_fft_problem *fft = p->fft;
    size_t n = fft->n, count = penstock__fft_in_count(fft);
    penstock__convert((penstock_cf32 *)(void *)p->in, in, fft->format, first, count, total);
    for (size_t j = 0; fft->window && j < n; j++)
        p->in[j] *= fft->window[j];
    for (size_t j = 0; (gather || fft->shift != 0) && j < n; j++)
        p->in[j] *= rotation(fft, gather, j);
    if (fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE) {
        p->in[0] = crealf(p->in[0]);
        if (n % 2 == 0)
            p->in[n / 2] = crealf(p->in[n / 2]);
        for (size_t k = count; k < n; k++)
            p->in[k] = conjf(p->in[n - k]);
    }
}

static void load_folded(struct reference_plan *p, const void *in, size_t first, size_t total, size_t turn)
{
    const struct penstock_fft_problem *fft = p->fft;
    for (size_t j = 0; j < fft->n; j++)
        p->in[j] = 0;
    for (size_t j = 0; j < penstock__fft_frame(fft); j++) {
        penstock_cf32 sample;
        penstock__convert(&sample, in, fft->format, first + j, 1, total);
        p->in[(j + turn) % fft->n] += fft->window[j] * (sample.re + I * sample.im);
    }
}

/* Rows of an overlapped frame, transformed one after the other, the last one first, each added to `p->sums` in turn. */
static void overlap(struct reference_plan *p, const void *in, size_t first, size_t total, size_t turn, void *out)
{
    const struct penstock_fft_problem *fft = p->fft;
    const size_t n = fft->n, hop = fft->hop;
    float *floats = out;
    memset(p->sums, 0, 2 * hop * sizeof *p->sums);
    for (size_t t = 0; t < fft->fold; t++) {
        penstock__convert((penstock_cf32 *)(void *)p->in, in, fft->format, first + (fft->fold - 1 - t) * n, n, total);
        fft_execute(p->fft_plan);
        for (size_t i = 0; i < hop; i++) {
            const float complex value = p->out[(i + turn) % n] * fft->scale;
            p->sums[2 * i] += (double)(fft->window[t * hop + i] * crealf(value));
            p->sums[2 * i + 1] += (double)(fft->window[t * hop + i] * cimagf(value));
        }
    }
    for (size_t i = 0; i < 2 * hop; i++)
        floats[i] = (float)p->sums[i];
}

/* All lines of a plane: values `step` apart, the first of each `apart` from the one before, from `in` to `out`. */
static void transform_lines(struct reference_plan *p, fftplan plan, const float complex *in, float complex *out,
                            size_t lines, size_t apart, size_t step)
{
    size_t length = p->fft->n / lines;
    for (size_t line = 0; line < lines; line++) {
        for (size_t j = 0; j < length; j++)
            p->line_in[j] = in[line * apart + j * step];
        fft_execute(plan);
        for (size_t j = 0; j < length; j++)
            out[line * apart + j * step] = p->line_out[j];
    }
}

static void transform(struct reference_plan *p)
{
    size_t width = width_of(p->fft), height = p->fft->n / width;
    if (!penstock__fft_is_plane(p->fft)) {
        fft_execute(p->fft_plan);
        return;
    }
    transform_lines(p, p->column_plan, p->in, p->out, width, 1, width);
    if (p->fft_plan)
        transform_lines(p, p->fft_plan, p->out, p->out, height, width, 1);
}

/* The bin that belongs at place i of a centred output. */
static size_t centered_bin(const struct penstock_fft_problem *fft, size_t i)
{
    size_t width = width_of(fft), height = fft->n / width;
    size_t row = (i / width + height - height / 2) % height, column = i % width;
    if (fft->columns <= 1)
        column = (column + width - width / 2) % width;
    return row * width + column;
}

static float decibel(double power)
{
    return power < 1e-30 ? -300.0f : (float)(10 * log10(power));
}

/* Value i of the output, from the bin or sample that belongs there. */
static void store(struct reference_plan *p, void *out, unsigned k)
{
    const struct penstock_fft_problem *fft = p->fft;
    size_t count = penstock__fft_out_count(fft);
    float *floats = fft->half ? p->floats : out;
    for (size_t i = 0; i < count; i++) {
        size_t bin = fft->centered ? centered_bin(fft, i) : i;
        float complex value = p->out[bin] * fft->scale;
        double re = crealf(value), im = cimagf(value);
        if (penstock__fft_out_parts(fft) == 2) {
            floats[2 * i] = crealf(value);
            floats[2 * i + 1] = cimagf(value);
        } else if (fft->output == PENSTOCK_OUTPUT_COMPLEX) {
            floats[i] = crealf(value);
        } else {
            double mean = ((k ? p->sums[bin] : 0) + re * re + im * im);
            p->sums[bin] = mean;
            mean /= fft->average;
            floats[i] = fft->output == PENSTOCK_OUTPUT_DECIBEL ? decibel(mean) : (float)mean;
        }
    }
    if (fft->half && k + 1 == fft->average)
        penstock_half_from_float(out, floats, count * penstock__fft_out_parts(fft));
}

int penstock__reference_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                const struct penstock_job *job)
{
    struct reference_plan *p = plan->priv;
    const struct penstock_fft_problem *fft = p->fft;
    const struct penstock_gather *gather = job->gather ? job->gather->host : NULL;
    char *out = job->out->host;
    (void)slot;
    pthread_mutex_lock(&p->lock);
    for (size_t frame = 0; frame < job->frames; frame++) {
        size_t first = gather ? gather[frame].start : frame * fft->spacing + fft->skip;
        char *to = out + frame / fft->average * plan->problem->out_bytes;
        if (fft->hop) {
            overlap(p, job->in->host, first, job->samples, penstock__fft_turn(fft, job->spacing, frame), to);
            continue;
        }
        if (fft->fold)
            load_folded(p, job->in->host, first, job->samples, penstock__fft_turn(fft, job->spacing, frame));
        else
            load(p, job->in->host, first, job->samples, gather ? &gather[frame] : NULL);
        transform(p);
        store(p, to, (unsigned)(frame % fft->average));
    }
    pthread_mutex_unlock(&p->lock);
    return PENSTOCK_OK;
}
