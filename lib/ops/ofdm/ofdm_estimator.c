/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Channel estimation by least squares in the delay domain. Of all frequency responses, those of a channel that lasts
 * `taps` samples form a subspace; the estimate is the projection of the raw one onto it. Seen from the middle of
 * the delays the subspace is spanned by real cosines and sines of frequency, so an orthonormal real basis Q, made once,
 * gives the estimate as Q (Q' y).
 *
 * O. Edfors et al., "OFDM channel estimation by singular value decomposition", IEEE Trans. Comm. 46(7), 1998.
 */
#include "backends/backend.h"
#include "core/base/description.h"
#include "core/stream/rest.h"

#include <math.h>
#include <string.h>

#define TAU        6.283185307179586
#define MAX_LENGTH 8192

/* A direction of which less than this share is new adds nothing but the rounding of the others. */
#define LEAST_NEW 1e-9

struct penstock_ofdm_estimator {
    size_t n;
    size_t used;          /* bins where training is sent */
    size_t taps;          /* columns of the basis; 0: no smoothing */
    uint32_t *bin;        /* of the used ones */
    penstock_cf32 *load;  /* received to raw estimate, times the training's amplitude, delays centred */
    penstock_cf32 *store; /* back from there to the channel */
    float *basis;         /* `used` rows of `taps` */
    float *transposed;    /* `taps` rows of `used` */
    float *re, *im;       /* `used` values */
    float *tap_re, *tap_im;
};

static int check(const penstock_ofdm_estimator_desc *desc, size_t *used)
{
    *used = 0;
    if (desc->n < 2 || desc->n > MAX_LENGTH)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: n is %zu, not 2 .. %d", desc->n, MAX_LENGTH);
    if (!desc->training)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: training is NULL");
    for (size_t k = 0; k < desc->n; k++) {
        float power = desc->training[k].re * desc->training[k].re + desc->training[k].im * desc->training[k].im;
        if (!(power < INFINITY))
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: training[%zu] is not finite", k);
        *used += power > 0;
    }
    if (!*used)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: training is zero on all bins");
    if (desc->window_offset >= desc->n)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: window_offset is %zu, not below n %zu",
                               desc->window_offset, desc->n);
    if (desc->taps > *used)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: %zu taps from %zu used bins", desc->taps, *used);
    if (desc->lead && desc->lead >= desc->taps)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: lead %zu is not below taps %zu", desc->lead,
                               desc->taps);
    return PENSTOCK_OK;
}

/* Used bins and what to multiply with on the way in and out. */
static void make_weights(penstock_ofdm_estimator *estimator, const penstock_ofdm_estimator_desc *desc)
{
    double n = (double)desc->n, offset = (double)desc->window_offset;
    double centre = desc->taps ? ((double)desc->taps - 1) / 2 - (double)desc->lead : 0;
    size_t i = 0;
    for (size_t k = 0; k < desc->n; k++) {
        double re = (double)desc->training[k].re, im = (double)desc->training[k].im, amplitude = hypot(re, im);
        if (!(desc->training[k].re * desc->training[k].re + desc->training[k].im * desc->training[k].im > 0))
            continue;
        double number = k < (desc->n + 1) / 2 ? (double)k : (double)k - n;
        double in = TAU * number * (offset + centre) / n - atan2(im, re), out = -TAU * number * centre / n;
        double share = desc->taps ? 1 : 1 / amplitude, back = desc->taps ? 1 / amplitude : 1;
        estimator->bin[i] = (uint32_t)k;
        estimator->load[i] = (penstock_cf32){(float)(share * cos(in)), (float)(share * sin(in))};
        estimator->store[i] = (penstock_cf32){(float)(back * cos(out)), (float)(back * sin(out))};
        i++;
    }
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Column `t` made orthogonal to those before and of length one; twice, which is enough (Kahan and Parlett). What has
 * no new direction becomes zero. */
static void orthonormalise(double *columns, size_t t, size_t rows)
{
    double *column = columns + t * rows, before = sqrt(dot(column, column, rows));
    for (int pass = 0; pass < 2; pass++)
        for (size_t other = 0; other < t; other++) {
            const double *q = columns + other * rows;
            double share = dot(q, column, rows);
            for (size_t i = 0; i < rows; i++)
                column[i] -= share * q[i];
        }
    double after = sqrt(dot(column, column, rows));
    double scale = after > LEAST_NEW * before ? 1 / after : 0;
    for (size_t i = 0; i < rows; i++)
        column[i] *= scale;
}

/* Delays tau from the middle outwards: 0 or 1/2 on, as `taps` is odd or even; a cosine and a sine each. */
static int make_basis(penstock_ofdm_estimator *estimator, const penstock_ofdm_estimator_desc *desc)
{
    size_t used = estimator->used, taps = estimator->taps;
    double *columns = penstock__alloc(used * taps * sizeof *columns);
    if (!columns)
        return PENSTOCK_ERR_MEMORY;
    for (size_t t = 0; t < taps; t++) {
        double delay = taps % 2 ? (double)((t + 1) / 2) : (double)(t / 2) + 0.5;
        bool sine = taps % 2 ? t && t % 2 == 0 : t % 2 == 1;
        for (size_t i = 0; i < used; i++) {
            penstock_cf32 x = desc->training[estimator->bin[i]];
            double angle = TAU * (double)estimator->bin[i] * delay / (double)desc->n;
            /* As carrier numbers, not bins: half delays have a period of two turns. */
            if (estimator->bin[i] >= (desc->n + 1) / 2)
                angle -= TAU * delay;
            columns[t * used + i] = hypot((double)x.re, (double)x.im) * (sine ? sin(angle) : cos(angle));
        }
        orthonormalise(columns, t, used);
        for (size_t i = 0; i < used; i++)
            estimator->basis[i * taps + t] = estimator->transposed[t * used + i] = (float)columns[t * used + i];
    }
    penstock__free(columns);
    return PENSTOCK_OK;
}

static int make(penstock_ofdm_estimator *estimator, const penstock_ofdm_estimator_desc *desc)
{
    size_t used = estimator->used, taps = estimator->taps, columns = taps ? taps : 1;
    estimator->bin = penstock__alloc(used * sizeof *estimator->bin);
    estimator->load = penstock__alloc(used * sizeof *estimator->load);
    estimator->store = penstock__alloc(used * sizeof *estimator->store);
    estimator->re = penstock__alloc(used * sizeof *estimator->re);
    estimator->im = penstock__alloc(used * sizeof *estimator->im);
    estimator->basis = penstock__alloc(used * columns * sizeof *estimator->basis);
    estimator->transposed = penstock__alloc(used * columns * sizeof *estimator->transposed);
    estimator->tap_re = penstock__alloc(columns * sizeof *estimator->tap_re);
    estimator->tap_im = penstock__alloc(columns * sizeof *estimator->tap_im);
    if (!estimator->bin || !estimator->load || !estimator->store || !estimator->re || !estimator->im ||
        !estimator->basis || !estimator->transposed || !estimator->tap_re || !estimator->tap_im)
        return PENSTOCK_ERR_MEMORY;
    make_weights(estimator, desc);
    return taps ? make_basis(estimator, desc) : PENSTOCK_OK;
}

int penstock_ofdm_estimator_new(penstock_ofdm_estimator **estimator, const penstock_ofdm_estimator_desc *desc)
{
    penstock_ofdm_estimator_desc d;
    penstock_ofdm_estimator *made;
    size_t used;
    int status;
    if (!estimator)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ofdm_estimator_new: estimator is NULL");
    *estimator = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_ofdm_estimator_desc")) ||
        (status = check(&d, &used)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->n = d.n;
    made->used = used;
    made->taps = d.taps;
    if ((status = make(made, &d))) {
        penstock_ofdm_estimator_free(made);
        return status;
    }
    *estimator = made;
    return PENSTOCK_OK;
}

void penstock_ofdm_estimator_free(penstock_ofdm_estimator *estimator)
{
    if (!estimator)
        return;
    penstock__free(estimator->bin);
    penstock__free(estimator->load);
    penstock__free(estimator->store);
    penstock__free(estimator->re);
    penstock__free(estimator->im);
    penstock__free(estimator->basis);
    penstock__free(estimator->transposed);
    penstock__free(estimator->tap_re);
    penstock__free(estimator->tap_im);
    penstock__free(estimator);
}

/* The symbols' mean on each used bin, and the sum of squared differences from it. */
static double average(penstock_ofdm_estimator *estimator, const penstock_cf32 *const *symbols, size_t count)
{
    double squares = 0;
    float share = 1.0f / (float)count;
    for (size_t i = 0; i < estimator->used; i++) {
        uint32_t k = estimator->bin[i];
        float re = 0, im = 0, here = 0;
        for (size_t s = 0; s < count; s++) {
            re += symbols[s][k].re;
            im += symbols[s][k].im;
        }
        re *= share;
        im *= share;
        for (size_t s = 0; s < count; s++) {
            float d_re = symbols[s][k].re - re, d_im = symbols[s][k].im - im;
            here += d_re * d_re + d_im * d_im;
        }
        squares += (double)here;
        estimator->re[i] = re * estimator->load[i].re - im * estimator->load[i].im;
        estimator->im[i] = re * estimator->load[i].im + im * estimator->load[i].re;
    }
    return squares;
}

/* out = M' in, for a matrix of `rows` rows of `columns`. */
static void project(const float *restrict matrix, size_t rows, size_t columns, const float *restrict in_re,
                    const float *restrict in_im, float *restrict out_re, float *restrict out_im)
{
    memset(out_re, 0, columns * sizeof *out_re);
    memset(out_im, 0, columns * sizeof *out_im);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            out_re[j] += matrix[i * columns + j] * in_re[i];
            out_im[j] += matrix[i * columns + j] * in_im[i];
        }
}

int penstock_ofdm_estimator_run(penstock_ofdm_estimator *estimator, penstock_cf32 *channel, float *noise,
                                const penstock_cf32 *const *symbols, size_t count)
{
    if (!estimator || !channel || !symbols || !count)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "penstock_ofdm_estimator_run: an argument is NULL or there are no symbols");
    int status = penstock__check_count("penstock_ofdm_estimator_run", count, sizeof *symbols);
    if (status)
        return status;
    if (noise && count < 2)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm estimator: the noise needs two training symbols or more");
    size_t used = estimator->used, taps = estimator->taps;
    double squares = average(estimator, symbols, count);
    if (noise)
        *noise = (float)(squares / ((double)(count - 1) * (double)used));
    if (taps) {
        project(estimator->basis, used, taps, estimator->re, estimator->im, estimator->tap_re, estimator->tap_im);
        project(estimator->transposed, taps, used, estimator->tap_re, estimator->tap_im, estimator->re, estimator->im);
    }
    memset(channel, 0, estimator->n * sizeof *channel);
    for (size_t i = 0; i < used; i++) {
        penstock_cf32 out = estimator->store[i];
        channel[estimator->bin[i]] = (penstock_cf32){estimator->re[i] * out.re - estimator->im[i] * out.im,
                                                     estimator->re[i] * out.im + estimator->im[i] * out.re};
    }
    return PENSTOCK_OK;
}
