/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches on their way through the slots of an executor, and the move to the CPU when a device fails. A batch is cut
 * into chunks, one a slot, in the order of a ring; a ticket is done when its chunks are.
 */
#ifndef PENSTOCK_CORE_CHUNK_QUEUE_H
#define PENSTOCK_CORE_CHUNK_QUEUE_H

#include "core/choice/standby.h"
#include "core/plan/executor.h"

struct penstock__chunk {
    struct penstock__batch batch;
    uint64_t ticket;
    bool busy;
    void *saved; /* input that the output overwrites */
    size_t saved_bytes;
};

struct penstock__chunk_queue {
    /* Set by the owner. */
    penstock_context *context;
    const struct penstock_problem *problem;
    unsigned slots;                      /* for each device */
    unsigned in_flight;                  /* batches that the owner sends before it waits: for the choice of a device */
    bool movable;                        /* the CPU may take over */
    struct penstock__executor *executor; /* freed by penstock__chunk_queue_free() */

    struct penstock__event_times *event_times; /* or NULL: as penstock__batch.event_times, of all batches */

    struct penstock__async_build *build; /* what the CPU stands in for, or NULL; freed likewise */
    struct penstock__standby standby;
    uint64_t cpu_while_compiling; /* tickets that it did so */

    struct penstock__executor *failed; /* the one before the move to the CPU */
    struct penstock__chunk chunks[PENSTOCK__MAX_SLOTS];
    unsigned next; /* the slot that has waited longest */
    uint64_t last_ticket;
    uint64_t fallbacks, last_fallback; /* tickets that the CPU did because the device failed */

    uint64_t untold; /* bit i: ticket last_ticket - i has failed and no wait has told; bit 63: or an earlier one */
    struct penstock__failure failure; /* the last one */
};

/* Fills in what depends on the device that is asked for; context, problem and slots are set. `cpu_while_compiling`:
 * with "auto" and "prefer:", what is not ready at once is waited for in flight, on the CPU: core/plan/executor_begin.c.
 */
int penstock__executor_begin(struct penstock__chunk_queue *queue, const char *device, bool cpu_while_compiling);

/* To the device that is ready by now; what is in flight comes to its end before. */
void penstock__chunk_queue_collect(struct penstock__chunk_queue *queue);

/* Sends a batch; blocks while all slots are in use. After an error nothing of the batch is in flight. */
int penstock__chunk_queue_submit(struct penstock__chunk_queue *queue, const struct penstock__batch *batch,
                                 uint64_t *ticket);

/* Waits for all tickets up to `ticket`, and reports the failure of any of them, once. */
int penstock__chunk_queue_wait(struct penstock__chunk_queue *queue, uint64_t ticket);

/* Waits for what is in flight, whatever comes of it: its memory is the caller's again. */
void penstock__chunk_queue_give_back(struct penstock__chunk_queue *queue);

/* Abandons what is in flight. */
void penstock__chunk_queue_free(struct penstock__chunk_queue *queue);

#endif
