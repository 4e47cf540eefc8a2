/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Three streams in a row on one device: filter, FFT, spectrum hand their values over there, with the bits that they
 * give one by one, whatever the pieces, through flushes, resets, changes of taps and windows, another filter in the
 * first one's place, and streams cut off or freed in any order. While each call of a driver for tests fails, no value
 * is lost.
 *
 * Argument: a device.
 */
#include "link_device_sweep.h"

static char middle_values[ROOM], other[ROOM];
static float other_taps[TAPS], many_taps[TAPS + 30], window[N];

struct chain {
    penstock_stream *filter, *fft, *spectrum;
};

static int open_all(struct chain *chain, penstock_context *context, const char *on, size_t n)
{
    *chain = (struct chain){.filter = NULL};
    int status = open_filter(&chain->filter, context, on, true, 2);
    if (!status)
        status = penstock_fft_stream_open(&chain->fft, context, &PENSTOCK_FFT_STREAM_DESC(.n = n), on);
    return status ? status : open_spectrum(&chain->spectrum, context, on, N);
}

static int open_linked(struct chain *chain, penstock_context *context, const char *on)
{
    int status = open_all(chain, context, on, N);
    if (!status)
        status = penstock_stream_link(chain->fft, chain->spectrum);
    return status ? status : penstock_stream_link(chain->filter, chain->fft);
}

static void free_all(struct chain *chain)
{
    penstock_stream_free(chain->fft);
    penstock_stream_free(chain->filter);
    penstock_stream_free(chain->spectrum);
}

/* One by one, with other taps from sample `at` on where these are given. Bytes that come. */
static size_t run_by_one(penstock_context *context, size_t count, const float *taps_then, size_t at,
                         const float *window_of_fft, char *out, size_t n)
{
    struct chain chain;
    size_t one, two, made;
    CHECK_OK(open_all(&chain, context, device, n));
    if (taps_then)
        CHECK_OK(penstock_filter_set_taps(chain.filter, NULL, taps_then, TAPS, at));
    if (window_of_fft)
        CHECK_OK(penstock_fft_stream_set_window(chain.fft, window_of_fft));
    CHECK_OK(run(chain.filter, chain.filter, integers, count, (char *)between, &one, 0));
    CHECK_OK(run(chain.fft, chain.fft, between, one / sizeof *between / n, middle_values, &two, 0));
    CHECK_OK(run(chain.spectrum, chain.spectrum, middle_values, two / sizeof *between, out, &made, 0));
    CHECK(made, "nothing comes one by one");
    free_all(&chain);
    return made;
}

/* ---------------------------------------------------------------- bits ------------------------ */

static void check_bits(penstock_context *context)
{
    struct chain chain;
    size_t made;
    const size_t wanted = run_by_one(context, SAMPLES, NULL, 0, NULL, want, N);
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(open_linked(&chain, context, device));
    CHECK_OK(penstock_stream_get_info(chain.spectrum, &info));
    CHECK(info.linked_on && !strcmp(info.linked_on, info.device), "linked on %s", info.linked_on);
    for (uint64_t seed = 0; seed < 10; seed++) {
        CHECK_OK(run(chain.filter, chain.spectrum, integers, SAMPLES, got, &made, seed));
        CHECK(made == wanted && !memcmp(got, want, wanted), "seed %d: %zu bytes of %zu, or others", (int)seed, made,
              wanted);
        const penstock_stream_stats one = stats_of(chain.filter), two = stats_of(chain.fft),
                                    three = stats_of(chain.spectrum);
        CHECK(one.out == SAMPLES / 2 && two.in == one.out / N && two.out == two.in && three.in == two.out * N,
              "seed %d: %d values, %d and %d vectors, %d items", (int)seed, (int)one.out, (int)two.in, (int)two.out,
              (int)three.in);
        CHECK(three.handed_over && three.handed_over <= two.handed_over * N &&
                  (seed % 3 == 1 || 10 * three.handed_over > 6 * three.in),
              "seed %d: of %d items %d stay on the device, of %d vectors before %d", (int)seed, (int)three.in,
              (int)three.handed_over, (int)two.in, (int)two.handed_over);
        CHECK(!one.fallbacks && !two.fallbacks && !three.fallbacks, "seed %d: fallbacks", (int)seed);
        CHECK_OK(penstock_stream_reset(chain.filter));
        CHECK_OK(push(chain.filter, chain.spectrum, integers, 0, SAMPLES / 2, got, &(size_t){0}, seed));
        CHECK_OK(penstock_stream_reset(chain.filter)); /* with some on its way */
    }
    free_all(&chain);
}

/* Vectors that do not fill a spectrum's steps go over the host from there on. */
static void check_other_lengths(penstock_context *context)
{
    struct chain chain;
    size_t made;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    const size_t wanted = run_by_one(context, SAMPLES, NULL, 0, NULL, want, 96);
    CHECK_OK(open_all(&chain, context, device, 96));
    CHECK_OK(penstock_stream_link(chain.filter, chain.fft));
    CHECK_OK(penstock_stream_link(chain.fft, chain.spectrum));
    CHECK_OK(penstock_stream_get_info(chain.spectrum, &info));
    CHECK(!info.linked_on, "linked on %s", info.linked_on);
    CHECK_OK(run(chain.filter, chain.spectrum, integers, SAMPLES, got, &made, 2));
    CHECK(made == wanted && !memcmp(got, want, wanted), "96 points: %zu bytes of %zu, or others", made, wanted);
    CHECK(stats_of(chain.fft).handed_over && !stats_of(chain.spectrum).handed_over, "96 points: %d and %d items",
          (int)stats_of(chain.fft).handed_over, (int)stats_of(chain.spectrum).handed_over);
    free_all(&chain);
}

/* ---------------------------------------------------------------- changes --------------------- */

static void check_taps(penstock_context *context)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct chain chain;
        size_t made = 0;
        const size_t at = SAMPLES / 2 - 1000 * seed;
        const size_t wanted = run_by_one(context, SAMPLES, other_taps, at, NULL, want, N);
        CHECK_OK(open_linked(&chain, context, device));
        CHECK_OK(push(chain.filter, chain.spectrum, integers, 0, at - 300, got, &made, seed % 2 * 2));
        CHECK_OK(penstock_filter_set_taps(chain.filter, NULL, other_taps, TAPS, at));
        CHECK_OK(push(chain.filter, chain.spectrum, integers, at - 300, SAMPLES, got, &made, seed % 2 * 2));
        CHECK_OK(penstock_stream_finish(chain.filter));
        CHECK_OK(pull(chain.spectrum, got, &made, SAMPLES, true));
        CHECK(made == wanted && !memcmp(got, want, wanted), "taps at %zu: %zu bytes of %zu, or others", at, made,
              wanted);
        CHECK(stats_of(chain.spectrum).handed_over > 6000, "taps at %zu: %d items stay on the device", at,
              (int)stats_of(chain.spectrum).handed_over);
        free_all(&chain);
    }
}

/* Of the middle one: vectors of the one window, one of both, then of the other. */
static void check_window(penstock_context *context)
{
    struct chain chain;
    size_t made = 0, i = 0;
    const size_t wanted = run_by_one(context, SAMPLES, NULL, 0, NULL, want, N);
    CHECK_EQ(run_by_one(context, SAMPLES, NULL, 0, window, other, N), wanted);
    CHECK_OK(open_linked(&chain, context, device));
    CHECK_OK(push(chain.filter, chain.spectrum, integers, 0, SAMPLES / 2, got, &made, 2));
    CHECK_OK(penstock_fft_stream_set_window(chain.fft, window));
    CHECK_OK(push(chain.filter, chain.spectrum, integers, SAMPLES / 2, SAMPLES, got, &made, 2));
    CHECK_OK(penstock_stream_finish(chain.filter));
    CHECK_OK(pull(chain.spectrum, got, &made, SAMPLES, true));
    CHECK_EQ(made, wanted);
    for (; i < made && !memcmp(got + i, want + i, VECTOR); i += VECTOR)
        ;
    CHECK(i > wanted / 5 && i <= wanted / 2, "the window before holds for %zu bytes of %zu", i, wanted);
    i += VECTOR; /* the mean of a vector with the one and one with the other */
    CHECK(!memcmp(got + i, other + i, made - i), "from byte %zu on the vectors are neither one's", i);
    free_all(&chain);
}

static void check_flush(penstock_context *context)
{
    struct chain chain;
    size_t made = 0;
    uint64_t seed = 5;
    const size_t wanted = run_by_one(context, SAMPLES, NULL, 0, NULL, want, N);
    CHECK_OK(open_linked(&chain, context, device));
    for (size_t at = 0, more; at < SAMPLES; at += more) {
        more = test_random(&seed) % 9000 + 1;
        more = more < SAMPLES - at ? more : SAMPLES - at;
        CHECK_OK(push(chain.filter, chain.spectrum, integers, at, at + more, got, &made, 2));
        CHECK_OK(penstock_stream_flush(chain.filter));
        CHECK_OK(pull(chain.spectrum, got, &made, SAMPLES, true));
        CHECK_EQ(made / VECTOR, (at + more + 1) / 2 / (N * AVERAGE));
    }
    CHECK(made == wanted && error_of(got, want, wanted) < 1e-6, "flushed: %zu bytes of %zu, error %g", made, wanted,
          error_of(got, want, wanted));
    CHECK(stats_of(chain.spectrum).handed_over, "flushed: nothing stays on the device");
    free_all(&chain);
}

/* Behind a flush batches of the filter begin in the midst of vectors: what the host holds of the first one goes up. */
static void check_after_flush(penstock_context *context)
{
    const size_t wanted = run_by_one(context, SAMPLES, NULL, 0, NULL, want, N);
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct chain chain;
        size_t made;
        const size_t at = 3000 + 711 * seed;
        CHECK_OK(open_linked(&chain, context, device));
        CHECK_OK(run_flushed(chain.filter, chain.spectrum, integers, at, SAMPLES, got, &made));
        CHECK(made == wanted && error_of(got, want, wanted) < 1e-6, "flushed at %zu: %zu bytes of %zu, error %g", at,
              made, wanted, error_of(got, want, wanted));
        const penstock_stream_stats stats = stats_of(chain.spectrum);
        CHECK(10 * stats.handed_over > 6 * stats.in, "flushed at %zu: of %d items %d stay on the device", at,
              (int)stats.in, (int)stats.handed_over);
        free_all(&chain);
    }
}

static int open_next(penstock_stream **stream, penstock_context *context)
{
    return penstock_filter_open(stream, context,
                                &PENSTOCK_FILTER_DESC(.format = PENSTOCK_CS16, .real_taps = many_taps,
                                                      .tap_count = TAPS + 30, .decimation = 2, .n = 256,
                                                      .max_latency = 4000),
                                device);
}

/* A filter with more taps takes the place of the first one: as if one had given all values. */
static void check_relink(penstock_context *context)
{
    struct chain chain;
    penstock_stream *next, *alone;
    size_t made = 0, one, two, wanted;
    const size_t at = SAMPLES / 2 / (2 * N) * 2 * N; /* whole vectors */
    CHECK_OK(open_all(&chain, context, device, N));
    CHECK_OK(open_next(&next, context));
    CHECK_OK(run(chain.filter, chain.filter, integers, at, (char *)between, &one, 0));
    CHECK_OK(run(next, next, integers + 2 * at, SAMPLES - at, (char *)between + one, &two, 0));
    CHECK_OK(run(chain.fft, chain.fft, between, (one + two) / sizeof *between / N, middle_values, &two, 0));
    CHECK_OK(run(chain.spectrum, chain.spectrum, middle_values, two / sizeof *between, want, &wanted, 0));
    free_all(&chain);
    CHECK_OK(penstock_stream_reset(next));
    CHECK_OK(open_linked(&chain, context, device));
    CHECK_OK(push(chain.filter, chain.spectrum, integers, 0, at, got, &made, 2));
    CHECK_OK(penstock_stream_flush(chain.filter));
    CHECK_EQ(penstock_stream_relink(chain.filter, chain.spectrum), PENSTOCK_ERR_ARGUMENT); /* a circle */
    CHECK_EQ(penstock_stream_relink(next, chain.filter), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_stream_relink(chain.filter, chain.fft), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_stream_relink(chain.filter, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_relink(chain.filter, next));
    const uint64_t before = stats_of(chain.spectrum).handed_over;
    CHECK_OK(push(next, chain.spectrum, integers + 2 * at, 0, SAMPLES - at, got, &made, 2));
    CHECK_OK(penstock_stream_finish(next));
    CHECK_OK(pull(chain.spectrum, got, &made, SAMPLES, true));
    CHECK(made == wanted && error_of(got, want, wanted) < 1e-6, "relinked: %zu bytes of %zu, error %g", made, wanted,
          error_of(got, want, made));
    CHECK(before && stats_of(chain.spectrum).handed_over > before, "relinked: %d, then %d items stay", (int)before,
          (int)stats_of(chain.spectrum).handed_over);

    /* cut apart, each goes on by itself */
    CHECK_EQ(penstock_stream_unlink(chain.filter, chain.fft), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_stream_unlink(next, chain.fft));
    CHECK_OK(penstock_stream_unlink(chain.fft, chain.spectrum));
    CHECK_OK(penstock_stream_reset(next));
    CHECK_OK(run(next, next, integers, FEW, got, &made, 0));
    CHECK_OK(open_next(&alone, context));
    CHECK_OK(run(alone, alone, integers, FEW, want, &wanted, 0));
    CHECK(made == wanted && !memcmp(got, want, made), "unlinked: %zu bytes of %zu, or others", made, wanted);
    penstock_stream_free(alone);
    penstock_stream_free(next);
    free_all(&chain);
}

/* With much on its way streams are freed in any order; those that are left go on with what they have. */
static void check_life(penstock_context *context)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct chain chain;
        size_t made = 0, count;
        CHECK_OK(open_linked(&chain, context, device));
        penstock_stream *all[] = {chain.filter, chain.fft, chain.spectrum};
        CHECK_OK(push(chain.filter, chain.spectrum, integers, 0, SAMPLES / 2, got, &made, 0));
        CHECK(stats_of(chain.filter).out > 1000, "only %d values went on", (int)stats_of(chain.filter).out);
        penstock_stream_free(all[orders[i][0]]);
        if (orders[i][0] == 0)
            CHECK_OK(penstock_stream_push(chain.fft, between, 4, &count));
        if (orders[i][0] == 2)
            CHECK_OK(penstock_stream_pull(chain.fft, got, 4, true, &count));
        penstock_stream_free(all[orders[i][1]]);
        penstock_stream_free(all[orders[i][2]]);
    }
}

/* ---------------------------------------------------------------- failures -------------------- */

static int open_streams(penstock_stream *streams[MOST_STREAMS], penstock_context *context, const char *on)
{
    struct chain chain;
    const int status = open_linked(&chain, context, on);
    streams[0] = chain.filter;
    streams[1] = chain.fft;
    streams[2] = chain.spectrum;
    return status;
}

static size_t alone(penstock_context *context)
{
    return run_by_one(context, FEW, NULL, 0, NULL, want, N);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    uint64_t seed = 2;
    const long live = penstock__memory_live();
    if (!rig_open(&context, count, arguments))
        return test_skip(penstock_error_text());
    for (size_t k = 0; k < TAPS; k++)
        other_taps[k] = (float)test_uniform(&seed) / TAPS;
    for (size_t k = 0; k < TAPS + 30; k++)
        many_taps[k] = (float)test_uniform(&seed) / TAPS;
    for (size_t k = 0; k < N; k++)
        window[k] = (float)(k + 1) / N;
    check_bits(context);
    check_other_lengths(context);
    check_taps(context);
    check_window(context);
    check_flush(context);
    check_after_flush(context);
    check_relink(context);
    check_life(context);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
    if (shim_load("PENSTOCK_OPENCL_LIBRARY") && shim.fail_from) {
        struct sweep sweep = {
            .open = open_streams, .count = 3, .alone = alone, .vector = N, .least = 80, .most = 3000, .error = 3e-6};
        sweep_all(&sweep);
        sweep.flush_at = 1000;
        sweep_calls(&sweep, shim.fail_at, "once, with a flush");
    }
    return test_finish();
}
