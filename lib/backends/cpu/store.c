/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The store stage: all arithmetic is value by value in a fixed order, so neither address nor batch shows in the bits.
 */
#include "backends/cpu/store.h"
#include "backends/cpu/arrays.h"

#include <string.h>

/* Bins from 0 on that come after the others: all of them, or, with zero frequency in the middle, the lower half. The
 * transform of a plane has put them there itself. */
static size_t low_bins(const struct penstock_fft_problem *fft)
{
    size_t count = penstock__fft_out_count(fft);
    return fft->centered && !penstock__fft_is_plane(fft) ? count - count / 2 : count;
}

void penstock__store_init(struct cpu_store *store, const struct penstock_fft_problem *fft)
{
    size_t count = penstock__fft_out_count(fft);
    store->fft = fft;
    store->loops = penstock__cpu_loops();
    store->untouched =
        fft->output == PENSTOCK_OUTPUT_COMPLEX && fft->scale == 1 && low_bins(fft) == count && !fft->half;
}

size_t penstock__store_sum_bytes(const struct cpu_store *store)
{
    return store->fft->average > 1 ? penstock__fft_out_count(store->fft) * (sizeof(double) + sizeof(float)) : 0;
}

static void scale_floats(float *out, const float *in, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++)
        out[i] = in[i] * scale;
}

static void store_values(const struct penstock_fft_problem *fft, float *out, const float *values)
{
    size_t count = penstock__fft_out_count(fft), low = low_bins(fft), floats = penstock__fft_out_parts(fft);
    scale_floats(out + (count - low) * floats, values, low * floats, fft->scale);
    scale_floats(out, values + low * floats, (count - low) * floats, fft->scale);
}

static void store_power(const struct penstock_fft_problem *fft, float *out, const penstock_cf32 *values)
{
    size_t count = penstock__fft_out_count(fft), low = low_bins(fft);
    penstock__arrays_power(out + count - low, values, low);
    penstock__arrays_power(out, values + low, count - low);
}

static void store_mean(const struct penstock_fft_problem *fft, float *out, const double *sums)
{
    size_t count = penstock__fft_out_count(fft), low = low_bins(fft);
    double factor = 1.0 / fft->average;
    for (size_t i = 0; i < low; i++)
        out[count - low + i] = (float)(sums[i] * factor);
    for (size_t i = low; i < count; i++)
        out[i - low] = (float)(sums[i] * factor);
}

size_t penstock__store_first(const struct cpu_store *store)
{
    return penstock__fft_out_count(store->fft) - low_bins(store->fft);
}

void penstock__store_mean(const struct cpu_store *store, void *out)
{
    if (store->fft->output == PENSTOCK_OUTPUT_DECIBEL)
        store->loops->decibel(out, penstock__fft_out_count(store->fft));
}

void penstock__store_frame(const struct cpu_store *store, void *out, void *values)
{
    const struct penstock_fft_problem *fft = store->fft;
    size_t count = penstock__fft_out_count(fft);
    if (fft->output == PENSTOCK_OUTPUT_COMPLEX) {
        store_values(fft, out, values);
        return;
    }
    if (fft->scale != 1)
        scale_floats(values, values, 2 * count, fft->scale);
    store_power(fft, out, values);
    penstock__store_mean(store, out);
}

void penstock__store_add(const struct cpu_store *store, double *sums, void *values, unsigned k, unsigned count)
{
    const size_t n = penstock__fft_out_count(store->fft);
    float *parts = (float *)(void *)(sums + n);
    if (store->fft->scale != 1)
        scale_floats(values, values, 2 * n, store->fft->scale);
    if (k % POWER_TOGETHER == 0)
        store->loops->power(parts, values, n);
    else
        store->loops->add_power(parts, values, n);
    if (k + 1 < count && (k + 1) % POWER_TOGETHER)
        return;
    if (k < POWER_TOGETHER)
        memset(sums, 0, n * sizeof *sums);
    store->loops->add_parts(sums, parts, n);
}

void penstock__store_sums(const struct cpu_store *store, void *out, const double *sums)
{
    store_mean(store->fft, out, sums);
    penstock__store_mean(store, out);
}
