/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter bank linked to spectra of all its channels on the same device hands its frames over there: the same bits as
 * one by one whatever the pieces, with changes of taps, flushes, resets, and streams freed in any order in between;
 * what the device fails at comes by the host, and nothing is lost.
 *
 * Argument: a device; without one, trace, whose calls fail one by one.
 */
#include "failure_sweep.h"
#include "link_run.h"
#include "relative_error.h"

enum { MOST = 1 << 22, FEW = 1 << 18, CHANNELS = 64, N = 64, TAPS = CHANNELS * 12 };

static const char *device = "trace";
static size_t total = FEW; /* samples */
static int16_t integers[2 * MOST];
static penstock_cf32 samples[MOST];
static char *between, *want, *got; /* of `room` bytes */
static float taps[TAPS];

/* ---------------------------------------------------------------- streams --------------------- */

static int open_bank(penstock_stream **bank, penstock_context *context, const char *on)
{
    const penstock_channelizer_desc desc =
        PENSTOCK_CHANNELIZER_DESC(.channels = CHANNELS, .format = PENSTOCK_CS16, .advance = CHANNELS - 1);
    return penstock_channelizer_open(bank, context, &desc, on);
}

static int open_over(penstock_stream **bank, penstock_context *context, const char *on)
{
    const penstock_channelizer_desc desc = PENSTOCK_CHANNELIZER_DESC(.channels = 8, .hop = 6, .tail = true);
    return penstock_channelizer_open(bank, context, &desc, on);
}

static int open_means(penstock_stream **spectra, penstock_context *context, const char *on)
{
    const penstock_spectrum_desc desc = PENSTOCK_SPECTRUM_DESC(.n = N, .hop = 48, .average = 2, .window = "hann",
                                                               .output = PENSTOCK_OUTPUT_POWER, .channels = CHANNELS);
    return penstock_spectrum_open(spectra, context, &desc, on);
}

static int open_complex(penstock_stream **spectra, penstock_context *context, const char *on)
{
    const penstock_spectrum_desc desc = PENSTOCK_SPECTRUM_DESC(.n = 26, .centered = true, .channels = 8);
    return penstock_spectrum_open(spectra, context, &desc, on);
}

static int open_chain(penstock_stream **bank, penstock_stream **spectra, penstock_context *context, const char *on)
{
    int status = open_bank(bank, context, on);
    if (!status)
        status = open_means(spectra, context, on);
    return status ? status : penstock_stream_link(*bank, *spectra);
}

/* ---------------------------------------------------------------- runs ------------------------ */

/* One by one, with other taps from sample `at` on where there are such; bytes. */
static size_t run_apart(penstock_stream *bank, penstock_stream *spectra, const void *in, const float *other, size_t at)
{
    size_t half, made;
    if (other)
        CHECK_OK(penstock_channelizer_set_taps(bank, other, TAPS, at, NULL));
    CHECK_OK(run(bank, bank, in, total, between, &half, 0));
    CHECK_OK(run(spectra, spectra, between, half / info_of(bank).out_bytes, want, &made, 0));
    CHECK(half && made, "%zu and %zu bytes", half, made);
    CHECK_OK(penstock_stream_reset(bank));
    CHECK_OK(penstock_stream_reset(spectra));
    return made;
}

/* ---------------------------------------------------------------- bits ------------------------ */

static void check_pair(penstock_stream *bank, penstock_stream *spectra, const void *in, const char *what)
{
    const size_t wanted = run_apart(bank, spectra, in, NULL, 0);
    size_t made;
    CHECK_OK(penstock_stream_link(bank, spectra));
    for (uint64_t seed = 0; seed < 6; seed++) {
        CHECK_OK(run(bank, spectra, in, total, got, &made, seed));
        CHECK(made == wanted && !memcmp(got, want, wanted), "%s, seed %d: %zu bytes of %zu, or others", what, (int)seed,
              made, wanted);
        const penstock_stream_stats one = stats_of(bank), two = stats_of(spectra);
        CHECK(one.out && one.out == two.in, "%s: %d frames out, %d in", what, (int)one.out, (int)two.in);
        CHECK(two.handed_over <= two.in && (seed % 3 == 1 || 10 * two.handed_over > 6 * two.in),
              "%s, seed %d: of %d frames %d stay on the device", what, (int)seed, (int)two.in, (int)two.handed_over);
        CHECK(!one.fallbacks && !two.fallbacks, "%s: statistics", what);
        CHECK_OK(penstock_stream_reset(bank));
        CHECK_OK(push(bank, spectra, in, 0, total / 2, got, &(size_t){0}, seed)); /* and with some on its way */
        CHECK_OK(penstock_stream_reset(bank));
    }
    penstock_stream_free(bank);
    penstock_stream_free(spectra);
}

static void check_pairs(penstock_context *context)
{
    penstock_stream *bank, *spectra;
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(open_means(&spectra, context, device));
    check_pair(bank, spectra, integers, "64 channels of 16 bits, means");
    CHECK_OK(open_over(&bank, context, device));
    CHECK_OK(open_complex(&spectra, context, device));
    check_pair(bank, spectra, samples, "8 channels that overlap, complex");
}

/* Behind a filter, whose values come by the host. */
static void check_chain(penstock_context *context)
{
    penstock_stream *filter, *bank, *spectra;
    size_t filtered, half, wanted, made;
    CHECK_OK(penstock_filter_open(&filter, context, &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = 33), "cpu"));
    CHECK_OK(open_over(&bank, context, device));
    CHECK_OK(open_complex(&spectra, context, device));
    CHECK_OK(run(filter, filter, samples, total, got, &filtered, 0));
    CHECK_OK(run(bank, bank, got, filtered / sizeof *samples, between, &half, 0));
    CHECK_OK(run(spectra, spectra, between, half / info_of(bank).out_bytes, want, &wanted, 0));
    CHECK_OK(penstock_stream_reset(filter));
    CHECK_OK(penstock_stream_reset(bank));
    CHECK_OK(penstock_stream_reset(spectra));
    CHECK_OK(penstock_stream_link(bank, spectra));
    CHECK_OK(penstock_stream_link(filter, bank));
    for (uint64_t seed = 0; seed < 3; seed++) {
        CHECK_OK(run(filter, spectra, samples, total, got, &made, seed));
        CHECK(made == wanted && !memcmp(got, want, wanted), "a chain of three, seed %d: %zu bytes of %zu, or others",
              (int)seed, made, wanted);
        CHECK(stats_of(spectra).handed_over, "a chain of three, seed %d: nothing stays on the device", (int)seed);
        CHECK_OK(penstock_stream_reset(filter));
    }
    penstock_stream_free(bank);
    penstock_stream_free(filter);
    penstock_stream_free(spectra);
}

/* ---------------------------------------------------------------- changes --------------------- */

static void check_taps(penstock_context *context)
{
    const size_t at = total / 2 + 77;
    penstock_stream *bank, *spectra;
    size_t made = 0;
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(open_means(&spectra, context, device));
    const size_t wanted = run_apart(bank, spectra, integers, taps, at);
    penstock_stream_free(bank);
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(penstock_stream_link(bank, spectra));
    CHECK_OK(push(bank, spectra, integers, 0, at - 100, got, &made, 2));
    CHECK_OK(penstock_channelizer_set_taps(bank, taps, TAPS, at, NULL));
    CHECK_OK(push(bank, spectra, integers, at - 100, total, got, &made, 2));
    CHECK_OK(penstock_stream_finish(bank));
    CHECK_OK(pull(spectra, got, &made, SIZE_MAX, true));
    CHECK(made == wanted && !memcmp(got, want, wanted), "other taps: %zu bytes of %zu, or others", made, wanted);
    CHECK(stats_of(spectra).handed_over, "other taps: nothing stays on the device");
    penstock_stream_free(spectra);
    penstock_stream_free(bank);
}

/* All that was pushed comes. */
static void check_flush(penstock_context *context)
{
    penstock_stream *bank, *spectra;
    size_t made = 0;
    uint64_t seed = 5;
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(open_means(&spectra, context, device));
    const size_t wanted = run_apart(bank, spectra, integers, NULL, 0);
    CHECK_OK(penstock_stream_link(bank, spectra));
    for (size_t at = 0, more; at < total; at += more) {
        more = test_random(&seed) % (total / 3) + 1;
        more = more < total - at ? more : total - at;
        CHECK_OK(push(bank, spectra, integers, at, at + more, got, &made, 2));
        CHECK_OK(penstock_stream_flush(bank));
        CHECK_OK(pull(spectra, got, &made, SIZE_MAX, true));
        const size_t frames = (at + more) / CHANNELS, transforms = frames < N ? 0 : (frames - N) / 48 + 1;
        CHECK_EQ(made / info_of(spectra).out_bytes, transforms / 2);
    }
    CHECK(made == wanted && error_of(got, want, wanted) < 1e-6, "flushed: %zu bytes of %zu, error %g", made, wanted,
          error_of(got, want, wanted));
    CHECK(stats_of(spectra).handed_over, "flushed: nothing stays on the device");
    penstock_stream_free(bank);
    penstock_stream_free(spectra);
}

/* With much on its way one of the two is freed; the other one goes on where the link has left it. */
static void check_life(penstock_context *context)
{
    penstock_stream *bank, *spectra;
    size_t half, made = 0;
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(run(bank, bank, integers, total, between, &half, 0));
    penstock_stream_free(bank);
    CHECK_OK(open_chain(&bank, &spectra, context, device));
    CHECK_OK(push(bank, spectra, integers, 0, total / 2, got, &made, 0));
    penstock_stream_free(spectra);
    const size_t given = (size_t)info_of(bank).given * info_of(bank).out_bytes;
    made = 0;
    CHECK_OK(push(bank, bank, integers, total / 2, total, got, &made, 0));
    CHECK_OK(penstock_stream_finish(bank));
    CHECK_OK(pull(bank, got, &made, SIZE_MAX, true));
    CHECK(given && made == half - given && !memcmp(got, between + given, made),
          "alone it gives %zu bytes after %zu of %zu, or others", made, given, half);
    penstock_stream_free(bank);
}

/* What a batch lacks comes once its time is over, without a wait, and full ones before that; other channels than the
 * spectra's are an error. */
static void check_latency(penstock_context *context)
{
    penstock_stream *bank, *spectra;
    size_t made = 0;
    const double until = penstock__now_s() + 20;
    CHECK_OK(open_chain(&bank, &spectra, context, device));
    CHECK_OK(penstock_stream_set_max_latency(bank, LATENCY_S));
    CHECK_OK(penstock_stream_set_max_latency(spectra, LATENCY_S));
    CHECK_OK(push(bank, spectra, integers, 0, total / 2 + 12345, got, &made, 2));
    const size_t frames = (total / 2 + 12345) / CHANNELS, wanted = ((frames - N) / 48 + 1) / 2;
    while (made / info_of(spectra).out_bytes < wanted && penstock__now_s() < until)
        CHECK_OK(pull(spectra, got, &made, SIZE_MAX, false));
    CHECK_EQ(made / info_of(spectra).out_bytes, wanted);
    CHECK(stats_of(spectra).handed_over, "with a latency nothing stays on the device");
    CHECK_OK(penstock_channelizer_set_select(bank, (const size_t[]){1, 2}, 2));
    CHECK_EQ(penstock_stream_push(bank, integers, total / 4, &made), PENSTOCK_ERR_STATE);
    penstock_stream_free(bank);
    penstock_stream_free(spectra);
}

/* ---------------------------------------------------------------- failures -------------------- */

static size_t wanted_bytes;

static int use(penstock_context *context, const char *on, bool *wrong)
{
    penstock_stream *bank = NULL, *spectra = NULL;
    size_t made = 0;
    int status = open_chain(&bank, &spectra, context, on);
    const bool opened = !status;
    if (opened)
        status = run(bank, spectra, integers, total, got, &made, 2);
    sweep_over();
    if (opened && status) {
        CHECK_OK(penstock_stream_reset(bank));
        CHECK_OK(run(bank, spectra, integers, total, got, &made, 2));
    }
    if (opened)
        *wrong = made != wanted_bytes || error_of(got, want, made) > 1e-6;
    penstock_stream_free(spectra);
    penstock_stream_free(bank);
    return status;
}

static void check_failures(void)
{
    const penstock_context_desc desc = PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2);
    penstock_stream *bank, *spectra;
    penstock_context *context;
    total = FEW / 2;
    most_piece = total / 8;
    CHECK_OK(penstock_context_new(&context, &desc));
    CHECK_OK(open_bank(&bank, context, device));
    CHECK_OK(open_means(&spectra, context, device));
    wanted_bytes = run_apart(bank, spectra, integers, NULL, 0);
    penstock_stream_free(bank);
    penstock_stream_free(spectra);
    penstock_context_free(context);
    sweep_allocations(use, device, 2);
    sweep_calls(use);
}

/* ---------------------------------------------------------------- all ------------------------- */

static bool is_there(penstock_context *context)
{
    penstock_stream *bank = NULL;
    int status = open_bank(&bank, context, device);
    penstock_stream_free(bank);
    return !status;
}

int main(int count, char **arguments)
{
    penstock_context *context;
    uint64_t seed = 1;
    if (count > 1) {
        device = arguments[1];
        total = MOST;
    }
    for (size_t i = 0; i < 2 * MOST; i++)
        integers[i] = (int16_t)(20000 * test_uniform(&seed));
    for (size_t i = 0; i < MOST; i++)
        samples[i] = (penstock_cf32){(float)integers[2 * i] / 20000, (float)integers[2 * i + 1] / 20000};
    for (size_t k = 0; k < TAPS; k++)
        taps[k] = (float)test_uniform(&seed) / TAPS;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    if (!is_there(context)) {
        penstock_context_free(context);
        return test_skip(penstock_error_text());
    }
    room = total * 8 / 6 * 8 + (1 << 20);
    most_piece = total / 8;
    between = malloc(room), want = malloc(room), got = malloc(room);
    check_pairs(context);
    check_chain(context);
    check_taps(context);
    check_flush(context);
    check_life(context);
    check_latency(context);
    penstock_context_free(context);
    if (count == 1)
        check_failures();
    free(between), free(want), free(got);
    return test_finish();
}
