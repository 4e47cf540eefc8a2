/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Buffers and queues as the public calls have them: the contract's objects, with what the core knows of them. */
#ifndef PENSTOCK_CORE_BUFFER_H
#define PENSTOCK_CORE_BUFFER_H

#include "core/base/context.h"
#include "core/plan/executor.h"

/* What a penstock_buffer of the public calls points to the first member of. */
struct penstock__held {
    struct penstock_buffer buffer;
    bool live;                   /* not freed by its owner */
    unsigned users;              /* of a root, with the context's host_lock: itself while it lives, and its slices */
    struct penstock__held *root; /* whose memory it is a part of; itself where it is none */
    size_t at;                   /* from the root's start */
    struct penstock__held *following; /* in the context's list of those that were freed */
};

struct penstock_queue {
    struct penstock_slot slot;
    struct penstock__failure failure; /* that left the slot of no use */
};

/* Whether the first `bytes` of a buffer can be used on the device; `what` it is to the caller: "input". */
int penstock__buffer_check(const penstock_buffer *buffer, const struct penstock_device *device, const char *what,
                           size_t bytes);

/* Whether both are the same bytes from the start on, or share any of their first ones. */
bool penstock__buffer_same(const penstock_buffer *a, const penstock_buffer *b);
bool penstock__buffer_overlap(const penstock_buffer *a, size_t a_bytes, const penstock_buffer *b, size_t b_bytes);

/* Both of them on an opened device. */
int penstock__buffer_make(penstock_buffer **buffer, struct penstock_device *device, size_t bytes);
int penstock__queue_make(penstock_queue **queue, struct penstock_device *device);

/* As penstock_buffer_upload() and penstock_buffer_download(), unchecked, and without a wait for the copy, but where the
 * buffer is in the host's memory: the host's side belongs to the queue until that is drained. */
int penstock__buffer_send(penstock_buffer *buffer, const void *from, size_t bytes, penstock_queue *queue);
int penstock__buffer_fetch(const penstock_buffer *buffer, void *to, size_t bytes, penstock_queue *queue);

/* A buffer on the queue's device that holds `bytes` of the host's memory when this returns. */
int penstock__buffer_holding(penstock_buffer **buffer, const void *values, size_t bytes, penstock_queue *queue);

/* Whether the queue is of use. */
int penstock__queue_check(const penstock_queue *queue);

/* Keeps a failure, unless it came before anything was done. Returns it. */
int penstock__queue_note(penstock_queue *queue, int status);

/* Waits, and keeps a failure. */
int penstock__queue_drain(penstock_queue *queue);

/* Gives a job, of which frames and samples are known, its input and output. An error in words where these, or the
 * queue, do not fit the device or the problem; the queue may be on any of several devices. */
int penstock__job_place(struct penstock_job *job, struct penstock__executor *executor, const penstock_buffer *in,
                        penstock_buffer *out, const penstock_queue *queue);

/* A job of the executor that is on the queue's device, all of whose buffers are known to fit. */
int penstock__enqueue(struct penstock__executor *executor, const struct penstock_job *job, penstock_queue *queue);

/* With a context: the buffers that were freed. */
void penstock__buffers_free(penstock_context *context);

#endif
