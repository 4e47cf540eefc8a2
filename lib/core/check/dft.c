/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The double-precision DFT that everything is checked against: Stockham's autosort algorithm in stages of
 * radix 4, 2, 3 and any other prime up to MAX_RADIX; lengths with a larger prime go through a convolution of
 * power-of-two length (L. Bluestein, IEEE Trans. Audio Electroacoust. 18(4), 1970).
 * Stockham: C. Van Loan, Computational Frameworks for the FFT, SIAM, 1992, section 1.7.
 */
#include "backends/backend.h"

#include <string.h>

#define MAX_RADIX  61
#define MAX_STAGES 64

struct complex {
    double re, im;
};

struct penstock_dft_plan {
    size_t n;
    double sign; /* of the exponent */
    unsigned stages;
    unsigned char radix[MAX_STAGES];
    struct complex *roots; /* exp(sign 2 pi i k / n), k < n */

    struct penstock_dft_plan *convolver; /* Bluestein: forward plan of a power of two >= 2 n - 1, else NULL */
    struct complex *chirp;               /* exp(sign pi i k^2 / n), k < n */
    struct complex *kernel;              /* transform of the conjugate chirp, divided by the convolver's length */
};

static struct complex multiply(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static struct complex add(struct complex a, struct complex b)
{
    return (struct complex){a.re + b.re, a.im + b.im};
}

static struct complex subtract(struct complex a, struct complex b)
{
    return (struct complex){a.re - b.re, a.im - b.im};
}

/* One stage works on `n` points at distance `stride`: `radix` of them at a time become sums, which the next stage
 * takes as `radix` times as many transforms of n / radix points. */
struct stage {
    size_t n, stride, radix;
    double sign;
    const struct complex *roots; /* of the whole length, n * stride */
};

static void stage_2(const struct stage *stage, struct complex *restrict out, const struct complex *restrict in)
{
    size_t stride = stage->stride, half = stage->n / 2;
    for (size_t p = 0; p < half; p++) {
        struct complex w = stage->roots[p * stride];
        for (size_t q = 0; q < stride; q++) {
            struct complex a = in[q + stride * p], b = in[q + stride * (p + half)];
            out[q + stride * 2 * p] = add(a, b);
            out[q + stride * (2 * p + 1)] = multiply(subtract(a, b), w);
        }
    }
}

static void stage_4(const struct stage *stage, struct complex *restrict out, const struct complex *restrict in)
{
    size_t stride = stage->stride, quarter = stage->n / 4;
    double sign = stage->sign;
    for (size_t p = 0; p < quarter; p++) {
        struct complex w1 = stage->roots[p * stride], w2 = stage->roots[2 * p * stride],
                       w3 = stage->roots[3 * p * stride];
        for (size_t q = 0; q < stride; q++) {
            const struct complex *x = in + q + stride * p;
            struct complex *y = out + q + stride * 4 * p;
            struct complex a = x[0], b = x[stride * quarter], c = x[2 * stride * quarter], d = x[3 * stride * quarter];
            struct complex ac = add(a, c), bd = add(b, d), even = subtract(a, c), odd = subtract(b, d);
            struct complex turned = {-sign * odd.im, sign * odd.re};
            y[0] = add(ac, bd);
            y[stride] = multiply(add(even, turned), w1);
            y[2 * stride] = multiply(subtract(ac, bd), w2);
            y[3 * stride] = multiply(subtract(even, turned), w3);
        }
    }
}

/* Any odd radix: the points j and radix - j are conjugate in their factors, which halves the work. */
static void stage_odd(const struct stage *stage, struct complex *restrict out, const struct complex *restrict in)
{
    size_t stride = stage->stride, radix = stage->radix, part = stage->n / radix, half = radix / 2;
    struct complex root[MAX_RADIX], sum[MAX_RADIX], difference[MAX_RADIX];
    for (size_t k = 0; k < radix; k++)
        root[k] = stage->roots[k * part * stride];
    for (size_t p = 0; p < part; p++)
        for (size_t q = 0; q < stride; q++) {
            const struct complex *x = in + q + stride * p;
            struct complex *y = out + q + stride * radix * p;
            struct complex total = x[0];
            for (size_t t = 1; t <= half; t++) {
                struct complex a = x[t * stride * part], b = x[(radix - t) * stride * part];
                sum[t] = add(a, b);
                difference[t] = subtract(a, b);
                total = add(total, sum[t]);
            }
            y[0] = total;
            for (size_t j = 1; j <= half; j++) {
                struct complex even = x[0], odd = {0, 0};
                for (size_t t = 1, k = j; t <= half; t++, k = (k + j) % radix) {
                    even.re += sum[t].re * root[k].re;
                    even.im += sum[t].im * root[k].re;
                    odd.re -= difference[t].im * root[k].im;
                    odd.im += difference[t].re * root[k].im;
                }
                y[j * stride] = multiply(add(even, odd), stage->roots[j * p * stride]);
                y[(radix - j) * stride] = multiply(subtract(even, odd), stage->roots[(radix - j) * p * stride]);
            }
        }
}

/* The stages go back and forth between `data` and `scratch`, both n values; the result ends in `data`. */
static void run_stages(const struct penstock_dft_plan *plan, struct complex *data, struct complex *scratch)
{
    struct stage stage = {.n = plan->n, .stride = 1, .sign = plan->sign, .roots = plan->roots};
    struct complex *in = data, *out = scratch;
    for (unsigned i = 0; i < plan->stages; i++) {
        struct complex *swapped = in;
        stage.radix = plan->radix[i];
        if (stage.radix == 4)
            stage_4(&stage, out, in);
        else if (stage.radix == 2)
            stage_2(&stage, out, in);
        else
            stage_odd(&stage, out, in);
        stage.n /= stage.radix;
        stage.stride *= stage.radix;
        in = out;
        out = swapped;
    }
    if (in != data)
        memcpy(data, in, plan->n * sizeof *data);
}

static void run_bluestein(const struct penstock_dft_plan *plan, struct complex *data, struct complex *scratch)
{
    size_t n = plan->n, m = plan->convolver->n;
    struct complex *work = scratch, *more = scratch + m;
    for (size_t k = 0; k < n; k++)
        work[k] = multiply(data[k], plan->chirp[k]);
    memset(work + n, 0, (m - n) * sizeof *work);
    run_stages(plan->convolver, work, more);
    for (size_t k = 0; k < m; k++) { /* conjugated, so that the forward transform goes back */
        struct complex product = multiply(work[k], plan->kernel[k]);
        work[k] = (struct complex){product.re, -product.im};
    }
    run_stages(plan->convolver, work, more);
    for (size_t k = 0; k < n; k++)
        data[k] = multiply((struct complex){work[k].re, -work[k].im}, plan->chirp[k]);
}

/* False where a prime factor is too large. */
static bool factor(struct penstock_dft_plan *plan)
{
    size_t rest = plan->n;
    while (rest % 4 == 0) {
        plan->radix[plan->stages++] = 4;
        rest /= 4;
    }
    for (size_t radix = 2; radix <= MAX_RADIX && rest > 1; radix++)
        for (; rest % radix == 0; rest /= radix)
            plan->radix[plan->stages++] = (unsigned char)radix;
    return rest == 1;
}

static int make_roots(struct penstock_dft_plan *plan)
{
    if (!(plan->roots = penstock__alloc(plan->n * sizeof *plan->roots)))
        return PENSTOCK_ERR_MEMORY;
    penstock__unit_roots(&plan->roots->re, plan->n);
    for (size_t k = 0; k < plan->n; k++)
        plan->roots[k].im *= plan->sign;
    return PENSTOCK_OK;
}

static int make_bluestein(struct penstock_dft_plan *plan)
{
    size_t n = plan->n, m = 1;
    struct complex *scratch;
    int status;
    while (m < 2 * n - 1)
        m *= 2;
    if ((status = penstock__dft_plan_new(&plan->convolver, m, PENSTOCK_FORWARD)))
        return status;
    plan->chirp = penstock__alloc(n * sizeof *plan->chirp);
    plan->kernel = penstock__calloc(m, sizeof *plan->kernel);
    scratch = penstock__alloc(m * sizeof *scratch);
    if (!plan->chirp || !plan->kernel || !scratch) {
        penstock__free(scratch);
        return PENSTOCK_ERR_MEMORY;
    }
    for (size_t k = 0; k < n; k++) {
        struct complex *c = &plan->chirp[k];
        penstock__unit_root(&c->re, &c->im, (uint64_t)k * k % (2 * n), 2 * n);
        c->im *= plan->sign;
        plan->kernel[k] = (struct complex){c->re / (double)m, -c->im / (double)m};
        if (k)
            plan->kernel[m - k] = plan->kernel[k];
    }
    run_stages(plan->convolver, plan->kernel, scratch);
    penstock__free(scratch);
    return PENSTOCK_OK;
}

int penstock__dft_plan_new(struct penstock_dft_plan **plan, size_t n, penstock_direction direction)
{
    struct penstock_dft_plan *new;
    int status;
    *plan = NULL;
    if (!n || n > (size_t)1 << 30)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a DFT of %zu points was asked for; 1 .. 2^30 are possible", n);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->n = n;
    new->sign = direction == PENSTOCK_FORWARD ? -1.0 : 1.0;
    if ((status = factor(new) ? make_roots(new) : make_bluestein(new))) {
        penstock__dft_plan_free(new);
        return status;
    }
    *plan = new;
    return PENSTOCK_OK;
}

size_t penstock__dft_plan_scratch_bytes(const struct penstock_dft_plan *plan)
{
    return (plan->convolver ? 2 * plan->convolver->n : plan->n) * sizeof(struct complex);
}

void penstock__dft_plan_run(const struct penstock_dft_plan *plan, double *data, void *scratch)
{
    if (plan->convolver)
        run_bluestein(plan, (struct complex *)data, scratch);
    else
        run_stages(plan, (struct complex *)data, scratch);
}

void penstock__dft_plan_free(struct penstock_dft_plan *plan)
{
    if (!plan)
        return;
    penstock__dft_plan_free(plan->convolver);
    penstock__free(plan->kernel);
    penstock__free(plan->chirp);
    penstock__free(plan->roots);
    penstock__free(plan);
}

int penstock__dft(double *data, size_t n, penstock_direction direction)
{
    struct penstock_dft_plan *plan;
    void *scratch;
    int status = penstock__dft_plan_new(&plan, n, direction);
    if (status)
        return status;
    if ((scratch = penstock__alloc(penstock__dft_plan_scratch_bytes(plan))))
        penstock__dft_plan_run(plan, data, scratch);
    penstock__free(scratch);
    penstock__dft_plan_free(plan);
    return scratch ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}
