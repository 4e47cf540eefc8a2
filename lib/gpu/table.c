/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables for the kernel, each value rounded once from double precision. */
#include "gpu/table.h"

#include <math.h>
#include <string.h>

static void lay_out(struct gpu_table *table, const struct gpu_shape *shape, const struct penstock_fft_problem *fft)
{
    size_t at = 0;
    for (unsigned s = 0; s < shape->stages; s++) {
        table->stage_at[s] = (unsigned)at;
        if (shape->span[s] > 1)
            at += 2 * (size_t)(shape->radix[s] - 1) * shape->span[s];
    }
    table->half_at = (unsigned)at;
    if (fft->domain == PENSTOCK_REAL)
        at += 2 * (size_t)shape->n;
    table->window_at = (unsigned)at;
    table->window_kind = fft->shift != 0 && !fft->gathered ? 2 : fft->window ? 1 : 0;
    table->count = at + table->window_kind * fft->n;
    if (!table->count)
        table->count = 1; /* a buffer cannot be empty */
}

static void fill_stage(float *values, unsigned radix, unsigned span)
{
    for (unsigned k = 1; k < radix && span > 1; k++)
        for (unsigned j = 0; j < span; j++) {
            double re, im;
            penstock__unit_root(&re, &im, (uint64_t)k * j, (uint64_t)radix * span);
            *values++ = (float)re;
            *values++ = (float)-im;
        }
}

static void fill_half(float *values, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        double re, im;
        penstock__unit_root(&re, &im, k, 2 * (uint64_t)n);
        *values++ = (float)re;
        *values++ = (float)im;
    }
}

static void fill_shifted_window(float *values, const struct penstock_fft_problem *fft)
{
    for (size_t j = 0; j < fft->n; j++) {
        double turns = fft->shift * (double)j, angle = 6.28318530717958647692 * (turns - rint(turns));
        double factor = fft->window ? (double)fft->window[j] : 1;
        *values++ = (float)(factor * cos(angle));
        *values++ = (float)(factor * sin(angle));
    }
}

int penstock__gpu_table(struct gpu_table *table, const struct gpu_shape *shape, const struct penstock_fft_problem *fft)
{
    memset(table, 0, sizeof *table);
    lay_out(table, shape, fft);
    if (!(table->values = penstock__calloc(table->count, sizeof(float))))
        return PENSTOCK_ERR_MEMORY;
    for (unsigned s = 0; s < shape->stages; s++)
        fill_stage(table->values + table->stage_at[s], shape->radix[s], shape->span[s]);
    if (fft->domain == PENSTOCK_REAL)
        fill_half(table->values + table->half_at, shape->n);
    if (table->window_kind == 1)
        memcpy(table->values + table->window_at, fft->window, fft->n * sizeof(float));
    if (table->window_kind == 2)
        fill_shifted_window(table->values + table->window_at, fft);
    return PENSTOCK_OK;
}

void penstock__gpu_table_free(struct gpu_table *table)
{
    penstock__free(table->values);
    table->values = NULL;
}
