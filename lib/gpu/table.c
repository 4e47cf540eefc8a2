/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Tables for the kernel, each value rounded once from double precision. */
#include "gpu/table.h"
#include "gpu/convolution.h"
#include "gpu/kernel.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- layout ---------------------- */

static void lay_out_stages(unsigned *stage_at, const struct gpu_launch_config *config, size_t *at)
{
    for (unsigned s = 0; s < config->stages; s++) {
        stage_at[s] = (unsigned)*at;
        if (config->span[s] > 1)
            *at += 2 * (size_t)(config->radix[s] - 1) * config->span[s];
    }
}

/* Reserves `count` floats; pairs are read in one piece, so that all begin at an even one. */
static unsigned reserve(size_t *at, size_t count)
{
    unsigned here = (unsigned)*at;
    *at += (count + 1) & ~(size_t)1;
    return here;
}

/* Exponents of the factors between this pass and the next are below this; 0: there are none. */
static size_t turns_of(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass)
{
    return pass->inner < penstock__gpu_columns(decomposition, pass) ? decomposition->total / pass->inner : 0;
}

/* How many columns have the same window: all of them, or else none does with another. */
static unsigned same_factors(const struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft)
{
    const size_t side = decomposition->side;
    for (size_t i = 0; i < fft->n; i++)
        if (memcmp(&fft->window[i], &fft->window[i / side * side], sizeof *fft->window))
            return 1;
    return (unsigned)side;
}

static void lay_out(struct gpu_table *table, const struct gpu_decomposition *decomposition, const struct gpu_pass *pass,
                    const struct penstock_fft_problem *fft)
{
    bool bluestein = decomposition->method == GPU_BLUESTEIN, rader = decomposition->method == GPU_RADER;
    size_t at = 0, turns = turns_of(decomposition, pass);
    lay_out_stages(table->stage_at, &pass->config, &at);
    table->half_at = reserve(&at, decomposition->real == GPU_PACKED ? 2 * (size_t)decomposition->length : 0);
    if (pass->first)
        table->window_kind = bluestein || (fft->shift != 0 && !fft->gathered) ? 2 : fft->window && !fft->fold ? 1 : 0;
    table->fold_at = reserve(&at, pass->first ? fft->fold * fft->n : 0);
    table->window_side = table->window_kind == 1 ? same_factors(decomposition, fft) : 1;
    table->window_at = reserve(&at, table->window_kind * fft->n / table->window_side);
    table->spectrum_at = reserve(&at, pass->middle ? 2 * (size_t)decomposition->total : 0);
    table->chirp_at = reserve(&at, bluestein && pass->last ? 2 * (size_t)decomposition->length : 0);
    table->order_in_at = reserve(&at, rader ? decomposition->total : 0);
    table->order_out_at = reserve(&at, rader ? decomposition->total : 0);
    while (turns >> (2 * table->fine_bits))
        table->fine_bits++;
    table->fine_at = reserve(&at, turns ? (size_t)2 << table->fine_bits : 0);
    table->coarse_at = reserve(&at, turns ? 2 * ((turns >> table->fine_bits) + 1) : 0);
    table->count = at ? at : 1; /* a buffer cannot be empty */
}

/* ---------------------------------------------------------------- contents -------------------- */

static void put_root(float **values, uint64_t k, uint64_t n)
{
    double re, im;
    penstock__unit_root(&re, &im, k % n, n);
    *(*values)++ = (float)re;
    *(*values)++ = (float)-im;
}

/* exp(2 pi i k / n), k < n; to be freed. */
static double *roots_of(size_t n)
{
    double *roots = penstock__alloc(2 * n * sizeof *roots);
    if (roots)
        penstock__unit_roots(roots, n);
    return roots;
}

/* As numbers of radix x span points of which the transform's are a multiple. */
static int fill_stages(float *values, const unsigned *stage_at, const struct gpu_launch_config *config)
{
    double *roots = roots_of(config->n);
    if (!roots)
        return PENSTOCK_ERR_MEMORY;
    for (unsigned s = 0; s < config->stages; s++) {
        size_t radix = config->radix[s], span = config->span[s], times = config->n / (radix * span);
        float *at = values + stage_at[s];
        for (size_t k = 1; k < radix && span > 1; k++)
            for (size_t j = 0; j < span; j++) {
                const double *root = roots + 2 * k * j * times;
                *at++ = (float)root[0];
                *at++ = (float)-root[1];
            }
    }
    penstock__free(roots);
    return PENSTOCK_OK;
}

static int fill_half(float *values, size_t n)
{
    double *roots = roots_of(2 * n);
    if (!roots)
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < 2 * n; i++)
        values[i] = (float)roots[i];
    penstock__free(roots);
    return PENSTOCK_OK;
}

static void fill_between(const struct gpu_table *table, size_t turns)
{
    float *fine = table->values + table->fine_at, *coarse = table->values + table->coarse_at;
    for (size_t i = 0; i < (size_t)1 << table->fine_bits; i++)
        put_root(&fine, i, turns);
    for (size_t i = 0; i <= turns >> table->fine_bits; i++)
        put_root(&coarse, i << table->fine_bits, turns);
}

/* Window times shift times chirp, which is NULL where there is none. Chirps are for forward transforms: a reverse one
 * exchanges real and imaginary parts after this factor, which conjugates it. */
static void fill_factors(float *values, const double *chirp, const struct penstock_fft_problem *fft)
{
    double shift = fft->gathered ? 0 : fft->shift;
    for (size_t j = 0; j < fft->n; j++) {
        double turns = shift * (double)j, angle = 6.28318530717958647692 * (turns - rint(turns));
        double factor = fft->window && !fft->fold ? (double)fft->window[j] : 1;
        double re = factor, im = 0, c = chirp ? chirp[2 * j] : 1, d = chirp ? chirp[2 * j + 1] : 0;
        if (shift != 0) {
            re = factor * cos(angle);
            im = factor * sin(angle);
        }
        if (fft->direction == PENSTOCK_REVERSE)
            d = -d;
        *values++ = (float)(re * c - im * d);
        *values++ = (float)(re * d + im * c);
    }
}

/* What a pass of Bluestein's convolution multiplies by. */
static int fill_bluestein(const struct gpu_table *table, const struct gpu_decomposition *decomposition,
                          const struct gpu_pass *pass, const struct penstock_fft_problem *fft)
{
    float *values = table->values + table->chirp_at;
    double *chirp = penstock__alloc(2 * (size_t)decomposition->length * sizeof *chirp);
    int status = chirp ? penstock__gpu_chirp(chirp, decomposition->length) : PENSTOCK_ERR_MEMORY;
    if (!status && pass->first)
        fill_factors(table->values + table->window_at, chirp, fft);
    for (size_t i = 0; i < 2 * (size_t)decomposition->length && pass->last && !status; i++)
        values[i] = (float)chirp[i];
    if (!status && pass->middle)
        status = penstock__gpu_chirp_spectrum(table->values + table->spectrum_at, chirp, decomposition->length,
                                              decomposition->total);
    penstock__free(chirp);
    return status;
}

static int fill_rader(const struct gpu_table *table, const struct gpu_decomposition *decomposition)
{
    float *values = table->values;
    penstock__gpu_rader_order(values + table->order_in_at, values + table->order_out_at, decomposition->length);
    return penstock__gpu_rader_spectrum(values + table->spectrum_at, decomposition->length);
}

static int fill(const struct gpu_table *table, const struct gpu_decomposition *decomposition,
                const struct gpu_pass *pass, const struct penstock_fft_problem *fft)
{
    float *values = table->values;
    int status = fill_stages(values, table->stage_at, &pass->config);
    if (!status && decomposition->real == GPU_PACKED)
        status = fill_half(values + table->half_at, decomposition->length);
    for (size_t i = 0; table->window_kind == 1 && i < fft->n / table->window_side; i++)
        values[table->window_at + i] = fft->window[i * table->window_side];
    if (fft->fold && pass->first)
        memcpy(values + table->fold_at, fft->window, fft->fold * fft->n * sizeof(float));
    if (table->window_kind == 2 && decomposition->method != GPU_BLUESTEIN)
        fill_factors(values + table->window_at, NULL, fft);
    if (turns_of(decomposition, pass))
        fill_between(table, turns_of(decomposition, pass));
    if (!status && decomposition->method == GPU_BLUESTEIN && (pass->first || pass->last || pass->middle))
        status = fill_bluestein(table, decomposition, pass, fft);
    if (!status && decomposition->method == GPU_RADER)
        status = fill_rader(table, decomposition);
    return status;
}

void penstock__gpu_table_plan(struct gpu_table *table, const struct gpu_decomposition *decomposition, unsigned index,
                              const struct penstock_fft_problem *fft)
{
    memset(table, 0, sizeof *table);
    lay_out(table, decomposition, &decomposition->pass[index], fft);
}

int penstock__gpu_table(struct gpu_table *table, const struct gpu_decomposition *decomposition, unsigned index,
                        const struct penstock_fft_problem *fft)
{
    const struct gpu_pass *pass = &decomposition->pass[index];
    int status;
    penstock__gpu_table_plan(table, decomposition, index, fft);
    if (!(table->values = penstock__calloc(table->count, sizeof(float))))
        return PENSTOCK_ERR_MEMORY;
    if ((status = fill(table, decomposition, pass, fft)))
        penstock__gpu_table_free(table);
    return status;
}

/* ---------------------------------------------------------------- kept ------------------------ */

enum { KEPT_LEAST = 1 << 12, KEPT_MOST = 1 << 18 }; /* points of a convolution; more would fill the folder */

static bool is_kept(const struct gpu_decomposition *decomposition, const struct penstock_fft_problem *fft)
{
    return decomposition->method == GPU_BLUESTEIN && decomposition->total >= KEPT_LEAST &&
           decomposition->total <= KEPT_MOST && !fft->window && (fft->gathered || fft->shift == 0);
}

/* All that values and their places depend on. */
static void name_kept(char name[64], const struct gpu_table *table, const struct gpu_decomposition *decomposition,
                      unsigned index, const struct penstock_fft_problem *fft)
{
    const struct gpu_pass *pass = &decomposition->pass[index];
    struct gpu_text text = {0};
    penstock__text_add(&text, "%zu floats, n %u total %u real %d reverse %d, pass %u of %u inner %u:", table->count,
                       decomposition->length, decomposition->total, (int)decomposition->real,
                       fft->direction == PENSTOCK_REVERSE, index, decomposition->count, pass->inner);
    for (unsigned s = 0; s < pass->config.stages; s++)
        penstock__text_add(&text, " %u span %u at %u", pass->config.radix[s], pass->config.span[s], table->stage_at[s]);
    penstock__text_add(&text, "; window %u %u half %u spectrum %u chirp %u order %u %u fine %u %u coarse %u",
                       table->window_kind, table->window_at, table->half_at, table->spectrum_at, table->chirp_at,
                       table->order_in_at, table->order_out_at, table->fine_at, table->fine_bits, table->coarse_at);
    *name = 0;
    if (!text.failed)
        penstock__gpu_cache_name(name, "table", text.content, "", penstock_version());
    penstock__text_free(&text);
}

int penstock__gpu_table_kept(struct gpu_table *table, penstock_context *context,
                             const struct gpu_decomposition *decomposition, unsigned index,
                             const struct penstock_fft_problem *fft)
{
    char name[64];
    size_t bytes;
    int status;
    if (!is_kept(decomposition, fft))
        return penstock__gpu_table(table, decomposition, index, fft);
    penstock__gpu_table_plan(table, decomposition, index, fft);
    name_kept(name, table, decomposition, index, fft);
    if (*name && (table->values = penstock__cache_read(context, name, &bytes))) {
        if (bytes == table->count * sizeof(float))
            return PENSTOCK_OK;
        penstock__gpu_table_free(table);
    }
    if (!(status = penstock__gpu_table(table, decomposition, index, fft)) && *name)
        penstock__cache_write(context, name, table->values, table->count * sizeof(float));
    return status;
}

void penstock__gpu_table_free(struct gpu_table *table)
{
    penstock__free(table->values);
    table->values = NULL;
}
