/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Radios with ways of their own (odd_radio.cpp): losses that only time stamps tell of, and stamps that tell of none;
 * rates beside those that are listed; numbers of twelve bits; who comes back after a loss, and why it was lost.
 */
#include "core/base/memory.h"
#include "files.h"

#define MOST 100000

static int16_t samples[2 * MOST];

/* All of it, in pieces of random size; each piece is of one capture, and so without a gap. */
static size_t read_all(penstock_source *source, size_t largest, uint64_t seed, int *status)
{
    size_t total = 0, count = 1;
    for (*status = 0; count && !*status && total < MOST; total += count) {
        size_t capacity = 1 + test_random(&seed) % largest;
        capacity = capacity < MOST - total ? capacity : MOST - total;
        count = 0;
        *status = penstock_source_read(source, samples + 2 * total, capacity, &count);
        for (size_t i = 1; i < count; i++) {
            const int16_t *at = samples + 2 * (total + i);
            CHECK(at[0] == (at[-2] + 1) % 2048, "a gap within a piece, %zu samples after its start", i);
        }
    }
    return total;
}

static size_t number_of(size_t i)
{
    return (size_t)(samples[2 * i] + 2048 * samples[2 * i + 1]);
}

static penstock_source *open_odd(const char *arguments, penstock_source_desc desc)
{
    char text[200];
    penstock_source *source = NULL;
    snprintf(text, sizeof text, "soapy:driver=odd,%s", arguments);
    CHECK_OK(penstock_source_open(&source, NULL, text, &desc));
    return source;
}

/* What was lost is known to the sample, be it at a read's start or among others. */
static void silent_losses(size_t largest)
{
    penstock_source *source = open_odd("lost_at=9000:9500:30000:70250,lost=777", PENSTOCK_SOURCE_DESC());
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    uint64_t position = 0;
    int status;
    const size_t count = read_all(source, largest, largest, &status);
    CHECK(!status && count == MOST - 4 * 777, "%zu samples, status %d", count, status);
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.lost_samples, 4 * 777);
    CHECK_EQ(counters.overflows, 4);
    CHECK_EQ(counters.unknown_losses, 0);
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(penstock_source_get_position(source, i, &position));
        CHECK(position == number_of(i), "sample %zu is number %zu, not %zu", i, number_of(i), (size_t)position);
    }
    penstock_source_free(source);
}

/* A clock that is off, one that was not right for long, and one by which nothing is lost. */
static void no_losses(const char *arguments, size_t missing)
{
    penstock_source *source = open_odd(arguments, PENSTOCK_SOURCE_DESC());
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    int status;
    size_t total = 0, count = 1;
    while (count && !(status = penstock_source_read(source, samples, 5000, &count)))
        total += count;
    CHECK_EQ(total, MOST - missing);
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK(!counters.lost_samples && !counters.overflows, "%s: losses", arguments);
    penstock_source_free(source);
}

static void rates(void)
{
    penstock_source_info info = PENSTOCK_SOURCE_INFO;
    penstock_source *source = open_odd("", PENSTOCK_SOURCE_DESC(.rate_hz = 1.92e6));
    CHECK_OK(penstock_source_get_info(source, &info));
    CHECK(info.rate_hz == 1.92e6, "%g", info.rate_hz);
    penstock_source_free(source);
    test_source_refused("soapy:driver=odd", PENSTOCK_SOURCE_DESC(.rate_hz = 3e6), PENSTOCK_ERR_ARGUMENT,
                        "runs at 4000000 samples per second");
    test_source_refused("soapy:driver=odd", PENSTOCK_SOURCE_DESC(.rate_hz = 1e5), PENSTOCK_ERR_ARGUMENT,
                        "it offers 2000000, 8000000 Hz");
}

static void full_scale(void)
{
    penstock_source *source = open_odd("full_scale=2048", PENSTOCK_SOURCE_DESC());
    size_t count = 0;
    CHECK_OK(penstock_source_read(source, samples, 400, &count));
    for (size_t i = 0; i < count; i++)
        CHECK(samples[2 * i] == 16 * (int)i && !samples[2 * i + 1], "sample %zu", i);
    penstock_source_free(source);
    source = open_odd("full_scale=2047", PENSTOCK_SOURCE_DESC());
    while (!penstock_source_read(source, samples, 1, &count) && count && samples[0] < 2046 * 16)
        ;
    CHECK_EQ(samples[0], 2046 * 16);
    CHECK_OK(penstock_source_read(source, samples, 1, &count));
    CHECK_EQ(samples[0], INT16_MAX); /* it clipped */
    penstock_source_free(source);
    source = open_odd("full_scale=2048", PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CS16));
    CHECK_OK(penstock_source_read(source, samples, 400, &count));
    CHECK_EQ(samples[2], 1);
    penstock_source_free(source);
}

/* Another one is not taken for the radio that was lost. */
static void comes_back(void)
{
    penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
    penstock_source *source = open_odd("break_at=5000", PENSTOCK_SOURCE_DESC(.reconnect_s = 0.5));
    size_t total = 0, count = 1;
    while (total < 12000 && !penstock_source_read(source, samples, 100, &count) && count)
        total += count;
    CHECK_EQ(total, 12000);
    CHECK_OK(penstock_source_get_counters(source, &counters));
    CHECK_EQ(counters.reconnects, 2);
    penstock_source_free(source);
    source = open_odd("break_at=5000,serials=1", PENSTOCK_SOURCE_DESC(.reconnect_s = 0.5));
    int status = 0;
    for (total = 0; total < 12000 && !(status = penstock_source_read(source, samples, 100, &count)) && count;)
        total += count;
    CHECK(status == PENSTOCK_ERR_RADIO && total == 5000, "status %d after %zu samples", status, total);
    CHECK(strstr(penstock_error_text(), "the cable is out"), "%s", penstock_error_text());
    penstock_source_free(source);
}

/* Allocation k fails, for every k. */
static void failures(void)
{
    const long live = penstock__memory_live();
    int status = PENSTOCK_ERR_MEMORY;
    for (long k = 0; status && k < 100; k++) {
        penstock_source *source = NULL;
        penstock__memory_fail_at(k);
        status = penstock_source_open(&source, NULL, "soapy:driver=odd", &PENSTOCK_SOURCE_DESC());
        penstock__memory_fail_at(-1);
        CHECK(!status || status == PENSTOCK_ERR_MEMORY, "allocation %ld: %d", k, status);
        penstock_source_free(source);
        CHECK_EQ(penstock__memory_live(), live);
    }
    CHECK_OK(status);
}

int main(void)
{
    for (size_t largest = 1; largest <= 20000; largest = 3 * largest + 40)
        silent_losses(largest == 1 ? 499 : largest);
    no_losses("jitter=1", 0);
    no_losses("jitter=1,lost_at=30000,lost=1", 1);
    no_losses("lost_at=2000,lost=5", 5);
    rates();
    full_scale();
    comes_back();
    failures();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
