/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Short complex transforms of powers of two by the processor's own vectors: abreast.h. */
#include "backends/cpu/abreast.h"
#include "backends/cpu/transform.h"

static bool fits(const struct cpu_transform *t)
{
    return t->domain == PENSTOCK_COMPLEX && penstock__abreast_kernels(t->n);
}

static int init(struct cpu_transform *t)
{
    struct abreast_fft *abreast;
    int status = penstock__abreast_fft_new(&abreast, t->n, t->window, penstock__abreast_kernels(t->n));
    if (status)
        return status;
    t->priv = abreast;
    t->alignment = sizeof(float);
    t->scratch_bytes = t->n * sizeof(penstock_cf32);
    t->together = abreast->kernels->together;
    return PENSTOCK_OK;
}

static void destroy(struct cpu_transform *t)
{
    penstock__abreast_fft_free(t->priv);
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    const struct abreast_fft *abreast = t->priv;
    const struct abreast_kernels *kernels = abreast->kernels;
    (t->direction == PENSTOCK_FORWARD ? kernels->forward : kernels->reverse)(abreast, in, in_step, out, out_step, count,
                                                                             scratch);
}

const struct cpu_transform_kind penstock__cpu_transform_abreast = {
    .name = "vectors", .windows = true, .fits = fits, .init = init, .free = destroy, .run = run};
