/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Transforms by the core's double-precision DFT: slow, exact, and always there. */
#include "backends/cpu/transform.h"

static int init(struct cpu_transform *t)
{
    struct penstock_dft_plan *plan;
    int status = penstock__dft_plan_new(&plan, t->n, t->direction);
    if (status)
        return status;
    t->priv = plan;
    t->alignment = sizeof(float);
    t->scratch_bytes = 2 * t->n * sizeof(double) + penstock__dft_plan_scratch_bytes(plan);
    return PENSTOCK_OK;
}

static void destroy(struct cpu_transform *t)
{
    penstock__dft_plan_free(t->priv);
}

/* n complex values from floats, from half a Hermitian spectrum or as they are. */
static void widen(const struct cpu_transform *t, double *data, const float *in)
{
    size_t n = t->n;
    if (t->domain == PENSTOCK_COMPLEX) {
        for (size_t i = 0; i < 2 * n; i++)
            data[i] = in[i];
    } else if (t->direction == PENSTOCK_FORWARD) {
        for (size_t i = 0; i < n; i++) {
            data[2 * i] = in[i];
            data[2 * i + 1] = 0;
        }
    } else {
        for (size_t k = 0; k < n; k++) {
            size_t bin = k <= n / 2 ? k : n - k;
            data[2 * k] = in[2 * bin];
            data[2 * k + 1] = k <= n / 2 ? in[2 * bin + 1] : -in[2 * bin + 1];
        }
    }
}

static void narrow(const struct cpu_transform *t, float *out, const double *data)
{
    bool real_out = t->domain == PENSTOCK_REAL && t->direction == PENSTOCK_REVERSE;
    bool half = t->domain == PENSTOCK_REAL && t->direction == PENSTOCK_FORWARD;
    size_t count = half ? 2 * (t->n / 2 + 1) : 2 * t->n;
    if (real_out)
        for (size_t i = 0; i < t->n; i++)
            out[i] = (float)data[2 * i];
    else
        for (size_t i = 0; i < count; i++)
            out[i] = (float)data[i];
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    double *data = scratch;
    for (size_t i = 0; i < count; i++) {
        widen(t, data, (const void *)((const char *)in + i * in_step));
        penstock__dft_plan_run(t->priv, data, data + 2 * t->n);
        narrow(t, (void *)((char *)out + i * out_step), data);
    }
}

const struct cpu_transform_kind penstock__cpu_transform_plain = {
    .name = "plain double-precision FFT", .init = init, .free = destroy, .run = run};
