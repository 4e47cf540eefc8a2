/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem bound to one device: slots, their buffers, and the ladder of variants. */
#include "core/binding.h"
#include "core/check.h"
#include "core/devices.h"
#include "core/problem.h"
#include "core/rehearsal.h"
#include "core/tune.h"

#include <stdio.h>

#define MAX_VARIANTS 16
#define PIECE_BYTES  ((size_t)4 << 20) /* from here on a copy's fixed cost is small against its length */

static const struct penstock_backend *backend_of(const struct penstock__binding *binding)
{
    return binding->state.device->backend;
}

bool penstock__binding_in_host_memory(const struct penstock__binding *binding)
{
    return binding->state.device->host_memory || (backend_of(binding)->flags & PENSTOCK_BACKEND_HOST_MEMORY);
}

/* ---------------------------------------------------------------- buffers --------------------- */

static void free_buffer(struct penstock_buffer *buffer)
{
    if (!buffer->device)
        return;
    buffer->device->backend->buffer_free(buffer);
    penstock__free(buffer->priv);
    *buffer = (struct penstock_buffer){0};
}

/* Makes a buffer in the device's memory or, where `host` is given, around the caller's. */
static int make_buffer(struct penstock_buffer *buffer, struct penstock_device *device, void *host, size_t bytes)
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

int penstock__slot_buffer(struct penstock_buffer *buffer, struct penstock_device *device, size_t bytes)
{
    size_t before = buffer->bytes;
    if (buffer->device && before >= bytes)
        return PENSTOCK_OK;
    free_buffer(buffer);
    return make_buffer(buffer, device, NULL, bytes > before + before / 2 ? bytes : before + before / 2);
}

/* The library only reads what is given as const; a device's buffer has no notion of it. */
static void *without_const(const void *memory)
{
    return (void *)(uintptr_t)memory;
}

static void free_buffers(struct penstock__slot *slot)
{
    slot->gains_id = 0;
    free_buffer(&slot->out);
    free_buffer(&slot->gains);
    free_buffer(&slot->gather);
    free_buffer(&slot->in);
}

/* ---------------------------------------------------------------- slots ----------------------- */

int penstock__slot_open(struct penstock__slot *slot, struct penstock_device *device)
{
    const struct penstock_backend *backend = device->backend;
    int status;
    if (slot->open)
        return PENSTOCK_OK;
    slot->slot = (struct penstock_slot){.device = device};
    if (backend->slot_bytes && !(slot->slot.priv = penstock__calloc(1, backend->slot_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = backend->slot_init(&slot->slot))) {
        penstock__free(slot->slot.priv);
        return status;
    }
    slot->open = true;
    return PENSTOCK_OK;
}

void penstock__slot_close(struct penstock__slot *slot)
{
    if (slot->open) {
        slot->slot.device->backend->slot_free(&slot->slot);
        penstock__free(slot->slot.priv);
        slot->open = false;
    }
    free_buffers(slot);
    slot->busy = false;
    slot->failure = PENSTOCK_OK;
    slot->lap = (struct penstock__lap){.timed = 0};
}

/* What a batch lists for each frame or symbol, and what an OFDM batch has for all symbols of a frame. */
struct lists {
    const void *gather, *gains;
    size_t gather_bytes, gains_bytes;
};

static struct lists lists_of(const struct penstock_problem *problem, const struct penstock__batch *batch)
{
    const struct penstock_ofdm_tables *ofdm = batch->ofdm;
    if (batch->response)
        return (struct lists){.gains = batch->response,
                              .gains_bytes = penstock__filter_response(&problem->filter) * sizeof *batch->response};
    if (!ofdm)
        return (struct lists){.gather = batch->gather, .gather_bytes = batch->frames * sizeof *batch->gather};
    return (struct lists){.gather = ofdm->places,
                          .gains = ofdm->gains,
                          .gather_bytes = penstock__ofdm_places(ofdm, batch->frames) * sizeof *ofdm->places,
                          .gains_bytes =
                              ofdm->frame_count * penstock__ofdm_gains(&problem->ofdm) * sizeof *ofdm->gains};
}

static int send_in_place(struct penstock__binding *binding, struct penstock__slot *slot,
                         const struct penstock__batch *batch, struct penstock_job *job)
{
    struct penstock_device *device = binding->state.device;
    const struct penstock_problem *problem = binding->state.problem;
    struct lists lists = lists_of(problem, batch);
    int status;
    free_buffers(slot);
    if ((status = make_buffer(&slot->in, device, without_const(batch->in),
                              penstock__problem_in_bytes(problem, batch->samples))) ||
        (lists.gather &&
         (status = make_buffer(&slot->gather, device, without_const(lists.gather), lists.gather_bytes))) ||
        (lists.gains && (status = make_buffer(&slot->gains, device, without_const(lists.gains), lists.gains_bytes))) ||
        (status = make_buffer(&slot->out, device, batch->out, penstock__problem_out_bytes(problem, batch->frames))))
        return status;
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_UPLOADED);
    status = device->backend->enqueue(&slot->slot, &binding->state, job);
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_COMPUTED);
    return status;
}

int penstock__slot_upload(struct penstock__slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    struct penstock_device *device = slot->slot.device;
    int status = penstock__slot_buffer(buffer, device, bytes);
    return status ? status : device->backend->upload(&slot->slot, buffer, host, bytes);
}

/* Unless the slot has it from the batch before. */
static int upload_gains(struct penstock__slot *slot, const struct penstock__batch *batch, const struct lists *lists)
{
    int status;
    if (!lists->gains || (batch->gains_id && batch->gains_id == slot->gains_id))
        return PENSTOCK_OK;
    slot->gains_id = 0;
    if (!(status = penstock__slot_upload(slot, &slot->gains, lists->gains, lists->gains_bytes)))
        slot->gains_id = batch->gains_id;
    return status;
}

static int send_with_copies(struct penstock__binding *binding, struct penstock__slot *slot,
                            const struct penstock__batch *batch, struct penstock_job *job)
{
    struct penstock_device *device = binding->state.device;
    const struct penstock_backend *backend = device->backend;
    const struct penstock_problem *problem = binding->state.problem;
    struct lists lists = lists_of(problem, batch);
    size_t in_bytes = penstock__problem_in_bytes(problem, batch->samples);
    size_t out_bytes = penstock__problem_out_bytes(problem, batch->frames);
    int status;
    if ((status = penstock__slot_buffer(&slot->in, device, in_bytes)) ||
        (lists.gather && (status = penstock__slot_buffer(&slot->gather, device, lists.gather_bytes))) ||
        (lists.gains && (status = penstock__slot_buffer(&slot->gains, device, lists.gains_bytes))) ||
        (status = penstock__slot_buffer(&slot->out, device, out_bytes)))
        return status;
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_START);
    if ((lists.gather && (status = penstock__slot_upload(slot, &slot->gather, lists.gather, lists.gather_bytes))) ||
        (status = upload_gains(slot, batch, &lists)) ||
        (status = penstock__slot_upload(slot, &slot->in, batch->in, in_bytes)))
        return status;
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_UPLOADED);
    if ((status = backend->enqueue(&slot->slot, &binding->state, job)))
        return status;
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_COMPUTED);
    status = backend->download(&slot->slot, batch->out, &slot->out, out_bytes);
    penstock__clock_stamp(&slot->lap, &slot->slot, PENSTOCK__STAMP_DOWNLOADED);
    return status;
}

struct penstock_job penstock__slot_job(struct penstock__slot *slot, const struct penstock__batch *batch)
{
    bool listed = batch->ofdm ? batch->ofdm->places != NULL : batch->gather != NULL;
    return (struct penstock_job){.in = &slot->in,
                                 .gather = listed ? &slot->gather : NULL,
                                 .out = &slot->out,
                                 .frames = batch->frames,
                                 .samples = batch->samples,
                                 .gains = batch->ofdm || batch->response ? &slot->gains : NULL,
                                 .start = batch->ofdm ? batch->ofdm->start : (uint32_t)(batch->phase >> 32),
                                 .spacing = batch->ofdm ? batch->ofdm->spacing : (uint32_t)batch->phase,
                                 .narrow = batch->ofdm && batch->ofdm->narrow};
}

/* What was sent through a slot is over; a failure is kept for who waits for it. */
static void finish_slot(struct penstock__binding *binding, struct penstock__slot *slot)
{
    bool in_place = penstock__binding_in_host_memory(binding);
    int status;
    if (!slot->busy)
        return;
    if ((status = backend_of(binding)->wait(&slot->slot, slot->mark))) {
        snprintf(binding->failure_text, sizeof binding->failure_text, "%s", penstock_error_text());
        penstock__slot_close(slot);
        slot->failure = status;
    } else {
        penstock__clock_stop(&binding->clock, &slot->lap, &slot->slot, !in_place);
    }
    slot->busy = false;
    if (in_place)
        free_buffers(slot);
}

/* Whether a batch is one to be timed. Then nothing else is on its way any more. */
static bool begin_lap(struct penstock__binding *binding, const struct penstock__batch *batch)
{
    bool timed = batch->times && penstock__binding_has_clock(binding) && penstock__clock_due(&binding->clock);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS && timed; i++)
        finish_slot(binding, &binding->slots[i]);
    return timed;
}

int penstock__binding_submit(struct penstock__binding *binding, unsigned index, const struct penstock__batch *batch)
{
    struct penstock__slot *slot = &binding->slots[index];
    struct penstock_job job = penstock__slot_job(slot, batch);
    bool timed = begin_lap(binding, batch);
    int status = penstock__slot_open(slot, binding->state.device);
    if (status)
        return status;
    if (batch->times && penstock__binding_has_clock(binding))
        penstock__clock_start(&binding->clock, &slot->lap, batch->times, batch->frames, timed);
    status = penstock__binding_in_host_memory(binding) ? send_in_place(binding, slot, batch, &job)
                                                       : send_with_copies(binding, slot, batch, &job);
    if (!status)
        status = backend_of(binding)->mark(&slot->slot, &slot->mark);
    if (status)
        penstock__slot_close(slot);
    slot->busy = !status;
    return status;
}

int penstock__binding_wait(struct penstock__binding *binding, unsigned index)
{
    struct penstock__slot *slot = &binding->slots[index];
    finish_slot(binding, slot);
    int status = slot->failure;
    slot->failure = PENSTOCK_OK;
    return status ? penstock__error(status, "%s", binding->failure_text) : PENSTOCK_OK;
}

void penstock__binding_close(struct penstock__binding *binding)
{
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__slot_close(&binding->slots[i]);
}

size_t penstock__binding_piece(const struct penstock__binding *binding, size_t frames)
{
    const struct penstock_problem *problem = binding->state.problem;
    size_t average = problem->fft.average, best = binding->state.best_batch;
    size_t enough = PIECE_BYTES / (problem->in_bytes + problem->out_bytes / average + 1) + 1;
    if (penstock__binding_in_host_memory(binding) || problem->fft.gathered || problem->fft.format == PENSTOCK_PLANAR)
        return frames;
    if (enough < best)
        enough = best;
    enough = (enough + average - 1) / average * average;
    return enough < frames ? enough : frames;
}

/* ---------------------------------------------------------------- variants -------------------- */

static void free_plan(struct penstock__binding *binding)
{
    penstock__binding_close(binding);
    if (binding->planned)
        backend_of(binding)->plan_free(&binding->state);
    penstock__free(binding->state.priv);
    binding->state.priv = NULL;
    binding->planned = false;
}

/* Plans one variant. */
static int make_plan(struct penstock__binding *binding, unsigned variant)
{
    const struct penstock_backend *backend = backend_of(binding);
    binding->state = (struct penstock_plan_state){.device = binding->state.device, .problem = binding->state.problem};
    int status;
    binding->state.shape = variant || !*binding->shape ? NULL : binding->shape;
    if (backend->plan_bytes && !(binding->state.priv = penstock__calloc(1, backend->plan_bytes)))
        return PENSTOCK_ERR_MEMORY;
    penstock__rehearsal_begin(&binding->state, variant);
    status = backend->plan_init(&binding->state, variant);
    penstock__rehearsal_end();
    binding->planned = !status;
    if (status)
        free_plan(binding);
    return status;
}

/* Plans one variant and checks it. */
static int try_variant(struct penstock__binding *binding, unsigned variant)
{
    int status = make_plan(binding, variant);
    if (status)
        return status;
    if ((status = penstock__check(binding)))
        free_plan(binding);
    return status;
}

/* Down the ladder to the first variant that is right; one log line if it is not the fastest. The error is that of
 * the last variant that there was. */
static int climb_down(struct penstock__binding *binding)
{
    const struct penstock_device *device = binding->state.device;
    int status = try_variant(binding, 0), last;
    char text[512];
    for (unsigned variant = 1; status && variant < MAX_VARIANTS; variant++) {
        if (status == PENSTOCK_ERR_MEMORY || status == PENSTOCK_ERR_TIMEOUT ||
            (status == PENSTOCK_ERR_UNSUPPORTED && variant == 1))
            return status;
        last = status;
        snprintf(text, sizeof text, "%s", penstock_error_text());
        if ((status = try_variant(binding, variant)) == PENSTOCK_ERR_UNSUPPORTED)
            return penstock__error(last, "%s", text);
        if (!status)
            penstock__log(device->context, PENSTOCK_LOG_WARNING, "%s goes on with variant %u (%s), since: %s",
                          device->name, variant, binding->state.variant, text);
    }
    return status;
}

/* Without a plan. */
static int open_binding(struct penstock__binding **binding, struct penstock_device *device,
                        const struct penstock_problem *problem, unsigned slots)
{
    struct penstock__binding *new;
    int status;
    *binding = NULL;
    if ((status = penstock__device_open(device)))
        return status;
    if ((status = penstock__problem_rank(device, problem)) <= 0)
        return status ? status : penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not support that", device->name);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->state.device = device;
    new->state.problem = problem;
    new->slot_count = slots;
    *binding = new;
    return PENSTOCK_OK;
}

int penstock__binding_new_as(struct penstock__binding **binding, struct penstock_device *device,
                             const struct penstock_problem *problem, unsigned slots, unsigned variant,
                             const char *shape)
{
    int status = open_binding(binding, device, problem, slots);
    if (status)
        return status;
    snprintf((*binding)->shape, sizeof(*binding)->shape, "%s", shape);
    if ((status = make_plan(*binding, variant))) {
        penstock__binding_free(*binding);
        *binding = NULL;
    }
    return status;
}

int penstock__binding_new(struct penstock__binding **binding, struct penstock_device *device,
                          const struct penstock_problem *problem, unsigned slots)
{
    int status;
    if (penstock__tune(binding, device, problem, slots))
        return PENSTOCK_OK;
    if ((status = open_binding(binding, device, problem, slots)))
        return status;
    if ((status = climb_down(*binding))) {
        penstock__binding_free(*binding);
        *binding = NULL;
    }
    return status;
}

void penstock__binding_free(struct penstock__binding *binding)
{
    if (!binding)
        return;
    free_plan(binding);
    penstock__free(binding);
}
