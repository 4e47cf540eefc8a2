/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The processor in turns: while a thing is made ready on a device, its candidates are timed beside the CPU that serves.
 * Both at once would slow each other down, and the slower one's time would count; so batches of the CPU and bursts of a
 * measurement take turns.
 */
#ifndef PENSTOCK_CORE_TURNS_H
#define PENSTOCK_CORE_TURNS_H

#include <pthread.h>
#include <stdbool.h>

struct penstock__turns {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool serving, measuring, waiting; /* the last one: a measurement for its turn */
    double since_s;                   /* of the measurement's turn */
};

void penstock__turns_init(struct penstock__turns *turns);
void penstock__turns_free(struct penstock__turns *turns);

/* Around a batch of the CPU. Waits for a measurement's turn to end, but no longer than a stream bears: a driver may
 * hang. */
void penstock__turns_serve(struct penstock__turns *turns);
void penstock__turns_served(struct penstock__turns *turns);

/* Around a burst of a measurement; with `pause` the CPU has as long for itself afterwards. */
void penstock__turns_measure(struct penstock__turns *turns);
void penstock__turns_measured(struct penstock__turns *turns, bool pause);

#endif
