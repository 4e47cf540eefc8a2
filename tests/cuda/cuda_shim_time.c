/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Time that calls of the CUDA driver for tests take: none, unless it is asked for. */
#include "cuda_shim.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double shim_ms(const char *step)
{
    const char *takes = getenv("PENSTOCK_SHIM_TAKES"), *at = takes ? strstr(takes, step) : NULL;
    return at ? strtod(at + strlen(step) + 1, NULL) : 0;
}

void shim_sleep(double ms)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(1e6 * fmod(ms, 1e3))}, NULL);
}

void shim_takes(const char *step)
{
    static pthread_mutex_t driver = PTHREAD_MUTEX_INITIALIZER;
    const double ms = shim_ms(step);
    if (ms <= 0)
        return;
    pthread_mutex_lock(&driver);
    shim_sleep(ms);
    pthread_mutex_unlock(&driver);
}
