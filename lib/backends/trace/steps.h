/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The trace backend's objects, and the work that waits in its slots. */
#ifndef PENSTOCK_TRACE_STEPS_H
#define PENSTOCK_TRACE_STEPS_H

#include "backends/trace/rules.h"

#include <stdatomic.h>

extern const struct penstock_backend penstock__cpu_backend;

/* Memory of a buffer, kept until the last step that works on it is over. */
struct trace_memory {
    size_t bytes;
    unsigned users;
    unsigned char *block; /* guard, the buffer's bytes, guard */
};

struct trace_device {
    struct trace_object object;
    struct penstock_device cpu;
};

/* Bytes of it. */
struct trace_place {
    struct trace_memory *memory; /* NULL: none */
    size_t at, bytes;
};

struct trace_buffer {
    struct trace_object object;
    struct trace_place place;
    bool part; /* of another buffer */
};

struct trace_plan {
    struct trace_object object;
    struct penstock_plan_state cpu;
    atomic_int jobs; /* enqueued and not over */
};

struct trace_slot {
    struct trace_object object;
    struct penstock_slot cpu;
    struct trace_step *first, **end; /* `end` is where the next step is linked in; NULL means at `first` */
    uint64_t marks, reached;
    unsigned asked; /* stamps that the next step notes before it is done, as bits */
    struct {
        bool set;
        double seconds;
    } stamps[PENSTOCK_STAMPS];
    atomic_bool entered; /* a thread is inside */
};

#define PENSTOCK__TRACE_POISON 0xff /* floats of such bytes are NaN */

/* ---- memory.c ---- */

int penstock__trace_memory_new(struct trace_memory **memory, size_t bytes);
void penstock__trace_memory_drop(struct trace_memory *memory);
bool penstock__trace_memory_intact(const struct trace_memory *memory);
unsigned char *penstock__trace_content(const struct trace_place *place);

/* Of the contract. */
int penstock__trace_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
int penstock__trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                            const struct penstock_job *job);
int penstock__trace_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);
int penstock__trace_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy);
int penstock__trace_mark(struct penstock_slot *slot, uint64_t *number);
int penstock__trace_wait(struct penstock_slot *slot, uint64_t number);
int penstock__trace_stamp(struct penstock_slot *slot, unsigned which);
int penstock__trace_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds);

/* Forgets what waits in a slot; host memory that was to be written holds anything then, as with a device that was
 * stopped in its work. */
void penstock__trace_drop_steps(struct trace_slot *slot);

#endif
