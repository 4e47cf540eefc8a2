/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An executor's slots: their buffers, batches that are sent through them and waited for. */
#include "core/plan/executor.h"
#include "core/plan/problem.h"

#include <stdio.h>

static const struct penstock_backend *backend_of(const struct penstock__executor *executor)
{
    return executor->state.device->backend;
}

/* ---------------------------------------------------------------- buffers --------------------- */

void penstock__device_buffer_free(struct penstock_buffer *buffer)
{
    if (!buffer->device)
        return;
    buffer->device->backend->buffer_free(buffer);
    penstock__free(buffer->priv);
    *buffer = (struct penstock_buffer){0};
}

int penstock__device_buffer_make(struct penstock_buffer *buffer, struct penstock_device *device, void *host,
                                 size_t bytes)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    if (backend->buffer_bytes && !(buffer->priv = penstock__calloc(1, backend->buffer_bytes)))
        return PENSTOCK_ERR_MEMORY;
    buffer->device = device;
    buffer->bytes = bytes;
    buffer->wrapped = host;
    status = host ? backend->buffer_wrap(buffer, host, bytes) : backend->buffer_alloc(buffer, bytes);
    if (status) {
        penstock__free(buffer->priv);
        *buffer = (struct penstock_buffer){0};
    }
    return status;
}

/* With room for `bytes`; it grows by half where the device has so much, so that growing batches do not move it each
 * time. */
static int reserve_buffer(struct penstock_buffer *buffer, struct penstock_device *device, size_t bytes)
{
    size_t before = buffer->bytes, more = before + before / 2;
    if (buffer->device && before >= bytes)
        return PENSTOCK_OK;
    penstock__device_buffer_free(buffer);
    if (more > bytes && !penstock__device_buffer_make(buffer, device, NULL, more))
        return PENSTOCK_OK;
    return penstock__device_buffer_make(buffer, device, NULL, bytes);
}

#define SHARED_ALIGNMENT 64 /* of memory that a GPU works on where it is: drivers copy other memory themselves */

/* A buffer for samples or values of a batch: the host's memory where a GPU shares that, else of the device's own. */
static int place_buffer(struct penstock_buffer *buffer, struct penstock_device *device, void *host, size_t bytes)
{
    const bool shared = device->host_memory && (uintptr_t)host % SHARED_ALIGNMENT == 0;
    if (shared || buffer->wrapped)
        penstock__device_buffer_free(buffer);
    return shared ? penstock__device_buffer_make(buffer, device, host, bytes) : reserve_buffer(buffer, device, bytes);
}

/* The library only reads what is given as const; a device's buffer has no notion of it. */
static void *without_const(const void *memory)
{
    return (void *)(uintptr_t)memory;
}

/* What lies in the host's memory is its owner's again when a batch is over. */
static void free_wrapped(struct penstock__slot *slot)
{
    if (slot->in.wrapped)
        penstock__device_buffer_free(&slot->in);
    if (slot->out.wrapped)
        penstock__device_buffer_free(&slot->out);
}

static void free_buffers(struct penstock__slot *slot)
{
    slot->coefficients_id = 0;
    penstock__device_buffer_free(&slot->out);
    penstock__device_buffer_free(&slot->coefficients);
    penstock__device_buffer_free(&slot->gather);
    penstock__device_buffer_free(&slot->in);
}

/* ---------------------------------------------------------------- slots ----------------------- */

int penstock__slot_open(struct penstock_slot *slot, struct penstock_device *device, const uint64_t *native)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    *slot = (struct penstock_slot){.device = device};
    if (backend->slot_bytes && !(slot->priv = penstock__calloc(1, backend->slot_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = native ? backend->slot_adopt(slot, *native) : backend->slot_init(slot)))
        penstock__free(slot->priv);
    return status;
}

void penstock__slot_close(struct penstock_slot *slot)
{
    slot->device->backend->slot_free(slot);
    penstock__free(slot->priv);
}

static int open_slot(struct penstock__slot *slot, struct penstock_device *device)
{
    int status = slot->open ? PENSTOCK_OK : penstock__slot_open(&slot->slot, device, NULL);
    slot->open = !status;
    return status;
}

static void close_slot(struct penstock__slot *slot)
{
    if (slot->open)
        penstock__slot_close(&slot->slot);
    slot->open = false;
    free_buffers(slot);
    slot->busy = false;
    slot->failure = PENSTOCK_OK;
    slot->timing = (struct penstock__event_timing){.timed = 0};
}

/* What a batch lists for each frame or symbol, and what all symbols of an OFDM frame, or all of it, have; or NULL. */
struct lists {
    const void *gather, *coefficients;
    size_t gather_bytes, coefficients_bytes;
};

static struct lists lists_of(const struct penstock_problem *problem, const struct penstock__batch *batch)
{
    const struct penstock_ofdm_tables *ofdm = batch->ofdm;
    if (batch->response)
        return (struct lists){.coefficients = batch->response,
                              .coefficients_bytes =
                                  penstock__filter_response(&problem->filter) * sizeof *batch->response};
    if (batch->resample)
        return (struct lists){.gather = batch->resample->starts,
                              .coefficients = batch->resample->head,
                              .gather_bytes = penstock__resample_starts(&problem->resample, batch->frames) *
                                              sizeof *batch->resample->starts,
                              .coefficients_bytes = batch->resample->head_bytes};
    if (batch->blocks)
        return (struct lists){.gather = batch->blocks, .gather_bytes = batch->frames * sizeof *batch->blocks};
    if (!ofdm)
        return (struct lists){.gather = batch->gather, .gather_bytes = batch->frames * sizeof *batch->gather};
    return (struct lists){.gather = ofdm->descriptors,
                          .coefficients = ofdm->coefficients,
                          .gather_bytes = penstock__ofdm_descriptors(ofdm, batch->frames) * sizeof *ofdm->descriptors,
                          .coefficients_bytes = ofdm->frame_count * penstock__ofdm_coefficients(&problem->ofdm) *
                                                sizeof *ofdm->coefficients};
}

static int send_in_place(struct penstock__executor *executor, struct penstock__slot *slot,
                         const struct penstock__batch *batch, struct penstock_job *job)
{
    struct penstock_device *device = executor->state.device;
    const struct penstock_problem *problem = executor->state.problem;
    struct lists lists = lists_of(problem, batch);
    int status;
    free_buffers(slot);
    if ((status = penstock__device_buffer_make(&slot->in, device, without_const(batch->in),
                                               penstock__problem_in_bytes(problem, batch->samples))) ||
        (lists.gather && (status = penstock__device_buffer_make(&slot->gather, device, without_const(lists.gather),
                                                                lists.gather_bytes))) ||
        (lists.coefficients &&
         (status = penstock__device_buffer_make(&slot->coefficients, device, without_const(lists.coefficients),
                                                lists.coefficients_bytes))) ||
        (status = penstock__device_buffer_make(&slot->out, device, batch->out,
                                               penstock__problem_out_bytes(problem, batch->frames))))
        return status;
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_UPLOADED);
    status = device->backend->enqueue(&slot->slot, &executor->state, job);
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_COMPUTED);
    return status;
}

static int upload(struct penstock__slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    struct penstock_device *device = slot->slot.device;
    int status = reserve_buffer(buffer, device, bytes);
    return status ? status : device->backend->upload(&slot->slot, buffer, host, bytes);
}

/* Unless the slot has it from the batch before. */
static int upload_coefficients(struct penstock__slot *slot, const struct penstock__batch *batch,
                               const struct lists *lists)
{
    int status;
    if (!lists->coefficients || (batch->coefficients_id && batch->coefficients_id == slot->coefficients_id))
        return PENSTOCK_OK;
    slot->coefficients_id = 0;
    if (!(status = upload(slot, &slot->coefficients, lists->coefficients, lists->coefficients_bytes)))
        slot->coefficients_id = batch->coefficients_id;
    return status;
}

static int send_with_copies(struct penstock__executor *executor, struct penstock__slot *slot,
                            const struct penstock__batch *batch, struct penstock_job *job)
{
    struct penstock_device *device = executor->state.device;
    const struct penstock_backend *backend = device->backend;
    const struct penstock_problem *problem = executor->state.problem;
    struct lists lists = lists_of(problem, batch);
    size_t in_bytes = penstock__problem_in_bytes(problem, batch->samples);
    size_t out_bytes = penstock__problem_out_bytes(problem, batch->frames);
    int status;
    if ((status = place_buffer(&slot->in, device, without_const(batch->in), in_bytes)) ||
        (lists.gather && (status = reserve_buffer(&slot->gather, device, lists.gather_bytes))) ||
        (lists.coefficients && (status = reserve_buffer(&slot->coefficients, device, lists.coefficients_bytes))) ||
        (status = place_buffer(&slot->out, device, batch->out, out_bytes)))
        return status;
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_START);
    if ((lists.gather && (status = upload(slot, &slot->gather, lists.gather, lists.gather_bytes))) ||
        (status = upload_coefficients(slot, batch, &lists)) ||
        (!slot->in.wrapped && (status = upload(slot, &slot->in, batch->in, in_bytes))))
        return status;
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_UPLOADED);
    if ((status = backend->enqueue(&slot->slot, &executor->state, job)))
        return status;
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_COMPUTED);
    if (!slot->out.wrapped)
        status =
            backend->download(&slot->slot, batch->out, &slot->out, batch->out_wanted ? batch->out_wanted : out_bytes);
    penstock__event_clock_stamp(&slot->timing, &slot->slot, PENSTOCK__STAMP_DOWNLOADED);
    return status;
}

/* Without its buffers. */
static struct penstock_job bare_job(const struct penstock__batch *batch)
{
    if (batch->resample)
        return (struct penstock_job){.frames = batch->frames,
                                     .samples = batch->samples,
                                     .start = batch->resample->first,
                                     .spacing = batch->resample->end};
    return (struct penstock_job){.frames = batch->frames,
                                 .samples = batch->samples,
                                 .start = batch->ofdm ? batch->ofdm->start : (uint32_t)(batch->phase >> 32),
                                 .spacing = batch->ofdm ? batch->ofdm->spacing : (uint32_t)batch->phase,
                                 .narrow = batch->ofdm && batch->ofdm->narrow};
}

static struct penstock_job job_of(struct penstock__slot *slot, const struct penstock__batch *batch)
{
    bool listed = batch->ofdm ? batch->ofdm->descriptors != NULL : batch->gather || batch->blocks || batch->resample;
    struct penstock_job job = bare_job(batch);
    job.in = &slot->in;
    job.gather = listed ? &slot->gather : NULL;
    job.out = &slot->out;
    job.coefficients = batch->ofdm || batch->response || batch->resample ? &slot->coefficients : NULL;
    return job;
}

/* What was sent through a slot is over; a failure is kept for who waits for it. */
static void finish_slot(struct penstock__executor *executor, struct penstock__slot *slot)
{
    bool in_place = penstock__executor_in_host_memory(executor);
    int status;
    if (!slot->busy)
        return;
    if ((status = backend_of(executor)->wait(&slot->slot, slot->mark))) {
        snprintf(executor->failure_text, sizeof executor->failure_text, "%s", penstock_error_text());
        close_slot(slot);
        slot->failure = status;
    } else {
        penstock__event_clock_stop(&executor->clock, &slot->timing, &slot->slot, !in_place);
    }
    slot->busy = false;
    if (in_place)
        free_buffers(slot);
    else
        free_wrapped(slot);
}

/* Whether a batch is one to be timed. Then nothing else is on its way any more. */
static bool begin_timing(struct penstock__executor *executor, const struct penstock__batch *batch)
{
    bool timed =
        batch->event_times && penstock__executor_has_clock(executor) && penstock__event_clock_due(&executor->clock);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS && timed; i++)
        finish_slot(executor, &executor->slots[i]);
    return timed;
}

int penstock__executor_submit(struct penstock__executor *executor, unsigned index, const struct penstock__batch *batch)
{
    struct penstock__slot *slot = &executor->slots[index];
    if (executor->group)
        return executor->group_calls->submit(executor->group, index, batch);
    struct penstock_job job = job_of(slot, batch);
    bool timed = begin_timing(executor, batch);
    int status = open_slot(slot, executor->state.device);
    if (status)
        return status;
    if (batch->event_times && penstock__executor_has_clock(executor))
        penstock__event_clock_start(&executor->clock, &slot->timing, batch->event_times, batch->frames, timed);
    status = penstock__executor_in_host_memory(executor) ? send_in_place(executor, slot, batch, &job)
                                                         : send_with_copies(executor, slot, batch, &job);
    if (!status)
        status = backend_of(executor)->mark(&slot->slot, &slot->mark);
    if (status)
        close_slot(slot);
    slot->busy = !status;
    return status;
}

int penstock__executor_wait(struct penstock__executor *executor, unsigned index)
{
    struct penstock__slot *slot = &executor->slots[index];
    if (executor->group)
        return executor->group_calls->wait(executor->group, index);
    finish_slot(executor, slot);
    int status = slot->failure;
    slot->failure = PENSTOCK_OK;
    return status ? penstock__error(status, "%s", executor->failure_text) : PENSTOCK_OK;
}

void penstock__executor_close(struct penstock__executor *executor)
{
    if (executor->group)
        executor->group_calls->close(executor->group);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        close_slot(&executor->slots[i]);
}
