/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Streams of vectors against a double-precision transform, on each device: both directions, real and complex input,
 * window, zero frequency in the middle; the same bits for any split; results within the latency; failing allocations.
 */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "fft_error.h"
#include "test.h"

#include <math.h>
#include <penstock/penstock.h>
#include <time.h>

#define VECTORS 300

static int executed;

/* What the header says, from the definition of the transform. */
static void expected(double *want, const penstock_fft_stream_desc *d, const float *vector)
{
    size_t n = d->n, shift = d->centered ? n / 2 : 0;
    double *values = calloc(2 * n, sizeof *values);
    for (size_t j = 0; j < n; j++) {
        size_t from = d->direction == PENSTOCK_REVERSE ? (j + shift) % n : j;
        double factor = d->window ? (double)d->window[from] : 1;
        values[2 * j] = factor * (double)vector[d->real ? from : 2 * from];
        values[2 * j + 1] = d->real ? 0 : factor * (double)vector[2 * from + 1];
    }
    CHECK_OK(penstock__dft(values, n, d->direction));
    for (size_t k = 0; k < n; k++) {
        size_t to = d->direction == PENSTOCK_FORWARD ? (k + shift) % n : k;
        want[2 * to] = values[2 * k];
        want[2 * to + 1] = values[2 * k + 1];
    }
    free(values);
}

/* All of `in` in random chunks (one piece: `seed` 0), everything out. Vectors that came. */
static size_t run(penstock_stream *stream, const penstock_fft_stream_desc *d, const float *in, penstock_cf32 *out,
                  uint64_t seed, int *status)
{
    size_t at = 0, count = 0, taken = 0, pulled = 0, values = d->real ? d->n : 2 * d->n;
    while (at < VECTORS && !*status) {
        size_t chunk = seed ? 1 + test_random(&seed) % 40 : VECTORS;
        chunk = chunk < VECTORS - at ? chunk : VECTORS - at;
        *status = penstock_stream_push(stream, in + at * values, chunk, &taken);
        at += taken;
        do {
            int pull = penstock_stream_pull(stream, out + count * d->n, VECTORS - count, seed % 3 == 1, &pulled);
            count += pulled;
            *status = *status ? *status : pull;
        } while (pulled);
    }
    if (!*status && !(*status = penstock_stream_finish(stream)))
        do {
            *status = penstock_stream_pull(stream, out + count * d->n, VECTORS - count, false, &pulled);
            count += pulled;
        } while (!*status && pulled);
    return count;
}

/* The same in calls that push and pull at once, with room for fewer or more than come. */
static size_t run_both(penstock_stream *stream, const penstock_fft_stream_desc *d, const float *in, penstock_cf32 *out,
                       uint64_t seed, int *status)
{
    size_t at = 0, count = 0, taken, given, values = d->real ? d->n : 2 * d->n;
    bool finished = false, more = true;
    while (more && !*status) {
        size_t chunk = test_random(&seed) % 40, room = 1 + test_random(&seed) % 40;
        chunk = chunk < VECTORS - at ? chunk : VECTORS - at;
        room = room < VECTORS - count ? room : VECTORS - count;
        *status = penstock_stream_run(stream, in + at * values, chunk, &taken, out + count * d->n, room, &given);
        at += taken;
        count += given;
        more = given || !finished;
        if (at == VECTORS && !finished && !*status) {
            finished = true;
            *status = penstock_stream_finish(stream);
        }
    }
    return count;
}

/* run() gives the bits of push() and pull(), `want`, also where vectors lie at addresses that no vector unit likes. */
static void check_run(penstock_stream *stream, const penstock_fft_stream_desc *d, const float *in,
                      const penstock_cf32 *want)
{
    const size_t values = VECTORS * d->n;
    float *moved = malloc((2 * values + 1) * sizeof *moved);
    penstock_cf32 *out = malloc((values + 2) * sizeof *out);
    memcpy(moved + 1, in, values * (d->real ? 1 : 2) * sizeof *moved);
    for (uint64_t split = 1; split < 4; split++) {
        int status = 0;
        size_t shift = split % 2;
        out[shift + values].re = 77;
        CHECK_OK(penstock_stream_reset(stream));
        CHECK_EQ(run_both(stream, d, shift ? moved + 1 : in, out + shift, split, &status), VECTORS);
        CHECK_OK(status);
        CHECK(!memcmp(out + shift, want, values * sizeof *out), "n %zu: run gives other bits", d->n);
        CHECK(out[shift + values].re == 77.0f, "n %zu: run writes beyond its end", d->n);
    }
    free(moved);
    free(out);
}

static void check_values(penstock_context *context, const char *device, const penstock_fft_stream_desc *d)
{
    penstock_stream *stream = NULL;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    uint64_t seed = d->n;
    size_t n = d->n, bytes = VECTORS * n * sizeof(penstock_cf32);
    float *in = malloc(bytes);
    penstock_cf32 *out = malloc(bytes), *again = malloc(bytes);
    double *want = malloc(2 * n * sizeof *want), bound = error_bound(n < 2 ? 2 : n);
    int status = 0;
    for (size_t i = 0; i < 2 * VECTORS * n; i++)
        in[i] = (float)test_uniform(&seed);
    CHECK_OK(penstock_fft_stream_open(&stream, context, d, device));
    if (!stream)
        goto done;
    CHECK_EQ(run(stream, d, in, out, 0, &status), VECTORS);
    CHECK_OK(status);
    for (size_t v = 0; v < VECTORS; v += 37) {
        expected(want, d, in + v * n * (d->real ? 1 : 2));
        double error = relative_error((const float *)(const void *)(out + v * n), want, 2 * n);
        CHECK(error <= bound * (strcmp(device, "reference") ? 1 : 6), "%s, n %zu, %s %s, vector %zu: error %g", device,
              n, d->real ? "real" : "complex", d->direction ? "reverse" : "forward", v, error);
    }
    for (uint64_t split = 1; split < 4; split++) {
        CHECK_OK(penstock_stream_reset(stream));
        CHECK_EQ(run(stream, d, in, again, split, &status), VECTORS);
        CHECK_OK(status);
        CHECK(!memcmp(out, again, bytes), "%s, n %zu: another split gives other bits", device, n);
    }
    check_run(stream, d, in, out);
    CHECK_OK(penstock_stream_get_info(stream, &info));
    CHECK(info.taken == VECTORS && info.given == VECTORS && info.batch && !info.waiting, "taken %llu, given %llu",
          (unsigned long long)info.taken, (unsigned long long)info.given);
    CHECK(penstock_stream_push(stream, in, 1, &(size_t){0}) == PENSTOCK_ERR_STATE, "a finished stream takes more");
done:
    penstock_stream_free(stream);
    free(in);
    free(out);
    free(again);
    free(want);
    executed++;
}

static void check_device(penstock_context *context, const char *device)
{
    static const size_t lengths[] = {8, 64, 1024, 1, 7, 100};
    const size_t count = strcmp(device, "cpu") ? 3 : 6;          /* other devices may know powers of two alone */
    const unsigned every = strncmp(device, "opencl", 6) ? 1 : 3; /* PoCL takes a second to compile each */
    uint64_t number = 0;
    float window[1024];
    for (size_t l = 0; l < count; l++)
        for (int bits = 0; bits < 16; bits++) {
            size_t n = lengths[l];
            if (!test_drawn(number++, every))
                continue;
            CHECK_OK(penstock_window_fill(window, n, "hamming"));
            for (size_t i = 0; i < n; i++)
                window[i] += 0.01f * (float)i / (float)n; /* not the same read backwards */
            check_values(context, device,
                         &PENSTOCK_FFT_STREAM_DESC(.n = n, .direction = bits & 1 ? PENSTOCK_REVERSE : PENSTOCK_FORWARD,
                                                   .real = bits & 2, .centered = bits & 4,
                                                   .window = bits & 8 ? window : NULL));
        }
}

static void check_latency(penstock_context *context)
{
    static const float in[2 * 64] = {1};
    penstock_cf32 out[64];
    penstock_stream *stream = NULL;
    size_t count;
    /* so long that no busy machine lets it pass */
    CHECK_OK(
        penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 64, .max_latency_s = 1000), "cpu"));
    CHECK(isinf(penstock_stream_due_s(stream)), "due in %g s with nothing in", penstock_stream_due_s(stream));
    CHECK_OK(penstock_stream_push(stream, in, 1, &(size_t){0}));
    double due = penstock_stream_due_s(stream);
    CHECK(due > 0 && due <= 1000, "due in %g s", due);
    CHECK_OK(penstock_stream_pull(stream, out, 1, false, &count));
    CHECK_EQ(count, 0);
    penstock_stream_free(stream);

    CHECK_OK(
        penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 64, .max_latency_s = 0.02), "cpu"));
    CHECK_OK(penstock_stream_push(stream, in, 1, &(size_t){0}));
    due = penstock_stream_due_s(stream);
    CHECK(due <= 0.02, "due in %g s", due);
    nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
    CHECK(penstock_stream_due_s(stream) <= 0, "not due after the latency");
    CHECK_OK(penstock_stream_pull(stream, out, 1, false, &count));
    CHECK_EQ(count, 1);
    CHECK(out[63].re == 1.0f, "a pulse gives %g", (double)out[63].re);
    CHECK(isinf(penstock_stream_due_s(stream)), "due with nothing left");
    penstock_stream_free(stream);
}

/* A vector that waits in a batch comes before those that could go straight. */
static void check_order(penstock_context *context)
{
    static const penstock_cf32 in[3] = {{1, 0}, {2, 0}, {3, 0}};
    penstock_cf32 out[3];
    penstock_stream *stream = NULL;
    size_t taken = 0, given = 0;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 1), "cpu"));
    CHECK_OK(penstock_stream_push(stream, in, 1, &(size_t){0}));
    CHECK_OK(penstock_stream_run(stream, in + 1, 2, &taken, out, 3, &given));
    CHECK(taken == 2 && given == 3 && out[0].re == 1.0f && out[1].re == 2.0f && out[2].re == 3.0f, "%zu came", given);
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_EQ(penstock_stream_run(stream, in, 1, &taken, out, 1, &given), PENSTOCK_ERR_STATE);
    CHECK_OK(penstock_stream_reset(stream));
    CHECK_OK(penstock_stream_run(stream, in, 3, &taken, out, 2, &given));
    CHECK(taken == 2 && given == 2 && out[1].re == 2.0f, "straight: took %zu, gave %zu", taken, given);
    penstock_stream_free(stream);
}

/* Another window holds from the next vector on, and no vector is lost: also where several wait for their turn. Where
 * the window is w, a vector of ones gives w n in bin 0. */
static void check_windows(penstock_context *context, const char *device, bool straight)
{
    enum { N = 16 };
    static float window[N];
    static penstock_cf32 in[VECTORS * N], out[VECTORS * N];
    penstock_stream *stream = NULL;
    size_t at = 0, count = 0, taken, given, want[VECTORS];
    uint64_t seed = straight;
    for (size_t i = 0; i < VECTORS * N; i++)
        in[i].re = 1;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), device));
    for (size_t factor = 1; at < VECTORS; factor++) {
        size_t chunk = test_random(&seed) % 50, room = test_random(&seed) % 40;
        chunk = chunk < VECTORS - at ? chunk : VECTORS - at;
        room = room < VECTORS - count ? room : VECTORS - count;
        for (size_t i = 0; i < N; i++)
            window[i] = (float)factor;
        CHECK_OK(penstock_fft_stream_set_window(stream, window));
        if (straight) {
            CHECK_OK(penstock_stream_run(stream, in + at * N, chunk, &taken, out + count * N, room, &given));
        } else {
            CHECK_OK(penstock_stream_push(stream, in + at * N, chunk, &taken));
            CHECK_OK(penstock_stream_pull(stream, out + count * N, room, false, &given));
        }
        for (size_t i = 0; i < taken; i++)
            want[at + i] = factor;
        at += taken;
        count += given;
    }
    CHECK_OK(penstock_stream_finish(stream));
    CHECK_OK(penstock_stream_pull(stream, out + count * N, VECTORS - count, false, &given));
    CHECK_EQ(count + given, VECTORS);
    for (size_t i = 0; i < VECTORS; i++)
        CHECK(fabsf(out[i * N].re - (float)(want[i] * N)) <= 1e-4f * (float)(want[i] * N),
              "%s, vector %zu: %g, not %zu", device, i, (double)out[i * N].re / N, want[i]);
    penstock_stream_free(stream);
}

static void check_stats(penstock_context *context)
{
    static const penstock_cf32 in[64 * 10];
    static penstock_cf32 out[64 * 10];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_stream *stream = NULL;
    size_t taken, given;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 64), "cpu"));
    CHECK_OK(penstock_stream_push(stream, in, 10, &taken));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(stats.in == 10 && !stats.out && stats.queue == 10 && stats.batch == 0, "pushed");
    CHECK_OK(penstock_stream_set_max_latency(stream, 1e-9)); /* holds for those that wait too */
    CHECK_OK(penstock_stream_pull(stream, out, 10, false, &given));
    CHECK_EQ(given, 10);
    CHECK_OK(penstock_stream_run(stream, in, 6, &taken, out, 10, &given));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(stats.in == 16 && stats.out == 16 && !stats.queue && stats.batch == 8, "%g in, %g out, batch %g",
          (double)stats.in, (double)stats.out, stats.batch);
    CHECK(stats.kernel_s > 0 && stats.transfer_s == 0 && stats.latency_p50_s > 0 &&
              stats.latency_p99_s >= stats.latency_p50_s && stats.in_rate_hz > 0 && !stats.fallbacks && !stats.drops,
          "kernel %g s, latency %g s", stats.kernel_s, stats.latency_p50_s);
    CHECK_OK(penstock_stream_reset(stream));
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK(!stats.in && !stats.out && stats.latency_p99_s == 0, "a reset stream remembers");
    penstock_stream_free(stream);
}

static void check_refusals(penstock_context *context)
{
    penstock_stream *stream = NULL;
    CHECK_EQ(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 0), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 8, .max_latency_s = -1), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 8, .direction = 9), "cpu"),
             PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = 8), "warp"),
             PENSTOCK_ERR_NO_DEVICE);
    CHECK_EQ(penstock_fft_stream_open(NULL, context, &PENSTOCK_FFT_STREAM_DESC(.n = 8), "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(NULL, NULL, 0, &(size_t){0}), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_run(NULL, NULL, 0, NULL, NULL, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_stream_set_window(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_set_max_latency(NULL, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_get_stats(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK(!penstock_stream_device(NULL) && !stream, "something came of nothing");
}

static void sweep_allocations(void)
{
    static float in[2 * 64 * VECTORS], window[64];
    static penstock_cf32 out[64 * VECTORS];
    const penstock_fft_stream_desc desc = {
        .size = sizeof desc, .n = 64, .direction = PENSTOCK_REVERSE, .real = true, .window = window, .centered = true};
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (; status && k < 1000; k++) {
        penstock_context *context = NULL;
        penstock_stream *stream = NULL;
        penstock__memory_fail_at(k);
        if (!(status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""))) &&
            !(status = penstock_fft_stream_open(&stream, context, &desc, "cpu")))
            CHECK(run(stream, &desc, in, out, 0, &status) == VECTORS || status, "vectors are missing");
        if (!status && !(status = penstock_stream_reset(stream)))
            CHECK(run_both(stream, &desc, in, out, 1, &status) == VECTORS || status, "vectors are missing");
        if (!status)
            status = penstock_fft_stream_set_window(stream, window);
        penstock__memory_fail_at(-1);
        penstock_stream_free(stream);
        penstock_context_free(context);
        CHECK(penstock__memory_live() == live, "allocation %ld: %ld blocks leak", k, penstock__memory_live() - live);
    }
    CHECK(!status && k > 5, "%ld allocations were failed, the last run gave %d", k, status);
}

int main(int argc, char **argv)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    if (argc > 1) {
        penstock_stream *probe = NULL;
        if (penstock_fft_stream_open(&probe, context, &PENSTOCK_FFT_STREAM_DESC(.n = 64), argv[1])) {
            int skipped = test_skip(penstock_error_text());
            penstock_context_free(context);
            return skipped;
        }
        penstock_stream_free(probe);
        check_device(context, argv[1]);
        check_windows(context, argv[1], true);
        check_windows(context, argv[1], false);
        CHECK_EQ(executed, test_cases_drawn);
        CHECK_EQ(test_cases, 48);
    } else {
        check_device(context, "cpu");
        CHECK_EQ(executed, 96);
        check_latency(context);
        check_order(context);
        check_stats(context);
        check_windows(context, "cpu", true);
        check_windows(context, "cpu", false);
        check_refusals(context);
        sweep_allocations();
    }
    penstock_context_free(context);
    return test_finish();
}
