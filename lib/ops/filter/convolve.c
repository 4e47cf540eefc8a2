/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Convolution, correlation and the chirp-z transform of whole signals, by the streaming filter: the shorter signal is
 * the taps, in parts where it is longer than a filter.
 *
 * The chirp transform turns a transform at any spacing of frequencies into a convolution: L. Bluestein, "A linear
 * filtering approach to the computation of discrete Fourier transform", IEEE Trans. AU 18(4), 1970; L. Rabiner,
 * R. Schafer and C. Rader, "The chirp z-transform algorithm", IEEE Trans. AU 17(2), 1969.
 */
#include "backends/backend.h"

#include <math.h>

#define PI          3.14159265358979323846
#define MOST_TAPS   ((size_t)1 << 20)
#define MOST_VALUES (SIZE_MAX / 64) /* their spectra can be counted in bytes */
#define SHORTEST    512
#define CHUNK       65536

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, __VA_ARGS__)

/* Long enough to be fast, no longer than for all in one block. */
static size_t transform_length(size_t taps, size_t samples)
{
    size_t n = SHORTEST;
    while (n < taps + 2 || (n < 4 * taps && n < samples + taps))
        n *= 2;
    return n;
}

/* Adds to `out` what has come; `*made` values were added before. */
static int pull_and_add(penstock_stream *filter, penstock_cf32 *out, size_t *made, penstock_cf32 *chunk)
{
    size_t count;
    int status;
    while (!(status = penstock_stream_pull(filter, chunk, CHUNK, false, &count)) && count) {
        for (size_t i = 0; i < count; i++) {
            out[*made + i].re += chunk[i].re;
            out[*made + i].im += chunk[i].im;
        }
        *made += count;
    }
    return status;
}

/* Adds the convolution with `taps` to count + tap_count - 1 values at `out`. */
static int add_part(penstock_context *context, penstock_cf32 *out, const penstock_cf32 *in, size_t count,
                    const penstock_cf32 *taps, size_t tap_count, penstock_cf32 *chunk, const char *device)
{
    penstock_stream *filter;
    size_t at = 0, taken, made = 0;
    int status = penstock_filter_open(&filter, context,
                                      &PENSTOCK_FILTER_DESC(.taps = taps, .tap_count = tap_count, .tail = true,
                                                            .n = transform_length(tap_count, count)),
                                      device);
    while (!status && at < count) {
        status = penstock_stream_push(filter, in + at, count - at, &taken);
        at += taken;
        if (!status)
            status = pull_and_add(filter, out, &made, chunk);
    }
    if (!status && !(status = penstock_stream_finish(filter)))
        status = pull_and_add(filter, out, &made, chunk);
    penstock_stream_free(filter);
    return status;
}

static int check(const penstock_context *context, const penstock_cf32 *out, const penstock_cf32 *a, size_t a_count,
                 const penstock_cf32 *b, size_t b_count)
{
    if (!context || !out || !a || !b)
        return bad("convolution: an argument is NULL");
    if (a_count < 1 || a_count > MOST_VALUES || b_count < 1 || b_count > MOST_VALUES)
        return bad("convolution of %zu and %zu samples: each must be 1 .. %zu", a_count, b_count, MOST_VALUES);
    return PENSTOCK_OK;
}

int penstock_convolve(penstock_context *context, penstock_cf32 *out, const penstock_cf32 *a, size_t a_count,
                      const penstock_cf32 *b, size_t b_count, const char *device)
{
    const penstock_cf32 *in = a_count < b_count ? b : a, *taps = a_count < b_count ? a : b;
    size_t count = a_count < b_count ? b_count : a_count, tap_count = a_count + b_count - count;
    penstock_cf32 *chunk;
    int status = check(context, out, a, a_count, b, b_count);
    if (status)
        return status;
    if (!(chunk = penstock__alloc(CHUNK * sizeof *chunk)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < a_count + b_count - 1; i++)
        out[i] = (penstock_cf32){0, 0};
    for (size_t first = 0; first < tap_count && !status; first += MOST_TAPS) {
        size_t part = tap_count - first < MOST_TAPS ? tap_count - first : MOST_TAPS;
        status = add_part(context, out + first, in, count, taps + first, part, chunk, device);
    }
    penstock__free(chunk);
    return status;
}

int penstock_correlate(penstock_context *context, penstock_cf32 *out, const penstock_cf32 *a, size_t a_count,
                       const penstock_cf32 *b, size_t b_count, const char *device)
{
    penstock_cf32 *mirrored;
    int status = check(context, out, a, a_count, b, b_count);
    if (status)
        return status;
    if (!(mirrored = penstock__alloc(b_count * sizeof *mirrored)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t j = 0; j < b_count; j++)
        mirrored[j] = (penstock_cf32){b[b_count - 1 - j].re, -b[b_count - 1 - j].im};
    status = penstock_convolve(context, out, a, a_count, mirrored, b_count, device);
    penstock__free(mirrored);
    return status;
}

/* ---------------------------------------------------------------- chirp-z --------------------- */

/* A fraction of a turn in units of 2^-64: products with integers are exact modulo one turn. */
static uint64_t turns(double fraction)
{
    return (uint64_t)(int64_t)(remainder(fraction, 1) * 0x1p63) * 2;
}

static penstock_cf32 times_unit(penstock_cf32 value, uint64_t turns)
{
    double angle = 2 * PI * 0x1p-64 * (double)(int64_t)turns, c = cos(angle), s = sin(angle);
    double re = (double)value.re, im = (double)value.im;
    return (penstock_cf32){(float)(re * c - im * s), (float)(re * s + im * c)};
}

/* j k = (j^2 + k^2 - (k - j)^2) / 2: chirps before and after a convolution with a chirp. */
static int transform(penstock_context *context, penstock_cf32 *out, size_t bins, const penstock_cf32 *in, size_t count,
                     double start, double step, const char *device)
{
    size_t chirp_count = bins + count - 1, full = chirp_count + count - 1;
    penstock_cf32 *before = penstock__alloc(count * sizeof *before);
    penstock_cf32 *chirp = penstock__alloc(chirp_count * sizeof *chirp);
    penstock_cf32 *after = penstock__alloc(full * sizeof *after);
    uint64_t first = turns(start), half = turns(step / 2);
    int status = PENSTOCK_ERR_MEMORY;
    if (!before || !chirp || !after)
        goto done;
    for (uint64_t j = 0; j < count; j++)
        before[j] = times_unit(in[j], 0 - first * j - half * (j * j));
    for (uint64_t i = 0; i < chirp_count; i++) {
        uint64_t m = i - (count - 1); /* its square is right modulo 2^64 where it is negative, too */
        chirp[i] = times_unit((penstock_cf32){1, 0}, half * (m * m));
    }
    if ((status = penstock_convolve(context, after, before, count, chirp, chirp_count, device)))
        goto done;
    for (uint64_t k = 0; k < bins; k++)
        out[k] = times_unit(after[k + count - 1], 0 - half * (k * k));
done:
    penstock__free(before);
    penstock__free(chirp);
    penstock__free(after);
    return status;
}

int penstock_zoom(penstock_context *context, penstock_cf32 *out, size_t bins, const penstock_cf32 *in, size_t count,
                  double start, double step, const char *device)
{
    if (!context || !out || !in)
        return bad("zoom: an argument is NULL");
    if (bins < 1 || bins > MOST_TAPS || count < 1 || count > MOST_TAPS)
        return bad("zoom of %zu samples to %zu values: each must be 1 .. %zu", count, bins, MOST_TAPS);
    if (!(fabs(start) <= 1) || !(fabs(step) <= 1))
        return bad("zoom from %g in steps of %g: each must be -1 .. 1 turns per sample", start, step);
    return transform(context, out, bins, in, count, start, step, device);
}
