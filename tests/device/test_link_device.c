/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter linked to a spectrum or an FFT stream of the same device hands its values over there: the same bits as one
 * by one whatever the pieces, with changes of taps and windows, flushes, resets, and streams freed in any order in
 * between; statistics and the log tell it; what cannot is handed over on the host.
 *
 * Argument: a device.
 */
#include "link_device_rig.h"

static penstock_cf32 samples[SAMPLES];
static float other_taps[TAPS], window[N];
static char other[ROOM];

/* ---------------------------------------------------------------- bits ------------------------ */

/* One by one, then linked; the link is cut by freeing. */
static void check_pair(penstock_stream *first, penstock_stream *second, const void *in, const char *what)
{
    size_t half, wanted, made;
    CHECK_OK(run(first, first, in, SAMPLES, (char *)between, &half, 0));
    CHECK_OK(run(second, second, between, half / sizeof *between / (info_of(second).in_bytes / sizeof *between), want,
                 &wanted, 0));
    CHECK(half && wanted, "%s: %zu and %zu bytes", what, half, wanted);
    CHECK_OK(penstock_stream_reset(first));
    CHECK_OK(penstock_stream_reset(second));
    CHECK_OK(penstock_stream_link(first, second));
    for (uint64_t seed = 0; seed < 7; seed++) {
        CHECK_OK(run(first, second, in, SAMPLES, got, &made, seed));
        CHECK(made == wanted && !memcmp(got, want, wanted), "%s, seed %d: %zu bytes of %zu, or others", what, (int)seed,
              made, wanted);
        const penstock_stream_stats one = stats_of(first), two = stats_of(second);
        const size_t values = info_of(second).in_bytes / sizeof *between;
        CHECK(one.out == half / sizeof *between && two.in == one.out / values, "%s: %d values out, %d items in", what,
              (int)one.out, (int)two.in);
        CHECK(two.handed_over <= two.in && (seed % 3 == 1 || 10 * two.handed_over > 7 * two.in) && two.handed_over,
              "%s, seed %d: of %d items %d stay on the device", what, (int)seed, (int)two.in, (int)two.handed_over);
        CHECK(!one.handed_over && !one.fallbacks && !two.fallbacks, "%s: statistics", what);
        CHECK_OK(penstock_stream_reset(first));
        CHECK_EQ(stats_of(second).handed_over, 0);
        CHECK_OK(push(first, second, in, 0, SAMPLES / 2, got, &(size_t){0}, seed)); /* and with some on its way */
        CHECK_OK(penstock_stream_reset(first));
    }
    penstock_stream_free(first);
    penstock_stream_free(second);
}

static void check_pairs(penstock_context *context)
{
    static const struct {
        const char *what;
        bool is_integer;
        size_t interpolation, decimation, hop; /* hop 0: an FFT stream */
    } pairs[] = {{"filter, spectrum", false, 1, 1, N},
                 {"filter of 16 bits by 2, spectrum", true, 1, 2, N},
                 {"filter by 4, overlapping spectrum", false, 1, 4, N / 2},
                 {"filter, spectrum in steps of odd places", false, 1, 1, 35},
                 {"filter by 4 / 3, spectrum", true, 3, 4, N},
                 {"filter by 2, FFT", false, 1, 2, 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        penstock_stream *first = NULL, *second = NULL;
        CHECK_OK(open_resampling_filter(&first, context, device, pairs[i].is_integer, pairs[i].interpolation,
                                        pairs[i].decimation));
        CHECK_OK(pairs[i].hop ? open_spectrum(&second, context, device, pairs[i].hop)
                              : penstock_fft_stream_open(&second, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), device));
        check_pair(first, second, pairs[i].is_integer ? (const void *)integers : samples, pairs[i].what);
    }
}

/* ---------------------------------------------------------------- changes --------------------- */

static void check_taps(penstock_context *context)
{
    static const size_t places[] = {SAMPLES / 2, 224 * 20, SAMPLES - 500};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        penstock_stream *first, *second;
        size_t made = 0;
        const size_t wanted = run_apart(context, SAMPLES, other_taps, places[i], NULL, want);
        CHECK_OK(open_chain(&first, &second, context, device));
        CHECK_OK(push(first, second, integers, 0, places[i] - 300, got, &made, i));
        CHECK_OK(penstock_filter_set_taps(first, NULL, other_taps, TAPS, places[i]));
        CHECK_OK(push(first, second, integers, places[i] - 300, SAMPLES, got, &made, i));
        CHECK_OK(penstock_stream_finish(first));
        CHECK_OK(pull(second, got, &made, SAMPLES, true));
        CHECK(made == wanted && !memcmp(got, want, wanted), "taps at %zu: %zu bytes of %zu, or others", places[i], made,
              wanted);
        CHECK(stats_of(second).handed_over, "taps at %zu: nothing stays on the device", places[i]);
        penstock_stream_free(second);
        penstock_stream_free(first);
    }
}

/* Vectors with the one window, and then with the other. */
static void check_window(penstock_context *context)
{
    penstock_stream *first, *second;
    size_t made = 0, i = 0;
    const size_t wanted = run_apart(context, SAMPLES, NULL, 0, NULL, want);
    CHECK_EQ(run_apart(context, SAMPLES, NULL, 0, window, other), wanted);
    CHECK_OK(open_chain(&first, &second, context, device));
    CHECK_OK(push(first, second, integers, 0, SAMPLES / 2, got, &made, 2));
    CHECK_OK(penstock_spectrum_set_window(second, NULL, window));
    CHECK_OK(push(first, second, integers, SAMPLES / 2, SAMPLES, got, &made, 2));
    CHECK_OK(penstock_stream_finish(first));
    CHECK_OK(pull(second, got, &made, SAMPLES, true));
    CHECK_EQ(made, wanted);
    for (; i < made && !memcmp(got + i, want + i, VECTOR); i += VECTOR)
        ;
    CHECK(i > wanted / 4 && i <= wanted / 2, "the window before holds for %zu bytes of %zu", i, wanted);
    CHECK(!memcmp(got + i, other + i, made - i), "from byte %zu on the vectors are neither one's", i);
    penstock_stream_free(first);
    penstock_stream_free(second);
}

/* All that was pushed comes; the last bits of what a flush asked for early may be others, as on the host. */
static void check_flush(penstock_context *context)
{
    penstock_stream *first, *second;
    size_t made = 0;
    uint64_t seed = 5;
    const size_t wanted = run_apart(context, SAMPLES, NULL, 0, NULL, want);
    CHECK_OK(open_chain(&first, &second, context, device));
    for (size_t at = 0, more; at < SAMPLES; at += more) {
        more = test_random(&seed) % 7000 + 1;
        more = more < SAMPLES - at ? more : SAMPLES - at;
        CHECK_OK(push(first, second, integers, at, at + more, got, &made, 2));
        CHECK_OK(penstock_stream_flush(first));
        CHECK_OK(pull(second, got, &made, SAMPLES, true));
        CHECK_EQ(made / VECTOR, (at + more + 1) / 2 / (N * AVERAGE));
    }
    CHECK(made == wanted && error_of(got, want, wanted) < 1e-6, "flushed: %zu bytes of %zu, error %g", made, wanted,
          error_of(got, want, wanted));
    CHECK(stats_of(second).handed_over, "flushed: nothing stays on the device");
    penstock_stream_free(first);
    penstock_stream_free(second);
}

/* With much on its way one of the two is freed; the other one goes on where the link has left it. */
static void check_life(penstock_context *context)
{
    penstock_stream *first, *second;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t half, made = 0;
    CHECK_OK(open_filter(&first, context, device, true, 2));
    CHECK_OK(run(first, first, integers, SAMPLES, (char *)between, &half, 0));
    penstock_stream_free(first);
    CHECK_OK(open_chain(&first, &second, context, device));
    CHECK_OK(push(first, second, integers, 0, SAMPLES / 2, got, &made, 0));
    penstock_stream_free(second);
    CHECK_OK(penstock_stream_get_info(first, &info));
    CHECK(info.given > 1000, "only %d values went on", (int)info.given);
    made = 0;
    CHECK_OK(push(first, first, integers, SAMPLES / 2, SAMPLES, got, &made, 0));
    CHECK_OK(penstock_stream_finish(first));
    CHECK_OK(pull(first, got, &made, SAMPLES, true));
    CHECK(made == half - info.given * sizeof *between && !memcmp(got, between + info.given, made),
          "alone it gives %zu bytes after %d values, or others", made, (int)info.given);
    penstock_stream_free(first);

    const size_t wanted = run_apart(context, SAMPLES, NULL, 0, NULL, want);
    CHECK_OK(open_chain(&first, &second, context, device));
    made = 0;
    CHECK_OK(push(first, second, integers, 0, SAMPLES / 2, got, &made, 0));
    penstock_stream_free(first);
    const size_t at = stats_of(second).in;
    CHECK_OK(push(second, second, between, at, half / sizeof *between, got, &made, 0));
    CHECK_OK(penstock_stream_finish(second));
    CHECK_OK(pull(second, got, &made, SAMPLES, true));
    CHECK(at > 1000 && made == wanted && !memcmp(got, want, wanted), "from value %zu on alone: %zu bytes of %zu", at,
          made, wanted);
    penstock_stream_free(second);
}

/* ---------------------------------------------------------------- the log --------------------- */

struct lines {
    unsigned stay, host;
};

static void count_line(void *user, penstock_log_level level, const char *line)
{
    struct lines *lines = user;
    (void)level;
    lines->stay += strstr(line, "values stay on") != NULL;
    lines->host += strstr(line, "values go over the host") != NULL;
}

/* On two devices, and where the second one reads no batches of the first one's, it is the host, and said once. */
static void check_log(void)
{
    struct lines lines = {0};
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = count_line, .log_user = &lines)));
    const size_t wanted = run_apart(context, SAMPLES, NULL, 0, NULL, want);
    for (int way = 0; way < 3; way++) {
        penstock_stream *first, *second;
        size_t made;
        lines = (struct lines){0};
        CHECK_OK(open_filter(&first, context, device, true, 2));
        CHECK_OK(way == 2 ? penstock_spectrum_open(&second, context, &PENSTOCK_SPECTRUM_DESC(.n = 4096), device)
                          : open_spectrum(&second, context, way ? "cpu" : device, N));
        CHECK_OK(penstock_stream_link(first, second));
        for (int i = 0; i < 2; i++) {
            CHECK_OK(run(first, second, integers, SAMPLES, got, &made, 0));
            CHECK(way == 2 || (made == wanted && error_of(got, want, made) < 1e-6), "way %d: other values", way);
            CHECK(!stats_of(second).handed_over == (way > 0), "way %d: %d items", way,
                  (int)stats_of(second).handed_over);
            CHECK_OK(penstock_stream_reset(first));
        }
        CHECK(lines.stay == (way == 0) && lines.host == (way > 0), "way %d: %u and %u lines", way, lines.stay,
              lines.host);
        penstock_stream_free(first);
        penstock_stream_free(second);
    }
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    uint64_t seed = 2;
    const long live = penstock__memory_live();
    if (!rig_open(&context, count, arguments))
        return test_skip(penstock_error_text());
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t k = 0; k < TAPS; k++)
        other_taps[k] = (float)test_uniform(&seed) / TAPS;
    for (size_t k = 0; k < N; k++)
        window[k] = (float)(k + 1) / N;
    check_pairs(context);
    check_taps(context);
    check_window(context);
    check_flush(context);
    check_life(context);
    penstock_context_free(context);
    check_log();
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
