/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Makes a thing on a device, in a thread of its own. */
#include "core/arrival.h"
#include "core/cancel.h"
#include "core/deadline.h"
#include "core/devices.h"
#include "core/meter.h"
#include "core/turns.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

struct penstock__arrival {
    struct penstock__maker maker;
    void *owner;
    char *device;
    const char *name; /* in it, or "auto" */
    atomic_bool overtaken, cancelled;
    struct penstock__turns turns;
    double begin_s; /* by penstock__now_s(): no thread before */
    bool begun;     /* there is a thread */
    unsigned forks; /* of the process that has the thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    atomic_bool done; /* after the rest */
    int status;
    void *made;
    char text[512];
};

static _Thread_local struct penstock__arrival *own; /* of this thread */

static void *run(void *argument)
{
    struct penstock__arrival *arrival = argument;
    void *made = NULL;
    own = arrival;
    penstock__cancel_by(&arrival->cancelled);
    int status = arrival->maker.make(&made, arrival->owner, arrival->device);
    pthread_mutex_lock(&arrival->lock);
    arrival->status = status;
    arrival->made = made;
    snprintf(arrival->text, sizeof arrival->text, "%s", status ? penstock_error_text() : "");
    atomic_store(&arrival->done, true);
    pthread_cond_broadcast(&arrival->changed);
    pthread_mutex_unlock(&arrival->lock);
    return NULL;
}

/* The application's signals are for the application's threads. */
static int start(struct penstock__arrival *arrival)
{
    sigset_t all, before;
    int code;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&arrival->thread, NULL, run, arrival);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    arrival->begun = !code;
    return code ? penstock__error(PENSTOCK_ERR_MEMORY, "no thread could be started") : PENSTOCK_OK;
}

/* Whether there is a thread by now, or can be none, which is a failure of the arrival. */
static bool begin(struct penstock__arrival *arrival, double seconds)
{
    if (arrival->begun || atomic_load(&arrival->done))
        return true;
    if (seconds <= 0 && penstock__now_s() < arrival->begin_s)
        return false;
    if ((arrival->status = start(arrival))) {
        snprintf(arrival->text, sizeof arrival->text, "%s", penstock_error_text());
        atomic_store(&arrival->done, true);
    }
    return true;
}

int penstock__arrival_new(struct penstock__arrival **arrival, const struct penstock__maker *maker, void *owner,
                          const char *device, double after_s)
{
    struct penstock__arrival *made = penstock__calloc(1, sizeof *made);
    enum penstock_preference preference;
    int status;
    *arrival = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->maker = *maker;
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
    *arrival = made;
    return PENSTOCK_OK;
}

/* In a child after fork() nobody makes it any more, and the lock may be held by a thread that is not here. */
static bool stayed_behind(const struct penstock__arrival *arrival)
{
    return arrival->forks != penstock__forks();
}

bool penstock__arrival_done(struct penstock__arrival *arrival, double seconds)
{
    bool done;
    if (stayed_behind(arrival))
        return true;
    if (!begin(arrival, seconds))
        return false;
    const struct timespec until = penstock__deadline(seconds);
    pthread_mutex_lock(&arrival->lock);
    while (!arrival->done && seconds > 0 && !pthread_cond_timedwait(&arrival->changed, &arrival->lock, &until))
        ;
    done = arrival->done;
    pthread_mutex_unlock(&arrival->lock);
    return done;
}

int penstock__arrival_take(struct penstock__arrival *arrival, void **made)
{
    *made = NULL;
    if (!atomic_load(&arrival->done))
        return penstock__error(PENSTOCK_ERR_DEVICE, "it was being made ready when this process was forked");
    *made = arrival->made;
    arrival->made = NULL;
    return arrival->status ? penstock__error(arrival->status, "%s", arrival->text) : PENSTOCK_OK;
}

void penstock__arrival_overtake(struct penstock__arrival *arrival)
{
    atomic_store(&arrival->overtaken, true);
}

void penstock__arrival_serve(struct penstock__arrival *arrival)
{
    if (arrival && !stayed_behind(arrival))
        penstock__turns_serve(&arrival->turns);
}

void penstock__arrival_served(struct penstock__arrival *arrival)
{
    if (arrival && !stayed_behind(arrival))
        penstock__turns_served(&arrival->turns);
}

void penstock__arrival_measure(void)
{
    if (own)
        penstock__turns_measure(&own->turns);
}

void penstock__arrival_measured(void)
{
    if (own)
        penstock__turns_measured(&own->turns, atomic_load(&own->overtaken));
}

bool penstock__overtaken(void)
{
    return own && atomic_load(&own->overtaken);
}

const struct penstock__maker *penstock__arrival_maker(const struct penstock__arrival *arrival)
{
    return &arrival->maker;
}

const char *penstock__arrival_name(const struct penstock__arrival *arrival)
{
    return arrival->name;
}

void penstock__arrival_free(struct penstock__arrival *arrival)
{
    if (!arrival)
        return;
    atomic_store(&arrival->cancelled, true);
    if (arrival->begun && !stayed_behind(arrival))
        pthread_join(arrival->thread, NULL);
    if (atomic_load(&arrival->done) && arrival->made)
        arrival->maker.free(arrival->made);
    if (!stayed_behind(arrival)) {
        penstock__turns_free(&arrival->turns);
        pthread_cond_destroy(&arrival->changed);
        pthread_mutex_destroy(&arrival->lock);
    }
    penstock__free(arrival->device);
    penstock__free(arrival);
}
