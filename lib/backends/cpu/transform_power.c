/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The mean power of complex transforms of powers of two by the processor's own vectors: power.h. */
#include "backends/cpu/power.h"
#include "backends/cpu/transform.h"

static bool fits(const struct cpu_transform *t)
{
    return t->power_only && penstock__power_kernels(t->n);
}

static int init(struct cpu_transform *t)
{
    struct power_fft *fft;
    int status = penstock__power_fft_new(&fft, t->n, t->window, penstock__power_kernels(t->n));
    if (status)
        return status;
    t->priv = fft;
    t->alignment = sizeof(float);
    t->scratch_bytes = t->n * sizeof(penstock_cf32);
    t->sum_bytes = penstock__power_sum_bytes(t->n);
    return PENSTOCK_OK;
}

static void destroy(struct cpu_transform *t)
{
    penstock__power_fft_free(t->priv);
}

static void add_power(const struct cpu_transform *t, void *sums, unsigned k, unsigned average, const void *in,
                      const void *next, void *scratch)
{
    const struct power_fft *fft = t->priv;
    fft->kernels->add(fft, sums, k, average, in, next, scratch);
}

static void mean_power(const struct cpu_transform *t, float *out, const void *sums, unsigned average, size_t first)
{
    penstock__power_mean(t->priv, out, sums, average, first);
}

const struct cpu_transform_kind penstock__cpu_transform_power = {.name = "vectors",
                                                                 .windows = true,
                                                                 .fits = fits,
                                                                 .init = init,
                                                                 .free = destroy,
                                                                 .add_power = add_power,
                                                                 .mean_power = mean_power};
