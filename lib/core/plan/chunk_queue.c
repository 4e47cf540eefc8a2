/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches on their way through the slots of an executor, and the move to the CPU when a device fails. */
#include "core/plan/chunk_queue.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/device/devices.h"
#include "core/plan/problem.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- failures -------------------- */

#define OLDEST 63 /* bit of `untold` for all tickets that came before those with bits of their own */

static unsigned bit_of(const struct penstock__chunk_queue *queue, uint64_t ticket)
{
    uint64_t age = queue->last_ticket - ticket;
    return age < OLDEST ? (unsigned)age : OLDEST;
}

static void begin_ticket(struct penstock__chunk_queue *queue)
{
    queue->last_ticket++;
    queue->untold = queue->untold << 1 | (queue->untold & (uint64_t)1 << OLDEST);
}

static void remember_failure(struct penstock__chunk_queue *queue, uint64_t ticket, int status)
{
    queue->untold |= (uint64_t)1 << bit_of(queue, ticket);
    penstock__failure_keep(&queue->failure, status);
}

/* The failure of a ticket up to `ticket`, once. */
static int report_failure(struct penstock__chunk_queue *queue, uint64_t ticket)
{
    uint64_t told = queue->untold & ~(uint64_t)0 << bit_of(queue, ticket);
    queue->untold &= ~told;
    return told ? penstock__failure_tell(&queue->failure) : PENSTOCK_OK;
}

static void count_fallback(struct penstock__chunk_queue *queue, uint64_t ticket)
{
    queue->fallbacks += ticket > queue->last_fallback;
    queue->last_fallback = ticket;
}

/* Does all that was in flight again on the CPU, oldest first. */
static void redo(struct penstock__chunk_queue *queue)
{
    const unsigned slots = queue->executor->slot_count;
    for (unsigned i = 0; i < slots; i++) {
        unsigned slot = (queue->next + i) % slots;
        struct penstock__chunk *chunk = &queue->chunks[slot];
        int status;
        if (!chunk->busy)
            continue;
        chunk->busy = false;
        if ((status = penstock__executor_submit(queue->executor, slot, &chunk->batch)) ||
            (status = penstock__executor_wait(queue->executor, slot)))
            remember_failure(queue, chunk->ticket, status);
        count_fallback(queue, chunk->ticket);
    }
}

static bool can_move(const struct penstock__chunk_queue *queue)
{
    return queue->movable && !queue->failed && strcmp(queue->executor->state.device->name, "cpu");
}

/* After a failure with `status`: PENSTOCK_OK if the CPU took over. */
static int move_to_cpu(struct penstock__chunk_queue *queue, int status)
{
    struct penstock__executor *cpu_executor;
    struct penstock_device *cpu;
    char cause[512];
    if (!can_move(queue))
        return status;
    snprintf(cause, sizeof cause, "%s", penstock_error_text());
    if (penstock__device_find(queue->context, "cpu", &cpu) ||
        penstock__executor_new(&cpu_executor, cpu, queue->problem, queue->executor->slot_count))
        return penstock__error(status, "%s", cause);
    penstock__log(queue->context, PENSTOCK_LOG_WARNING, "%s failed, the CPU goes on: %s",
                  queue->executor->state.device->name, cause);
    penstock__executor_close(queue->executor);
    queue->failed = queue->executor;
    queue->executor = cpu_executor;
    redo(queue);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- chunks ---------------------- */

/* Waits for the chunk in a slot; a failure that the CPU cannot mend is remembered for the chunk's ticket. */
static void finish_chunk(struct penstock__chunk_queue *queue, unsigned slot)
{
    struct penstock__chunk *chunk = &queue->chunks[slot];
    int status;
    if (!chunk->busy)
        return;
    status = penstock__executor_wait(queue->executor, slot);
    if (status && !(status = move_to_cpu(queue, status)))
        return;
    chunk->busy = false;
    if (status)
        remember_failure(queue, chunk->ticket, status);
}

/* A device with memory of its own copies, and a processor may write where it has read; but OpenCL leaves it undefined
 * what a kernel does with two buffers that wrap the same memory. */
static bool in_place_is_defined(const struct penstock__chunk_queue *queue)
{
    const struct penstock_device *device = queue->executor->state.device;
    return !device->host_memory || device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY;
}

/* Keeps the input of a chunk whose output overwrites it, where it may be needed after that has begun. */
static int save_input(struct penstock__chunk_queue *queue, struct penstock__chunk *chunk)
{
    size_t bytes = penstock__problem_in_bytes(queue->problem, chunk->batch.samples);
    if (chunk->batch.in != chunk->batch.out ||
        (!can_move(queue) && !penstock__executor_spares(queue->executor) && in_place_is_defined(queue) &&
         penstock__problem_frame_by_frame(queue->problem)))
        return PENSTOCK_OK;
    if (chunk->saved_bytes < bytes) {
        penstock__free(chunk->saved);
        chunk->saved_bytes = 0;
        if (!(chunk->saved = penstock__alloc(bytes)))
            return PENSTOCK_ERR_MEMORY;
        chunk->saved_bytes = bytes;
    }
    memcpy(chunk->saved, chunk->batch.in, bytes);
    chunk->batch.in = chunk->saved;
    return PENSTOCK_OK;
}

static int send_chunk(struct penstock__chunk_queue *queue, const struct penstock__batch *batch, uint64_t ticket)
{
    unsigned slot = queue->next;
    struct penstock__chunk *chunk = &queue->chunks[slot];
    int status;
    finish_chunk(queue, slot);
    chunk->batch = *batch;
    chunk->batch.event_times = queue->event_times;
    chunk->ticket = ticket;
    if ((status = save_input(queue, chunk)))
        return status;
    queue->next = (slot + 1) % queue->executor->slot_count;
    chunk->busy = true;
    if ((status = penstock__executor_submit(queue->executor, slot, &chunk->batch)) &&
        (status = move_to_cpu(queue, status)))
        chunk->busy = false;
    return status;
}

static int send(struct penstock__chunk_queue *queue, const struct penstock__batch *batch, uint64_t ticket)
{
    const struct penstock_problem *problem = queue->problem;
    size_t step = penstock__executor_chunk(queue->executor, batch->frames);
    if (batch->in == batch->out && !penstock__problem_frame_by_frame(problem))
        step = batch->frames; /* chunks would overwrite each other's input */
    for (size_t first = 0; first < batch->frames; first += step) {
        struct penstock__batch part = *batch;
        int status;
        if (step < batch->frames) {
            part.frames = batch->frames - first < step ? batch->frames - first : step;
            part.samples = penstock__problem_samples(problem, part.frames);
            part.in = (const char *)batch->in + first * problem->in_bytes;
            if (problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.fold)
                part.phase = penstock__fft_turn(&problem->fft, (size_t)batch->phase, first);
            part.out = (char *)batch->out + penstock__problem_out_bytes(problem, first);
        }
        if ((status = send_chunk(queue, &part, ticket)))
            return status;
    }
    return PENSTOCK_OK;
}

static void finish_up_to(struct penstock__chunk_queue *queue, uint64_t ticket)
{
    const unsigned slots = queue->executor->slot_count;
    for (unsigned i = 0; i < slots; i++) {
        unsigned slot = (queue->next + i) % slots;
        if (queue->chunks[slot].ticket <= ticket)
            finish_chunk(queue, slot);
    }
}

/* The caller gets the failure of its batch at once, and its memory back: no wait will tell of this ticket. */
static int abandon(struct penstock__chunk_queue *queue, int status)
{
    struct penstock__failure failure;
    penstock__failure_keep(&failure, status);
    finish_up_to(queue, queue->last_ticket);
    queue->untold &= ~(uint64_t)1; /* that of the last ticket */
    return penstock__failure_tell(&failure);
}

/* ---------------------------------------------------------------- builds ---------------------- */

void penstock__chunk_queue_collect(struct penstock__chunk_queue *queue)
{
    struct penstock__executor *built;
    void *made;
    if (!penstock__async_build_collect(&queue->build, &queue->standby, queue->context, &made))
        return;
    built = made;
    finish_up_to(queue, queue->last_ticket);
    penstock__went_over(&queue->standby, queue->context, built->state.device->name);
    penstock__executor_free(queue->executor);
    queue->executor = built;
    queue->next = 0;
}

int penstock__chunk_queue_submit(struct penstock__chunk_queue *queue, const struct penstock__batch *batch,
                                 uint64_t *ticket)
{
    int status;
    penstock__chunk_queue_collect(queue);
    begin_ticket(queue);
    queue->cpu_while_compiling += queue->build && !queue->standby.there;
    penstock__serve(&queue->standby, queue->build);
    status = send(queue, batch, queue->last_ticket);
    penstock__served(&queue->standby, queue->build, batch->frames);
    *ticket = queue->last_ticket;
    if (queue->failed)
        count_fallback(queue, *ticket);
    return status ? abandon(queue, status) : PENSTOCK_OK;
}

int penstock__chunk_queue_wait(struct penstock__chunk_queue *queue, uint64_t ticket)
{
    penstock__standby_wait(&queue->standby);
    finish_up_to(queue, ticket);
    penstock__standby_leave(&queue->standby, NULL, 0);
    return report_failure(queue, ticket);
}

void penstock__chunk_queue_give_back(struct penstock__chunk_queue *queue)
{
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++) {
        if (queue->chunks[i].busy)
            penstock__executor_wait(queue->executor, i);
        queue->chunks[i].busy = false;
    }
}

void penstock__chunk_queue_free(struct penstock__chunk_queue *queue)
{
    penstock__async_build_free(queue->build);
    penstock__executor_free(queue->executor);
    penstock__executor_free(queue->failed);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__free(queue->chunks[i].saved);
}
