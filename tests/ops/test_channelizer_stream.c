/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Both filter banks as streams, one after the other: the same bits whatever the chunks, the device and the number of
 * threads; memory that is full; NaN and infinity; reset; latency; refusals; and what happens when allocation k or
 * device call k fails, for every k.
 */
#include "failure_sweep.h"

#define SAMPLES  20000
#define CHANNELS 24
#define HOP      16
#define KEPT     23
#define TAPS     (6 * CHANNELS)
#define FRAMES   ((SAMPLES + TAPS - 1 + HOP - 1) / HOP)
#define RETURNED (FRAMES * HOP - (TAPS - 1))

static penstock_cf32 samples[SAMPLES], good[RETURNED + HOP], got[RETURNED + HOP];
static penstock_cf32 frames[(FRAMES + 1) * KEPT], good_frames[(FRAMES + 1) * KEPT];
static size_t kept[KEPT];

static const penstock_channelizer_desc analysis = {.size = sizeof analysis,
                                                   .channels = CHANNELS,
                                                   .hop = HOP,
                                                   .tap_count = TAPS,
                                                   .select = kept,
                                                   .select_count = KEPT,
                                                   .tail = true};
static const penstock_synthesizer_desc synthesis = {.size = sizeof synthesis,
                                                    .channels = CHANNELS,
                                                    .hop = HOP,
                                                    .tap_count = TAPS,
                                                    .select = kept,
                                                    .select_count = KEPT};

struct chain {
    penstock_stream *channelizer;
    penstock_stream *synthesizer;
    size_t frames, returned;
};

static void chain_free(struct chain *chain)
{
    penstock_stream_free(chain->channelizer);
    penstock_stream_free(chain->synthesizer);
}

static int chain_new(struct chain *chain, penstock_context *context, const char *device)
{
    *chain = (struct chain){0};
    int status = penstock_channelizer_open(&chain->channelizer, context, &analysis, device);
    if (!status)
        status = penstock_synthesizer_open(&chain->synthesizer, context, &synthesis, device);
    if (status)
        chain_free(chain);
    return status;
}

static int take_samples(struct chain *chain, size_t most, bool wait)
{
    size_t pulled = 1;
    int status = 0;
    while (pulled && !status) {
        size_t room = RETURNED + 1 - chain->returned;
        status =
            penstock_stream_pull(chain->synthesizer, got + chain->returned, most < room ? most : room, wait, &pulled);
        chain->returned += pulled;
    }
    return status;
}

/* Frames go from the one to the other as they come. */
static int pass_on(struct chain *chain, size_t most, bool wait)
{
    size_t pulled = 1;
    int status = 0;
    while (pulled && !status) {
        size_t room = FRAMES + 1 - chain->frames, taken = 0;
        penstock_cf32 *at = frames + chain->frames * KEPT;
        status = penstock_stream_pull(chain->channelizer, at, most < room ? most : room, wait, &pulled);
        chain->frames += pulled;
        for (size_t done = 0; done < pulled && !status; done += taken)
            if (!(status = penstock_stream_push(chain->synthesizer, at + done * KEPT, pulled - done, &taken)))
                status = take_samples(chain, most, wait);
    }
    return status;
}

static int run(struct chain *chain, size_t most, uint64_t seed)
{
    int status = 0;
    chain->frames = chain->returned = 0;
    for (size_t at = 0, taken = 0; at < SAMPLES && !status; at += taken) {
        size_t chunk = (size_t)(test_random(&seed) % most) + 1;
        status =
            penstock_stream_push(chain->channelizer, samples + at, chunk < SAMPLES - at ? chunk : SAMPLES - at, &taken);
        if (!status && test_random(&seed) % 3)
            status = pass_on(chain, (size_t)(test_random(&seed) % most) + 1, test_random(&seed) % 4 == 0);
    }
    if (!status && !(status = penstock_stream_finish(chain->channelizer)) && !(status = pass_on(chain, most, true)) &&
        !(status = penstock_stream_finish(chain->synthesizer)))
        status = take_samples(chain, most, true);
    return status;
}

static bool mixed; /* runs of which a part may be another device's, whose sums are rounded otherwise */

static bool same(const penstock_cf32 *a, const penstock_cf32 *b, size_t count)
{
    if (!mixed)
        return !memcmp(a, b, count * sizeof *a);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i].re - b[i].re) <= 2e-6f && fabsf(a[i].im - b[i].im) <= 2e-6f)) /* of values of about 1 */
            return false;
    return true;
}

static void check_good(const char *what, long k, const struct chain *chain)
{
    CHECK(chain->frames == FRAMES && chain->returned == RETURNED, "%s %ld: %zu frames and %zu samples, not %d and %d",
          what, k, chain->frames, chain->returned, FRAMES, RETURNED);
    CHECK(same(frames, good_frames, FRAMES * KEPT), "%s %ld: other frames", what, k);
    CHECK(same(got, good, RETURNED), "%s %ld: other samples", what, k);
}

static void make_good(penstock_context *context, const char *device)
{
    struct chain chain;
    uint64_t seed = 1;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t c = 0; c < KEPT; c++)
        kept[c] = CHANNELS - 1 - c;
    CHECK_OK(chain_new(&chain, context, device));
    CHECK_OK(run(&chain, SAMPLES, 1));
    memcpy(good, got, sizeof good);
    memcpy(good_frames, frames, sizeof good_frames);
    check_good("the first run", 0, &chain);
    chain_free(&chain);
}

/* One pair of banks for all, so that reset is tested too. */
static void check_chunks(penstock_context *context, const char *device)
{
    static const size_t most[] = {1, 7, HOP, CHANNELS + 1, 1000, SAMPLES};
    struct chain chain;
    size_t count;
    CHECK_OK(chain_new(&chain, context, device));
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        CHECK_OK(run(&chain, most[i], i));
        check_good(device, (long)most[i], &chain);
        CHECK_EQ(penstock_stream_push(chain.channelizer, samples, 1, &count), PENSTOCK_ERR_STATE);
        CHECK_EQ(penstock_stream_push(chain.synthesizer, frames, 1, &count), PENSTOCK_ERR_STATE);
        CHECK_OK(penstock_stream_reset(chain.channelizer));
        CHECK_OK(penstock_stream_reset(chain.synthesizer));
    }
    chain_free(&chain);
}

/* Frames without the bad sample in their window are what they were; so are samples that no bad frame touches. */
static void check_not_finite(penstock_context *context)
{
    enum { AT = 9000 };
    struct chain chain;
    const penstock_cf32 before = samples[AT];
    CHECK_OK(chain_new(&chain, context, "cpu"));
    for (int infinite = 0; infinite < 2; infinite++) {
        size_t bad = 0, wrong = 0;
        CHECK_OK(penstock_stream_reset(chain.channelizer));
        CHECK_OK(penstock_stream_reset(chain.synthesizer));
        samples[AT].im = infinite ? -INFINITY : NAN;
        CHECK_OK(run(&chain, 3000, 8));
        for (size_t m = 0; m < FRAMES; m++) {
            bool touched = m * HOP >= AT && m * HOP < AT + TAPS;
            bool right = same(frames + m * KEPT, good_frames + m * KEPT, KEPT);
            wrong += !touched && !right;
            bad += touched && !isfinite(frames[m * KEPT].re + frames[m * KEPT].im);
        }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(bad, TAPS / HOP);
        for (size_t n = 0; n < RETURNED; n++)
            wrong += (n + 2 * TAPS < AT || n > AT + 2 * TAPS) && !same(got + n, good + n, 1);
        CHECK_EQ(wrong, 0);
    }
    samples[AT] = before;
    chain_free(&chain);
}

/* On the CPU each frame comes with its last sample; elsewhere when its time has come. */
static void check_latency(penstock_context *context)
{
    penstock_channelizer_desc desc = analysis;
    penstock_channelizer_info info = PENSTOCK_CHANNELIZER_INFO;
    penstock_stream *channelizer = NULL;
    size_t count;
    CHECK_OK(penstock_channelizer_open(&channelizer, context, &desc, "cpu"));
    CHECK_OK(penstock_channelizer_get_info(channelizer, &info));
    CHECK_EQ(info.latency, 0);
    for (size_t n = 0; n < 200; n++) {
        CHECK_OK(penstock_stream_push(channelizer, samples + n, 1, &(size_t){0}));
        CHECK(n % HOP ? isinf(penstock_stream_due_s(channelizer)) : penstock_stream_due_s(channelizer) == 0,
              "sample %zu: due in %g s", n, penstock_stream_due_s(channelizer));
        CHECK_OK(penstock_stream_pull(channelizer, frames, FRAMES, false, &count));
        CHECK_EQ(count, n % HOP == 0);
    }
    penstock_stream_free(channelizer);
    desc.max_latency_s = 1e-4;
    CHECK_OK(penstock_channelizer_open(&channelizer, context, &desc, "trace"));
    CHECK_OK(penstock_stream_push(channelizer, samples, 1, &(size_t){0}));
    CHECK(penstock_stream_due_s(channelizer) <= 1e-4, "due in %g s", penstock_stream_due_s(channelizer));
    for (count = 0; !count && penstock_stream_due_s(channelizer) <= 1e-4;)
        CHECK_OK(penstock_stream_pull(channelizer, frames, FRAMES, false, &count));
    CHECK_EQ(count, 1);
    CHECK(isinf(penstock_stream_due_s(channelizer)), "due in %g s", penstock_stream_due_s(channelizer));
    penstock_stream_free(channelizer);
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void refuse_analysis(penstock_context *context, const char *word, penstock_channelizer_desc desc)
{
    penstock_stream *channelizer = (penstock_stream *)(void *)samples;
    CHECK_EQ(penstock_channelizer_open(&channelizer, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK(!channelizer && strstr(penstock_error_text(), word), "no '%s' in '%s'", word, penstock_error_text());
}

static void refuse_synthesis(penstock_context *context, const char *word, penstock_synthesizer_desc desc)
{
    penstock_stream *synthesizer = (penstock_stream *)(void *)samples;
    CHECK_EQ(penstock_synthesizer_open(&synthesizer, context, &desc, "cpu"), PENSTOCK_ERR_ARGUMENT);
    CHECK(!synthesizer && strstr(penstock_error_text(), word), "no '%s' in '%s'", word, penstock_error_text());
}

static void check_refusals(penstock_context *context)
{
    static const float bad_taps[] = {1, NAN}, taps[] = {1, 2, 3};
    static const size_t twice[] = {1, 1}, beyond[] = {4};
    float dual[3];
    double error;
    refuse_analysis(context, "channels", PENSTOCK_CHANNELIZER_DESC(.channels = 1));
    refuse_analysis(context, "channels", PENSTOCK_CHANNELIZER_DESC(.channels = 65537));
    refuse_analysis(context, "hop", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .hop = 5));
    refuse_analysis(context, "taps", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .taps = taps));
    refuse_analysis(context, "taps", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .tap_count = (size_t)1 << 23));
    refuse_analysis(context, "finite", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .taps = bad_taps, .tap_count = 2));
    refuse_analysis(context, "twice", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .select = twice, .select_count = 2));
    refuse_analysis(context, "channel 4",
                    PENSTOCK_CHANNELIZER_DESC(.channels = 4, .select = beyond, .select_count = 1));
    refuse_analysis(context, "select", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .select_count = 1));
    refuse_analysis(context, "select", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .select = twice));
    refuse_analysis(context, "format", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .format = (penstock_format)77));
    refuse_analysis(context, "advance", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .tap_count = 9, .advance = 9));
    refuse_analysis(context, "origin", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .origin = 4));
    refuse_analysis(context, "latency", PENSTOCK_CHANNELIZER_DESC(.channels = 4, .max_latency_s = NAN));
    refuse_synthesis(context, "channels", PENSTOCK_SYNTHESIZER_DESC(0));
    refuse_synthesis(context, "critical", PENSTOCK_SYNTHESIZER_DESC(.channels = 4));
    refuse_synthesis(context, "advance",
                     PENSTOCK_SYNTHESIZER_DESC(.channels = 4, .taps = taps, .tap_count = 3, .delay = 2, .advance = 3));
    refuse_synthesis(context, "too small", PENSTOCK_SYNTHESIZER_DESC(.channels = 65536, .hop = 1));
    refuse_synthesis(context, "latency", PENSTOCK_SYNTHESIZER_DESC(.channels = 4, .hop = 2, .max_latency_s = -1));
    CHECK_EQ(penstock_channelizer_taps_length(1, 0), 0);
    CHECK_EQ(penstock_channelizer_taps_length(8, 9), 0);
    CHECK_EQ(penstock_channelizer_taps(NULL, 8, 8, 4), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_dual(dual, 3, taps, 3, 2, 2, 5, &error), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_dual(dual, 0, taps, 3, 2, 2, 0, &error), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_channelizer_dual(NULL, 3, taps, 3, 2, 2, 2, &error), PENSTOCK_ERR_ARGUMENT);
}

static void check_null(penstock_context *context)
{
    struct chain chain;
    size_t count;
    CHECK_OK(chain_new(&chain, context, "cpu"));
    CHECK_EQ(penstock_stream_push(NULL, samples, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(chain.channelizer, NULL, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull(chain.channelizer, NULL, 1, false, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull_channels(chain.channelizer, NULL, 1, false, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push(chain.synthesizer, NULL, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_push_channels(NULL, NULL, 1, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_pull(chain.synthesizer, NULL, 1, false, &count), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_finish(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_stream_reset(NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK(isinf(penstock_stream_due_s(NULL)) && isinf(penstock_stream_due_s(NULL)), "NULL is due");
    chain_free(&chain);
    penstock_stream_free(NULL);
    penstock_stream_free(NULL);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* A stream; after an error once more, from a reset on. */
static int use(penstock_context *context, const char *device, bool *wrong)
{
    struct chain chain;
    int status = chain_new(&chain, context, device);
    if (status)
        return status;
    status = run(&chain, 999, 1);
    *wrong = chain.frames > FRAMES || chain.returned > RETURNED || !same(frames, good_frames, chain.frames * KEPT) ||
             !same(got, good, chain.returned) || (!status && chain.returned != RETURNED);
    sweep_over();
    if (status) {
        CHECK_OK(penstock_stream_reset(chain.channelizer));
        CHECK_OK(penstock_stream_reset(chain.synthesizer));
        CHECK_OK(run(&chain, 9999, 1));
        check_good("after a reset, failure", status, &chain);
    }
    chain_free(&chain);
    return status;
}

/* Pushed until nothing more is taken, then pulled until nothing more comes, over and over again. The samples have a
 * period of whole frames and whole turns of all channels, so that frames have it too. */
static void check_full(penstock_context *context, const char *device)
{
    enum { PERIOD = 19200, EACH = PERIOD / HOP, WINDOW = TAPS / HOP + 1, PERIODS = 80 };
    penstock_stream *channelizer = NULL;
    size_t at = 0, made = 0, wrong = 0, rounds = 0, taken, pulled;
    CHECK_OK(penstock_channelizer_open(&channelizer, context, &analysis, device));
    for (; made < PERIODS * EACH - WINDOW && rounds < 1000; rounds++) {
        do {
            size_t left = PERIOD - at % PERIOD, rest = PERIODS * (size_t)PERIOD - at;
            CHECK_OK(penstock_stream_push(channelizer, samples + at % PERIOD, left < rest ? left : rest, &taken));
            at += taken;
        } while (taken);
        if (at == PERIODS * (size_t)PERIOD)
            CHECK_OK(penstock_stream_finish(channelizer));
        do {
            CHECK_OK(penstock_stream_pull(channelizer, frames, EACH, true, &pulled));
            for (size_t f = 0; f < pulled; f++, made++) {
                size_t row = made % EACH;
                if (made < EACH - WINDOW || (row >= WINDOW && row < EACH - WINDOW))
                    wrong += !!memcmp(frames + f * KEPT, good_frames + row * KEPT, KEPT * sizeof *frames);
            }
        } while (pulled);
    }
    CHECK(rounds > 1 && rounds < 1000, "%s: it stands still after %zu frames", device, made);
    CHECK(!wrong, "%s: %zu of %zu frames differ", device, wrong, made);
    penstock_stream_free(channelizer);
}

int main(void)
{
    penstock_context *context = NULL, *threads = NULL;
    CHECK_OK(penstock_context_new(&context, NULL));
    make_good(context, "trace");
    check_chunks(context, "trace");
    CHECK_OK(penstock_context_new(&threads, &PENSTOCK_CONTEXT_DESC(.threads = 2))); /* with 16 all of it is taken */
    check_full(threads, "trace");
    penstock_context_free(threads);
    make_good(context, "cpu");
    check_chunks(context, "cpu");
    CHECK_OK(penstock_context_new(&threads, &PENSTOCK_CONTEXT_DESC(.threads = 5)));
    check_chunks(threads, "cpu");
    penstock_context_free(threads);
    CHECK_OK(penstock_context_new(&threads, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    check_full(threads, "cpu");
    penstock_context_free(threads);
    check_not_finite(context);
    check_latency(context);
    check_refusals(context);
    check_null(context);
    penstock_context_free(context);
    sweep_allocations(use, "cpu", 2);
    mixed = true;
    sweep_allocations(use, "trace", 2);
    sweep_calls(use);
    return test_finish();
}
