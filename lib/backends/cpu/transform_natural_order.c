/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Complex transforms of powers of two by the processor's own vectors: natural_order.h. */
#include "backends/cpu/natural_order.h"
#include "backends/cpu/transform.h"

static bool fits(const struct cpu_transform *t)
{
    return t->domain == PENSTOCK_COMPLEX && penstock__natural_order_kernels(t->n);
}

static int init(struct cpu_transform *t)
{
    struct natural_order_fft *fft;
    int status = penstock__natural_order_fft_new(&fft, t->n, t->window, penstock__natural_order_kernels(t->n));
    if (status)
        return status;
    t->priv = fft;
    t->alignment = sizeof(float);
    t->scratch_bytes = t->n * sizeof(penstock_cf32);
    return PENSTOCK_OK;
}

static void destroy(struct cpu_transform *t)
{
    penstock__natural_order_fft_free(t->priv);
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    const struct natural_order_fft *fft = t->priv;
    const struct natural_order_kernels *kernels = fft->kernels;
    const char *from = in;
    char *to = out;
    for (size_t i = 0; i < count; i++, from += in_step, to += out_step)
        (t->direction == PENSTOCK_FORWARD ? kernels->forward : kernels->reverse)(
            fft, (void *)to, (const void *)from, i + 1 < count ? (const void *)(from + in_step) : NULL, scratch);
}

const struct cpu_transform_kind penstock__cpu_transform_natural_order = {
    .name = "vectors", .windows = true, .fits = fits, .init = init, .free = destroy, .run = run};
