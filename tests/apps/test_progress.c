/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The words of a line of progress: share, rate and time left by hand. On a terminal: tests/cli/test_progress.py. */
#include "shared/progress.h"

#include "test.h"

static void check_text(const struct progress *work, double done, double now_s, const char *expected)
{
    char text[120];
    progress_text(text, sizeof text, work, done, now_s);
    CHECK(!strcmp(text, expected), "'%s', not '%s'", text, expected);
    for (size_t bytes = 1; bytes < sizeof text; bytes++) { /* a place too small has its beginning */
        memset(text, 'x', sizeof text);
        progress_text(text, bytes, work, done, now_s);
        CHECK(strlen(text) < bytes && !strncmp(text, expected, strlen(text)), "%zu bytes", bytes);
    }
}

int main(void)
{
    const struct progress signal = {.total = 40e6, .rate_hz = 20e6, .start_s = 100};
    const struct progress endless = {.rate_hz = 20e6, .start_s = 100};
    const struct progress frames = {.pieces = "frames", .total = 1000, .start_s = 0};
    const struct progress cases = {.pieces = "cases", .start_s = 0};
    check_text(&signal, 0, 105, "0 %, 0.000 of 2.000 s of signal");
    check_text(&signal, 10e6, 100.1, "25 %, 0.500 of 2.000 s of signal");
    check_text(&signal, 10e6, 101, "25 %, 0.500 of 2.000 s of signal, 10 Msample/s, 3 s left");
    check_text(&signal, 40e6, 104, "100 %, 2.000 of 2.000 s of signal, 10 Msample/s");
    check_text(&signal, 39999999, 104, "99 %, 2.000 of 2.000 s of signal, 10 Msample/s, 1 s left");
    check_text(&signal, 50e6, 105, "100 %, 2.500 of 2.000 s of signal, 10 Msample/s");
    check_text(&endless, 10e6, 100.5, "0.500 s of signal, 20 Msample/s");
    check_text(&frames, 100, 20.55, "10 %, 100 of 1000 frames, 4.87 a second, 3:05 min left");
    check_text(&frames, 1, 60, "0 %, 1 of 1000 frames, 0.0167 a second, 16:39 h left");
    check_text(&frames, 500, 59.5, "50 %, 500 of 1000 frames, 8.4 a second, 1:00 min left");
    check_text(&frames, 500, 3599.5, "50 %, 500 of 1000 frames, 0.139 a second, 1:00 h left");
    check_text(&frames, 500, 3599, "50 %, 500 of 1000 frames, 0.139 a second, 59:59 min left");
    check_text(&cases, 5, 10, "5 cases, 0.5 a second");
    return test_finish();
}
