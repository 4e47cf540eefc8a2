/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Makes a thing on a device, in a thread of its own. */
#include "core/choice/async_build.h"
#include "core/base/cancel.h"
#include "core/base/context.h"
#include "core/base/process_exit.h"
#include "core/base/thread.h"
#include "core/choice/turns.h"
#include "core/device/devices.h"

#include <stdatomic.h>
#include <time.h>

struct penstock__async_build {
    struct penstock__maker maker;
    void *owner;
    char *device;
    const char *name; /* in it, or "auto" */
    atomic_bool overtaken, cancelled;
    struct penstock__turns turns;
    double begin_s; /* by penstock__now_s(): no thread before */
    bool begun;     /* there is a thread */
    void *log_user; /* of who asked for it */
    unsigned forks; /* of the process that has the thread */
    _Atomic double felt_s;
    struct penstock__timed timed; /* the thread's own until it is done */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    atomic_bool done; /* after the rest */
    struct penstock__failure failure;
    void *made;
};

static _Thread_local struct penstock__async_build *own; /* of this thread */

static void *run(void *argument)
{
    struct penstock__async_build *build = argument;
    void *made = NULL;
    own = build;
    penstock__exit_hold();
    penstock_log_as(build->log_user);
    penstock__cancel_by(&build->cancelled);
    int status = build->maker.make(&made, build->owner, build->device);
    pthread_mutex_lock(&build->lock);
    penstock__failure_keep(&build->failure, status);
    build->made = made;
    atomic_store(&build->done, true);
    pthread_cond_broadcast(&build->changed);
    pthread_mutex_unlock(&build->lock);
    penstock__exit_release();
    return NULL;
}

static int start(struct penstock__async_build *build)
{
    build->begun = !penstock__thread_create(&build->thread, NULL, run, build);
    return build->begun ? PENSTOCK_OK : penstock__error(PENSTOCK_ERR_MEMORY, "no thread could be started");
}

/* Whether there is a thread by now, or can be none, which is a failure of the build. */
static bool begin(struct penstock__async_build *build, double seconds)
{
    if (build->begun || atomic_load(&build->done))
        return true;
    if (seconds <= 0 && penstock__now_s() < build->begin_s)
        return false;
    const int status = start(build);
    if (status) { /* else they are the thread's */
        penstock__failure_keep(&build->failure, status);
        atomic_store(&build->done, true);
    }
    return true;
}

int penstock__async_build_new(struct penstock__async_build **build, const struct penstock__maker *maker, void *owner,
                              const char *device, double after_s)
{
    struct penstock__async_build *made = penstock__calloc(1, sizeof *made);
    enum penstock_preference preference;
    int status;
    *build = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->maker = *maker;
    made->log_user = penstock__log_user();
    made->owner = owner;
    made->begin_s = after_s > 0 ? penstock__now_s() + after_s : 0;
    made->forks = penstock__forks();
    if (!(made->device = penstock__strdup(device ? device : "auto"))) {
        penstock__free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    if (penstock__device_parse(&preference, &made->name, made->device) || preference == PENSTOCK_DEVICE_AUTO)
        made->name = "auto";
    pthread_mutex_init(&made->lock, NULL);
    penstock__condition_init(&made->changed);
    penstock__turns_init(&made->turns);
    if (after_s <= 0 && (status = start(made))) {
        penstock__turns_free(&made->turns);
        pthread_cond_destroy(&made->changed);
        pthread_mutex_destroy(&made->lock);
        penstock__free(made->device);
        penstock__free(made);
        return status;
    }
    *build = made;
    return PENSTOCK_OK;
}

/* In a child after fork() nobody makes it any more, and the lock may be held by a thread that is not here. */
static bool stayed_behind(const struct penstock__async_build *build)
{
    return build->forks != penstock__forks();
}

bool penstock__async_build_done(struct penstock__async_build *build, double seconds)
{
    bool done;
    if (stayed_behind(build))
        return true;
    if (!begin(build, seconds))
        return false;
    const struct timespec until = penstock__deadline(seconds);
    pthread_mutex_lock(&build->lock);
    while (!build->done && seconds > 0 && !pthread_cond_timedwait(&build->changed, &build->lock, &until))
        ;
    done = build->done;
    pthread_mutex_unlock(&build->lock);
    return done;
}

int penstock__async_build_take(struct penstock__async_build *build, void **made)
{
    *made = NULL;
    if (!atomic_load(&build->done))
        return penstock__error(PENSTOCK_ERR_DEVICE, "it was being made ready when this process was forked");
    *made = build->made;
    build->made = NULL;
    return penstock__failure_tell(&build->failure);
}

void penstock__async_build_overtake(struct penstock__async_build *build)
{
    atomic_store(&build->overtaken, true);
}

void penstock__async_build_serve(struct penstock__async_build *build)
{
    if (build && !stayed_behind(build))
        penstock__turns_serve(&build->turns);
}

void penstock__async_build_served(struct penstock__async_build *build)
{
    if (build && !stayed_behind(build))
        penstock__turns_served(&build->turns);
}

void penstock__async_build_measure(void)
{
    if (own)
        penstock__turns_measure(&own->turns);
}

void penstock__async_build_measured(void)
{
    if (own)
        penstock__turns_measured(&own->turns, atomic_load(&own->overtaken));
}

void penstock__async_build_feel(struct penstock__async_build *build, double seconds)
{
    const double least_s = atomic_load(&build->felt_s);
    if (seconds <= 0 || least_s <= 0 || seconds < least_s)
        atomic_store(&build->felt_s, seconds);
}

double penstock__async_build_felt_s(void)
{
    return own ? atomic_load(&own->felt_s) : 0;
}

void penstock__async_build_tell(const struct penstock__timed *timed)
{
    if (own && !*own->timed.other)
        own->timed = *timed;
}

struct penstock__timed penstock__async_build_timed(const struct penstock__async_build *build)
{
    return atomic_load(&build->done) ? build->timed : (struct penstock__timed){.other = ""};
}

bool penstock__overtaken(void)
{
    return own && atomic_load(&own->overtaken);
}

const struct penstock__maker *penstock__async_build_maker(const struct penstock__async_build *build)
{
    return &build->maker;
}

void *penstock__async_build_owner(const struct penstock__async_build *build)
{
    return build->owner;
}

const char *penstock__async_build_name(const struct penstock__async_build *build)
{
    return build->name;
}

void penstock__async_build_cancel(struct penstock__async_build *build)
{
    if (build)
        atomic_store(&build->cancelled, true);
}

void penstock__async_build_free(struct penstock__async_build *build)
{
    if (!build)
        return;
    penstock__async_build_cancel(build);
    if (build->begun && !stayed_behind(build))
        pthread_join(build->thread, NULL);
    if (atomic_load(&build->done) && build->made)
        build->maker.free(build->made);
    if (!stayed_behind(build)) {
        penstock__turns_free(&build->turns);
        pthread_cond_destroy(&build->changed);
        pthread_mutex_destroy(&build->lock);
    }
    penstock__free(build->device);
    penstock__free(build);
}
