/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Raw files and pipes: the same samples in chunks of any size, whole samples of odd files, errors in words. */
#include "files.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#define SAMPLES 10007

static uint8_t bytes[SAMPLES * 8];

static void fill_bytes(void)
{
    uint64_t seed = 1;
    test_random_bytes(bytes, sizeof bytes, &seed);
}

static void every_format_and_chunk(void)
{
    static const penstock_format formats[] = {PENSTOCK_CF32, PENSTOCK_CS16, PENSTOCK_CS8, PENSTOCK_CU8, PENSTOCK_F32};
    static uint8_t out[SAMPLES * 8 + 8];
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (size_t extra = 0; extra < 8; extra += 3)
            for (size_t largest = 1; largest < 20000; largest *= 19) {
                size_t size = penstock_format_bytes(formats[f]), whole = SAMPLES - 1;
                penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
                penstock_source_info info = PENSTOCK_SOURCE_INFO;
                penstock_source *source;
                size_t odd = extra % size;
                test_write_file("raw", bytes, whole * size + odd);
                CHECK_OK(penstock_source_open(
                    &source, NULL, test_path("raw"),
                    &PENSTOCK_SOURCE_DESC(.raw = true, .format = formats[f], .rate_hz = 20e6, .frequency_hz = 5.2e9)));
                CHECK_OK(penstock_source_get_info(source, &info));
                CHECK(info.format == formats[f] && info.rate_hz == 20e6 && info.frequency_hz == 5.2e9, "info");
                CHECK_EQ(info.total_samples, whole);
                memset(out, 0xa5, sizeof out);
                CHECK_EQ(test_read_source(source, out, size, SAMPLES, largest, extra + largest), whole);
                CHECK(!memcmp(out, bytes, whole * size), "format %zu, chunks up to %zu", f, largest);
                CHECK_OK(penstock_source_get_counters(source, &counters));
                CHECK_EQ(counters.samples, whole);
                CHECK_EQ(counters.trailing_bytes, odd);
                penstock_source_free(source);
            }
}

static void limits(void)
{
    static uint8_t out[SAMPLES * 4];
    static const struct {
        uint64_t count;
        double seconds;
        long long want;
    } cases[] = {
        {100, 0, 100},   {0, 1e-3, 1000},     {100, 1e-3, 100},      {2000, 1e-3, 1000}, {0, 0.5e-6, 1},
        {0, 1e3, 10000}, {SAMPLES, 0, 10000}, {0, 9999.5e-6, 10000}, {0, 0.0011, 1100}}; /* its product with the rate is
                                                                                            a little above 1100 */
    test_write_file("raw", bytes, 10000 * 4);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        penstock_source *source;
        penstock_source_info info = PENSTOCK_SOURCE_INFO;
        CHECK_OK(penstock_source_open(&source, NULL, test_path("raw"),
                                      &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6,
                                                            .count = cases[i].count, .seconds = cases[i].seconds)));
        CHECK_OK(penstock_source_get_info(source, &info));
        CHECK_EQ(info.total_samples, cases[i].want);
        CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 77, i), cases[i].want);
        CHECK(!memcmp(out, bytes, (size_t)cases[i].want * 4), "case %zu", i);
        penstock_source_free(source);
    }
}

/* ---------------------------------------------------------------- pipes ----------------------- */

struct writer {
    int fd;
    size_t count;
    bool close;
};

/* Writes in chunks that cut samples apart. */
static void *write_chunks(void *argument)
{
    struct writer *writer = argument;
    uint64_t seed = 3;
    for (size_t done = 0; done < writer->count;) {
        size_t n = 1 + test_random(&seed) % 999;
        if (n > writer->count - done)
            n = writer->count - done;
        if (write(writer->fd, bytes + done, n) != (ssize_t)n)
            break;
        done += n;
    }
    if (writer->close)
        close(writer->fd);
    return NULL;
}

static void standard_input(void)
{
    static uint8_t out[SAMPLES * 4];
    int ends[2], saved = dup(STDIN_FILENO);
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    struct writer writer = {.count = SAMPLES * 4 - 1, .close = true};
    penstock_source *source;
    pthread_t thread;
    CHECK_EQ(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    writer.fd = ends[1];
    CHECK_EQ(pthread_create(&thread, NULL, write_chunks, &writer), 0);
    CHECK_OK(penstock_source_open(&source, NULL, "-",
                                  &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6)));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK_EQ(info.total_samples, 0);
    CHECK_EQ(test_read_source(source, out, 4, SAMPLES, 1000, 1), SAMPLES - 1);
    CHECK(!memcmp(out, bytes, (SAMPLES - 1) * 4), "the bytes of the pipe");
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.trailing_bytes, 3);
    penstock_source_free(source);
    pthread_join(thread, NULL);
    close(ends[0]);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static penstock_source *to_stop;

static void stop_it(int number)
{
    (void)number;
    penstock_source_stop(to_stop);
}

/* A pipe from which nothing more comes: a signal handler ends the read, with what there was. */
static void stop_from_a_signal_handler(void)
{
    struct sigaction action = {.sa_handler = stop_it, .sa_flags = SA_RESTART};
    const char *path = test_path("fifo");
    uint8_t out[400];
    size_t count = 99;
    int writer;
    CHECK_EQ(mkfifo(path, 0600), 0);
    writer = open(path, O_RDWR);
    CHECK_EQ(write(writer, bytes, 10), 10);
    CHECK_OK(penstock_source_open(&to_stop, NULL, path,
                                  &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6)));
    sigaction(SIGALRM, &action, NULL);
    CHECK_OK(penstock_source_read(to_stop, out, 100, &count));
    CHECK_EQ(count, 2);
    CHECK(!memcmp(out, bytes, 8), "the first two samples");
    alarm(1);
    CHECK_OK(penstock_source_read(to_stop, out, 100, &count));
    CHECK_EQ(count, 0);
    CHECK_OK(penstock_source_read(to_stop, out, 100, &count));
    CHECK_EQ(count, 0);
    penstock_source_free(to_stop);
    close(writer);
}

/* ---------------------------------------------------------------- refusals -------------------- */

static void bad_files(void)
{
    const penstock_source_desc raw = PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6);
    penstock_source_desc other = raw;
    test_write_file("empty", "", 0);
    test_write_file("raw", bytes, 100);
    test_source_refused(test_path("absent"), raw, PENSTOCK_ERR_FILE, "No such file");
    test_source_refused(test_folder, raw, PENSTOCK_ERR_FILE, "is a directory");
    test_source_refused(test_path("empty"), raw, PENSTOCK_ERR_FILE, "is empty");
    test_source_refused(test_path("raw"), PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_ARGUMENT, "needs its format");
    test_source_refused(test_path("raw"), PENSTOCK_SOURCE_DESC(.raw = true), PENSTOCK_ERR_ARGUMENT,
                        "needs its sample rate");
    test_source_refused("", raw, PENSTOCK_ERR_ARGUMENT, "no source named");
    other.format = PENSTOCK_PLANAR;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_ARGUMENT, "a raw recording is");
    other.format = (penstock_format)77;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_ARGUMENT, "a raw recording is");
    other = raw;
    other.rate_hz = -1.0;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_ARGUMENT, "rate_hz");
    other.rate_hz = (double)NAN;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_ARGUMENT, "rate_hz");
    other = raw;
    other.size = 0;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_ARGUMENT, "size");
    other = raw;
    other.resample_hz = 1e3;
    test_source_refused(test_path("raw"), other, PENSTOCK_ERR_UNSUPPORTED, "factor");
    if (geteuid() != 0) {
        CHECK_EQ(chmod(test_path("raw"), 0), 0);
        test_source_refused(test_path("raw"), raw, PENSTOCK_ERR_FILE, "Permission denied");
        CHECK_EQ(chmod(test_path("raw"), 0600), 0);
    }
}

static void empty_pipe(void)
{
    penstock_source *source;
    uint8_t out[8];
    size_t count;
    CHECK_OK(penstock_source_open(&source, NULL, "/dev/null",
                                  &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16, .rate_hz = 1e6)));
    CHECK_EQ(penstock_source_read(source, out, 2, &count), PENSTOCK_ERR_FILE);
    CHECK(strstr(penstock_error_text(), "is empty"), "%s", penstock_error_text());
    CHECK_EQ(penstock_source_read(source, out, 0, &count), PENSTOCK_ERR_ARGUMENT);
    penstock_source_free(source);
}

int main(void)
{
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    fill_bytes();
    every_format_and_chunk();
    limits();
    standard_input();
    stop_from_a_signal_handler();
    bad_files();
    empty_pipe();
    test_remove_folder();
    return test_finish();
}
