/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a problem's output should be, in double precision. Nothing here is shared with a backend. */
#include "core/check/expected.h"

#include <math.h>
#include <string.h>

static const double tau = 6.28318530717958647692528676655900577;

/* As IEEE 754 defines it. */
static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static void read_sample(double value[2], const void *in, penstock_format format, size_t i, size_t total)
{
    switch (format) {
    case PENSTOCK_CF32:
        value[0] = ((const float *)in)[2 * i];
        value[1] = ((const float *)in)[2 * i + 1];
        break;
    case PENSTOCK_CS16:
        value[0] = ((const int16_t *)in)[2 * i] / 32768.0;
        value[1] = ((const int16_t *)in)[2 * i + 1] / 32768.0;
        break;
    case PENSTOCK_CS8:
        value[0] = ((const int8_t *)in)[2 * i] / 128.0;
        value[1] = ((const int8_t *)in)[2 * i + 1] / 128.0;
        break;
    case PENSTOCK_CU8:
        value[0] = (((const uint8_t *)in)[2 * i] - 127.5) / 128.0;
        value[1] = (((const uint8_t *)in)[2 * i + 1] - 127.5) / 128.0;
        break;
    case PENSTOCK_PLANAR:
        value[0] = ((const float *)in)[i];
        value[1] = ((const float *)in)[total + i];
        break;
    case PENSTOCK_F32:
        value[0] = ((const float *)in)[i];
        value[1] = 0;
        break;
    case PENSTOCK_CF16:
        value[0] = half_value(((const uint16_t *)in)[2 * i]);
        value[1] = half_value(((const uint16_t *)in)[2 * i + 1]);
        break;
    }
}

/* The same of a folded frame, whose turn is `turn`. */
static bool load_folded(double *x, const struct penstock_fft_problem *fft, const void *in, size_t samples, size_t turn,
                        size_t frame)
{
    bool any = false;
    memset(x, 0, 2 * fft->n * sizeof *x);
    for (size_t j = 0; j < penstock__fft_frame(fft); j++) {
        double value[2], *to = x + 2 * ((j + turn + frame * fft->spacing) % fft->n);
        read_sample(value, in, fft->format, frame * fft->spacing + j, samples);
        to[0] += value[0] * fft->window[j];
        to[1] += value[1] * fft->window[j];
        any = any || value[0] != 0 || value[1] != 0;
    }
    return any;
}

/* Loads a frame's samples into `x`; false where all of them are zero. */
static bool load(double *x, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                 const struct penstock_gather *gather, size_t frame)
{
    size_t first = gather ? gather[frame].start : frame * fft->spacing + fft->skip;
    bool any = false;
    for (size_t j = 0; j < penstock__fft_in_count(fft); j++) {
        double *value = x + 2 * j;
        read_sample(value, in, fft->format, first + j, samples);
        if (fft->window) {
            value[0] *= fft->window[j];
            value[1] *= fft->window[j];
        }
        if (gather) {
            penstock__rotate_turns(value, gather[frame].phase + (uint32_t)j * gather[frame].step);
        } else if (fft->shift != 0) {
            double turns = fft->shift * (double)j;
            turns -= floor(turns);
            penstock__rotate(value, cos(tau * turns), sin(tau * turns));
        }
        any = any || value[0] != 0 || value[1] != 0;
    }
    return any;
}

/* The other half of a real signal's spectrum. */
static void mirror(double *x, size_t n)
{
    x[1] = 0;
    if (n % 2 == 0)
        x[n + 1] = 0;
    for (size_t k = 1; k < (n + 1) / 2; k++) {
        x[2 * (n - k)] = x[2 * k];
        x[2 * (n - k) + 1] = -x[2 * k + 1];
    }
}

/* Values of a row of a frame. */
static size_t width_of(const struct penstock_fft_problem *fft)
{
    return fft->rows > 1 ? fft->n / fft->rows : fft->columns > 1 ? fft->columns : fft->n;
}

/* Where value k of a centred output goes; of a plane in both dimensions, or in that of the columns. */
static size_t centered_at(const struct penstock_fft_problem *fft, size_t k)
{
    size_t width = width_of(fft), height = fft->n / width, row = k / width, column = k % width;
    if (fft->columns > 1)
        return (row + height / 2) % height * width + column;
    return (row + height / 2) % height * width + (column + width / 2) % width;
}

/* Stores a transform, or adds its share to the mean power. */
static void store(double *out, const struct penstock_fft_problem *fft, const double *x)
{
    bool single = penstock__fft_out_parts(fft) == 1;
    for (size_t k = 0; k < penstock__fft_out_count(fft); k++) {
        size_t at = fft->centered ? centered_at(fft, k) : k;
        double re = fft->scale * x[2 * k], im = fft->scale * x[2 * k + 1];
        if (fft->output != PENSTOCK_OUTPUT_COMPLEX)
            out[at] += (re * re + im * im) / fft->average;
        else if (single)
            out[at] = re;
        else {
            out[2 * at] = re;
            out[2 * at + 1] = im;
        }
    }
}

/* ---------------------------------------------------------------- transforms ------------------ */

/* Of one frame: along its rows, along its columns, or both. */
struct transform {
    struct penstock_dft_plan *along_rows, *along_columns;
    void *scratch;
    double *column;
};

static void transform_free(struct transform *t)
{
    penstock__dft_plan_free(t->along_rows);
    penstock__dft_plan_free(t->along_columns);
    penstock__free(t->scratch);
    penstock__free(t->column);
}

static int transform_init(struct transform *t, const struct penstock_fft_problem *fft)
{
    size_t width = width_of(fft), height = fft->n / width, bytes = 0, more = 0;
    int status = PENSTOCK_OK;
    if (fft->columns <= 1 && !(status = penstock__dft_plan_new(&t->along_rows, width, fft->direction)))
        bytes = penstock__dft_plan_scratch_bytes(t->along_rows);
    if (!status && height > 1 && !(status = penstock__dft_plan_new(&t->along_columns, height, fft->direction)))
        more = penstock__dft_plan_scratch_bytes(t->along_columns);
    if (status)
        return status;
    t->scratch = penstock__alloc((bytes > more ? bytes : more) + 1);
    t->column = penstock__alloc(2 * height * sizeof *t->column);
    return t->scratch && t->column ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void transform_run(struct transform *t, const struct penstock_fft_problem *fft, double *x)
{
    size_t width = width_of(fft), height = fft->n / width;
    for (size_t row = 0; t->along_rows && row < height; row++)
        penstock__dft_plan_run(t->along_rows, x + 2 * row * width, t->scratch);
    for (size_t c = 0; t->along_columns && c < width; c++) {
        for (size_t row = 0; row < height; row++)
            memcpy(t->column + 2 * row, x + 2 * (row * width + c), 2 * sizeof *x);
        penstock__dft_plan_run(t->along_columns, t->column, t->scratch);
        for (size_t row = 0; row < height; row++)
            memcpy(x + 2 * (row * width + c), t->column + 2 * row, 2 * sizeof *x);
    }
}

/* ---------------------------------------------------------------- frames ---------------------- */

/* An overlapped frame: its rows are transformed in `x`, and added to `out`. */
static void overlap(double *out, double *x, struct transform *transform, const struct penstock_fft_problem *fft,
                    const void *in, size_t samples, size_t turn, size_t frame)
{
    const size_t n = fft->n, hop = fft->hop;
    turn = penstock__fft_turn(fft, turn, frame);
    for (size_t t = 0; t < fft->fold; t++) {
        for (size_t j = 0; j < n; j++)
            read_sample(x + 2 * j, in, fft->format, (frame + fft->fold - 1 - t) * n + j, samples);
        transform_run(transform, fft, x);
        for (size_t i = 0; i < hop; i++)
            for (size_t part = 0; part < 2; part++)
                out[2 * i + part] += x[2 * ((i + turn) % n) + part] * fft->window[t * hop + i] * (double)fft->scale;
    }
}

size_t penstock__expected_count(const struct penstock_fft_problem *fft)
{
    return penstock__fft_out_count(fft) * penstock__fft_out_parts(fft);
}

int penstock__expected(double *out, const struct penstock_fft_problem *fft, const void *in, size_t samples,
                       const struct penstock_gather *gather, size_t turn, size_t frames)
{
    bool mirrored = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    size_t count = penstock__expected_count(fft);
    struct transform transform = {0};
    double *x = penstock__alloc(2 * fft->n * sizeof *x);
    int status = x ? transform_init(&transform, fft) : PENSTOCK_ERR_MEMORY;
    memset(out, 0, frames / fft->average * count * sizeof *out);
    for (size_t frame = 0; frame < frames && !status && fft->hop; frame++)
        overlap(out + frame * count, x, &transform, fft, in, samples, turn, frame);
    for (size_t frame = 0; frame < frames && !status && !fft->hop; frame++) {
        if (fft->fold ? !load_folded(x, fft, in, samples, turn, frame) : !load(x, fft, in, samples, gather, frame))
            continue;
        if (mirrored)
            mirror(x, fft->n);
        transform_run(&transform, fft, x);
        store(out + frame / fft->average * count, fft, x);
    }
    transform_free(&transform);
    penstock__free(x);
    return status;
}
