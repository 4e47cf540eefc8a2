/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Numbers of 16 bits: the conversions, all of them, against arithmetic in double precision; and that cpu and reference
 * give as halfs what they give as floats, rounded once, in every combination of stages that is drawn.
 */
#include "fft_emulation.h"
#include "test.h"
#include "variant.h"

#define MOST_VALUES 8192

static penstock_context *context;
static uint64_t state = 3;

static size_t draw(size_t below)
{
    return (size_t)(test_random(&state) % below);
}

/* The nearest half, ties to even: 11 bits of significand from 2^-14 on, steps of 2^-24 below. */
static double rounded(double value)
{
    int exponent;
    double step, result;
    if (isnan(value) || isinf(value))
        return value;
    frexp(value, &exponent);
    step = ldexp(1, exponent - 11 < -24 ? -24 : exponent - 11);
    result = nearbyint(value / step) * step;
    return fabs(result) >= 65520 ? copysign(INFINITY, value) : result;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static uint16_t half_of(float value)
{
    uint16_t half;
    penstock_half_from_float(&half, &value, 1);
    return half;
}

/* Each half, and floats about it: the half way to the next one, and one unit of a float to both sides of that. */
static void check_conversions(void)
{
    unsigned wrong = 0, back = 0, checked = 0;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits;
        float value;
        penstock_half_to_float(&value, &half, 1);
        wrong += !same(value, emulated_half(half));
        back += isnan(value) ? !isnan(emulated_half(half_of(value))) : half_of(value) != half;
        if ((bits & 0x7fff) >= 0x7c00)
            continue;
        double next = emulated_half((uint16_t)(bits + 1));
        float middle = (float)((value + (isinf(next) ? copysign(65536, value) : next)) / 2);
        const float near[] = {middle, nextafterf(middle, INFINITY), nextafterf(middle, -INFINITY)};
        for (size_t i = 0; i < 3; i++, checked++)
            wrong += !same(emulated_half(half_of(near[i])), rounded(near[i]));
    }
    for (int i = 0; i < 1000000; i++, checked++) {
        uint32_t bits = (uint32_t)test_random(&state);
        float value;
        memcpy(&value, &bits, sizeof value);
        wrong += !same(emulated_half(half_of(value)), rounded(value));
    }
    CHECK(!wrong && !back, "%u of %u conversions are wrong, %u of those back", wrong, checked, back);
    CHECK_EQ(checked, 1000000 + 3 * 2 * 0x7c00);
}

static struct penstock_fft_problem draw_problem(const float *window)
{
    static const size_t lengths[] = {1, 2, 3, 16, 60, 100, 128, 255, 512};
    struct penstock_fft_problem fft = {.n = lengths[draw(9)],
                                       .direction = draw(2) ? PENSTOCK_REVERSE : PENSTOCK_FORWARD,
                                       .domain = draw(4) ? PENSTOCK_COMPLEX : PENSTOCK_REAL,
                                       .format = draw(2) ? PENSTOCK_CF16 : PENSTOCK_CF32,
                                       .output = (penstock_output)draw(3),
                                       .scale = draw(2) ? 1 : (float)ldexp(1, (int)draw(40) - 24),
                                       .average = 1 + (unsigned)draw(3)};
    bool reverse = fft.direction == PENSTOCK_REVERSE;
    if (fft.domain == PENSTOCK_REAL && !reverse)
        fft.format = PENSTOCK_F32;
    if (fft.domain == PENSTOCK_REAL && reverse)
        fft.output = PENSTOCK_OUTPUT_COMPLEX;
    if (fft.output == PENSTOCK_OUTPUT_COMPLEX)
        fft.average = 1;
    if (fft.domain == PENSTOCK_COMPLEX) {
        fft.window = draw(2) ? window : NULL;
        fft.centered = draw(2);
        if (fft.n == 512 && draw(2) && fft.average == 1)
            *(draw(2) ? &fft.rows : &fft.columns) = 16;
    }
    return fft;
}

/* Both of a variant; false where there is no such. */
static bool run_both(const char *device, unsigned number, const struct penstock_problem *problem, const void *in,
                     float *floats, uint16_t *halves)
{
    struct penstock_problem as_floats = *problem;
    size_t frames = 2 * problem->fft.average, samples = penstock__fft_samples(&problem->fft, frames);
    as_floats.fft.half = false;
    as_floats.out_bytes *= 2;
    for (unsigned i = 0; i < 2; i++) {
        struct variant v;
        int status = variant_new(&v, context, device, i ? problem : &as_floats, number);
        if (status == PENSTOCK_ERR_UNSUPPORTED && number > 0)
            return false;
        CHECK_OK(status);
        if (status)
            return false;
        CHECK_OK(variant_run(&v, in, samples, NULL, i ? (void *)halves : (void *)floats, frames));
        variant_free(&v);
    }
    return true;
}

static void check_drawn(const char *device, unsigned number, const float *window)
{
    static uint32_t in[MOST_VALUES];
    static float floats[MOST_VALUES];
    static uint16_t halves[MOST_VALUES];
    struct penstock_fft_problem fft = draw_problem(window);
    fft.half = true;
    struct penstock_problem problem = variant_problem(fft);
    size_t values = 2 * penstock__fft_out_count(&fft) * penstock__fft_out_parts(&fft), wrong = 0;
    for (size_t i = 0; i < MOST_VALUES; i++) {
        float value = (float)test_uniform(&state);
        if (fft.format == PENSTOCK_CF16)
            in[i] = half_of(value) | (uint32_t)half_of(-value / 3) << 16;
        else
            memcpy(&in[i], &value, sizeof value);
    }
    halves[values] = 0x1234;
    if (!run_both(device, number, &problem, in, floats, halves))
        return;
    for (size_t i = 0; i < values; i++)
        wrong += !same(emulated_half(halves[i]), rounded(floats[i]));
    CHECK(!wrong, "%s %u, n %zu: %zu of %zu values are not the rounded floats", device, number, fft.n, wrong, values);
    CHECK_EQ(halves[values], 0x1234);
}

int main(void)
{
    static float window[512];
    struct penstock_device *device;
    check_conversions();
    for (size_t i = 0; i < 512; i++)
        window[i] = (float)test_uniform(&state);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    bool have_reference = !penstock__device_find(context, "reference", &device);
    for (int i = 0; i < 300; i++) {
        for (unsigned number = 0; number < 3; number++)
            check_drawn("cpu", number, window);
        if (have_reference)
            check_drawn("reference", 0, window);
    }
    penstock_context_free(context);
    return test_finish();
}
