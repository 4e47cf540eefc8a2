/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The load stage: conversion, window, shift. */
#include "backends/cpu/load.h"
#include "backends/cpu/arrays.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.28318530717958647692

int penstock__load_init(struct cpu_load *load, const struct penstock_fft_problem *fft)
{
    bool real_reverse = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    bool plain_format = fft->format == PENSTOCK_CF32 || fft->format == PENSTOCK_F32;
    bool shifted = fft->shift != 0 && !fft->gathered;
    load->fft = fft;
    load->loops = penstock__cpu_loops();
    load->untouched = plain_format && !real_reverse && !fft->window && !fft->fold && !shifted && !fft->gathered;
    if (!shifted)
        return PENSTOCK_OK;
    load->factors = penstock__alloc(fft->n * sizeof *load->factors);
    if (!load->factors)
        return PENSTOCK_ERR_MEMORY;
    for (size_t j = 0; j < fft->n; j++) {
        double turns = fft->shift * (double)j, angle = TWO_PI * (turns - rint(turns));
        double factor = fft->window ? (double)fft->window[j] : 1;
        load->factors[j] = (penstock_cf32){(float)(factor * cos(angle)), (float)(factor * sin(angle))};
    }
    return PENSTOCK_OK;
}

void penstock__load_free(struct cpu_load *load)
{
    penstock__free(load->factors);
}

static void load_real(const struct penstock_fft_problem *fft, float *out, const float *in)
{
    if (fft->window)
        for (size_t i = 0; i < fft->n; i++)
            out[i] = in[i] * fft->window[i];
    else
        memcpy(out, in, fft->n * sizeof *out);
}

/* The imaginary parts that a spectrum of real samples does not have. */
static void clear_unused(penstock_cf32 *bins, size_t n)
{
    bins[0].im = 0;
    if (n % 2 == 0)
        bins[n / 2].im = 0;
}

/* Samples of a frame at a time. */
#define CHUNK 256

void penstock__load_folded(const struct cpu_load *load, penstock_cf32 *out, const void *in, size_t first, size_t total,
                           size_t turn)
{
    const struct penstock_fft_problem *fft = load->fft;
    penstock_cf32 chunk[CHUNK];
    memset(out, 0, fft->n * sizeof *out);
    for (size_t j = 0, some, at = turn; j < fft->fold * fft->n; j += some, at = at + some < fft->n ? at + some : 0) {
        some = fft->fold * fft->n - j < CHUNK ? fft->fold * fft->n - j : CHUNK;
        some = some < fft->n - at ? some : fft->n - at;
        penstock__convert(chunk, in, fft->format, first + j, some, total);
        for (size_t i = 0; i < some; i++) {
            out[at + i].re += fft->window[j + i] * chunk[i].re;
            out[at + i].im += fft->window[j + i] * chunk[i].im;
        }
    }
}

void penstock__load_frame(const struct cpu_load *load, void *out, const void *in, size_t first, size_t total,
                          const struct penstock_gather *gather)
{
    const struct penstock_fft_problem *fft = load->fft;
    const penstock_cf32 *samples = out;
    if (fft->format == PENSTOCK_F32) {
        load_real(fft, out, (const float *)in + first);
        return;
    }
    if (fft->format == PENSTOCK_CF32 && (load->factors || fft->window))
        samples = (const penstock_cf32 *)in + first;
    else
        penstock__convert(out, in, fft->format, first, penstock__fft_in_count(fft), total);
    if (load->factors)
        penstock__arrays_rotate(out, samples, load->factors, fft->n);
    else if (fft->window)
        penstock__arrays_window(out, samples, fft->window, fft->n);
    if (gather && (gather->phase || gather->step))
        load->loops->rotate(out, fft->n, gather->phase, gather->step);
    if (fft->domain == PENSTOCK_REAL)
        clear_unused(out, fft->n);
}
