/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The self-check of a plan that filters by overlap-save: random samples and a random response against
 * double-precision transforms. */
#include "core/check.h"
#include "core/check_samples.h"

#include <math.h>
#include <string.h>

#define SAMPLES     ((size_t)1 << 16)
#define FRAMES      37 /* odd: the last work-group of any size is not full */
#define GUARD_BYTES 64
#define GUARD       0xa5
#define FULL_SCALE  100 /* fits every format */

struct check {
    struct penstock__binding *binding;
    const struct penstock_filter_problem *filter;
    size_t frames, samples;
    void *in;
    penstock_cf32 *response, *out;
    double *x;
    uint64_t random;
};

/* What frame `frame` should be, in check->x. */
static int expect(struct check *check, size_t frame)
{
    size_t n = check->filter->n, first = 2 * frame * check->filter->block;
    int status;
    for (size_t i = 0; i < 2 * n; i++)
        check->x[i] = penstock__check_get(check->in, check->filter->format, first + i);
    if ((status = penstock__dft(check->x, n, PENSTOCK_FORWARD)))
        return status;
    for (size_t k = 0; k < n; k++) {
        double re = check->x[2 * k], im = check->x[2 * k + 1];
        double h_re = (double)check->response[k].re, h_im = (double)check->response[k].im;
        check->x[2 * k] = re * h_re - im * h_im;
        check->x[2 * k + 1] = re * h_im + im * h_re;
    }
    return penstock__dft(check->x, n, PENSTOCK_REVERSE);
}

static int compare(struct check *check)
{
    const struct penstock_filter_problem *filter = check->filter;
    double factor = check->binding->state.device->backend->error_factor;
    double error = 0, norm = 0, most = 2e-7 * sqrt(log2((double)filter->n)) * (factor > 0 ? factor : 1);
    int status = PENSTOCK_OK;
    for (size_t frame = 0; frame < check->frames && !status; frame++) {
        status = expect(check, frame);
        for (size_t j = 0; j < filter->block && !status; j++) {
            const double *want = check->x + 2 * (filter->first + j);
            const penstock_cf32 *got = &check->out[frame * filter->block + j];
            error += pow((double)got->re - want[0], 2) + pow((double)got->im - want[1], 2);
            norm += want[0] * want[0] + want[1] * want[1];
        }
    }
    if (!status && !(sqrt(error / norm) <= most))
        status =
            penstock__error(PENSTOCK_ERR_CHECK, "self-check of a filter: relative error %.2g, at most %.2g is right",
                            sqrt(error / norm), most);
    return status;
}

static int run(struct check *check)
{
    size_t bytes = check->frames * check->filter->block * sizeof *check->out;
    struct penstock__batch batch = {.in = check->in,
                                    .response = check->response,
                                    .out = check->out,
                                    .frames = check->frames,
                                    .samples = check->samples};
    const unsigned char *behind = (const unsigned char *)check->out + bytes;
    int status;
    for (size_t i = 0; i < 2 * check->samples; i++)
        penstock__check_put(check->in, check->filter->format, i, FULL_SCALE * penstock__check_uniform(&check->random));
    for (size_t k = 0; k < check->filter->n; k++)
        check->response[k] = (penstock_cf32){(float)penstock__check_uniform(&check->random),
                                             (float)penstock__check_uniform(&check->random)};
    memset(check->out, GUARD, bytes + GUARD_BYTES);
    if ((status = penstock__binding_submit(check->binding, 0, &batch)) ||
        (status = penstock__binding_wait(check->binding, 0)) || (status = compare(check)))
        return status;
    for (size_t i = 0; i < GUARD_BYTES && !status; i++)
        if (behind[i] != GUARD)
            status = penstock__error(PENSTOCK_ERR_CHECK, "self-check of a filter: wrote behind its output");
    return status;
}

int penstock__check_filter(struct penstock__binding *binding)
{
    const struct penstock_filter_problem *filter = &binding->state.problem->filter;
    struct check check = {.binding = binding, .filter = filter, .random = 3};
    int status = PENSTOCK_ERR_MEMORY;
    check.frames = SAMPLES / filter->n < FRAMES ? SAMPLES / filter->n + 1 : FRAMES;
    check.samples = (check.frames - 1) * filter->block + filter->n;
    check.in = penstock__alloc(check.samples * penstock_format_bytes(filter->format));
    check.response = penstock__alloc(filter->n * sizeof *check.response);
    check.out = penstock__alloc(check.frames * filter->block * sizeof *check.out + GUARD_BYTES);
    check.x = penstock__alloc(2 * filter->n * sizeof *check.x);
    if (check.in && check.response && check.out && check.x)
        status = run(&check);
    penstock__free(check.in);
    penstock__free(check.response);
    penstock__free(check.out);
    penstock__free(check.x);
    return status;
}
