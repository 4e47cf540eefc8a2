/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches on their way through the slots of an executor, and the move to the CPU when a device fails. */
#include "core/flight.h"
#include "core/devices.h"
#include "core/meanwhile.h"
#include "core/problem.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- failures -------------------- */

#define OLDEST 63 /* bit of `untold` for all tickets that came before those with bits of their own */

static unsigned bit_of(const struct penstock__flight *flight, uint64_t ticket)
{
    uint64_t age = flight->last_ticket - ticket;
    return age < OLDEST ? (unsigned)age : OLDEST;
}

static void begin_ticket(struct penstock__flight *flight)
{
    flight->last_ticket++;
    flight->untold = flight->untold << 1 | (flight->untold & (uint64_t)1 << OLDEST);
}

static void remember_failure(struct penstock__flight *flight, uint64_t ticket, int status)
{
    flight->untold |= (uint64_t)1 << bit_of(flight, ticket);
    flight->failure = status;
    snprintf(flight->failure_text, sizeof flight->failure_text, "%s", penstock_error_text());
}

/* The failure of a ticket up to `ticket`, once. */
static int report_failure(struct penstock__flight *flight, uint64_t ticket)
{
    uint64_t told = flight->untold & ~(uint64_t)0 << bit_of(flight, ticket);
    flight->untold &= ~told;
    return told ? penstock__error(flight->failure, "%s", flight->failure_text) : PENSTOCK_OK;
}

static void count_fallback(struct penstock__flight *flight, uint64_t ticket)
{
    flight->fallbacks += ticket > flight->last_fallback;
    flight->last_fallback = ticket;
}

/* Does all that was in flight again on the CPU, oldest first. */
static void redo(struct penstock__flight *flight)
{
    for (unsigned i = 0; i < flight->slots; i++) {
        unsigned slot = (flight->next + i) % flight->slots;
        struct penstock__piece *piece = &flight->pieces[slot];
        int status;
        if (!piece->busy)
            continue;
        piece->busy = false;
        if ((status = penstock__executor_submit(flight->executor, slot, &piece->batch)) ||
            (status = penstock__executor_wait(flight->executor, slot)))
            remember_failure(flight, piece->ticket, status);
        count_fallback(flight, piece->ticket);
    }
}

static bool can_move(const struct penstock__flight *flight)
{
    return flight->movable && !flight->failed && strcmp(flight->executor->state.device->name, "cpu");
}

/* After a failure with `status`: PENSTOCK_OK if the CPU took over. */
static int move_to_cpu(struct penstock__flight *flight, int status)
{
    struct penstock__executor *cpu_executor;
    struct penstock_device *cpu;
    char cause[512];
    if (!can_move(flight))
        return status;
    snprintf(cause, sizeof cause, "%s", penstock_error_text());
    if (penstock__device_find(flight->context, "cpu", &cpu) ||
        penstock__executor_new(&cpu_executor, cpu, flight->problem, flight->slots))
        return penstock__error(status, "%s", cause);
    penstock__log(flight->context, PENSTOCK_LOG_WARNING, "%s failed, the CPU goes on: %s",
                  flight->executor->state.device->name, cause);
    penstock__executor_close(flight->executor);
    flight->failed = flight->executor;
    flight->executor = cpu_executor;
    redo(flight);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- pieces ---------------------- */

/* Waits for the piece in a slot; a failure that the CPU cannot mend is remembered for the piece's ticket. */
static void finish_piece(struct penstock__flight *flight, unsigned slot)
{
    struct penstock__piece *piece = &flight->pieces[slot];
    int status;
    if (!piece->busy)
        return;
    status = penstock__executor_wait(flight->executor, slot);
    if (status && !(status = move_to_cpu(flight, status)))
        return;
    piece->busy = false;
    if (status)
        remember_failure(flight, piece->ticket, status);
}

/* Whether every frame has an output, which in place takes the room of the frame's own input and of nothing else. */
static bool frame_by_frame(const struct penstock_problem *problem)
{
    return problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.format != PENSTOCK_PLANAR &&
           problem->fft.average == 1 && problem->in_bytes == problem->out_bytes;
}

/* A device with memory of its own copies, and a processor may write where it has read; but OpenCL leaves it undefined
 * what a kernel does with two buffers that wrap the same memory. */
static bool in_place_is_defined(const struct penstock__flight *flight)
{
    const struct penstock_device *device = flight->executor->state.device;
    return !device->host_memory || device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY;
}

/* Keeps the input of a piece whose output overwrites it, where it may be needed after that has begun. */
static int save_input(struct penstock__flight *flight, struct penstock__piece *piece)
{
    size_t bytes = penstock__problem_in_bytes(flight->problem, piece->batch.samples);
    if (piece->batch.in != piece->batch.out ||
        (!can_move(flight) && in_place_is_defined(flight) && frame_by_frame(flight->problem)))
        return PENSTOCK_OK;
    if (piece->saved_bytes < bytes) {
        penstock__free(piece->saved);
        piece->saved_bytes = 0;
        if (!(piece->saved = penstock__alloc(bytes)))
            return PENSTOCK_ERR_MEMORY;
        piece->saved_bytes = bytes;
    }
    memcpy(piece->saved, piece->batch.in, bytes);
    piece->batch.in = piece->saved;
    return PENSTOCK_OK;
}

static int send_piece(struct penstock__flight *flight, const struct penstock__batch *batch, uint64_t ticket)
{
    unsigned slot = flight->next;
    struct penstock__piece *piece = &flight->pieces[slot];
    int status;
    finish_piece(flight, slot);
    piece->batch = *batch;
    piece->batch.times = flight->times;
    piece->ticket = ticket;
    if ((status = save_input(flight, piece)))
        return status;
    flight->next = (slot + 1) % flight->slots;
    piece->busy = true;
    if ((status = penstock__executor_submit(flight->executor, slot, &piece->batch)) &&
        (status = move_to_cpu(flight, status)))
        piece->busy = false;
    return status;
}

static int send(struct penstock__flight *flight, const struct penstock__batch *batch, uint64_t ticket)
{
    const struct penstock_problem *problem = flight->problem;
    size_t step = penstock__executor_piece(flight->executor, batch->frames);
    if (batch->in == batch->out && !frame_by_frame(problem))
        step = batch->frames; /* pieces would overwrite each other's input */
    for (size_t first = 0; first < batch->frames; first += step) {
        struct penstock__batch part = *batch;
        int status;
        if (step < batch->frames) {
            part.frames = batch->frames - first < step ? batch->frames - first : step;
            part.samples = penstock__problem_samples(problem, part.frames);
            part.in = (const char *)batch->in + first * problem->in_bytes;
            if (problem->kind == PENSTOCK_PROBLEM_FFT && problem->fft.fold)
                part.phase = (batch->phase + first % problem->fft.n * problem->fft.spacing) % problem->fft.n;
            part.out = (char *)batch->out + penstock__problem_out_bytes(problem, first);
        }
        if ((status = send_piece(flight, &part, ticket)))
            return status;
    }
    return PENSTOCK_OK;
}

static void finish_up_to(struct penstock__flight *flight, uint64_t ticket)
{
    for (unsigned i = 0; i < flight->slots; i++) {
        unsigned slot = (flight->next + i) % flight->slots;
        if (flight->pieces[slot].ticket <= ticket)
            finish_piece(flight, slot);
    }
}

/* The caller gets the failure of its batch at once, and its memory back: no wait will tell of this ticket. */
static int abandon(struct penstock__flight *flight, int status)
{
    char text[512];
    snprintf(text, sizeof text, "%s", penstock_error_text());
    finish_up_to(flight, flight->last_ticket);
    flight->untold &= ~(uint64_t)1; /* that of the last ticket */
    return penstock__error(status, "%s", text);
}

/* ---------------------------------------------------------------- arrivals -------------------- */

void penstock__flight_welcome(struct penstock__flight *flight)
{
    struct penstock__executor *arrived;
    void *made;
    if (!penstock__welcome(&flight->arrival, flight->context, &made))
        return;
    arrived = made;
    finish_up_to(flight, flight->last_ticket);
    penstock__log(flight->context, PENSTOCK_LOG_INFO, "%s is ready and goes on", arrived->state.device->name);
    penstock__executor_free(flight->executor);
    flight->executor = arrived;
}

int penstock__flight_submit(struct penstock__flight *flight, const struct penstock__batch *batch, uint64_t *ticket)
{
    int status;
    penstock__flight_welcome(flight);
    begin_ticket(flight);
    flight->meanwhile += flight->arrival != NULL;
    penstock__arrival_serve(flight->arrival);
    status = send(flight, batch, flight->last_ticket);
    penstock__arrival_served(flight->arrival);
    *ticket = flight->last_ticket;
    if (flight->failed)
        count_fallback(flight, *ticket);
    return status ? abandon(flight, status) : PENSTOCK_OK;
}

int penstock__flight_wait(struct penstock__flight *flight, uint64_t ticket)
{
    finish_up_to(flight, ticket);
    return report_failure(flight, ticket);
}

void penstock__flight_free(struct penstock__flight *flight)
{
    penstock__arrival_free(flight->arrival);
    penstock__executor_free(flight->executor);
    penstock__executor_free(flight->failed);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__free(flight->pieces[i].saved);
}
