/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A filter goes over from the CPU to a device that is ready late: after every block, with other lengths there, whatever
 * the chunks; values against their definition, and the bits of the device where it comes before the first block. With
 * changes of taps, flushes, resets and the end before and behind. Argument: a device.
 */
#include "core/base/memory.h"
#include "filter_late.h"

#define CHANNELS 2

static size_t positions; /* that are tried, of blocks; 0: all */

/* The device comes when `at` samples were pushed and all complete blocks were given. */
static size_t run(const struct use *use, size_t at, size_t most, penstock_cf32 *to)
{
    penstock_stream *filter = new_filter(use, "cpu");
    size_t made = 0, pulled;
    push(filter, 0, at, SAMPLES, to, &made);
    do {
        CHECK_OK(penstock_stream_pull(filter, (char *)to + made * const_filter_of(filter)->shape->value_bytes, 100,
                                      true, &pulled));
        made += pulled;
    } while (pulled);
    send_late(filter, use);
    push(filter, at, SAMPLES - at, most, to, &made);
    end(filter, to, &made);
    CHECK(at + 1500 > SAMPLES || is_late(filter), "%s, at %zu: it ends on %s", use->name, at, info_of(filter).device);
    CHECK(at + 1500 > SAMPLES || !filter_of(filter)->build, "%s, at %zu: it still waits", use->name, at);
    check_values(use, filter, to, made, at);
    penstock_stream_free(filter);
    return made;
}

/* ---------------------------------------------------------------- cases ----------------------- */

/* After each of the CPU's blocks. */
static void every_block(const struct use *use)
{
    penstock_stream *filter = new_filter(use, "cpu");
    size_t block = info_of(filter).block, step = positions ? SAMPLES / block / positions + 1 : 1, tried = 0;
    penstock_stream_free(filter);
    for (size_t at = 0; at + block < SAMPLES; at += block * step, tried++)
        run(use, at + tried % block, 1 + (at * 7 + tried) % 900, got);
    CHECK(tried > 1, "%s: %zu positions", use->name, tried);
}

/* The chunks make no difference to a bit; before the first block there is nothing but the device. */
static void same_bits(const struct use *use)
{
    static const size_t most[] = {1, 45, 300, SAMPLES};
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    for (size_t at = 0; at < SAMPLES; at += positions ? 2111 : 1111) {
        size_t made = run(use, at, 777, again);
        for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
            run(use, at, most[i], got);
            CHECK(!memcmp(got, again, made * sizeof(float)), "%s, at %zu, chunks of %zu: other bits", use->name, at,
                  most[i]);
        }
    }
    struct use there = *use;
    there.desc.n = use->n;
    penstock_stream *filter = new_filter(&there, kind);
    size_t made = 0;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    push(filter, 0, SAMPLES, 500, again, &made);
    end(filter, again, &made);
    CHECK_EQ(run(use, 0, 77, got), made);
    CHECK(!memcmp(got, again, made * info.value_bytes), "%s: other bits than the device's", use->name);
    penstock_stream_free(filter);
}

/* Other taps before the device comes, for a sample behind that, and after it has come. */
static void changes(size_t at)
{
    const struct use *use = &uses[0];
    penstock_stream *filter = new_filter(use, "cpu");
    static double first[2 * SAMPLES];
    struct use with_others = *use;
    size_t made = 0, change = at + 70;
    with_others.desc.taps = other_taps;
    make_want(&with_others);
    memcpy(first, want, sizeof first);
    make_want(use);
    memcpy(want + 2 * 300, first + 2 * 300, (change - 300) * 2 * sizeof *want); /* others in 300 .. change - 1 */
    for (size_t m = change + 500; m < change + 600; m++)
        memcpy(want + 2 * m, first + 2 * m, 2 * sizeof *want);
    wait_for_late(filter); /* taps are kept while one waits */
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, 20, 300));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, 20, change));
    penstock__async_build_free(filter_of(filter)->build);
    filter_of(filter)->build = NULL;
    push(filter, 0, at, SAMPLES, got, &made);
    send_late(filter, use);
    push(filter, at, change + 1 - at, 30, got, &made);
    CHECK_OK(penstock_filter_set_taps(filter, other_taps, NULL, 20, change + 500));
    CHECK_OK(penstock_filter_set_taps(filter, taps, NULL, 20, change + 600));
    push(filter, change + 1, SAMPLES - change - 1, 200, got, &made);
    end(filter, got, &made);
    CHECK(is_late(filter), "changes: it ends on %s", info_of(filter).device);
    check_values(use, filter, got, made, at);
    penstock_stream_free(filter);
}

/* Values of `use` from sample `from` on with another shift, whose phase goes on there. */
static void want_shift(struct use *use, double shift, size_t from)
{
    static double before[2 * SAMPLES];
    size_t first = (from + use->desc.decimation - 1) / use->desc.decimation;
    make_want(use);
    memcpy(before, want, 2 * first * sizeof *want);
    use->desc.phase = remainder(use->desc.phase + (use->desc.shift - shift) * (double)from, 1);
    use->desc.shift = shift;
    make_want(use);
    memcpy(want, before, 2 * first * sizeof *want);
}

/* Another shift before the device comes, or for a sample behind that, or after it has come. */
static void shifts(size_t at, size_t change)
{
    struct use use = uses[4];
    penstock_stream *filter = new_filter(&use, "cpu");
    size_t made = 0, early = change < at ? change : at;
    want_shift(&use, -0.3, change);
    push(filter, 0, early, SAMPLES, got, &made);
    if (change < at + 100)
        CHECK_OK(penstock_filter_set_shift(filter, 0, -0.3, 0, change));
    push(filter, early, at - early, SAMPLES, got, &made);
    send_late(filter, &uses[4]);
    push(filter, at, 500, 100, got, &made);
    if (change >= at + 100)
        CHECK_OK(penstock_filter_set_shift(filter, 0, -0.3, 0, change));
    push(filter, at + 500, SAMPLES - at - 500, 200, got, &made);
    end(filter, got, &made);
    CHECK(is_late(filter), "shifts: it ends on %s", info_of(filter).device);
    check_values(&use, filter, got, made, at);
    penstock_stream_free(filter);
}

/* What a source that stalls gets of an incomplete block, before, while and after the device comes. */
static void flushes(void)
{
    const struct use *use = &uses[0];
    penstock_stream *filter = new_filter(use, "cpu");
    size_t made = 0, pulled, chunk;
    uint64_t seed = 4;
    for (size_t at = 0; at < SAMPLES; at += chunk) {
        chunk = (size_t)(test_random(&seed) % 70) + 1;
        chunk = chunk < SAMPLES - at ? chunk : SAMPLES - at;
        push(filter, at, chunk, chunk, got, &made);
        CHECK_OK(penstock_stream_flush(filter));
        if (at < 1000 && at + chunk >= 1000)
            send_late(filter, use);
        do {
            CHECK_OK(penstock_stream_pull(filter, got + made, 33, false, &pulled));
            made += pulled;
        } while (pulled);
        CHECK_EQ(made, at + chunk);
    }
    end(filter, got, &made);
    CHECK(is_late(filter), "flushes: it ends on %s", info_of(filter).device);
    check_values(use, filter, got, made, 1000);
    penstock_stream_free(filter);
}

/* Resets and the end, with a device that waits to be taken. */
static void resets(void)
{
    const struct use *use = &uses[0];
    penstock_stream *filter = new_filter(use, "cpu");
    size_t made = 0;
    push(filter, 0, 1000, 100, got, &made);
    send_late(filter, use);
    CHECK_OK(penstock_stream_finish(filter));
    CHECK_OK(stream_end(filter, (char *)got, sizeof *got, &made));
    CHECK_EQ(made, 1000 + use->desc.tap_count - 1);
    CHECK(!is_late(filter) && filter_of(filter)->build, "a device came behind the end");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(penstock_stream_reset(filter));
        push(filter, 0, SAMPLES, 100 + i, got, &(size_t){made = 0});
        CHECK_OK(penstock_stream_reset(filter));
        made = 0;
        push(filter, 0, SAMPLES, 300, got, &made);
        end(filter, got, &made);
        CHECK(is_late(filter), "resets: it ends on %s", info_of(filter).device);
        check_values(use, filter, got, made, i);
    }
    penstock_stream_free(filter);
    filter = new_filter(use, "cpu"); /* nobody ever takes it */
    send_late(filter, use);
    penstock_stream_free(filter);
}

static void channels(void)
{
    const penstock_filter_channel all[CHANNELS] = {{.taps = taps, .tap_count = 20, .shift = 0.1},
                                                   {.taps = other_taps, .tap_count = 20, .shift = -0.2}};
    static penstock_cf32 values[CHANNELS][SAMPLES];
    const struct use use = {"channels", PENSTOCK_FILTER_DESC(.channels = all, .channel_count = CHANNELS, .n = 64), 128};
    penstock_stream *filter = new_filter(&use, "cpu");
    size_t at = 0, made = 0, taken, pulled;
    do {
        if (at == 1400)
            send_late(filter, &use);
        CHECK_OK(penstock_stream_push(filter, samples + at, SAMPLES - at < 700 ? SAMPLES - at : 700, &taken));
        at += taken;
        if (at == SAMPLES)
            CHECK_OK(penstock_stream_finish(filter));
        do {
            void *to[CHANNELS] = {values[0] + made, values[1] + made};
            CHECK_OK(penstock_stream_pull_channels(filter, to, 333, at % 1400 == 0, &pulled));
            made += pulled;
        } while (pulled);
    } while (at < SAMPLES);
    CHECK(is_late(filter), "channels: it ends on %s", info_of(filter).device);
    for (size_t c = 0; c < CHANNELS; c++) {
        const struct use one = {
            "a channel", {.taps = all[c].taps, .tap_count = 20, .shift = all[c].shift, .n = 64}, 128};
        make_want(&one);
        check_values(&one, filter, values[c], made, c);
    }
    penstock_stream_free(filter);
}

/* Batches before the device came are counted, and no others. */
static void counts(void)
{
    const struct use *use = &uses[0];
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    penstock_stream *filter = new_filter(use, "cpu");
    size_t made = 0;
    make_want(use);
    push(filter, 0, 500, 500, got, &made);
    CHECK_OK(penstock_stream_get_stats(filter, &stats));
    CHECK_EQ(stats.cpu_while_compiling, 0);
    send_late(filter, use);
    push(filter, 500, SAMPLES - 500, 300, got, &made);
    end(filter, got, &made);
    CHECK_OK(penstock_stream_get_stats(filter, &stats));
    CHECK(stats.cpu_while_compiling <= 1 && stats.in == SAMPLES && stats.out == made,
          "%llu meanwhile, %llu in, %llu out", (unsigned long long)stats.cpu_while_compiling,
          (unsigned long long)stats.in, (unsigned long long)stats.out);
    penstock_stream_free(filter);
}

int main(int count, char **arguments)
{
    long live = penstock__memory_live();
    const char *device = count > 1 ? arguments[1] : "trace";
    bool all = !strcmp(device, "trace") || getenv("PENSTOCK_TEST_FULL");
    positions = all ? 0 : 4;
    if (!init(device))
        return test_skip(penstock_error_text());
    for (size_t u = 0; u < (all ? USES : 1); u++) { /* a compiler takes seconds for each */
        make_want(&uses[u]);
        every_block(&uses[u]);
        same_bits(&uses[u]);
    }
    changes(500);
    changes(1301);
    shifts(500, 300);
    shifts(500, 561);
    shifts(500, 1200);
    make_want(&uses[0]);
    flushes();
    resets();
    channels();
    counts();
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), live);
    return test_finish();
}
