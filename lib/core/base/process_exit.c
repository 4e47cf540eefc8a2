/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Threads that the end of the process waits for. */
#include "core/base/process_exit.h"
#include "backends/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DRIVER_S 20.0 /* that the end of the process gives to a driver, as a probe does: a compiler takes seconds */
#define ENDING_S 10.0 /* that the rest of it takes; where the main thread ends alone, others wait so long */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned held; /* with the lock */
static _Thread_local unsigned depth;
static _Atomic double ends_s; /* by penstock__now_s(): until when the process is taken to be ending */

/* Of the C library, for C++'s thread_local; weak, for one that has none. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library) __attribute__((weak));
extern void *__dso_handle;

static void sleep_on(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static bool is_held(void)
{
    bool is;
    pthread_mutex_lock(&lock);
    if (!(is = held))
        atomic_store(&ends_s, penstock__now_s() + ENDING_S); /* none begins any more */
    pthread_mutex_unlock(&lock);
    return is;
}

static void await(void)
{
    const double until_s = penstock__now_s() + DRIVER_S;
    atomic_store(&ends_s, until_s + ENDING_S);
    while (is_held() && penstock__now_s() < until_s)
        sleep_on();
}

static void await_from_main(void *unused)
{
    (void)unused;
    await();
}

/* exit() calls what a thread has registered for its own end before all that atexit() has, and so before the destructors
 * of libraries that were loaded meanwhile. The main thread's end is the process's. */
void penstock__exit_awaits(void)
{
    static _Thread_local bool registered;
    static bool prepared;
    if (!registered && __cxa_thread_atexit_impl && syscall(SYS_gettid) == getpid())
        registered = !__cxa_thread_atexit_impl(await_from_main, NULL, &__dso_handle);
    pthread_mutex_lock(&lock);
    if (!prepared)
        prepared = !atexit(await); /* where another thread calls exit() */
    pthread_mutex_unlock(&lock);
}

static bool hold(void)
{
    bool may;
    pthread_mutex_lock(&lock);
    if ((may = !penstock__exiting()))
        held++;
    pthread_mutex_unlock(&lock);
    return may;
}

/* A thread that is waited for already must not wait itself. */
void penstock__exit_hold(void)
{
    if (depth++)
        return;
    while (!hold())
        sleep_on();
}

void penstock__exit_release(void)
{
    if (--depth)
        return;
    pthread_mutex_lock(&lock);
    held--;
    pthread_mutex_unlock(&lock);
}

/* One that began when the process ends already would be waited for by the one that holds, and wait for its end. */
void penstock__exit_held(void)
{
    depth++;
}

bool penstock__exiting(void)
{
    return penstock__now_s() < atomic_load(&ends_s);
}

void penstock__exit_renew(void)
{
    pthread_mutex_init(&lock, NULL);
    held = depth > 0;
}
