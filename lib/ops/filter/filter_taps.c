/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Taps to their spectrum, and shifts to what turns values, in double precision. */
#include "ops/filter/filter_engine.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Of all filters. */
static uint64_t new_id(void)
{
    static _Atomic uint64_t last;
    return ++last;
}

/* ---------------------------------------------------------------- turns ----------------------- */

/* Of so many powers of a root the sine and cosine are one product, not two functions. */
#define NEAR 64

struct complex {
    double re, im;
};

struct powers {
    uint64_t step;
    struct complex near[NEAR], far; /* of the powers below NEAR, and of the last multiple of it */
};

static struct complex root(uint64_t turns)
{
    double angle = 2 * PI * 0x1p-64 * (double)(int64_t)turns;
    return (struct complex){cos(angle), sin(angle)};
}

static void powers_start(struct powers *powers, uint64_t step, size_t first)
{
    powers->step = step;
    powers->far = root(step * (first / NEAR * NEAR));
    for (size_t k = 0; k < NEAR; k++)
        powers->near[k] = root(step * k);
}

/* exp(2 pi i k step), with k not below `first` and in steps of one. */
static struct complex power(struct powers *powers, size_t k)
{
    struct complex near = powers->near[k % NEAR];
    if (k % NEAR == 0)
        powers->far = root(powers->step * k);
    return (struct complex){powers->far.re * near.re - powers->far.im * near.im,
                            powers->far.re * near.im + powers->far.im * near.re};
}

uint64_t penstock__filter_turns(double turns)
{
    return (uint64_t)(int64_t)(turns * 0x1p63) * 2;
}

/* Exact at any sample but for the rounding of the shift itself. */
uint64_t penstock__filter_phase(struct filter_shift shift, uint64_t sample)
{
    return shift.phase + penstock__filter_turns(shift.shift) * sample;
}

static uint64_t step_of(const struct filter_shape *shape, struct filter_shift shift)
{
    return penstock__filter_turns(shift.shift / (double)shape->interpolation);
}

uint64_t penstock__filter_phase_at(const struct filter_shape *shape, struct filter_shift shift, uint64_t position)
{
    return shift.phase + step_of(shape, shift) * position;
}

static void rotation_free(struct filter_rotation *rotation)
{
    if (rotation && !--rotation->uses)
        penstock__free(rotation);
}

int penstock__filter_taps_rotate(struct filter_taps *taps, const struct filter_shape *shape,
                                 const struct filter_taps *like, bool always)
{
    struct powers powers;
    if (taps->shift.shift == 0 && taps->shift.phase == 0 && !always)
        return PENSTOCK_OK;
    if (like && like->rotation && step_of(shape, like->shift) == step_of(shape, taps->shift)) {
        taps->rotation = like->rotation;
        taps->rotation->uses++;
        return PENSTOCK_OK;
    }
    if (!(taps->rotation = penstock__alloc(sizeof *taps->rotation + shape->values * sizeof(penstock_cf32))))
        return PENSTOCK_ERR_MEMORY;
    taps->rotation->uses = 1;
    powers_start(&powers, step_of(shape, taps->shift) * shape->decimation, 0);
    for (size_t j = 0; j < shape->values; j++) {
        struct complex value = power(&powers, j);
        taps->rotation->table[j] = (penstock_cf32){(float)value.re, (float)value.im};
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- taps ------------------------ */

/*
 * Taps `start` .. `end` - 1: h[k] exp(-2 pi i s k): filtering with these and turning the value at position p by exp(2
 * pi i s p) is the same as turning the samples before the filter. What of an advance is no whole sample moves the taps
 * forward.
 */
static void load(double *data, const struct filter_shape *shape, struct filter_shift shift,
                 const penstock_cf32 *complex_taps, const float *real_taps, size_t start, size_t end)
{
    size_t forward = shape->advance % shape->interpolation;
    struct powers powers;
    powers_start(&powers, 0 - step_of(shape, shift), start);
    for (size_t k = start; k < end; k++) {
        double re = (double)(real_taps ? real_taps[k] : complex_taps[k].re);
        double im = real_taps ? 0 : (double)complex_taps[k].im;
        struct complex turn = power(&powers, k);
        size_t at = k - start;
        double *value = data + 2 * (at < forward ? shape->high + at - forward : at - forward);
        value[0] = (re * turn.re - im * turn.im) / (double)shape->high;
        value[1] = (re * turn.im + im * turn.re) / (double)shape->high;
    }
}

/* Each part's spectrum; without partitions there is one of all taps. */
static int transform(penstock_cf32 *spectrum, double *data, const struct filter_shape *shape, struct filter_shift shift,
                     const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    double *scratch = data + 2 * shape->high;
    size_t bins = shape->real ? shape->high / 2 + 1 : shape->high, most = shape->partitions > 1 ? shape->block : count;
    int status = PENSTOCK_OK;
    for (size_t part = 0; part < shape->partitions && !status; part++) {
        size_t start = part * most < count ? part * most : count, end = count - start < most ? count : start + most;
        memset(data, 0, 2 * shape->high * sizeof *data);
        load(data, shape, shift, complex_taps, real_taps, start, end);
        if (shape->taps_dft)
            penstock__dft_plan_run(shape->taps_dft, data, scratch);
        else
            status = penstock__dft(data, shape->high, PENSTOCK_FORWARD);
        for (size_t k = 0; k < bins && !status; k++)
            spectrum[part * bins + k] = (penstock_cf32){(float)data[2 * k], (float)data[2 * k + 1]};
    }
    return status;
}

int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape, struct filter_shift shift,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count)
{
    size_t bins = shape->real ? shape->high / 2 + 1 : shape->high;
    size_t scratch = shape->taps_dft ? penstock__dft_plan_scratch_bytes(shape->taps_dft) : 0;
    double *data = penstock__alloc(2 * shape->high * sizeof *data + scratch);
    struct filter_taps *made = penstock__alloc(sizeof *made + shape->partitions * bins * sizeof made->spectrum[0]);
    penstock_cf32 *spectrum = shape->pair ? penstock__alloc(bins * sizeof *spectrum) : made ? made->spectrum : NULL;
    int status = PENSTOCK_ERR_MEMORY;
    *taps = NULL;
    if (!data || !made || !spectrum)
        goto done;
    if ((status = transform(spectrum, data, shape, shift, complex_taps, real_taps, count)))
        goto done;
    made->count = count;
    made->from = 0;
    made->id = new_id();
    made->next = NULL;
    made->shift = shift;
    made->rotation = NULL;
    made->first = false;
    made->given = NULL;
    if (shape->pair)
        penstock__filter_pair_order(shape->pair, (float *)(void *)made->spectrum, spectrum);
    *taps = made;
    made = NULL;
done:
    if (shape->pair)
        penstock__free(spectrum);
    penstock__free(made);
    penstock__free(data);
    return status;
}

int penstock__filter_taps_keep(struct filter_taps *taps, const penstock_cf32 *complex_taps, const float *real_taps)
{
    size_t bytes = taps->count * (real_taps ? sizeof *real_taps : sizeof *complex_taps);
    if (!(taps->given = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(taps->given, real_taps ? (const void *)real_taps : complex_taps, bytes);
    taps->given_real = real_taps;
    return PENSTOCK_OK;
}

void penstock__filter_taps_free(struct filter_taps *taps)
{
    if (taps) {
        penstock__free(taps->given);
        rotation_free(taps->rotation);
    }
    penstock__free(taps);
}
