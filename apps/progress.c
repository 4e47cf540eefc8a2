/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The progress line and the clock behind it. */
#include "progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool shown;

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_show(const char *format, ...)
{
    static double last;
    double now = seconds_now();
    va_list arguments;
    if (now - last < 0.2 || !isatty(STDERR_FILENO))
        return;
    last = now;
    fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    shown = true;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
