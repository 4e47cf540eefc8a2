/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Short complex transforms of powers of two by the processor's own vectors: interleaved.h. */
#include "backends/cpu/interleaved.h"
#include "backends/cpu/transform.h"

static bool fits(const struct cpu_transform *t)
{
    return t->domain == PENSTOCK_COMPLEX && penstock__interleaved_kernels(t->n);
}

static int init(struct cpu_transform *t)
{
    struct interleaved_fft *interleaved;
    int status = penstock__interleaved_fft_new(&interleaved, t->n, t->window, penstock__interleaved_kernels(t->n));
    if (status)
        return status;
    t->priv = interleaved;
    t->alignment = sizeof(float);
    t->scratch_bytes = t->n * sizeof(penstock_cf32);
    t->together = interleaved->kernels->together;
    return PENSTOCK_OK;
}

static void destroy(struct cpu_transform *t)
{
    penstock__interleaved_fft_free(t->priv);
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    const struct interleaved_fft *interleaved = t->priv;
    const struct interleaved_kernels *kernels = interleaved->kernels;
    (t->direction == PENSTOCK_FORWARD ? kernels->forward : kernels->reverse)(interleaved, in, in_step, out, out_step,
                                                                             count, scratch);
}

const struct cpu_transform_kind penstock__cpu_transform_interleaved = {
    .name = "vectors", .windows = true, .fits = fits, .init = init, .free = destroy, .run = run};
