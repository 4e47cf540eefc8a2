/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The thread that waits for signals, and how it ends what does not end by itself. */
#include "interrupt.h"
#include "command.h"
#include "outfile.h"
#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double patience_s = 10; /* all is slower there */
#else
static const double patience_s = 0.2; /* for the work to end by itself */
#endif
static const double one_s = 0.1;  /* signals so close are one: timeout(1) sends two, and so do a closed terminal and its
                                     shell */
static const double lock_s = 0.1; /* beyond that, for an output that is being written */

static atomic_bool received, concluding;
static atomic_int end_code = -1; /* of interrupt_end(), which keeps the lock */
static sigset_t signals;

static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static penstock_source *watched;

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER; /* over `work` and all that it writes */
static struct {
    int (*conclude)(void *owner);
    void *owner;
    int code;
    bool done; /* all that is to be written is */
} work;

/* ---------------------------------------------------------------- the signal's thread --------- */

static void stop_all(void)
{
    atomic_store(&received, true);
    outfile_stop();
    pthread_mutex_lock(&source_lock);
    penstock_source_stop(watched);
    pthread_mutex_unlock(&source_lock);
}

/* The next signal, or 0 after so long. */
static int wait_for_signal(double seconds)
{
    struct timespec limit = {.tv_nsec = (long)(1e9 * seconds)};
    int number = sigtimedwait(&signals, NULL, &limit);
    return number > 0 ? number : 0;
}

static void die(int number)
{
    sigset_t one;
    if (!pthread_mutex_trylock(&work_lock))
        outfile_abandon();
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* With the lock: nothing else writes. The work goes on meanwhile, and ends with the process. */
static void cut_short(void)
{
    int code = work.conclude ? work.conclude(work.owner) : work.done ? work.code : interrupt_tell(work.code);
    outfile_flush_stdout();
    outfile_abandon();
    fflush(stderr);
    _exit(code);
}

static void *attend(void *unused)
{
    const double turn_s = 0.02;
    int number;
    (void)unused;
    if (sigwait(&signals, &number))
        return NULL;
    stop_all();
    const double began_s = seconds_now(), end_s = began_s + patience_s;
    for (;;) {
        if ((number = wait_for_signal(turn_s)) && seconds_now() - began_s > one_s)
            die(number);
        double late_s = seconds_now() - end_s;
        if (late_s < 0 || atomic_load(&concluding))
            continue;
        if (!pthread_mutex_trylock(&work_lock))
            cut_short();
        if (late_s > lock_s) { /* an output that takes nothing */
            int code = atomic_load(&end_code);
            if (code < 0)
                interrupt_tell(code = EXIT_DONE);
            else
                outfile_flush_stdout();
            fflush(stderr);
            _exit(code);
        }
    }
}

void interrupt_start(void)
{
    struct sigaction hangup;
    pthread_attr_t detached;
    pthread_t thread;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN) /* as nohup sets it */
        sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* also of the threads to come */
    if (pthread_attr_init(&detached))
        goto unblock;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &detached, attend, NULL);
    pthread_attr_destroy(&detached);
    if (!failed)
        return;
unblock:
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* a signal ends the program, then */
}

/* ---------------------------------------------------------------- the work -------------------- */

void interrupt_watch(penstock_source *source)
{
    pthread_mutex_lock(&source_lock);
    watched = source;
    pthread_mutex_unlock(&source_lock);
    if (interrupted())
        penstock_source_stop(source);
}

bool interrupted(void)
{
    return atomic_load(&received);
}

int interrupt_tell(int code)
{
    return interrupted() ? fail(code, "interrupted before all was done") : code;
}

void interrupt_conclude_by(int (*conclude)(void *owner), void *owner, int code)
{
    pthread_mutex_lock(&work_lock);
    work.conclude = conclude;
    work.owner = owner;
    work.code = code;
    pthread_mutex_unlock(&work_lock);
}

void interrupt_hold(void)
{
    pthread_mutex_lock(&work_lock);
}

void interrupt_release(void)
{
    pthread_mutex_unlock(&work_lock);
}

void interrupt_end(int code)
{
    if (atomic_load(&end_code) < 0)
        pthread_mutex_lock(&work_lock);
    atomic_store(&end_code, code);
}

int interrupt_conclude(int (*conclude)(void *owner), void *owner)
{
    atomic_store(&concluding, true);
    pthread_mutex_lock(&work_lock);
    int code = conclude(owner);
    work.conclude = NULL;
    work.code = code;
    work.done = true;
    pthread_mutex_unlock(&work_lock);
    atomic_store(&concluding, false);
    return code;
}
