/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Binds a problem to the device that is wanted, in a thread of its own. */
#include "core/arrival.h"
#include "core/choose.h"
#include "core/devices.h"
#include "core/problem.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

struct penstock__arrival {
    struct penstock__wanted wanted;
    char *name;
    atomic_bool overtaken;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    bool done;
    int status;
    struct penstock__binding *binding;
    char text[512];
};

static int bind_named(struct penstock__binding **binding, const struct penstock__wanted *wanted)
{
    struct penstock_device *device;
    int status = penstock__device_find(wanted->context, wanted->name, &device);
    if (status || (status = penstock__device_open(device)) ||
        (status = penstock__problem_supported(device, wanted->problem)) < 0)
        return status;
    return penstock__binding_new(binding, device, wanted->problem, wanted->slots);
}

int penstock__wanted_bind(struct penstock__binding **binding, const struct penstock__wanted *wanted,
                          const atomic_bool *overtaken)
{
    *binding = NULL;
    return wanted->preference == PENSTOCK_DEVICE_AUTO
               ? penstock__choose(binding, wanted->context, wanted->problem, wanted->slots, overtaken)
               : bind_named(binding, wanted);
}

static void *run(void *argument)
{
    struct penstock__arrival *arrival = argument;
    struct penstock__binding *binding;
    int status = penstock__wanted_bind(&binding, &arrival->wanted, &arrival->overtaken);
    pthread_mutex_lock(&arrival->lock);
    arrival->done = true;
    arrival->status = status;
    arrival->binding = binding;
    snprintf(arrival->text, sizeof arrival->text, "%s", status ? penstock_error_text() : "");
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
    return code ? penstock__error(PENSTOCK_ERR_MEMORY, "no thread could be started") : PENSTOCK_OK;
}

int penstock__arrival_new(struct penstock__arrival **arrival, const struct penstock__wanted *wanted)
{
    struct penstock__arrival *made = penstock__calloc(1, sizeof *made);
    int status;
    *arrival = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->wanted = *wanted;
    if (wanted->name && !(made->wanted.name = made->name = penstock__strdup(wanted->name))) {
        penstock__free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &clock);
    pthread_condattr_destroy(&clock);
    if ((status = start(made))) {
        pthread_cond_destroy(&made->changed);
        pthread_mutex_destroy(&made->lock);
        penstock__free(made->name);
        penstock__free(made);
        return status;
    }
    *arrival = made;
    return PENSTOCK_OK;
}

bool penstock__arrival_done(struct penstock__arrival *arrival, double seconds)
{
    struct timespec until;
    bool done;
    clock_gettime(CLOCK_MONOTONIC, &until);
    long nanoseconds = until.tv_nsec + (long)(1e9 * seconds);
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    pthread_mutex_lock(&arrival->lock);
    while (!arrival->done && seconds > 0 && !pthread_cond_timedwait(&arrival->changed, &arrival->lock, &until))
        ;
    done = arrival->done;
    pthread_mutex_unlock(&arrival->lock);
    return done;
}

int penstock__arrival_take(struct penstock__arrival *arrival, struct penstock__binding **binding)
{
    *binding = arrival->binding;
    arrival->binding = NULL;
    return arrival->status ? penstock__error(arrival->status, "%s", arrival->text) : PENSTOCK_OK;
}

void penstock__arrival_overtake(struct penstock__arrival *arrival)
{
    atomic_store(&arrival->overtaken, true);
}

const char *penstock__arrival_name(const struct penstock__arrival *arrival)
{
    return arrival->wanted.preference == PENSTOCK_DEVICE_AUTO ? "auto" : arrival->wanted.name;
}

void penstock__arrival_free(struct penstock__arrival *arrival)
{
    if (!arrival)
        return;
    pthread_join(arrival->thread, NULL);
    penstock__binding_free(arrival->binding);
    pthread_cond_destroy(&arrival->changed);
    pthread_mutex_destroy(&arrival->lock);
    penstock__free(arrival->name);
    penstock__free(arrival);
}
