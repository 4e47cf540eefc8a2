/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The replay device through SoapySDR, read by our own source: the same bytes, and every fault counted exactly. */
#include "core/base/memory.h"
#include "files.h"

#include <time.h>

#define SAMPLES 100003
#define RATE_HZ 20e6

static uint8_t bytes[SAMPLES * 8];
static uint8_t out[3 * SAMPLES * 8];

static struct {
    int lines, warnings;
    char text[4096];
} told;

static void tell(void *user, penstock_log_level level, const char *line)
{
    size_t used = strlen(told.text);
    (void)user;
    told.lines++;
    told.warnings += level == PENSTOCK_LOG_WARNING;
    snprintf(told.text + used, sizeof told.text - used, "%s\n", line);
}

static penstock_context *context;

static const char *device(const char *name, const char *arguments)
{
    static char text[1024];
    snprintf(text, sizeof text, "soapy:driver=replay,path=%s,%s", test_path(name), arguments);
    return text;
}

/* What came of a device: its samples are in `out`. */
struct outcome {
    long long samples; /* or a status */
    penstock_source_counters counters;
};

static struct outcome play(const char *name, const char *arguments, penstock_source_desc desc)
{
    struct outcome outcome = {0};
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source *source;
    outcome.counters = PENSTOCK_SOURCE_COUNTERS;
    memset(&told, 0, sizeof told);
    CHECK_OK(penstock_source_open(&source, context, device(name, arguments), &desc));
    if (!source)
        return outcome;
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.rate_hz == RATE_HZ, "%g", info.rate_hz);
    outcome.samples = test_read_source(source, out, penstock_format_bytes(info.format),
                                       sizeof out / penstock_format_bytes(info.format), 10000, 7);
    CHECK_OK(penstock_source_get_counters(source, &outcome.counters));
    penstock_source_free(source);
    return outcome;
}

static void check_quiet(struct outcome outcome)
{
    CHECK_EQ(outcome.counters.overflows, 0);
    CHECK_EQ(outcome.counters.lost_samples, 0);
    CHECK_EQ(outcome.counters.timeouts, 0);
    CHECK_EQ(outcome.counters.reconnects, 0);
    CHECK(told.lines == 0, "%s", told.text);
}

#define CS16 "format=cs16,rate=20e6,pace=fast"

/* ---------------------------------------------------------------- the recording --------------- */

static void every_format(void)
{
    static const char *const names[] = {"cf32", "cs16", "cs8", "cu8"};
    for (int f = 0; f < 4; f++) {
        char arguments[100];
        penstock_format format;
        struct outcome outcome;
        CHECK_OK(penstock_format_parse(&format, names[f]));
        snprintf(arguments, sizeof arguments, "format=%s,rate=20e6,pace=fast", names[f]);
        test_write_file("format", bytes, SAMPLES * penstock_format_bytes(format));
        outcome = play("format", arguments, PENSTOCK_SOURCE_DESC());
        CHECK_EQ(outcome.samples, SAMPLES);
        CHECK(!memcmp(out, bytes, SAMPLES * penstock_format_bytes(format)), "%s", names[f]);
        check_quiet(outcome);
    }
}

static void converted_to_float(void)
{
    const int16_t *in = (const int16_t *)(const void *)bytes;
    const float *got = (const float *)(const void *)out;
    size_t wrong = 0;
    struct outcome outcome =
        play("cs16", CS16, PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CF32, .rate_hz = RATE_HZ));
    CHECK_EQ(outcome.samples, SAMPLES);
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        wrong += got[i] != (float)in[i] / 32768.0f;
    CHECK_EQ(wrong, 0);
}

static void repeated(void)
{
    struct outcome outcome = play("cs16", CS16 ",loop=3", PENSTOCK_SOURCE_DESC());
    CHECK_EQ(outcome.samples, 3 * SAMPLES);
    for (size_t i = 0; i < 3; i++)
        CHECK(!memcmp(out + i * SAMPLES * 4, bytes, SAMPLES * 4), "repetition %zu", i);
    check_quiet(outcome);
    outcome = play("cs16", CS16 ",loop=1", PENSTOCK_SOURCE_DESC(.count = 2 * SAMPLES + 5));
    CHECK_EQ(outcome.samples, 2 * SAMPLES + 5);
    CHECK(!memcmp(out + 2 * SAMPLES * 4, bytes, 5 * 4), "for ever");
    outcome = play("cs16", CS16, PENSTOCK_SOURCE_DESC(.seconds = 1e-3));
    CHECK_EQ(outcome.samples, 20000);
}

/* At its own pace a recording cannot come sooner than it would on air. */
static void in_real_time(void)
{
    struct timespec begin, end;
    struct outcome outcome;
    double took_s;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    outcome = play("cs16", "format=cs16,rate=20e6,loop=3", PENSTOCK_SOURCE_DESC());
    clock_gettime(CLOCK_MONOTONIC, &end);
    took_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    CHECK_EQ(outcome.samples, 3 * SAMPLES);
    CHECK(took_s >= 3 * SAMPLES / RATE_HZ, "%g s", took_s);
    check_quiet(outcome);
}

static void several_at_once(void)
{
    penstock_source *sources[3];
    size_t done[3] = {0}, count = 1;
    const char *name = device("cs16", CS16);
    for (int i = 0; i < 3; i++)
        CHECK_OK(penstock_source_open(&sources[i], context, name, &PENSTOCK_SOURCE_DESC()));
    for (size_t turn = 0; done[0] + done[1] + done[2] < 3 * SAMPLES && turn < 3 * SAMPLES; turn++) {
        size_t i = turn % 3;
        CHECK_OK(penstock_source_read(sources[i], out + (i * SAMPLES + done[i]) * 4,
                                      SAMPLES - done[i] ? SAMPLES - done[i] : 1, &count));
        done[i] += count;
    }
    for (size_t i = 0; i < 3; i++) {
        CHECK(!memcmp(out + i * SAMPLES * 4, bytes, SAMPLES * 4), "source %zu", i);
        penstock_source_free(sources[i]);
    }
}

/* ---------------------------------------------------------------- faults ---------------------- */

static void overflow(void)
{
    static const size_t at[] = {0, 1, 8192, 50000};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        char arguments[200];
        struct outcome outcome;
        snprintf(arguments, sizeof arguments, CS16 ",overflow_at=%zu,overflow=777", at[i]);
        outcome = play("cs16", arguments, PENSTOCK_SOURCE_DESC());
        CHECK_EQ(outcome.samples, SAMPLES - 777);
        CHECK_EQ(outcome.counters.samples, SAMPLES - 777);
        CHECK_EQ(outcome.counters.overflows, 1);
        CHECK_EQ(outcome.counters.lost_samples, at[i] ? 777 : 0); /* nothing was stamped before sample 0 */
        CHECK(!memcmp(out, bytes, at[i] * 4), "before");
        CHECK(!memcmp(out + at[i] * 4, bytes + (at[i] + 777) * 4, (SAMPLES - 777 - at[i]) * 4), "after");
        CHECK(told.lines == 1 && strstr(told.text, "lost samples"), "%s", told.text);
    }
}

/* Overflows at random places, of random size, with time stamps and without: what came and what was lost is the whole
 * recording, and each sample is where it is in that. */
static void random_overflows(uint64_t seed)
{
    bool stamps = seed % 4;
    size_t at[9], lost[9], gaps = 1 + test_random(&seed) % 9, place = 1, sum = 0;
    char ats[200] = "", losts[200] = "", arguments[500];
    struct outcome outcome = {.counters = PENSTOCK_SOURCE_COUNTERS};
    penstock_source *source;
    for (size_t g = 0; g < gaps; g++) {
        at[g] = place += 1 + test_random(&seed) % (test_random(&seed) & 1 ? 30 : 9000);
        lost[g] = 1 + test_random(&seed) % (test_random(&seed) & 1 ? 3 : 2000);
        place += lost[g];
        sum += lost[g];
        sprintf(ats + strlen(ats), "%s%zu", g ? ":" : "", at[g]);
        sprintf(losts + strlen(losts), "%s%zu", g ? ":" : "", lost[g]);
    }
    snprintf(arguments, sizeof arguments, CS16 ",overflow_at=%s,overflow=%s,time=123456789%s", ats, losts,
             stamps ? "" : ",stamps=0");
    memset(&told, 0, sizeof told);
    CHECK_OK(penstock_source_open(&source, context, device("cs16", arguments), &PENSTOCK_SOURCE_DESC()));
    outcome.samples = test_read_source(source, out, 4, SAMPLES, 10000, seed);
    CHECK_OK(penstock_source_get_counters(source, &outcome.counters));
    CHECK_EQ(outcome.samples, SAMPLES - sum);
    CHECK_EQ(outcome.counters.taken, SAMPLES - sum);
    CHECK_EQ(outcome.counters.overflows, gaps);
    CHECK_EQ(outcome.counters.lost_samples, stamps ? sum : 0);
    CHECK_EQ(outcome.counters.unknown_losses, stamps ? 0 : gaps);
    for (size_t g = 0, before = 0; g <= gaps; g++) {
        size_t from = g ? at[g - 1] + lost[g - 1] : 0, to = g < gaps ? at[g] : SAMPLES;
        penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
        uint64_t position = 0;
        CHECK(!memcmp(out + (from - before) * 4, bytes + from * 4, (to - from) * 4), "run %zu", g);
        CHECK_OK(penstock_source_get_position(source, to - 1 - before, &position));
        CHECK_EQ(position, stamps ? to - 1 : to - 1 - before);
        CHECK_EQ(penstock_source_get_capture(source, g, &capture), 1);
        CHECK(capture.sample == from - before && capture.lost_unknown == (!stamps && g > 0), "capture %zu", g);
        CHECK_EQ(capture.lost, stamps && g ? lost[g - 1] : 0);
        CHECK(capture.timed, "by the clock of this machine");
        before += g < gaps ? lost[g] : 0;
    }
    penstock_source_free(source);
}

static void silence(void)
{
    struct outcome outcome = play("cs16", CS16 ",timeout_at=40000,silence=1.6", PENSTOCK_SOURCE_DESC(.timeout_s = 1.5));
    CHECK_EQ(outcome.samples, SAMPLES);
    CHECK(!memcmp(out, bytes, SAMPLES * 4), "samples");
    CHECK_EQ(outcome.counters.timeouts, 1);
    CHECK_EQ(outcome.counters.lost_samples, 0);
    CHECK_EQ(outcome.counters.reconnects, 0);
    CHECK(told.lines == 1 && strstr(told.text, "no samples"), "%s", told.text);
    outcome = play("cs16", CS16 ",timeout_at=40000,silence=0.2", PENSTOCK_SOURCE_DESC(.timeout_s = 100));
    CHECK_EQ(outcome.samples, SAMPLES);
    check_quiet(outcome);
    outcome =
        play("cs16", CS16 ",timeout_at=40000,silence=9", PENSTOCK_SOURCE_DESC(.timeout_s = 0.1, .reconnect_s = -1));
    CHECK_EQ(outcome.samples, PENSTOCK_ERR_RADIO);
    CHECK(strstr(penstock_error_text(), "after 40000 samples"), "%s", penstock_error_text());
    CHECK_EQ(outcome.counters.samples, 40000);
    CHECK_EQ(outcome.counters.timeouts, 1);
}

static void gone_and_back(void)
{
    struct outcome outcome =
        play("cs16", CS16 ",disappear_at=33333,reappear=0.3", PENSTOCK_SOURCE_DESC(.reconnect_s = 100));
    CHECK_EQ(outcome.samples, SAMPLES);
    CHECK(!memcmp(out, bytes, SAMPLES * 4), "samples");
    CHECK_EQ(outcome.counters.reconnects, 1);
    CHECK_EQ(outcome.counters.overflows, 0);
    CHECK_EQ(outcome.counters.unknown_losses, 1); /* what was on air meanwhile nobody knows */
    CHECK_EQ(told.lines, 2);
    CHECK(strstr(told.text, "was lost") && strstr(told.text, "is back"), "%s", told.text);
}

static void gone_for_good(void)
{
    static const double reconnect_s[] = {-1.0, 0.3};
    for (int i = 0; i < 2; i++) {
        char arguments[200];
        struct outcome outcome;
        snprintf(arguments, sizeof arguments, CS16 ",disappear_at=33333,serial=%d", i);
        outcome = play("cs16", arguments, PENSTOCK_SOURCE_DESC(.reconnect_s = reconnect_s[i]));
        CHECK_EQ(outcome.samples, PENSTOCK_ERR_RADIO);
        CHECK(strstr(penstock_error_text(), "lost after 33333 samples"), "%s", penstock_error_text());
        CHECK_EQ(outcome.counters.samples, 33333);
        CHECK(!memcmp(out, bytes, 33333 * 4), "what was read before");
        CHECK_EQ(told.lines, i);
        test_source_refused(device("cs16", arguments), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "disappeared");
    }
}

/* Each time it is opened anew: no sample means that it is not back. */
static void opened_and_silent(void)
{
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    penstock_source *source;
    memset(&told, 0, sizeof told);
    CHECK_OK(penstock_source_open(&source, context, "soapy:driver=replay,path=/dev/null," CS16,
                                  &PENSTOCK_SOURCE_DESC(.reconnect_s = 0.5)));
    CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 999, 1), PENSTOCK_ERR_RADIO);
    CHECK(strstr(penstock_error_text(), "did not come back within 0.5 s"), "%s", penstock_error_text());
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.reconnects, 0);
    CHECK_EQ(told.lines, 1);
    penstock_source_free(source);
}

static void resampled_before_the_loss(void)
{
    struct outcome outcome = {0};
    penstock_source *source;
    CHECK_OK(penstock_source_open(&source, context, device("cs16", CS16 ",disappear_at=30000,serial=r"),
                                  &PENSTOCK_SOURCE_DESC(.resample_hz = 10e6, .reconnect_s = -1)));
    outcome.samples = test_read_source(source, out, 8, SAMPLES, 999, 1);
    outcome.counters = PENSTOCK_SOURCE_COUNTERS;
    CHECK_OK(penstock_source_get_counters(source, &outcome.counters));
    CHECK_EQ(outcome.samples, PENSTOCK_ERR_RADIO);
    CHECK_EQ(outcome.counters.samples, 15000);
    CHECK(strstr(penstock_error_text(), "lost after 30000 samples"), "%s", penstock_error_text());
    penstock_source_free(source);
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void refusals(void)
{
    const char *good = device("cs16", CS16);
    char bad[1024];
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.antenna = "TX/RX"), PENSTOCK_ERR_ARGUMENT,
                        "has no antenna 'TX/RX': it has RX");
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.rate_hz = 1e6), PENSTOCK_ERR_ARGUMENT, "it offers 20000000 Hz");
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.gain_set = true, .gain_db = 101), PENSTOCK_ERR_ARGUMENT,
                        "it offers 0 .. 100 dB");
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.bandwidth_hz = 30e6), PENSTOCK_ERR_ARGUMENT, "bandwidth");
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.channel = 1), PENSTOCK_ERR_ARGUMENT, "no receive channel 1");
    test_source_refused(good, PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_PLANAR), PENSTOCK_ERR_UNSUPPORTED,
                        "it offers CS16");
    test_source_refused("soapy:driver=nonesuch", PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "driver=nonesuch");
    test_source_refused("soapy:driver=replay", PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "path=FILE");
    snprintf(bad, sizeof bad, "%s", device("absent", CS16));
    test_source_refused(bad, PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "No such file");
    test_source_refused(device("cs16", "format=cs16"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "sample rate");
    test_source_refused(device("cs16", CS16 ",pace=slow"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "pace=slow");
    test_source_refused(device("cs16", CS16 ",loop=-1"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE, "loop=-1");
    test_source_refused(device("cs16", CS16 ",overflow_at=9:5"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE,
                        "ascending");
    test_source_refused(device("cs16", CS16 ",overflow_at=9:"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE,
                        "overflow_at=");
    test_source_refused(device("cs16", CS16 ",overflow_at=9,overflow=1:2"), PENSTOCK_SOURCE_DESC(),
                        PENSTOCK_ERR_NO_DEVICE, "fewer numbers");
    test_source_refused(device("cs16", CS16 ",overflow_at=1.5"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_NO_DEVICE,
                        "overflow_at=1.5");
}

static void soapy_messages(void)
{
    penstock_source *source;
    memset(&told, 0, sizeof told);
    CHECK_OK(penstock_source_open(&source, context, device("cs16", CS16 ",overflow_of=3"),
                                  &PENSTOCK_SOURCE_DESC(.soapy_log = true)));
    CHECK(told.lines == 1 && strstr(told.text, "SoapySDR: replay: no argument is called 'overflow_of'"), "%s",
          told.text);
    penstock_source_free(source);
}

static void every_allocation_fails_once(void)
{
    long live = penstock__memory_live();
    int status = PENSTOCK_ERR_MEMORY;
    long k = 0;
    for (; status && k < 100; k++) {
        penstock_source *source;
        penstock__memory_fail_at(k);
        status = penstock_source_open(&source, context, device("cs16", CS16), &PENSTOCK_SOURCE_DESC(.antenna = "RX"));
        penstock__memory_fail_at(-1);
        if (status)
            CHECK_EQ(status, PENSTOCK_ERR_MEMORY);
        penstock_source_free(source);
        CHECK_EQ(penstock__memory_live(), live);
    }
    CHECK(k > 2, "only %ld allocations", k);
}

int main(void)
{
    uint64_t seed = 1;
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    test_random_bytes(bytes, sizeof bytes, &seed);
    test_write_file("cs16", bytes, SAMPLES * 4);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .log = tell, .cache_dir = "")));
    every_format();
    converted_to_float();
    repeated();
    in_real_time();
    several_at_once();
    overflow();
    for (uint64_t pattern = 1; pattern <= 60; pattern++)
        random_overflows(pattern);
    silence();
    gone_and_back();
    gone_for_good();
    opened_and_silent();
    resampled_before_the_loss();
    refusals();
    soapy_messages();
    every_allocation_fails_once();
    penstock_context_free(context);
    test_remove_folder();
    return test_finish();
}
