/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "core/thread.h"

#include <signal.h>

int penstock__thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *argument),
                            void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int failure = pthread_create(thread, attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}
