/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams whose device is tried, compiled for or timed meanwhile are freed at random moments, with an empty cache: none
 * keeps who frees it waiting. Usage: test_free_early DEVICE */
#include "device.h"
#include "folder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define STREAMS   20
#define ROUNDS    10 /* 200 random times in all */
#define LONGEST_S 2.0
#define LIMIT_S   0.1
#define NAP_S     0.005

static penstock_cf32 samples[4096], results[1 << 16];
static float taps[64];

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---------------------------------------------------------------- the machine's part ---------- */

/* How late a thread is, all in all, that wants nothing but to wake up now and then: what others do on this machine. */
static _Atomic double late_s;
static atomic_bool over;

static void *nap(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        double began = now_s();
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * NAP_S)}, NULL);
        atomic_store(&late_s, atomic_load(&late_s) + now_s() - began - NAP_S);
    }
    return NULL;
}

/* ---------------------------------------------------------------- streams --------------------- */

struct life {
    penstock_stream *stream;
    double until_s;
    bool vectors;
};

static int open_stream(struct life *life, penstock_context *context, size_t number, const char *device)
{
    const size_t n = 48 + 20 * number; /* so many different lengths */
    life->vectors = number % 4 == 0;
    switch (number % 4) {
    case 0:
        return penstock_fft_stream_open(&life->stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = n), device);
    case 1:
        return penstock_spectrum_open(&life->stream, context, &PENSTOCK_SPECTRUM_DESC(.n = n), device);
    case 2:
        return penstock_filter_open(&life->stream, context,
                                    &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 5 + number), device);
    default:
        return penstock_channelizer_open(&life->stream, context, &PENSTOCK_CHANNELIZER_DESC(.channels = n), device);
    }
}

static void feed(struct life *life)
{
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t taken = 0, given;
    CHECK_OK(penstock_stream_get_info(life->stream, &info));
    CHECK_OK(penstock_stream_push(life->stream, samples, sizeof samples / info.in_bytes, &taken));
    CHECK_OK(penstock_stream_pull(life->stream, results, sizeof results / info.out_bytes, false, &given));
}

static double free_stream(struct life *life, const char *device, size_t number)
{
    const double late = atomic_load(&late_s), began = now_s();
    penstock_stream_free(life->stream);
    const double took = now_s() - began, allowed = LIMIT_S + atomic_load(&late_s) - late;
    life->stream = NULL;
    CHECK(took <= allowed, "%s: stream %zu took %.3f s to be freed, not %.3f at most", device, number, took, allowed);
    return took;
}

static double live(penstock_context *context, const char *device, uint64_t *seed, size_t *freed)
{
    struct life lives[STREAMS] = {{0}};
    double worst = 0;
    size_t left = 0;
    for (size_t i = 0; i < STREAMS; i++)
        CHECK_OK(open_stream(&lives[i], context, i, device));
    for (size_t i = 0; i < STREAMS; i++) {
        lives[i].until_s = now_s() + LONGEST_S * fabs(test_uniform(seed));
        left += lives[i].stream != NULL;
    }
    for (; left; nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL))
        for (size_t i = 0; i < STREAMS; i++) {
            if (!lives[i].stream)
                continue;
            if (now_s() < lives[i].until_s) {
                feed(&lives[i]);
                continue;
            }
            worst = fmax(worst, free_stream(&lives[i], device, i));
            left--;
            ++*freed;
        }
    return worst;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cpu";
    penstock_context *context;
    char preferred[64];
    pthread_t napper;
    uint64_t seed = 3;
    size_t freed = 0;
    double worst = 0;
    int exits = test_device(&context, device);
    if (exits || !context)
        return exits;
    penstock_context_free(context);
    snprintf(preferred, sizeof preferred, "prefer:%s", device);
    pthread_create(&napper, NULL, nap, NULL);
    taps[0] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(test_make_folder(), "no folder for the cache");
        CHECK_OK(
            penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder, .cpu_while_compiling = true,
                                                                  .auto_cpu_while_compiling = true)));
        worst = fmax(worst, live(context, round % 2 ? "auto" : preferred, &seed, &freed));
        penstock_context_free(context);
        test_remove_folder();
    }
    atomic_store(&over, true);
    pthread_join(napper, NULL);
    CHECK_EQ(freed, STREAMS * ROUNDS);
    printf("%zu streams: at most %.3f s to be freed\n", freed, worst);
    return test_finish();
}
