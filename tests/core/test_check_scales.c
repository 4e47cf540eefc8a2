/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Plans with scales and windows far from one are judged by their values, on the device of the first argument: where
 * floats hold them the plan is made and they are right for samples that suit it, by direct summation in double
 * precision; what overflows whatever the samples are is refused in words that say so, not as a device's fault.
 */
#include "device.h"

#define PI 3.14159265358979323846

enum { N = 240, FRAMES = 6 };

static const char *device = "cpu";
static penstock_context *context;
static float window[N], in[2 * N * FRAMES], out[2 * N * FRAMES];
static int made, refused;

/* Value k of a frame, before the scale. */
static void transform(double value[2], const penstock_fft_desc *desc, size_t frame, size_t k)
{
    bool real = desc->domain == PENSTOCK_REAL, planar = desc->load.format == PENSTOCK_PLANAR;
    value[0] = value[1] = 0;
    for (size_t j = 0; j < N; j++) {
        size_t i = frame * N + j;
        double angle = 2 * PI * (double)(j * k % N) / N, w = desc->load.window ? (double)window[j] : 1;
        double re = w * (double)(real || planar ? in[i] : in[2 * i]);
        double im = real ? 0 : w * (double)(planar ? in[N * FRAMES + i] : in[2 * i + 1]);
        value[0] += re * cos(angle) + im * sin(angle);
        value[1] += im * cos(angle) - re * sin(angle);
    }
}

/* What value k of a group of frames should be: two parts, or its power. */
static void expect(double want[2], const penstock_fft_desc *desc, size_t group, size_t k)
{
    double scale = (double)desc->store.scale, power = 0;
    for (size_t f = 0; f < desc->store.average; f++) {
        transform(want, desc, group * desc->store.average + f, k);
        want[0] *= scale;
        want[1] *= scale;
        power += (want[0] * want[0] + want[1] * want[1]) / desc->store.average;
    }
    if (desc->store.output)
        want[0] = power;
}

/* Relative L2 error of what the plan makes of samples that window and scale take to the middle of the range of floats;
 * `unit` is what it makes of one of them. */
static double run(penstock_plan *plan, const penstock_fft_desc *desc, double level, double unit)
{
    size_t bins = desc->domain == PENSTOCK_REAL ? N / 2 + 1 : N, parts = desc->store.output ? 1 : 2;
    double error = 0, norm = 0;
    uint64_t seed = 1;
    for (size_t i = 0; i < 2 * N * FRAMES; i++)
        in[i] = (float)(level * test_uniform(&seed));
    unit = desc->store.output ? unit * unit : unit;
    CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
    for (size_t group = 0; group < FRAMES / desc->store.average; group++)
        for (size_t k = 0; k < bins; k++) {
            double want[2];
            expect(want, desc, group, k);
            for (size_t part = 0; part < parts; part++) {
                double got = (double)out[(group * bins + k) * parts + part];
                got = desc->store.output == PENSTOCK_OUTPUT_DECIBEL ? pow(10, got / 10) : got;
                error += pow((got - want[part]) / unit, 2);
                norm += pow(want[part] / unit, 2);
            }
        }
    return sqrt(error / norm);
}

static void check_float(penstock_fft_desc desc, double factor)
{
    double scale = (double)desc.store.scale, level = 1 / (factor * sqrt(scale)), unit = sqrt(scale);
    penstock_plan *plan = NULL;
    if (!(level > 1e-34 && level < 1e34)) /* no samples suit it */
        return;
    int status = penstock_fft_plan(&plan, context, &desc, device);
    CHECK(!status, "output %d, window %g, scale %g: %s", (int)desc.store.output, factor, scale, penstock_error_text());
    if (status)
        return;
    double error = run(plan, &desc, level, unit);
    CHECK(error < 2e-5, "output %d, window %g, scale %g: error %g", (int)desc.store.output, factor, scale, error);
    penstock_plan_free(plan);
    made++;
}

/* Integers are what they are: 32 steps of 256 are the fewest that say something. */
static void check_integer(penstock_fft_desc desc, double factor)
{
    double largest = factor * (double)desc.store.scale * N, smallest = largest / N / 256;
    penstock_plan *plan = NULL;
    int status;
    if (desc.domain == PENSTOCK_REAL)
        return;
    desc.load.format = PENSTOCK_CS16;
    status = penstock_fft_plan(&plan, context, &desc, device);
    if (desc.store.output ? largest < 1e18 : largest < 1e37) {
        CHECK(!status, "cs16, output %d, window %g, scale %g: %s", (int)desc.store.output, factor,
              (double)desc.store.scale, penstock_error_text());
        made += !status;
    } else if (desc.store.output ? smallest > 2e19 : smallest > 4e38) {
        CHECK(status == PENSTOCK_ERR_ARGUMENT && strstr(penstock_error_text(), "overflow"),
              "cs16, output %d, window %g, scale %g: status %d, %s", (int)desc.store.output, factor,
              (double)desc.store.scale, status, penstock_error_text());
        refused++;
    }
    penstock_plan_free(plan);
}

/* Of a device that compiles each plan one in 32. */
static void check_all(bool sampled)
{
    uint64_t number = 0;
    static const float scales[] = {1e-18F, 1e-12F, 1e-6F, 1, 1e6F, 1e12F, 1e18F}, factors[] = {1e-30F, 1, 1e20F, 1e30F};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++)
            for (int output = PENSTOCK_OUTPUT_COMPLEX; output <= PENSTOCK_OUTPUT_DECIBEL; output++)
                for (int kind = 0; kind < 3; kind++) {
                    if (!test_drawn(number++, sampled ? 32 : 1))
                        continue;
                    penstock_fft_desc desc =
                        PENSTOCK_FFT_DESC(.n = N, .domain = kind == 2 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                                          .load = {.format = kind == 1 ? PENSTOCK_PLANAR : PENSTOCK_CF32,
                                                   .window = factors[f] == 1 ? NULL : window},
                                          .store = {.output = (penstock_output)output,
                                                    .scale = scales[s],
                                                    .average = output && kind ? 3 : 1});
                    for (size_t i = 0; i < N; i++)
                        window[i] = factors[f] * (float)(0.55 - 0.45 * cos(2 * PI * (double)i / N));
                    check_float(desc, (double)factors[f]);
                    if (!kind)
                        check_integer(desc, (double)factors[f]);
                }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        device = argv[1];
    int exits = test_device(&context, device);
    if (!context)
        return exits;
    check_all(strcmp(device, "cpu") && strcmp(device, "reference"));
    printf("%s: %d plans made, %d refused\n", device, made, refused);
    penstock_context_free(context);
    return test_finish();
}
