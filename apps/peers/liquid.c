/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's FFT: one plan a thread, since a plan is bound to its buffers; frames are copied through them. */
#include "bench/bench_run.h"
#include "liquid_channelizer.h"
#include "liquid_filter.h"
#include "liquid_resampler.h"
#include "peers.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

struct liquid_run {
    size_t n, batch;
    const float complex *in;
    float complex *out;
    float complex *scratch[MOST_THREADS]; /* n values in, n values out */
    fftplan plans[MOST_THREADS];
    unsigned threads;
    struct team *team;
};

static const char *version(void)
{
    return liquid_libversion();
}

static void run_share(void *argument, unsigned member, unsigned count)
{
    const struct liquid_run *run = argument;
    size_t end = run->batch * (member + 1) / count, bytes = run->n * sizeof *run->in;
    for (size_t i = run->batch * member / count; i < end; i++) {
        memcpy(run->scratch[member], run->in + i * run->n, bytes);
        fft_execute(run->plans[member]);
        memcpy(run->out + i * run->n, run->scratch[member] + run->n, bytes);
    }
}

static int run_all(void *state)
{
    struct liquid_run *run = state;
    team_run(run->team, run_share, run);
    return EXIT_DONE;
}

static void free_run(void *state)
{
    struct liquid_run *run = state;
    if (!run)
        return;
    team_free(run->team);
    for (unsigned i = 0; i < run->threads; i++) {
        if (run->plans[i])
            fft_destroy_plan(run->plans[i]);
        free(run->scratch[i]);
    }
    free(run);
}

static void *new_run(size_t n, size_t batch, unsigned threads, const void *in, void *out)
{
    struct liquid_run *run = threads <= MOST_THREADS ? calloc(1, sizeof *run) : NULL;
    if (!run)
        return NULL;
    *run = (struct liquid_run){.n = n, .batch = batch, .in = in, .out = out, .threads = threads};
    run->team = team_new(threads);
    for (unsigned i = 0; i < threads; i++) {
        run->scratch[i] = calloc(2 * n, sizeof *run->scratch[i]);
        if (run->scratch[i])
            run->plans[i] = fft_create_plan((unsigned)n, run->scratch[i], run->scratch[i] + n, LIQUID_FFT_FORWARD, 0);
        if (!run->plans[i] || !run->team) {
            free_run(run);
            return NULL;
        }
    }
    return run;
}

const struct peer peer_liquid = {.name = "liquid",
                                 .version = version,
                                 .fft_new = new_run,
                                 .fft_run = run_all,
                                 .fft_free = free_run,
                                 .filter_new = liquid_filter_new,
                                 .filter_run = liquid_filter_run,
                                 .filter_free = liquid_filter_free,
                                 .channelizer_new = liquid_channelizer_new,
                                 .channelizer_run = liquid_channelizer_run,
                                 .channelizer_free = liquid_channelizer_free,
                                 .resampler_new = liquid_resampler_new,
                                 .resampler_run = liquid_resampler_run,
                                 .resampler_free = liquid_resampler_free};
