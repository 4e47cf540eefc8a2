/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Changes of the synthesis bank while it runs: fewer, as many and more taps from the hop on that was told, each sample
 * made by one set of taps alone, of the frames before the change too; at any chunks the same bits; other channels;
 * refusals. Against the definition in double precision.
 */
#include "core/base/memory.h"
#include "device.h"
#include "filter_direct.h"

enum { FRAMES = 900, CHANNELS = 12, HOP = 6, SETS = 5, MOST = 500, DELAY = 7, SAMPLES = FRAMES * HOP + MOST };

static const size_t counts[SETS] = {60, 20, 60, MOST, 5};
static penstock_cf32 frames[FRAMES * CHANNELS], samples[SAMPLES], again[SAMPLES];
static float taps[SETS][MOST];
static size_t orders[2][CHANNELS];
static uint64_t from[SETS];
static int cases;

static penstock_stream *make(penstock_context *context, const char *device, bool tail, const size_t *select)
{
    penstock_stream *made = NULL;
    CHECK_OK(
        penstock_synthesizer_open(&made, context,
                                  &PENSTOCK_SYNTHESIZER_DESC(.channels = CHANNELS, .hop = HOP, .taps = taps[0],
                                                             .tap_count = counts[0], .delay = DELAY, .tail = tail,
                                                             .select = select, .select_count = select ? CHANNELS : 0),
                                  device));
    return made;
}

static void take(penstock_stream *synthesizer, penstock_cf32 *to, size_t most, bool wait, size_t *made)
{
    size_t pulled = 1;
    while (pulled) {
        size_t room = SAMPLES - *made;
        CHECK_OK(penstock_stream_pull(synthesizer, to + *made, most < room ? most : room, wait, &pulled));
        *made += pulled;
    }
}

/* Frames `at` .. `to` - 1 by `most` at most, and the stream's end behind the last one. Few samples are taken at a time
 * or, where many frames come, all that there are, which are made where they are taken to. */
static void pass(penstock_stream *synthesizer, size_t at, size_t to, penstock_cf32 *out, size_t most, uint64_t *seed,
                 size_t *made)
{
    const size_t room = most < FRAMES / 2 ? 1 + most : SAMPLES;
    for (size_t taken = 0; at < to; at += taken) {
        size_t chunk = (size_t)(test_random(seed) % most) + 1;
        CHECK_OK(penstock_stream_push(synthesizer, frames + at * CHANNELS, chunk < to - at ? chunk : to - at, &taken));
        if (test_random(seed) % 3 || !taken)
            take(synthesizer, out, 1 + test_random(seed) % 999, test_random(seed) % 2, made);
    }
    if (to == FRAMES) {
        CHECK_OK(penstock_stream_finish(synthesizer));
        take(synthesizer, out, room, true, made);
    }
}

/* Sample n by set `set`; frames from `turn` on have the channels in the order orders[1], those before in orders[0]. */
static void direct(double s[2], int set, size_t n, size_t turn)
{
    const size_t q = n + DELAY;
    s[0] = s[1] = 0;
    for (size_t m = 0; m < FRAMES && m * HOP <= q; m++)
        for (size_t c = 0; c < CHANNELS && q - m * HOP < counts[set]; c++) {
            const penstock_cf32 y = frames[m * CHANNELS + c];
            const double g = (double)taps[set][q - m * HOP];
            const double angle = 2 * TEST_PI * (double)(orders[m >= turn][c] * n % CHANNELS) / CHANNELS;
            s[0] += g * ((double)y.re * cos(angle) - (double)y.im * sin(angle));
            s[1] += g * ((double)y.re * sin(angle) + (double)y.im * cos(angle));
        }
}

/* Samples `first` .. `last` - 1, every eleventh and both ends. */
static void check_samples(const penstock_cf32 *got, int set, size_t first, size_t last, size_t turn, const char *what)
{
    double difference = 0, power = 1e-30;
    for (size_t n = first; n < last; n += n + 1 < last && n + 12 > last ? last - 1 - n : 11) {
        double s[2];
        direct(s, set, n, turn);
        difference += pow((double)got[n].re - s[0], 2) + pow((double)got[n].im - s[1], 2);
        power += s[0] * s[0] + s[1] * s[1];
    }
    CHECK(sqrt(difference / power) < 1e-6, "%s: set %d, samples %zu .. %zu: error %.3g", what, set, first, last,
          sqrt(difference / power));
    cases++;
}

/* Where a hop's samples begin. */
static size_t place(uint64_t frame, size_t end)
{
    const size_t q = (size_t)frame * HOP, n = q > DELAY ? q - DELAY : 0;
    return n < end ? n : end;
}

static void check_sets(const penstock_cf32 *got, size_t made, const char *what)
{
    for (int set = 0; set < SETS; set++)
        check_samples(got, set, place(from[set], made), set + 1 < SETS ? place(from[set + 1], made) : made, FRAMES,
                      what);
}

/* Told before the stream begins: the hop is the one that was asked for, and no chunk changes a bit. */
static void change_ahead(penstock_context *context, const char *device)
{
    static const size_t most[] = {100, 1, 7, FRAMES};
    penstock_stream *synthesizer = make(context, device, true, NULL);
    for (size_t i = 0; i < 4; i++) {
        uint64_t seed = i;
        size_t made = 0;
        if (i) { /* a reset keeps the taps that were set last */
            CHECK_OK(penstock_stream_reset(synthesizer));
            CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[0], counts[0], 0, &from[0]));
            CHECK_EQ(from[0], 0);
        }
        for (int set = 1; set < SETS; set++) {
            CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[set], counts[set], (uint64_t)set * 170 + 3,
                                                   &from[set]));
            CHECK_EQ(from[set], (uint64_t)set * 170 + 3);
        }
        pass(synthesizer, 0, FRAMES, i ? again : samples, most[i], &seed, &made);
        CHECK_EQ(made, FRAMES * HOP - DELAY); /* the last taps are fewer than a hop */
        CHECK(!i || !memcmp(samples, again, made * sizeof *samples), "other bits in chunks up to %zu", most[i]);
        if (!i)
            check_sets(samples, made, "ahead");
    }
    penstock_stream_free(synthesizer);
}

/* In mid-stream, at once: the first frame that was not pushed, or for more taps than ever one whose frames are there.
 */
static void change_at_once(penstock_context *context, const char *device, size_t most, uint64_t seed)
{
    penstock_stream *synthesizer = make(context, device, false, NULL);
    penstock_synthesizer_info info = PENSTOCK_SYNTHESIZER_INFO;
    size_t made = 0;
    for (int set = 0; set < SETS; set++) {
        const size_t at = (size_t)set * (FRAMES / SETS);
        if (set) {
            CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[set], counts[set], 0, &from[set]));
            CHECK(from[set] >= at && from[set] <= at + MOST / HOP, "set %d from hop %d", set, (int)from[set]);
            CHECK(counts[set] == MOST || from[set] == at || from[set] == from[set - 1], "set %d waits", set);
        }
        pass(synthesizer, at, at + FRAMES / SETS, samples, most, &seed, &made);
    }
    CHECK_EQ(made, FRAMES * HOP - DELAY);
    check_sets(samples, made, "at once");
    CHECK_OK(penstock_synthesizer_get_info(synthesizer, &info));
    CHECK_EQ(info.tap_count, counts[SETS - 1]);
    CHECK_EQ(penstock_synthesizer_set_taps(synthesizer, taps[0], counts[0], 0, NULL), PENSTOCK_ERR_STATE);
    penstock_stream_free(synthesizer);
}

/* Other channels from a frame on, lent memory among them; frames that are on their way have their own. */
static void change_channels(penstock_context *context, const char *device, bool selected, uint64_t seed)
{
    const size_t turn = FRAMES / 3;
    penstock_stream *synthesizer = make(context, device, true, selected ? orders[0] : NULL);
    size_t made = 0, room;
    void *lent;
    pass(synthesizer, 0, turn, samples, 50, &seed, &made);
    CHECK_OK(penstock_stream_acquire(synthesizer, &lent, &room));
    CHECK_OK(penstock_synthesizer_set_select(synthesizer, orders[1], CHANNELS));
    CHECK(room == 0 || penstock_stream_commit(synthesizer, 1) == PENSTOCK_ERR_ARGUMENT, "lent memory was kept");
    CHECK_OK(penstock_stream_acquire(synthesizer, &lent, &room));
    CHECK(room > 0, "no room");
    memcpy(lent, frames + turn * CHANNELS, CHANNELS * sizeof *frames);
    CHECK_OK(penstock_stream_commit(synthesizer, 1));
    pass(synthesizer, turn + 1, FRAMES, samples, 50, &seed, &made);
    CHECK_EQ(made, (FRAMES - 1) * HOP + counts[0] - DELAY);
    check_samples(samples, 0, 0, made, turn, "other channels");
    penstock_stream_free(synthesizer);
}

static void check_refusals(penstock_context *context)
{
    static const size_t twice[CHANNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10}, beyond[1] = {CHANNELS};
    float bad[3] = {1, NAN, 1};
    penstock_stream *synthesizer = make(context, "cpu", false, NULL);
    CHECK_EQ(penstock_synthesizer_set_select(synthesizer, twice, CHANNELS), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_select(synthesizer, beyond, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_select(synthesizer, twice, 3), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "a frame holds 12 channels"), "%s", penstock_error_text());
    CHECK_EQ(penstock_synthesizer_set_select(NULL, NULL, 0), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_taps(NULL, taps[0], 1, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_taps(synthesizer, NULL, 1, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_taps(synthesizer, taps[0], 0, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_synthesizer_set_taps(synthesizer, bad, 3, 0, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[1], counts[1], 5, NULL)); /* freed with the rest */
    penstock_stream_free(synthesizer);
}

/* What was said of the latency holds behind taps that reach over more frames, too. */
static void check_latency(penstock_context *context, const char *device)
{
    penstock_stream *synthesizer = make(context, device, false, NULL);
    size_t made = 0;
    CHECK_OK(penstock_stream_set_max_latency(synthesizer, 1e-9));
    CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[3], counts[3], 0, NULL));
    for (size_t at = 0, taken; at < 100; at += taken) {
        CHECK_OK(penstock_stream_push(synthesizer, frames + at * CHANNELS, 1, &taken));
        take(synthesizer, again, 999, false, &made);
    }
    CHECK(made > 50 * HOP, "%zu samples of 100 frames are there", made);
    penstock_stream_free(synthesizer);
    cases++;
}

/* Where more taps fail for want of memory, changes that wait hold as before. */
static void check_failures(penstock_context *context, const char *device)
{
    size_t failures = 0;
    int status = PENSTOCK_ERR_MEMORY;
    for (long fail_at = -1; status && fail_at < 1000; fail_at++) {
        penstock_stream *synthesizer = make(context, device, false, NULL);
        size_t made = 0;
        uint64_t seed = 1;
        pass(synthesizer, 0, 100, fail_at < 0 ? samples : again, 99, &seed, &made);
        CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[2], counts[2], 400, NULL));
        CHECK_OK(penstock_synthesizer_set_taps(synthesizer, taps[1], counts[1], 500, NULL));
        penstock__memory_fail_at(fail_at);
        status = fail_at < 0 ? PENSTOCK_ERR_MEMORY
                             : penstock_synthesizer_set_taps(synthesizer, taps[3], counts[3], 600, NULL);
        penstock__memory_fail_at(-1);
        if (status)
            pass(synthesizer, 100, FRAMES, fail_at < 0 ? samples : again, 99, &seed, &made);
        CHECK(!status || fail_at < 0 || !memcmp(samples, again, made * sizeof *again), "allocation %ld: other samples",
              fail_at);
        failures += status && fail_at >= 0;
        penstock_stream_free(synthesizer);
    }
    CHECK_OK(status);
    CHECK(failures > 5, "%zu failures", failures);
    cases++;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cpu";
    penstock_context *context;
    uint64_t seed = 3;
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    for (size_t i = 0; i < FRAMES * CHANNELS; i++)
        frames[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (int set = 0; set < SETS; set++)
        for (size_t k = 0; k < MOST; k++)
            taps[set][k] = (float)test_uniform(&seed);
    for (size_t c = 0; c < CHANNELS; c++) {
        orders[0][c] = c;
        orders[1][c] = (5 * c + 3) % CHANNELS;
    }
    change_ahead(context, device);
    for (size_t most = 1; most < 2 * FRAMES; most *= 9)
        change_at_once(context, device, most, most);
    change_channels(context, device, false, 1);
    change_channels(context, device, true, 2);
    check_refusals(context);
    check_latency(context, device);
    if (argc == 1)
        check_failures(context, device);
    penstock_context_free(context);
    printf("%d cases\n", cases);
    return test_finish();
}
