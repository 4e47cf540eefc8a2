/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Planning and running from several threads on one context, while another part of the program plans with FFTW itself,
 * as GNU Radio does. Results are right; under ThreadSanitizer the test finds races.
 */
#include "backends/backend.h"
#include "fft_error.h"
#include "test.h"

#include <fftw3.h>
#include <penstock/penstock.h>
#include <pthread.h>

#define MOST   1024
#define FRAMES 40

static const size_t lengths[] = {16, 60, 64, 97, 100, 128, 500, 509, 512, 1000, 1021, MOST};
#define LENGTHS (sizeof lengths / sizeof lengths[0])

struct worker {
    penstock_context *context;
    const char *device;
    size_t first;    /* where in lengths[] to begin */
    double worst;    /* error over bound */
    int status;      /* of the first call that failed */
    char error[256]; /* its text */
    penstock_cf32 in[FRAMES * MOST], out[FRAMES * MOST];
    double want[2 * MOST];
};

/* Checks of test.h are for one thread: workers keep what they saw. */
static int use_length(struct worker *w, size_t n)
{
    penstock_plan *plan;
    uint64_t seed = n;
    int status = penstock_fft_plan(&plan, w->context, &PENSTOCK_FFT_DESC(.n = n), w->device);
    for (size_t i = 0; i < FRAMES * n; i++)
        w->in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    if (!status)
        status = penstock_plan_run(plan, w->in, w->out, FRAMES);
    penstock_plan_free(plan);
    for (size_t frame = 0; !status && frame < FRAMES; frame += FRAMES - 1) {
        double error;
        for (size_t i = 0; i < n; i++) {
            w->want[2 * i] = w->in[frame * n + i].re;
            w->want[2 * i + 1] = w->in[frame * n + i].im;
        }
        status = penstock__dft(w->want, n, PENSTOCK_FORWARD);
        error = relative_error(&w->out[frame * n].re, w->want, 2 * n) / error_bound(n);
        if (!(error <= w->worst))
            w->worst = error;
    }
    return status;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    for (size_t i = 0; i < LENGTHS && !w->status; i++) {
        w->status = use_length(w, lengths[(w->first + i) % LENGTHS]);
        if (w->status)
            snprintf(w->error, sizeof w->error, "%s", penstock_error_text());
    }
    return NULL;
}

/* Somebody else's code, who knows nothing of us. */
static void *plan_with_fftw(void *argument)
{
    int *planned = argument;
    for (size_t i = 0; i < LENGTHS; i++) {
        size_t n = lengths[LENGTHS - 1 - i];
        fftwf_complex *in = fftwf_malloc(n * sizeof *in), *out = fftwf_malloc(n * sizeof *out);
        fftwf_plan plan = in && out ? fftwf_plan_dft_1d((int)n, in, out, FFTW_FORWARD, FFTW_MEASURE) : NULL;
        *planned += plan != NULL;
        if (plan)
            fftwf_destroy_plan(plan);
        fftwf_free(in);
        fftwf_free(out);
    }
    return NULL;
}

int main(void)
{
    static struct worker workers[3] = {{.device = "cpu"}, {.device = "cpu", .first = 5}, {.device = "cpu", .first = 8}};
    penstock_context *context;
    pthread_t threads[3], other;
    int planned = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    /* FFTW's planner is safe from the first plan of ours on. */
    workers[0].context = context;
    CHECK_OK(use_length(&workers[0], 8));
    pthread_create(&other, NULL, plan_with_fftw, &planned);
    for (int i = 0; i < 3; i++) {
        workers[i].context = context;
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    pthread_join(other, NULL);
    CHECK_EQ(planned, LENGTHS);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!workers[i].status, "%s: %s", workers[i].device, workers[i].error);
        CHECK(workers[i].worst > 0 && workers[i].worst <= 1, "%s: error %.2f times the bound", workers[i].device,
              workers[i].worst);
    }
    penstock_context_free(context);
    return test_finish();
}
