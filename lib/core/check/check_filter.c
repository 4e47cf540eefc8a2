/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The self-check of a plan that filters by overlap-save: random samples and a random response against
 * double-precision transforms. */
#include "core/check/check.h"
#include "core/check/check_samples.h"
#include "core/check/expected.h"

#include <math.h>
#include <string.h>

#define SAMPLES    ((size_t)1 << 16)
#define FRAMES     37  /* odd: the last work-group of any size is not full */
#define FULL_SCALE 100 /* fits every format */
#define PI         3.14159265358979323846

struct check {
    struct penstock__executor *executor;
    const struct penstock_filter_problem *filter;
    size_t frames, samples;
    bool real;
    void *in, *out; /* values: floats, or pairs of them */
    penstock_cf32 *response;
    uint64_t phase, step;
    double *x, *sums; /* a transform, and what each frame's reverse transforms are of, one for each set of an
                         interpolation */
    uint64_t random;
};

/* ---------------------------------------------------------------- what is right --------------- */

/* Sample i, as a complex number. */
static void sample(const struct check *check, double value[2], size_t i)
{
    penstock_format format = check->filter->format;
    value[0] = penstock__check_get(check->in, format, check->real ? i : 2 * i);
    value[1] = check->real ? 0 : penstock__check_get(check->in, format, 2 * i + 1);
}

static double *sums_of(const struct check *check, size_t frame, size_t set)
{
    return check->sums + 2 * (frame * check->filter->interpolation + set) * check->filter->n;
}

/* The transform in check->x times the taps of a set, to a sum. */
static void add_product(const struct check *check, double *sum, size_t set)
{
    size_t n = check->filter->n;
    const penstock_cf32 *h = check->response + set * n;
    for (size_t k = 0; k < n; k++) {
        size_t place = penstock__filter_place(n, k);
        double re = check->x[2 * k], im = check->x[2 * k + 1];
        double h_re = (double)h[place].re, h_im = (double)h[place].im;
        sum[2 * k] += re * h_re - im * h_im;
        sum[2 * k + 1] += re * h_im + im * h_re;
    }
}

/* The transform of samples from `at` blocks on, for all frames that have a part for it. */
static void add_products(const struct check *check, size_t at)
{
    size_t partitions = check->filter->partitions, interpolation = check->filter->interpolation;
    for (size_t frame = 0; frame < check->frames; frame++)
        if (frame <= at && at - frame < partitions)
            for (size_t set = 0; set < interpolation; set++)
                add_product(check, sums_of(check, frame, set), partitions - 1 - (at - frame) + set);
}

/* What value j of a frame is turned by. */
static void turn(const struct check *check, double value[2], size_t frame, size_t j)
{
    const penstock_cf32 *table = check->response + penstock__filter_sets(check->filter) * check->filter->n;
    uint64_t phase = check->phase + frame * check->step;
    double angle = 2 * PI * 0x1p-64 * (double)(int64_t)phase, c = cos(angle), s = sin(angle);
    double turned[2] = {(double)table[j].re, (double)table[j].im};
    penstock__rotate(turned, c, s);
    penstock__rotate(value, turned[0], turned[1]);
}

static int expect(struct check *check)
{
    const struct penstock_filter_problem *filter = check->filter;
    int status = PENSTOCK_OK;
    for (size_t at = 0; at < check->frames + filter->partitions - 1 && !status; at++) {
        for (size_t i = 0; i < filter->n; i++)
            sample(check, check->x + 2 * i, at * filter->block + i);
        if (!(status = penstock__dft(check->x, filter->n, PENSTOCK_FORWARD)))
            add_products(check, at);
    }
    for (size_t sum = 0; sum < check->frames * filter->interpolation && !status; sum++)
        status = penstock__dft(check->sums + 2 * sum * filter->n, filter->n, PENSTOCK_REVERSE);
    return status;
}

static int compare(struct check *check)
{
    const struct penstock_filter_problem *filter = check->filter;
    double factor = check->executor->state.device->backend->error_factor;
    double error = 0, norm = 0, most = 2e-7 * sqrt(log2((double)filter->n)) * (factor > 0 ? factor : 1);
    size_t values = penstock__filter_values(filter);
    int status = expect(check);
    for (size_t frame = 0; frame < check->frames && !status; frame++)
        for (size_t j = 0; j < values; j++) {
            const size_t at = j * filter->decimation, set = at % filter->interpolation;
            double *want = sums_of(check, frame, set) + 2 * (filter->first + at / filter->interpolation);
            const float *got = (const float *)check->out + (frame * values + j) * (check->real ? 1 : 2);
            if (filter->rotated)
                turn(check, want, frame, j);
            error += pow((double)got[0] - want[0], 2) + (check->real ? 0 : pow((double)got[1] - want[1], 2));
            norm += want[0] * want[0] + (check->real ? 0 : want[1] * want[1]);
        }
    if (!status && !(sqrt(error / norm) <= most))
        status =
            penstock__error(PENSTOCK_ERR_CHECK, "self-check of a filter: relative error %.2g, at most %.2g is right",
                            sqrt(error / norm), most);
    return status;
}

/* ---------------------------------------------------------------- run ------------------------- */

/* Any samples, any response; the table's turns with the step of the frames' phases behind them. */
static void fill(struct check *check)
{
    const struct penstock_filter_problem *filter = check->filter;
    size_t count = penstock__filter_response(filter);
    for (size_t i = 0; i < (check->real ? 1 : 2) * check->samples; i++)
        penstock__check_put(check->in, filter->format, i, FULL_SCALE * penstock__check_uniform(&check->random));
    for (size_t k = 0; k < count; k++)
        check->response[k] = (penstock_cf32){(float)penstock__check_uniform(&check->random),
                                             (float)penstock__check_uniform(&check->random)};
    if (!filter->rotated)
        return;
    check->phase = penstock__check_random(&check->random);
    check->step = penstock__check_random(&check->random);
    memcpy(&check->response[count - 1], (uint32_t[2]){(uint32_t)(check->step >> 32), (uint32_t)check->step}, 8);
}

static int run(struct check *check)
{
    size_t bytes = check->frames * check->executor->state.problem->out_bytes;
    struct penstock__batch batch = {.in = check->in,
                                    .response = check->response,
                                    .out = check->out,
                                    .frames = check->frames,
                                    .samples = check->samples};
    int status;
    fill(check);
    batch.phase = check->phase;
    if ((status = penstock__check_run(check->executor, &batch, bytes)) || (status = compare(check)))
        return status;
    if (!penstock__check_guarded(check->out, bytes))
        status = penstock__error(PENSTOCK_ERR_CHECK, "self-check of a filter: wrote behind its output");
    return status;
}

int penstock__check_filter(struct penstock__executor *executor)
{
    const struct penstock_problem *problem = executor->state.problem;
    const struct penstock_filter_problem *filter = &problem->filter;
    struct check check = {.executor = executor, .filter = filter, .random = 3};
    int status = PENSTOCK_ERR_MEMORY;
    check.real = filter->format == PENSTOCK_F32;
    check.frames = SAMPLES / filter->n < FRAMES ? SAMPLES / filter->n + 1 : FRAMES;
    check.samples = penstock__filter_samples(filter, check.frames);
    check.in = penstock__alloc(check.samples * penstock_format_bytes(filter->format));
    check.response = penstock__alloc(penstock__filter_response(filter) * sizeof *check.response);
    check.out = penstock__alloc(check.frames * problem->out_bytes + PENSTOCK__GUARD_BYTES);
    check.x = penstock__alloc(2 * filter->n * sizeof *check.x);
    check.sums = penstock__calloc(2 * check.frames * filter->interpolation * filter->n, sizeof *check.sums);
    if (check.in && check.response && check.out && check.x && check.sums)
        status = run(&check);
    penstock__free(check.in);
    penstock__free(check.response);
    penstock__free(check.out);
    penstock__free(check.x);
    penstock__free(check.sums);
    return status;
}
