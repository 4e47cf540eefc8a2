/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* For tests in which time is what they say: the clock of the library, put in its place by the linker
 * (--wrap=clock_gettime). It goes on where the test adds to `now_ns`, on any thread. */
#ifndef PENSTOCK_TESTS_OWN_CLOCK_H
#define PENSTOCK_TESTS_OWN_CLOCK_H

#include <time.h>

static _Atomic long long now_ns = 1000000000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    const long long now = now_ns;
    *time = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

#endif
