/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter beside liquid-dsp's: firfilt, fftfilt, firdecim and a firfilt of samples that its oscillator has turned,
 * on the same taps and samples. liquid-dsp sums in single precision, so the two agree to some 1e-6.
 */
#include "test.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <penstock/penstock.h>

#define SAMPLES 20480
#define MOST    1025

static float taps[MOST];
static float complex samples[SAMPLES], values[SAMPLES], ours[SAMPLES];

static size_t run_ours(penstock_context *context, size_t count, size_t decimation, double shift)
{
    penstock_stream *filter = NULL;
    size_t made = 0, taken = 0, pulled;
    CHECK_OK(penstock_filter_open(&filter, context,
                                  &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = count, .decimation = decimation,
                                                        .shift = shift, .n = 4096),
                                  "cpu"));
    for (size_t at = 0; at < SAMPLES; at += taken) {
        CHECK_OK(penstock_stream_push(filter, samples + at, SAMPLES - at, &taken));
        CHECK_OK(penstock_stream_pull(filter, ours + made, SAMPLES - made, false, &pulled));
        made += pulled;
    }
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(penstock_stream_pull(filter, ours + made, SAMPLES - made, true, &pulled));
    penstock_stream_free(filter);
    return made + pulled;
}

static void compare(const char *what, size_t count, size_t expected, size_t made)
{
    double difference = 0, power = 0;
    CHECK_EQ(made, expected);
    for (size_t i = 0; i < made; i++) {
        double complex d = (double complex)ours[i] - (double complex)values[i];
        difference += creal(d) * creal(d) + cimag(d) * cimag(d);
        power += creal(values[i] * conj(values[i]));
    }
    CHECK(sqrt(difference / power) < 3e-6, "%s, %zu taps: differs by %.3g", what, count, sqrt(difference / power));
}

static void check_taps(penstock_context *context, size_t count)
{
    firfilt_crcf fir = firfilt_crcf_create(taps, (unsigned)count);
    fftfilt_crcf fft = fftfilt_crcf_create(taps, (unsigned)count, 2048);
    firdecim_crcf decim = firdecim_crcf_create(5, taps, (unsigned)count);
    for (size_t i = 0; i < SAMPLES; i++) {
        firfilt_crcf_push(fir, samples[i]);
        firfilt_crcf_execute(fir, &values[i]);
    }
    compare("firfilt", count, SAMPLES, run_ours(context, count, 1, 0));
    for (size_t i = 0; i < SAMPLES; i += 2048)
        fftfilt_crcf_execute(fft, samples + i, values + i);
    compare("fftfilt", count, SAMPLES, run_ours(context, count, 1, 0));
    for (size_t i = 0; i < SAMPLES; i += 5)
        firdecim_crcf_execute(decim, samples + i, values + i / 5);
    compare("firdecim", count, SAMPLES / 5, run_ours(context, count, 5, 0));
    firfilt_crcf_reset(fir);
    for (size_t i = 0; i < SAMPLES; i++) {
        double angle = 2 * 3.14159265358979323846 * remainder(0.3 * (double)i, 1);
        firfilt_crcf_push(fir, samples[i] * (float complex)(cos(angle) + sin(angle) * I));
        firfilt_crcf_execute(fir, &values[i]);
    }
    compare("turned", count, SAMPLES, run_ours(context, count, 1, 0.3));
    firfilt_crcf_destroy(fir);
    fftfilt_crcf_destroy(fft);
    firdecim_crcf_destroy(decim);
}

int main(void)
{
    static const size_t counts[] = {1, 2, 64, 65, 257, MOST};
    penstock_context *context = NULL;
    uint64_t seed = 3;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (float)test_uniform(&seed) + (float)test_uniform(&seed) * I;
    for (size_t k = 0; k < MOST; k++)
        taps[k] = (float)test_uniform(&seed);
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check_taps(context, counts[i]);
    penstock_context_free(context);
    return test_finish();
}
