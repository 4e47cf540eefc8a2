/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sinks: rounding and limiting against the formula, SigMF that reads back, full disks and other failures in words. */
#include "core/base/memory.h"
#include "files.h"

#include <fcntl.h>

#define SAMPLES 200001

static penstock_cf32 samples[SAMPLES];
static uint8_t written[SAMPLES * 8 + 8];

static const struct {
    penstock_format format;
    double scale, offset, least, most;
} formats[] = {{PENSTOCK_CF32, 0, 0, 0, 0},
               {PENSTOCK_CS16, 32768, 0, -32768, 32767},
               {PENSTOCK_CS8, 128, 0, -128, 127},
               {PENSTOCK_CU8, 128, 127.5, 0, 255}};

/* Level 1.2, so that some are limited; all steps and half steps of 8 bits, values that are no numbers, huge ones. */
static void fill_samples(void)
{
    static const float odd[] = {0.0f,   -0.0f,    1.0f,      -1.0f, 0.99999f, 1e30f,
                                -1e30f, INFINITY, -INFINITY, NAN,   -NAN,     1e-40f};
    uint64_t seed = 2;
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = (penstock_cf32){1.2f * (float)test_uniform(&seed), 1.2f * (float)test_uniform(&seed)};
    for (size_t i = 0; i < 600; i++)
        samples[i].re = ((float)i - 300.0f) / 256.0f;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        samples[1000 + i].im = odd[i];
}

static double value_at(size_t format, size_t i)
{
    switch (formats[format].format) {
    case PENSTOCK_CS16:
        return ((const int16_t *)(const void *)written)[i];
    case PENSTOCK_CS8:
        return ((const int8_t *)written)[i];
    default:
        return written[i];
    }
}

static bool is_finite(penstock_cf32 sample)
{
    return isfinite(sample.re) && isfinite(sample.im);
}

static uint64_t not_finite(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        count += !is_finite(samples[i]);
    return count;
}

/* Samples with a part more than half a step beyond the range. */
static uint64_t clipped(size_t format)
{
    const double scale = formats[format].scale;
    uint64_t count = 0;
    for (size_t i = 0; i < SAMPLES && scale > 0; i++) {
        const double parts[] = {samples[i].re * scale + formats[format].offset,
                                samples[i].im * scale + formats[format].offset};
        bool beyond = false;
        for (size_t k = 0; k < 2; k++)
            beyond |= parts[k] < formats[format].least - 0.5 || parts[k] > formats[format].most + 0.5;
        count += beyond && is_finite(samples[i]);
    }
    return count;
}

static void write_all(penstock_sink *sink, size_t largest)
{
    uint64_t seed = largest;
    for (size_t done = 0; done < SAMPLES;) {
        size_t n = test_random(&seed) % largest + 1;
        if (n > SAMPLES - done)
            n = SAMPLES - done;
        CHECK_OK(penstock_sink_write(sink, samples + done, n));
        done += n;
    }
}

/* All samples in random chunks, to a file in `written`, by one thread or those of a context. */
static void write_file(size_t format, size_t largest, penstock_context *context)
{
    const size_t sample_bytes = penstock_format_bytes(formats[format].format);
    penstock_sink_counters counters = PENSTOCK_SINK_COUNTERS;
    penstock_sink *sink;
    CHECK_OK(
        penstock_sink_open(&sink, test_path("raw"),
                           &PENSTOCK_SINK_DESC(.format = formats[format].format, .rate_hz = 1e6, .context = context)));
    write_all(sink, largest);
    CHECK_OK(penstock_sink_close(sink));
    CHECK_OK(penstock_sink_get_counters(sink, &counters));
    penstock_sink_free(sink);
    CHECK_EQ(test_read_file("raw", written, sizeof written), SAMPLES * sample_bytes);
    CHECK_EQ(counters.samples, SAMPLES);
    CHECK_EQ(counters.not_finite, not_finite());
    CHECK_EQ(counters.clipped, clipped(format));
}

static void rounding_and_limits(penstock_context *context)
{
    static const size_t chunks[] = {SAMPLES, 100000, 7};
    const float *flat = &samples->re;
    for (size_t f = 0; f < 4; f++)
        for (size_t p = 0; p < 3; p++) {
            size_t wrong = 0;
            write_file(f, chunks[p], context);
            if (formats[f].format == PENSTOCK_CF32) {
                CHECK(!memcmp(written, samples, sizeof samples), "cf32");
                continue;
            }
            for (size_t i = 0; i < 2 * SAMPLES; i++) {
                double want = isnan(flat[i]) ? formats[f].offset : flat[i] * formats[f].scale + formats[f].offset;
                want = want < formats[f].least ? formats[f].least : want > formats[f].most ? formats[f].most : want;
                /* within half a step; at a tie either neighbour is right */
                wrong += fabs(value_at(f, i) - want) > 0.5 + 1e-5;
            }
            CHECK(wrong == 0, "%s: %zu wrong", penstock_format_name(formats[f].format), wrong);
        }
}

static void threads_write_the_same(void)
{
    penstock_context *context;
    for (unsigned threads = 2; threads <= 5; threads += 3) {
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
        rounding_and_limits(context);
        penstock_context_free(context);
    }
}

/* What was read from a recording and is written again gives the same bytes. */
static void round_trip(void)
{
    static uint8_t bytes[4096];
    static penstock_cf32 values[2048];
    for (size_t f = 1; f < 4; f++) {
        size_t count = sizeof bytes / penstock_format_bytes(formats[f].format), got = 0, n;
        penstock_source *source;
        penstock_sink *sink;
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(i ^ (i >> 8));
        test_write_file("in", bytes, sizeof bytes);
        CHECK_OK(penstock_source_open(
            &source, NULL, test_path("in"),
            &PENSTOCK_SOURCE_DESC(.raw = true, .format = formats[f].format, .rate_hz = 1e6, .resample_hz = 1e6)));
        while (!penstock_source_read(source, values + got, count - got + 1, &n) && n)
            got += n;
        CHECK_EQ(got, count);
        penstock_source_free(source);
        CHECK_OK(penstock_sink_open(&sink, test_path("raw"),
                                    &PENSTOCK_SINK_DESC(.format = formats[f].format, .rate_hz = 1e6)));
        CHECK_OK(penstock_sink_write(sink, values, count));
        CHECK_OK(penstock_sink_close(sink));
        penstock_sink_free(sink);
        CHECK_EQ(test_read_file("raw", written, sizeof written), sizeof bytes);
        CHECK(!memcmp(written, bytes, sizeof bytes), "%s", penstock_format_name(formats[f].format));
    }
}

static void standard_output(void)
{
    int saved, file = open(test_path("out"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    penstock_sink *sink;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    CHECK_OK(penstock_sink_open(&sink, "-", &PENSTOCK_SINK_DESC(.rate_hz = 1e6)));
    CHECK_OK(penstock_sink_write(sink, samples, 1000));
    CHECK_OK(penstock_sink_close(sink));
    penstock_sink_free(sink);
    CHECK(fcntl(STDOUT_FILENO, F_GETFD) >= 0, "standard output stays open");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    CHECK_EQ(test_read_file("out", written, sizeof written), 8000);
    CHECK(!memcmp(written, samples, 8000), "samples");
}

/* Who reads a radio's samples through a pipe gets them soon, with many threads too: of what was given to the sink less
 * than 256 KiB wait for more. */
static void little_waits(unsigned threads)
{
    enum { CHUNK = 3000 };
    const size_t sample_bytes = penstock_format_bytes(PENSTOCK_CS8);
    int saved, file = open(test_path("out"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    off_t most = 0;
    penstock_context *context;
    penstock_sink *sink;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
    CHECK_OK(penstock_sink_open(&sink, "-",
                                &PENSTOCK_SINK_DESC(.format = PENSTOCK_CS8, .rate_hz = 1e6, .context = context)));
    for (size_t done = CHUNK; done <= SAMPLES; done += CHUNK) {
        CHECK_OK(penstock_sink_write(sink, samples + done - CHUNK, CHUNK));
        const off_t waits = (off_t)(done * sample_bytes) - lseek(file, 0, SEEK_END);
        most = waits > most ? waits : most;
    }
    CHECK_OK(penstock_sink_close(sink));
    penstock_sink_free(sink);
    penstock_context_free(context);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    CHECK(most > 0 && most < 1 << 18, "%u threads: %lld bytes wait", threads, (long long)most);
}

/* Sinks of one set, so many that each keeps little of 64 MiB: of the same samples, in pieces of all sizes, the same
 * file. */
static void many_sinks(void)
{
    enum { SINKS = 900, COUNT = 60000, LARGEST = 2000, MOST = (1 << 26) / SINKS };
    static penstock_sink *sinks[SINKS];
    const size_t sample_bytes = penstock_format_bytes(PENSTOCK_CS8);
    const long live = penstock__memory_live();
    struct stat about;
    penstock_files *files;
    char name[32];
    uint64_t seed = 5;
    write_file(2, 1000, NULL);
    CHECK_OK(penstock_files_new(&files));
    for (size_t i = 0; i < SINKS; i++) {
        snprintf(name, sizeof name, "sink%zu", i);
        CHECK_OK(penstock_sink_open(&sinks[i], test_path(name),
                                    &PENSTOCK_SINK_DESC(.format = PENSTOCK_CS8, .rate_hz = 1e6, .files = files)));
    }
    for (size_t done = 0, some; done < COUNT; done += some) {
        some = 1 + test_random(&seed) % LARGEST;
        some = some < COUNT - done ? some : COUNT - done;
        for (size_t i = 0; i < SINKS; i++)
            CHECK_OK(penstock_sink_write(sinks[i], samples + done, some));
    }
    CHECK_EQ(stat(test_path(".sink7.penstock-part"), &about), 0);
    CHECK(about.st_size + MOST > (off_t)(COUNT * sample_bytes), "%lld bytes are written", (long long)about.st_size);
    for (size_t i = 0; i < SINKS; i++) {
        CHECK_OK(penstock_sink_close(sinks[i]));
        penstock_sink_free(sinks[i]);
    }
    CHECK_OK(penstock_files_complete(files));
    penstock_files_free(files);
    CHECK_EQ(penstock__memory_live(), live);
    for (size_t i = 0; i < SINKS; i += SINKS - 1) {
        static uint8_t got[COUNT * 2 + 1];
        snprintf(name, sizeof name, "sink%zu", i);
        CHECK_EQ(test_read_file(name, got, sizeof got), COUNT * sample_bytes);
        CHECK(!memcmp(got, written, COUNT * sample_bytes), "sink %zu", i);
    }
}

/* ---------------------------------------------------------------- SigMF ----------------------- */

static void sigmf(void)
{
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source *source = NULL;
    penstock_sink *sink = NULL;
    int status;
    test_write_text("x.sigmf-meta", "{\"of\": \"an older recording\"}");
    status = penstock_sink_open(&sink, test_path("x.sigmf-meta"),
                                &PENSTOCK_SINK_DESC(.format = PENSTOCK_CS16, .rate_hz = 20e6, .frequency_hz = 5.2e9,
                                                    .description = "a \"quoted\" \xc3\xa4\n text"));
    if (status == PENSTOCK_ERR_UNSUPPORTED) {
        CHECK(strstr(penstock_error_text(), "this build has no SigMF"), "%s", penstock_error_text());
        return;
    }
    CHECK_OK(status);
    CHECK_EQ(test_read_file("x.sigmf-meta", written, sizeof written), strlen("{\"of\": \"an older recording\"}"));
    CHECK_OK(penstock_sink_write(sink, samples, SAMPLES));
    CHECK_OK(penstock_sink_close(sink));
    CHECK_EQ(penstock_sink_close(sink), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_sink_write(sink, samples, 1), PENSTOCK_ERR_STATE);
    penstock_sink_free(sink);
    CHECK_OK(penstock_source_open(&source, NULL, test_path("x.sigmf-data"), &PENSTOCK_SOURCE_DESC()));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.format == PENSTOCK_CS16 && info.rate_hz == 20e6 && info.frequency_hz == 5.2e9, "info");
    CHECK_EQ(info.total_samples, SAMPLES);
    penstock_source_free(source);
    memset(written, 0, sizeof written);
    test_read_file("x.sigmf-meta", written, sizeof written - 1);
    CHECK(strstr((char *)written, "\"core:version\"") && strstr((char *)written, "\"core:datatype\": \"ci16_le\"") &&
              strstr((char *)written, "\"core:sample_start\": 0") && strstr((char *)written, "\"annotations\": []"),
          "what the specification requires: %s", (char *)written);
    CHECK(strstr((char *)written, "a \\\"quoted\\\""), "the description: %s", (char *)written);

    CHECK_OK(penstock_sink_open(&sink, test_path("y.sigmf-meta"),
                                &PENSTOCK_SINK_DESC(.rate_hz = 1.0, .description = "no UTF-8: \xff")));
    CHECK_EQ(penstock_sink_close(sink), PENSTOCK_ERR_FORMAT);
    CHECK(access(test_path("y.sigmf-meta"), F_OK) != 0, "no metadata");
    penstock_sink_free(sink);
}

/* ---------------------------------------------------------------- failures -------------------- */

static void refused(const char *name, penstock_sink_desc desc, int want, const char *words)
{
    penstock_sink *sink = (penstock_sink *)(void *)&desc;
    CHECK_EQ(penstock_sink_open(&sink, name, &desc), want);
    CHECK(strstr(penstock_error_text(), words), "'%s' does not say '%s'", penstock_error_text(), words);
    CHECK(!sink, "no sink");
    penstock_sink_free(sink);
}

static void refusals(void)
{
    refused(test_path("none/x"), PENSTOCK_SINK_DESC(.rate_hz = 1e6), PENSTOCK_ERR_FILE, "No such file");
    refused(test_folder, PENSTOCK_SINK_DESC(.rate_hz = 1e6), PENSTOCK_ERR_FILE, "Is a directory");
    refused("", PENSTOCK_SINK_DESC(.rate_hz = 1e6), PENSTOCK_ERR_ARGUMENT, "no file named");
    refused(test_path("x"), PENSTOCK_SINK_DESC(.rate_hz = 0), PENSTOCK_ERR_ARGUMENT, "rate_hz");
    refused(test_path("x"), PENSTOCK_SINK_DESC(.rate_hz = (double)NAN), PENSTOCK_ERR_ARGUMENT, "rate_hz");
    refused(test_path("x"), PENSTOCK_SINK_DESC(.rate_hz = 1, .frequency_hz = -1), PENSTOCK_ERR_ARGUMENT, "frequency");
    refused(test_path("x"), PENSTOCK_SINK_DESC(.rate_hz = 1, .format = PENSTOCK_PLANAR), PENSTOCK_ERR_ARGUMENT,
            "planar");
    refused(test_path("x"), PENSTOCK_SINK_DESC(.rate_hz = 1, .format = (penstock_format)99), PENSTOCK_ERR_ARGUMENT,
            "unknown");
}

/* A full disk is told by the write that meets it, or at the latest by close. */
static void full_disk(void)
{
    penstock_sink *sink;
    if (access("/dev/full", W_OK))
        return;
    CHECK_OK(penstock_sink_open(&sink, "/dev/full", &PENSTOCK_SINK_DESC(.rate_hz = 1e6)));
    CHECK_EQ(penstock_sink_write(sink, samples, SAMPLES), PENSTOCK_ERR_FILE);
    CHECK(strstr(penstock_error_text(), "No space left"), "%s", penstock_error_text());
    CHECK_EQ(penstock_sink_write(sink, samples, 1), PENSTOCK_ERR_FILE);
    CHECK_EQ(penstock_sink_close(sink), PENSTOCK_ERR_FILE);
    penstock_sink_free(sink);
    CHECK_OK(penstock_sink_open(&sink, "/dev/full", &PENSTOCK_SINK_DESC(.rate_hz = 1e6)));
    CHECK_OK(penstock_sink_write(sink, samples, 1));
    CHECK_EQ(penstock_sink_close(sink), PENSTOCK_ERR_FILE);
    CHECK(strstr(penstock_error_text(), "No space left"), "%s", penstock_error_text());
    penstock_sink_free(sink);
}

static void every_allocation_fails_once(void)
{
    long live = penstock__memory_live();
    int status = PENSTOCK_ERR_MEMORY;
    long k = 0;
    for (; status && k < 100; k++) {
        penstock_sink *sink;
        penstock__memory_fail_at(k);
        status = penstock_sink_open(&sink, test_path("raw"), &PENSTOCK_SINK_DESC(.rate_hz = 1e6, .description = "x"));
        penstock__memory_fail_at(-1);
        if (status)
            CHECK_EQ(status, PENSTOCK_ERR_MEMORY);
        else
            CHECK_OK(penstock_sink_close(sink));
        penstock_sink_free(sink);
        CHECK_EQ(penstock__memory_live(), live);
    }
    CHECK(k > 3, "only %ld allocations", k);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    fill_samples();
    rounding_and_limits(NULL);
    threads_write_the_same();
    round_trip();
    standard_output();
    little_waits(1);
    little_waits(9);
    many_sinks();
    sigmf();
    refusals();
    full_disk();
    every_allocation_fails_once();
    test_remove_folder();
    return test_finish();
}
