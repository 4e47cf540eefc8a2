/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Gaps, against samples that carry their own number: wherever samples were lost, each of those that came is at the
 * position that it names, in a source, in what a sink says of a decimated recording, and when that is read again. */
#include "core/base/memory.h"
#include "files.h"
#include "radio/sigmf_time.h"

#include <time.h>

#define SAMPLES 60000
#define RATE_HZ 2e6
#define GAPS    24

/* A sample of 16 + 16 bits whose number it is. */
static uint32_t numbers[SAMPLES], out[SAMPLES];
static penstock_cf32 floats[SAMPLES];

struct pattern {
    size_t count; /* of samples that are left, the first `count` of numbers[] */
    size_t gaps, at[GAPS], lost[GAPS];
};

/* Random gaps of a random stream: single samples and long ones, close to each other too. */
static struct pattern make_pattern(uint64_t *seed, uint32_t first)
{
    struct pattern p = {.gaps = test_random(seed) % (GAPS + 1)};
    uint32_t number = first;
    size_t mean = 1 + SAMPLES / (1 + test_random(seed) % 100) / 8;
    for (size_t g = 0; g <= p.gaps; g++) {
        size_t run = 1 + test_random(seed) % mean;
        for (size_t i = 0; i < run && p.count < SAMPLES; i++)
            numbers[p.count++] = number++;
        if (g == p.gaps || p.count == SAMPLES) {
            p.gaps = g;
            break;
        }
        p.at[g] = p.count;
        p.lost[g] = 1 + test_random(seed) % (test_random(seed) & 1 ? 5 : 100000);
        number += (uint32_t)p.lost[g];
    }
    return p;
}

static const char start[] = "2026-02-28T23:59:59.9876543215Z"; /* rounds to ...322 */
static int64_t start_ns;

static void write_recording(const char *name, const struct pattern *p, uint32_t first)
{
    char meta[64], data[64], *text = malloc(400 + 200 * GAPS);
    size_t used = (size_t)sprintf(
        text,
        "{\"global\": {\"core:datatype\": \"ci16_le\", \"core:sample_rate\": %.0f, \"core:version\": \"1.2.0\","
        " \"core:hw\": \"a radio\"}, \"captures\": [{\"core:sample_start\": 0, \"core:global_index\": %u,"
        " \"core:datetime\": \"%s\", \"core:frequency\": 1e8}",
        RATE_HZ, first, start);
    for (size_t g = 0; g < p->gaps; g++)
        used += (size_t)sprintf(text + used, ", {\"core:sample_start\": %zu, \"core:global_index\": %u}", p->at[g],
                                numbers[p->at[g]]);
    sprintf(text + used, "], \"annotations\": []}");
    snprintf(meta, sizeof meta, "%s.sigmf-meta", name);
    snprintf(data, sizeof data, "%s.sigmf-data", name);
    test_write_text(meta, text);
    test_write_file(data, numbers, p->count * sizeof *numbers);
    free(text);
}

/* All of `source` into out[], in reads of random size that must not go across a gap. */
static size_t read_checked(penstock_source *source, uint64_t *seed, uint32_t first)
{
    size_t total = 0, count = 1, wrong = 0;
    while (count) {
        uint64_t position = 0;
        size_t room = 1 + test_random(seed) % 5000;
        penstock_source_counters c = PENSTOCK_SOURCE_COUNTERS;
        CHECK_OK(
            penstock_source_read(source, out + total, room < SAMPLES - total ? room : SAMPLES - total + 1, &count));
        CHECK_OK(penstock_source_get_counters(source, &c));
        if (count) {
            CHECK_OK(penstock_source_get_position(source, total, &position));
            CHECK_EQ(position + first, out[total]);
            CHECK_EQ(c.taken + c.lost_samples + first, out[total + count - 1] + 1);
        }
        for (size_t i = 1; i < count; i++)
            wrong += out[total + i] != out[total] + i;
        total += count;
    }
    CHECK_EQ(wrong, 0);
    return total;
}

static void sources(uint64_t seed)
{
    uint32_t first = seed % 3 ? (uint32_t)(test_random(&seed) % 100000) : 0;
    struct pattern p = make_pattern(&seed, first);
    penstock_source_counters c = PENSTOCK_SOURCE_COUNTERS;
    penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source *source;
    size_t lost = 0;
    write_recording("gaps", &p, first);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("gaps.sigmf-meta"), &PENSTOCK_SOURCE_DESC()));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.timed && info.start_ns == start_ns && info.first_index == first, "start");
    CHECK(info.hardware && !strcmp(info.hardware, "a radio"), "hardware");
    CHECK_EQ(read_checked(source, &seed, first), p.count);
    CHECK(!memcmp(out, numbers, p.count * sizeof *out), "samples");
    for (size_t g = 0; g < p.gaps; g++) {
        lost += p.lost[g];
        CHECK_EQ(penstock_source_get_capture(source, g + 1, &capture), 1);
        CHECK(capture.sample == p.at[g] && capture.lost == p.lost[g] && !capture.lost_unknown &&
                  capture.position == p.at[g] + lost && capture.frequency_hz == 1e8,
              "capture %zu", g);
        /* 500 ns a sample, exactly */
        CHECK(capture.timed && capture.time_ns == start_ns + 500 * (int64_t)capture.position, "time %zu", g);
    }
    CHECK_EQ(penstock_source_get_capture(source, p.gaps + 1, &capture), 0);
    CHECK_OK(penstock_source_get_counters(source, &c));
    CHECK(c.taken == p.count && c.lost_samples == lost && c.unknown_losses == 0, "counters");
    penstock_source_free(source);
}

/* What stops before a gap has not lost what is behind it. */
static void stopped_before_the_gap(void)
{
    uint64_t seed = 77;
    struct pattern p = {.count = 300, .gaps = 1, .at = {200}, .lost = {50}};
    for (uint32_t i = 0; i < 300; i++)
        numbers[i] = i < 200 ? i : i + 50;
    write_recording("gaps", &p, 0);
    for (uint64_t count = 199; count < 203; count++) {
        penstock_source_counters c = PENSTOCK_SOURCE_COUNTERS;
        penstock_source *source;
        CHECK_OK(
            penstock_source_open(&source, NULL, test_path("gaps.sigmf-meta"), &PENSTOCK_SOURCE_DESC(.count = count)));
        CHECK_EQ(read_checked(source, &seed, 0), count);
        CHECK_OK(penstock_source_get_counters(source, &c));
        CHECK_EQ(c.lost_samples, count > 200 ? 50 : 0);
        penstock_source_free(source);
    }
}

/* ---------------------------------------------------------------- sinks ----------------------- */

/* Each decimation-th sample, as it is, to a recording that follows the source. */
static size_t decimate(const char *from, const char *to, uint64_t decimation, uint64_t *seed)
{
    penstock_source *source;
    penstock_sink *sink;
    size_t total, kept = 0;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    CHECK_OK(penstock_source_open(&source, NULL, test_path(from), &PENSTOCK_SOURCE_DESC()));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK_OK(penstock_sink_open(
        &sink, test_path(to),
        &PENSTOCK_SINK_DESC(.format = PENSTOCK_CS16, .rate_hz = info.rate_hz / (double)decimation,
                            .frequency_hz = info.frequency_hz - 1e3, .source = source, .decimation = decimation)));
    total = (size_t)test_read_source(source, out, 4, SAMPLES, 7000, *seed);
    for (size_t i = 0; i < total; i += decimation) {
        int16_t parts[2];
        memcpy(parts, &out[i], sizeof parts);
        floats[kept++] = (penstock_cf32){(float)parts[0] / 32768.0f, (float)parts[1] / 32768.0f};
    }
    CHECK_OK(penstock_sink_write(sink, floats, kept));
    CHECK_OK(penstock_sink_close(sink));
    penstock_sink_free(sink);
    penstock_source_free(source);
    return kept;
}

/* A decimated recording, read again: each sample still carries its number in the original stream. `slack` in samples of
 * that: half a step of each decimation on the way. */
static void check_decimated(const char *name, uint64_t step, size_t kept, double slack)
{
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
    penstock_source *source;
    uint64_t seed = kept;
    size_t far = 0, late = 0;
    CHECK_OK(penstock_source_open(&source, NULL, test_path(name), &PENSTOCK_SOURCE_DESC()));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 3000, seed), (long long)kept);
    CHECK(info.hardware && !strcmp(info.hardware, "a radio"), "hardware is carried over");
    for (size_t i = 0; i < kept; i++) {
        uint64_t position = 0;
        CHECK_OK(penstock_source_get_position(source, i, &position));
        double original = (double)(info.first_index + position) * (double)step;
        far += fabs(original - (double)out[i]) > slack;
    }
    CHECK(!far, "%s: %zu of %zu samples are not where they should be", name, far, kept);
    for (uint64_t c = 0; penstock_source_get_capture(source, c, &capture) == 1; c++) {
        double after_ns = 500.0 * (double)(out[capture.sample] - out[0]);
        late += !capture.timed || fabs((double)(capture.time_ns - start_ns) - after_ns) > 1;
        CHECK(capture.frequency_hz == 1e8 - (step == 1 ? 0 : 1e3) - (strcmp(name, "twice.sigmf-meta") ? 0 : 1e3) ||
                  step == 1,
              "frequency %.15g", capture.frequency_hz);
    }
    CHECK(!late, "%s: %zu captures have another time", name, late);
    penstock_source_free(source);
}

static void sinks(uint64_t seed)
{
    uint32_t first = seed % 3 ? (uint32_t)(test_random(&seed) % 100000) : 0;
    struct pattern p = make_pattern(&seed, first);
    uint64_t once = 1 + test_random(&seed) % 12, again = 1 + test_random(&seed) % 7;
    write_recording("gaps", &p, first);
    size_t kept = decimate("gaps.sigmf-meta", "once.sigmf-meta", once, &seed);
    check_decimated("once.sigmf-meta", once, kept, (double)once / 2);
    kept = decimate("once.sigmf-meta", "twice.sigmf-meta", again, &seed);
    check_decimated("twice.sigmf-meta", once * again, kept, (double)once / 2 + (double)(once * again) / 2);
}

/* ---------------------------------------------------------------- resampling ------------------ */

static void resampled(uint64_t seed)
{
    static penstock_cf32 values[3 * SAMPLES];
    struct pattern p = make_pattern(&seed, 0);
    static const double rates_hz[] = {1e6, 3e6, 1.5e6, 4e5};
    double rate_hz = rates_hz[seed % 4], ratio = rate_hz / RATE_HZ;
    penstock_source_counters c = PENSTOCK_SOURCE_COUNTERS;
    penstock_source *source;
    size_t lost = 0;
    write_recording("gaps", &p, 0);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("gaps.sigmf-meta"),
                                  &PENSTOCK_SOURCE_DESC(.resample_hz = rate_hz)));
    CHECK_EQ(test_read_source(source, values, 8, 3 * SAMPLES, 5000, seed),
             (long long)ceil((double)p.count * ratio - 1e-9));
    CHECK_OK(penstock_source_get_counters(source, &c));
    for (size_t g = 0; g <= p.gaps; g++) { /* the first and last output that stand in each run */
        size_t from = g ? p.at[g - 1] : 0, to = g < p.gaps ? p.at[g] : p.count;
        uint64_t ends[2] = {(uint64_t)ceil((double)from * ratio - 1e-9), (uint64_t)ceil((double)to * ratio - 1e-9)};
        for (int e = 0; e < 2 && ends[1] > ends[0]; e++) {
            uint64_t sample = e ? ends[1] - 1 : ends[0], position = 0;
            CHECK_OK(penstock_source_get_position(source, sample, &position));
            CHECK(fabs((double)position - ((double)sample + (double)lost * ratio)) <= 0.5 + 1e-9, "sample %llu",
                  (unsigned long long)sample);
        }
        lost += g < p.gaps ? p.lost[g] : 0;
    }
    CHECK(c.taken == p.count && c.lost_samples == lost, "counters");
    penstock_source_free(source);
}

/* ---------------------------------------------------------------- unknown losses -------------- */

/* A count that is missing, or goes back, is a loss of unknown size; it stays one in what is written. */
static void unknown(void)
{
    static const char *const second[] = {"", ", \"core:global_index\": 40"};
    for (int i = 0; i < 2; i++) {
        penstock_source_counters c = PENSTOCK_SOURCE_COUNTERS;
        penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
        penstock_source *source;
        uint64_t seed = 5;
        char text[600];
        for (uint32_t n = 0; n < 900; n++)
            numbers[n] = n;
        snprintf(text, sizeof text,
                 "{\"global\": {\"core:datatype\": \"ci16_le\", \"core:sample_rate\": 2e6, \"core:hw\": \"a radio\"},"
                 " \"captures\": [{\"core:sample_start\": 0, \"core:frequency\": 1e8, \"core:global_index\": 100, "
                 "\"core:datetime\": \"%s\"},"
                 " {\"core:sample_start\": 300%s}, {\"core:sample_start\": 600, \"core:global_index\": %d}]}",
                 start, second[i], i ? 340 + 7 : 700 + 7);
        test_write_text("gaps.sigmf-meta", text);
        test_write_file("gaps.sigmf-data", numbers, 900 * 4);
        if (i == 0)
            decimate("gaps.sigmf-meta", "once.sigmf-meta", 1, &seed);
        for (int copy = 0; copy < 2 - i; copy++) {
            CHECK_OK(penstock_source_open(&source, NULL, test_path(copy ? "once.sigmf-meta" : "gaps.sigmf-meta"),
                                          &PENSTOCK_SOURCE_DESC()));
            CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 100, 1), 900);
            CHECK_OK(penstock_source_get_counters(source, &c));
            CHECK_EQ(c.unknown_losses, i ? 2 : 1); /* both indices of the second recording are behind the count */
            CHECK_EQ(c.lost_samples, i ? 0 : 7);
            CHECK_EQ(penstock_source_get_capture(source, 1, &capture), 1);
            CHECK(capture.sample == 300 && capture.lost_unknown && !capture.lost && !capture.timed, "capture");
            penstock_source_free(source);
        }
    }
}

/* ---------------------------------------------------------------- frequencies ----------------- */

static void check_frequencies(const char *name, double ask_hz, double info_hz, const double wanted_hz[3])
{
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source_capture capture = PENSTOCK_SOURCE_CAPTURE;
    penstock_source *source;
    CHECK_OK(penstock_source_open(&source, NULL, test_path(name), &PENSTOCK_SOURCE_DESC(.frequency_hz = ask_hz)));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.frequency_hz == info_hz, "%s: %.15g, not %.15g", name, info.frequency_hz, info_hz);
    for (size_t i = 0; i < 3; i++)
        CHECK(penstock_source_get_capture(source, i, &capture) == 1 && capture.frequency_hz == wanted_hz[i],
              "%s, capture %zu: %.15g", name, i, capture.frequency_hz);
    penstock_source_free(source);
}

/* A first capture of which none is told has none, or the caller's; the others keep theirs in what is written. */
static void first_frequency_unknown(void)
{
    test_write_text("gaps.sigmf-meta",
                    "{\"global\": {\"core:datatype\": \"ci16_le\", \"core:sample_rate\": 2e6}, \"captures\": [{},"
                    " {\"core:sample_start\": 300, \"core:frequency\": 1e8},"
                    " {\"core:sample_start\": 600, \"core:frequency\": 2e8}]}");
    test_write_file("gaps.sigmf-data", numbers, 900 * 4);
    check_frequencies("gaps.sigmf-meta", 0, 1e8, (const double[]){0, 1e8, 2e8});
    check_frequencies("gaps.sigmf-meta", 3e8, 3e8, (const double[]){3e8, 1e8, 2e8});
    decimate("gaps.sigmf-meta", "once.sigmf-meta", 1, &(uint64_t){5});
    check_frequencies("once.sigmf-meta", 0, 1e8 - 1e3, (const double[]){0, 1e8 - 1e3, 2e8 - 1e3});
}

/* ---------------------------------------------------------------- times ----------------------- */

static void times(void)
{
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-13-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:61Z",
                                      "2026-01-01T00:00:00",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00Zx",
                                      "2026-01-01 00:00:00Z",
                                      "2026-01-01T00:00:00+00:00",
                                      "1600-01-01T00:00:00Z",
                                      "2300-01-01T00:00:00Z",
                                      "-026-01-01T00:00:00Z"};
    uint64_t seed = 9;
    int64_t got;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!penstock__sigmf_time_parse(&got, bad[i]), "'%s'", bad[i]);
    CHECK(penstock__sigmf_time_parse(&got, "2016-12-31T23:59:60Z") && got == INT64_C(1483228800000000000),
          "leap second");
    for (int i = 0; i < 5000; i++) {
        char text[PENSTOCK__SIGMF_TIME_BYTES], want[64];
        int64_t units[] = {1, 1000, 1000000, 1000000000};
        int64_t ns = ((int64_t)test_random(&seed) / 2 * 2 % INT64_C(9190000000000000000)) / units[i % 4] * units[i % 4];
        time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
        struct tm tm;
        penstock__sigmf_time_text(text, ns);
        strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.", gmtime_r(&seconds, &tm));
        CHECK(!strncmp(text, want, 20), "%s, expected %s", text, want);
        CHECK(penstock__sigmf_time_parse(&got, text) && got == ns, "%s is %lld, expected %lld", text, (long long)got,
              (long long)ns);
    }
    CHECK(penstock__sigmf_time_parse(&start_ns, start) && start_ns % 1000000000 == 987654322, "rounded");
}

/* ---------------------------------------------------------------- memory ---------------------- */

static void every_allocation_fails_once(void)
{
    long live = penstock__memory_live(), k = 0;
    int status = PENSTOCK_ERR_MEMORY;
    struct pattern p = {.count = 400, .gaps = GAPS};
    for (size_t i = 0; i < 400; i++)
        numbers[i] = (uint32_t)(i + i / 16);
    for (size_t g = 0; g < GAPS; g++) {
        p.at[g] = 16 * (g + 1);
        p.lost[g] = 1;
    }
    write_recording("gaps", &p, 0);
    for (; status && k < 100; k++) {
        penstock_source *source;
        penstock__memory_fail_at(k);
        status = penstock_source_open(&source, NULL, test_path("gaps.sigmf-meta"), &PENSTOCK_SOURCE_DESC());
        penstock__memory_fail_at(-1);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "%d", status);
        penstock_source_free(source);
        CHECK_EQ(penstock__memory_live(), live);
    }
    CHECK(k > 6, "only %ld allocations", k);
}

int main(void)
{
    uint64_t patterns = getenv("PENSTOCK_TEST_FULL") ? 400 : 60;
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    times();
    for (uint64_t seed = 1; seed <= patterns; seed++) {
        sources(seed);
        sinks(seed);
        resampled(seed);
    }
    printf("%llu random patterns of gaps\n", (unsigned long long)patterns);
    stopped_before_the_gap();
    unknown();
    first_frequency_unknown();
    every_allocation_fails_once();
    test_remove_folder();
    return test_finish();
}
