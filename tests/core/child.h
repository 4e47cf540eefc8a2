/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The end of a child that may hang. */
#ifndef PENSTOCK_TESTS_CHILD_H
#define PENSTOCK_TESTS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

/* Its status once it has ended; false where it has not within `seconds`, and was killed. */
static inline bool child_ends(pid_t child, int *status, int seconds)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int i = 0; i < seconds * 200; i++) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, status, 0);
    return false;
}

#endif
