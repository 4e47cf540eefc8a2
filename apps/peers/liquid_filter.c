/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * liquid-dsp's filters of a complex stream with real taps: fftfilt with each block size, and where values are left out
 * firdecim, which does not compute those; whichever is the fastest here. A stream is the work of one thread.
 */
#include "liquid_filter.h"
#include "shared/command.h"
#include "shared/progress.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <stdint.h>
#include <stdlib.h>

enum { SMALLEST_BLOCK = 64, LARGEST_BLOCK = 1 << 16, TRIALS = 3 };

struct filter_state {
    size_t block, decimation, samples;
    const float complex *in;
    float complex *out; /* all values; of firdecim those that are kept */
    fftfilt_crcf fft;   /* one of the two */
    firdecim_crcf direct;
};

/* Whole blocks only: the last samples are the peer's gain. */
int liquid_filter_run(void *state)
{
    struct filter_state *s = state;
    for (size_t i = 0; i + s->block <= s->samples; i += s->block)
        if (s->fft)
            fftfilt_crcf_execute(s->fft, (float complex *)(uintptr_t)(s->in + i), s->out + i);
        else
            firdecim_crcf_execute(s->direct, (float complex *)(uintptr_t)(s->in + i), s->out + i / s->decimation);
    return EXIT_DONE;
}

static void destroy_filter(struct filter_state *s)
{
    if (s->fft)
        fftfilt_crcf_destroy(s->fft);
    if (s->direct)
        firdecim_crcf_destroy(s->direct);
    s->fft = NULL;
    s->direct = NULL;
}

void liquid_filter_free(void *state)
{
    destroy_filter(state);
    free(state);
}

/* Keeps the faster of the two in `best`. */
static void compete(struct filter_state *best, double *least, struct filter_state *other)
{
    double seconds = 1e9;
    for (int trial = 0; trial < TRIALS && (other->fft || other->direct); trial++) {
        double start = seconds_now();
        liquid_filter_run(other);
        double taken = seconds_now() - start;
        seconds = taken < seconds ? taken : seconds;
    }
    if (seconds >= *least) {
        destroy_filter(other);
        return;
    }
    destroy_filter(best);
    *best = *other;
    *least = seconds;
}

void *liquid_filter_new(float *taps, size_t tap_count, size_t decimation, const void *in, void *out, size_t samples)
{
    struct filter_state *best = calloc(1, sizeof *best);
    double least = 1e9;
    if (!best)
        return NULL;
    for (size_t block = SMALLEST_BLOCK; block <= LARGEST_BLOCK && block <= samples; block *= 2) {
        struct filter_state other = {
            .block = block, .decimation = decimation, .samples = samples, .in = in, .out = out};
        if (block + 1 < tap_count)
            continue;
        other.fft = fftfilt_crcf_create(taps, (unsigned)tap_count, (unsigned)block);
        compete(best, &least, &other);
    }
    if (decimation > 1) {
        struct filter_state other = {
            .block = decimation, .decimation = decimation, .samples = samples, .in = in, .out = out};
        other.direct = firdecim_crcf_create((unsigned)decimation, taps, (unsigned)tap_count);
        compete(best, &least, &other);
    }
    if (best->fft || best->direct)
        return best;
    free(best);
    return NULL;
}
