/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The progress line and the clock behind it. */
#include "progress.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 160 };

static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER; /* for the next two, and what is written */
static bool shown;
static double last_s = -HUGE_VAL; /* when the line was written */
static struct progress current;

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---------------------------------------------------------------- the line -------------------- */

static bool is_due(void)
{
    pthread_mutex_lock(&line_lock);
    double since_s = seconds_now() - last_s;
    pthread_mutex_unlock(&line_lock);
    return since_s >= 0.2 && isatty(STDERR_FILENO);
}

static void write_line(const char *text)
{
    pthread_mutex_lock(&line_lock);
    last_s = seconds_now();
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    shown = true;
    pthread_mutex_unlock(&line_lock);
}

void progress_show(const char *format, ...)
{
    char text[LINE];
    va_list arguments;
    if (!is_due())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_line(text);
}

void progress_print(const char *text)
{
    pthread_mutex_lock(&line_lock);
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
    fputs(text, stderr);
    pthread_mutex_unlock(&line_lock);
}

void progress_clear(void)
{
    progress_print("");
}

/* ---------------------------------------------------------------- counted work ---------------- */

/* Its first line is due at once, however short a time ago another one was written. */
static void begin(struct progress work)
{
    pthread_mutex_lock(&line_lock);
    last_s = -HUGE_VAL;
    pthread_mutex_unlock(&line_lock);
    current = work;
    current.start_s = seconds_now();
}

void progress_begin_samples(double total, double rate_hz)
{
    begin((struct progress){.total = total, .rate_hz = rate_hz});
}

void progress_begin(const char *pieces, double total)
{
    begin((struct progress){.pieces = pieces, .total = total});
}

/* "14 s", "3:05 min", "2:03 h" */
static void format_time(char *text, size_t bytes, double seconds)
{
    double whole = ceil(fmin(seconds, 3.6e6)), unit = whole < 3600 ? 60 : 3600;
    if (whole < 60)
        snprintf(text, bytes, "%.0f s", whole);
    else
        snprintf(text, bytes, "%.0f:%02.0f %s", floor(whole / unit), floor(fmod(whole, unit) / (unit / 60)),
                 unit < 3600 ? "min" : "h");
}

static size_t add_rate(char *text, size_t bytes, const struct progress *work, double done, double elapsed_s)
{
    double rate = done / elapsed_s;
    char left[24];
    int used = work->pieces ? snprintf(text, bytes, ", %.3g a second", rate)
                            : snprintf(text, bytes, ", %.3g Msample/s", 1e-6 * rate);
    if (used < 0 || (size_t)used >= bytes || !(work->total > done))
        return used < 0 ? 0 : (size_t)used;
    format_time(left, sizeof left, (work->total - done) / rate);
    return (size_t)used + (size_t)snprintf(text + used, bytes - (size_t)used, ", %s left", left);
}

void progress_text(char *text, size_t bytes, const struct progress *work, double done, double now_s)
{
    double unit = work->pieces ? 1 : work->rate_hz, elapsed_s = now_s - work->start_s;
    const char *name = work->pieces ? work->pieces : "s of signal";
    int digits = work->pieces ? 0 : 3;
    int used = work->total > 0
                   ? snprintf(text, bytes, "%.0f %%, %.*f of %.*f %s", floor(100 * fmin(done / work->total, 1)), digits,
                              done / unit, digits, work->total / unit, name)
                   : snprintf(text, bytes, "%.*f %s", digits, done / unit, name);
    if (used > 0 && (size_t)used < bytes && done > 0 && elapsed_s >= 0.2)
        add_rate(text + used, bytes - (size_t)used, work, done, elapsed_s);
}

void progress_done(double done, const char *format, ...)
{
    char text[LINE], more[LINE];
    va_list arguments;
    if (!is_due())
        return;
    va_start(arguments, format);
    vsnprintf(more, sizeof more, format, arguments);
    va_end(arguments);
    progress_text(text, sizeof text, &current, done, seconds_now());
    progress_show("%.110s%s%.*s", text, *more ? ": " : "", 45, more);
}

/* ---------------------------------------------------------------- waiting --------------------- */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    const char *what; /* NULL: nothing is being waited for */
    bool running;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock. In a file one line is enough, of what the user has not brought about. */
static void tell_second(int seconds)
{
    char text[LINE];
    bool terminal = isatty(STDERR_FILENO);
    snprintf(text, sizeof text, terminal ? "%s, %d s" : "penstock: %s, for more than %d s now\n", waiting.what,
             seconds);
    if (terminal)
        write_line(text);
    else if (seconds == 2 && strcmp(waiting.what, PROGRESS_INPUT))
        progress_print(text);
}

/* Once a second, from the first one on. */
static void *tell_waiting(void *unused)
{
    struct timespec next;
    int seconds = 0;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&waiting.lock);
    while (waiting.what) {
        next.tv_sec++;
        int status = 0;
        while (waiting.what && !status)
            status = pthread_cond_timedwait(&waiting.over, &waiting.lock, &next);
        if (waiting.what)
            tell_second(++seconds);
    }
    pthread_mutex_unlock(&waiting.lock);
    return NULL;
}

void progress_arrived(void)
{
    if (!waiting.running)
        return;
    pthread_mutex_lock(&waiting.lock);
    waiting.what = NULL;
    pthread_cond_signal(&waiting.over);
    pthread_mutex_unlock(&waiting.lock);
    pthread_join(waiting.thread, NULL);
    pthread_cond_destroy(&waiting.over);
    waiting.running = false;
    progress_clear();
}

/* Signals are for the thread that works. Where no thread can be made, nothing is told. */
void progress_wait(const char *what)
{
    pthread_condattr_t clock;
    sigset_t all, before;
    progress_arrived();
    if (pthread_condattr_init(&clock))
        return;
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&waiting.over, &clock);
    pthread_condattr_destroy(&clock);
    waiting.what = what;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    waiting.running = !pthread_create(&waiting.thread, NULL, tell_waiting, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!waiting.running)
        pthread_cond_destroy(&waiting.over);
}
