/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * One line of progress on standard error while it is a terminal, rewritten in place: how much of the work is done, how
 * fast, and how long the rest takes; and, where nothing can be counted yet, what is being waited for.
 */
#ifndef PENSTOCK_APPS_PROGRESS_H
#define PENSTOCK_APPS_PROGRESS_H

#include <stddef.h>

/* Work that can be counted: in samples, which are told in seconds of signal, or in pieces. */
struct progress {
    const char *pieces; /* "frames"; NULL: samples */
    double total;       /* 0: not known */
    double rate_hz;     /* of samples */
    double start_s;     /* of the work, by seconds_now() */
};

/* From here on the work is told of: `total` samples at a rate, or pieces of a name. 0: nobody knows how many. */
void progress_begin_samples(double total, double rate_hz);
void progress_begin(const char *pieces, double total);

/* So much of it is done; at most five times a second. `format`: what else there is to say, or "". */
void progress_done(double done, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The line, "37 %, 1.2 of 3.3 s of signal, 85.2 Msample/s, 14 s left", at a time of seconds_now(). The rate and the
 * time left are of the work since its start, and are left out in its first 0.2 s. */
void progress_text(char *text, size_t bytes, const struct progress *work, double done, double now_s);

/* Shows any text, at most five times a second. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the line away; what is printed next starts at the left. */
void progress_clear(void);

/* Writes to standard error in the line's place. */
void progress_print(const char *text);

/* Things to wait for: the first question for a context's devices, and a plan's making. */
#define PROGRESS_DEVICES "asking the drivers for their devices"
#define PROGRESS_PLAN    "making the plan: asking drivers, measuring, compiling kernels"
#define PROGRESS_INPUT   "opening the input"

/* What takes longer than a second until progress_arrived() is told, with the seconds: "asking the drivers, 3 s"; where
 * standard error is no terminal, once after 2 s, and of PROGRESS_INPUT, whose writer the user knows, nothing. Not both
 * at once: the second of two takes the place of the first. */
void progress_wait(const char *what);
void progress_arrived(void);

/* Seconds of a clock that never jumps. */
double seconds_now(void);

#endif
