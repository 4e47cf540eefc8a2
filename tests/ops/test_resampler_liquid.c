/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The resampler beside liquid-dsp's rational one, rresamp, on the same taps and samples. liquid-dsp sums in single
 * precision, so the two agree to some 1e-6. */
#include "test.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <penstock/penstock.h>

enum { SAMPLES = 8400, MOST = 40000, MOST_TAPS = 4000 };

static float taps[MOST_TAPS];
static float complex in[SAMPLES], ours[MOST], theirs[MOST];

static size_t run_ours(penstock_context *context, unsigned up, unsigned down, size_t tap_count, size_t count)
{
    penstock_stream *stream = NULL;
    size_t taken = 0, made = 0, given = 1;
    CHECK_OK(penstock_resampler_open(&stream, context,
                                     &PENSTOCK_RESAMPLER_DESC(.interpolation = up, .decimation = down, .arms = up,
                                                              .real_taps = taps, .tap_count = tap_count),
                                     "cpu"));
    if (!stream)
        return 0;
    CHECK_OK(penstock_stream_push(stream, in, count, &taken));
    CHECK_EQ(taken, count);
    CHECK_OK(penstock_stream_finish(stream));
    for (; given; made += given)
        CHECK_OK(penstock_stream_pull(stream, ours + made, MOST - made, true, &given));
    penstock_stream_free(stream);
    return made;
}

static void compare(penstock_context *context, unsigned up, unsigned down, unsigned semi)
{
    const size_t tap_count = 2 * (size_t)up * semi, blocks = SAMPLES / down;
    rresamp_crcf resampler = rresamp_crcf_create(up, down, semi, taps);
    double difference = 0, power = 0;
    CHECK(resampler && tap_count <= MOST_TAPS && blocks * up <= MOST, "%u / %u: no resampler", up, down);
    if (!resampler)
        return;
    rresamp_crcf_set_scale(resampler, 1);
    for (size_t b = 0; b < blocks; b++)
        rresamp_crcf_execute(resampler, in + b * down, theirs + b * up);
    rresamp_crcf_destroy(resampler);
    CHECK_EQ(run_ours(context, up, down, tap_count, blocks * down), blocks * up);
    for (size_t i = 0; i < blocks * up; i++) {
        double complex d = (double complex)ours[i] - (double complex)theirs[i];
        difference += creal(d) * creal(d) + cimag(d) * cimag(d);
        power += creal(theirs[i] * conjf(theirs[i]));
    }
    CHECK(power > 0 && sqrt(difference / power) < 3e-6, "%u / %u, %zu taps: differs by %.3g", up, down, tap_count,
          sqrt(difference / power));
}

int main(void)
{
    static const unsigned cases[][3] = {{24, 25, 12}, {25, 24, 12}, {3, 2, 40},  {2, 3, 7},   {7, 5, 1},
                                        {1, 5, 33},   {4, 1, 20},   {1, 1, 100}, {13, 84, 50}};
    penstock_context *context = NULL;
    uint64_t seed = 2;
    CHECK_OK(penstock_context_new(&context, NULL));
    for (size_t i = 0; i < SAMPLES; i++)
        in[i] = (float)test_uniform(&seed) + I * (float)test_uniform(&seed);
    for (size_t k = 0; k < MOST_TAPS; k++)
        taps[k] = (float)test_uniform(&seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare(context, cases[i][0], cases[i][1], cases[i][2]);
    penstock_context_free(context);
    return test_finish();
}
