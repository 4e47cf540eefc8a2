/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The processor in turns. */
#include "core/choice/turns.h"
#include "backends/backend.h"
#include "core/base/thread.h"

#include <math.h>
#include <time.h>

#define BEAR_S 0.02 /* of a stream's batch: what radios and their drivers hold back */

/* ---------------------------------------------------------------- life ------------------------ */

void penstock__turns_init(struct penstock__turns *turns)
{
    *turns = (struct penstock__turns){.serving = false};
    pthread_mutex_init(&turns->lock, NULL);
    penstock__condition_init(&turns->changed);
}

void penstock__turns_free(struct penstock__turns *turns)
{
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
}

/* ---------------------------------------------------------------- the CPU --------------------- */

void penstock__turns_serve(struct penstock__turns *turns)
{
    const struct timespec until = penstock__deadline(BEAR_S);
    pthread_mutex_lock(&turns->lock);
    while ((turns->measuring || turns->waiting) && !pthread_cond_timedwait(&turns->changed, &turns->lock, &until))
        ;
    turns->serving = true;
    pthread_mutex_unlock(&turns->lock);
}

void penstock__turns_served(struct penstock__turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->serving = false;
    pthread_cond_broadcast(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
}

/* ---------------------------------------------------------------- a measurement --------------- */

void penstock__turns_measure(struct penstock__turns *turns)
{
    pthread_mutex_lock(&turns->lock);
    turns->waiting = true;
    while (turns->serving)
        pthread_cond_wait(&turns->changed, &turns->lock);
    turns->waiting = false;
    turns->measuring = true;
    turns->since_s = penstock__now_s();
    pthread_mutex_unlock(&turns->lock);
}

void penstock__turns_measured(struct penstock__turns *turns, bool pause)
{
    double took_s = penstock__now_s() - turns->since_s;
    pthread_mutex_lock(&turns->lock);
    turns->measuring = false;
    pthread_cond_broadcast(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
    if (pause)
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * fmin(took_s, BEAR_S))}, NULL);
}
