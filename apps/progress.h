/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One line of progress on standard error while it is a terminal, rewritten in place. */
#ifndef PENSTOCK_APPS_PROGRESS_H
#define PENSTOCK_APPS_PROGRESS_H

/* Shows the text, at most five times a second. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the line away; what is printed next starts at the left. */
void progress_clear(void);

/* Seconds of a clock that never jumps. */
double seconds_now(void);

#endif
