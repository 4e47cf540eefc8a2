/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Temporary files and reading of sources, for the tests of sources and sinks. */
#ifndef PENSTOCK_TEST_FILES_H
#define PENSTOCK_TEST_FILES_H

#include "folder.h"

#include <penstock/penstock.h>

#include <sys/stat.h>
#include <unistd.h>

static inline void test_write_file(const char *name, const void *data, size_t count)
{
    FILE *file = fopen(test_path(name), "wb");
    CHECK(file && fwrite(data, 1, count, file) == count, "%s", name);
    if (file)
        fclose(file);
}

static inline void test_write_text(const char *name, const char *text)
{
    test_write_file(name, text, strlen(text));
}

/* The whole file into `data`; how many bytes it has. */
static inline size_t test_read_file(const char *name, void *data, size_t capacity)
{
    FILE *file = fopen(test_path(name), "rb");
    size_t count = 0;
    CHECK(file, "%s", name);
    if (file) {
        count = fread(data, 1, capacity, file);
        fclose(file);
    }
    return count;
}

/* Reads all in chunks of random size up to `largest`: the number of samples, or a negative status. `out` has room for
 * `room` samples; more than that is a failure. */
static inline long long test_read_source(penstock_source *source, void *out, size_t sample_bytes, size_t room,
                                         size_t largest, uint64_t seed)
{
    size_t total = 0;
    for (;;) {
        size_t count, capacity = 1 + test_random(&seed) % largest;
        int status;
        if (capacity > room - total)
            capacity = room - total;
        if (!capacity) {
            char one_more[8];
            status = penstock_source_read(source, one_more, 1, &count);
            CHECK(status || !count, "more than %zu samples", room);
            return status ? status : (long long)total;
        }
        status = penstock_source_read(source, (char *)out + total * sample_bytes, capacity, &count);
        CHECK(count <= capacity, "%zu of %zu", count, capacity);
        if (status || !count)
            return status ? status : (long long)total;
        total += count;
    }
}

/* Opening must fail with `want` and one line that says `words`. */
static inline void test_source_refused(const char *name, penstock_source_desc desc, int want, const char *words)
{
    penstock_source *source = (penstock_source *)(void *)&desc;
    int status = penstock_source_open(&source, NULL, name, &desc);
    CHECK(status == want, "%s: %d, expected %d: %s", name, status, want, penstock_error_text());
    CHECK(strstr(penstock_error_text(), words), "%s: '%s' does not say '%s'", name, penstock_error_text(), words);
    CHECK(!strchr(penstock_error_text(), '\n'), "one line");
    CHECK(!source, "no source");
    penstock_source_free(source);
}

#endif
