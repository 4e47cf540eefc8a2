/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* FFTW: a measured plan for one transform, executed in a loop. */
#include "bench/bench_run.h"
#include "peers.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

struct fftw_run {
    size_t n, batch;
    fftwf_complex *in, *out;
    fftwf_plan plan;
    struct team *team;
};

static const char *version(void)
{
    return fftwf_version;
}

static void run_share(void *argument, unsigned member, unsigned count)
{
    const struct fftw_run *run = argument;
    size_t end = run->batch * (member + 1) / count;
    for (size_t i = run->batch * member / count; i < end; i++)
        fftwf_execute_dft(run->plan, run->in + i * run->n, run->out + i * run->n);
}

static int run_all(void *state)
{
    struct fftw_run *run = state;
    team_run(run->team, run_share, run);
    return EXIT_DONE;
}

static void free_run(void *state)
{
    struct fftw_run *run = state;
    if (!run)
        return;
    if (run->plan)
        fftwf_destroy_plan(run->plan);
    team_free(run->team);
    fftwf_free(run->in);
    free(run);
}

static void *new_run(size_t n, size_t batch, unsigned threads, const void *in, void *out)
{
    struct fftw_run *run = calloc(1, sizeof *run);
    /* Transforms after the first must lie as the planned one does, or FFTW may not assume alignment. */
    unsigned flags = FFTW_MEASURE | (n * sizeof *run->in % 64 ? FFTW_UNALIGNED : 0u);
    if (!run)
        return NULL;
    *run = (struct fftw_run){.n = n, .batch = batch, .out = out};
    run->in = fftwf_malloc(n * batch * sizeof *run->in);
    run->team = team_new(threads);
    if (run->in)
        run->plan = fftwf_plan_dft_1d((int)n, run->in, run->out, FFTW_FORWARD, flags);
    if (!run->plan || !run->team) {
        free_run(run);
        return NULL;
    }
    memcpy(run->in, in, n * batch * sizeof *run->in);
    return run;
}

const struct peer peer_fftw = {
    .name = "fftw", .version = version, .fft_new = new_run, .fft_run = run_all, .fft_free = free_run};
