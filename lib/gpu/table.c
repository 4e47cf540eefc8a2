/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables for the kernel, each value rounded once from double precision. */
#include "gpu/table.h"
#include "gpu/convolution.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- layout ---------------------- */

void penstock__gpu_table_lay_out_stages(unsigned *stage_at, const struct gpu_shape *shape, size_t *at)
{
    for (unsigned s = 0; s < shape->stages; s++) {
        stage_at[s] = (unsigned)*at;
        if (shape->span[s] > 1)
            *at += 2 * (size_t)(shape->radix[s] - 1) * shape->span[s];
    }
}

/* Reserves `count` floats; pairs are read in one piece, so that all begin at an even one. */
static unsigned reserve(size_t *at, size_t count)
{
    unsigned here = (unsigned)*at;
    *at += (count + 1) & ~(size_t)1;
    return here;
}

/* Exponents of the factors between this node and the next are below this; 0: there are none. */
static size_t turns_of(const struct gpu_scheme *scheme, const struct gpu_node *node)
{
    return node->inner < penstock__gpu_columns(scheme, node) ? scheme->total / node->inner : 0;
}

static void lay_out(struct gpu_table *table, const struct gpu_scheme *scheme, const struct gpu_node *node,
                    const struct penstock_fft_problem *fft)
{
    bool bluestein = scheme->method == GPU_BLUESTEIN, rader = scheme->method == GPU_RADER;
    size_t at = 0, turns = turns_of(scheme, node);
    penstock__gpu_table_lay_out_stages(table->stage_at, &node->shape, &at);
    table->half_at = reserve(&at, scheme->real == GPU_PACKED ? 2 * (size_t)scheme->length : 0);
    if (node->first)
        table->window_kind = bluestein || (fft->shift != 0 && !fft->gathered) ? 2 : fft->window ? 1 : 0;
    table->window_at = reserve(&at, table->window_kind * fft->n);
    table->spectrum_at = reserve(&at, node->middle ? 2 * (size_t)scheme->total : 0);
    table->chirp_at = reserve(&at, bluestein && node->last ? 2 * (size_t)scheme->length : 0);
    table->order_in_at = reserve(&at, rader ? scheme->total : 0);
    table->order_out_at = reserve(&at, rader ? scheme->total : 0);
    while (turns >> (2 * table->fine_bits))
        table->fine_bits++;
    table->fine_at = reserve(&at, turns ? (size_t)2 << table->fine_bits : 0);
    table->coarse_at = reserve(&at, turns ? 2 * ((turns >> table->fine_bits) + 1) : 0);
    table->count = at ? at : 1; /* a buffer cannot be empty */
}

/* ---------------------------------------------------------------- contents -------------------- */

static void put_root(float **values, uint64_t k, uint64_t n, bool conjugate)
{
    double re, im;
    penstock__unit_root(&re, &im, k % n, n);
    *(*values)++ = (float)re;
    *(*values)++ = (float)(conjugate ? -im : im);
}

void penstock__gpu_table_fill_stages(float *values, const unsigned *stage_at, const struct gpu_shape *shape)
{
    for (unsigned s = 0; s < shape->stages; s++) {
        unsigned radix = shape->radix[s], span = shape->span[s];
        float *at = values + stage_at[s];
        for (unsigned k = 1; k < radix && span > 1; k++)
            for (unsigned j = 0; j < span; j++)
                put_root(&at, (uint64_t)k * j, (uint64_t)radix * span, true);
    }
}

static void fill_half(float *values, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        put_root(&values, k, 2 * (uint64_t)n, false);
}

static void fill_between(const struct gpu_table *table, size_t turns)
{
    float *fine = table->values + table->fine_at, *coarse = table->values + table->coarse_at;
    for (size_t i = 0; i < (size_t)1 << table->fine_bits; i++)
        put_root(&fine, i, turns, true);
    for (size_t i = 0; i <= turns >> table->fine_bits; i++)
        put_root(&coarse, i << table->fine_bits, turns, true);
}

/* Window times shift times chirp. Chirps are for forward transforms: a reverse one exchanges real and imaginary parts
 * after this factor, which conjugates it. */
static void fill_factors(float *values, const struct gpu_scheme *scheme, const struct penstock_fft_problem *fft)
{
    double shift = fft->gathered ? 0 : fft->shift;
    for (size_t j = 0; j < fft->n; j++) {
        double turns = shift * (double)j, angle = 6.28318530717958647692 * (turns - rint(turns));
        double factor = fft->window ? (double)fft->window[j] : 1;
        double re = factor * cos(angle), im = factor * sin(angle), c = 1, d = 0;
        if (scheme->method == GPU_BLUESTEIN)
            penstock__gpu_chirp(&c, &d, j, scheme->length);
        if (fft->direction == PENSTOCK_REVERSE)
            d = -d;
        *values++ = (float)(re * c - im * d);
        *values++ = (float)(re * d + im * c);
    }
}

static void fill_chirp(float *values, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double re, im;
        penstock__gpu_chirp(&re, &im, k, n);
        *values++ = (float)re;
        *values++ = (float)im;
    }
}

static int fill(const struct gpu_table *table, const struct gpu_scheme *scheme, const struct gpu_node *node,
                const struct penstock_fft_problem *fft)
{
    float *values = table->values;
    penstock__gpu_table_fill_stages(values, table->stage_at, &node->shape);
    if (scheme->real == GPU_PACKED)
        fill_half(values + table->half_at, scheme->length);
    if (table->window_kind == 1)
        memcpy(values + table->window_at, fft->window, fft->n * sizeof(float));
    if (table->window_kind == 2)
        fill_factors(values + table->window_at, scheme, fft);
    if (turns_of(scheme, node))
        fill_between(table, turns_of(scheme, node));
    if (scheme->method == GPU_BLUESTEIN && node->last)
        fill_chirp(values + table->chirp_at, scheme->length);
    if (scheme->method == GPU_RADER)
        penstock__gpu_rader_order(values + table->order_in_at, values + table->order_out_at, scheme->length);
    if (!node->middle)
        return PENSTOCK_OK;
    return scheme->method == GPU_RADER
               ? penstock__gpu_rader_spectrum(values + table->spectrum_at, scheme->length)
               : penstock__gpu_chirp_spectrum(values + table->spectrum_at, scheme->length, scheme->total);
}

int penstock__gpu_table(struct gpu_table *table, const struct gpu_scheme *scheme, unsigned index,
                        const struct penstock_fft_problem *fft)
{
    const struct gpu_node *node = &scheme->node[index];
    int status;
    memset(table, 0, sizeof *table);
    lay_out(table, scheme, node, fft);
    if (!(table->values = penstock__calloc(table->count, sizeof(float))))
        return PENSTOCK_ERR_MEMORY;
    if ((status = fill(table, scheme, node, fft)))
        penstock__gpu_table_free(table);
    return status;
}

void penstock__gpu_table_free(struct gpu_table *table)
{
    penstock__free(table->values);
    table->values = NULL;
}
