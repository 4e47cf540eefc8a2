/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A slot of a binding's device with buffers that stay, and the device's clock around what is enqueued. */
#include "core/resident.h"
#include "core/context.h"
#include "core/meter.h"
#include "core/plan.h"
#include "core/problem.h"

#define PIECE          16 /* of the device's copies */
#define TRANSFER_BYTES ((size_t)8 << 20)

struct penstock_resident {
    struct penstock__binding *binding;
    struct penstock__slot slot;
    struct penstock_job job;
    size_t in_bytes, out_bytes;
};

static const struct penstock_backend *backend_of(const struct penstock_resident *resident)
{
    return resident->binding->state.device->backend;
}

static int supported(const struct penstock__binding *binding, bool on_host)
{
    const struct penstock_device *device = binding->state.device;
    if (!device->backend->copy)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no clock of its own", device->name);
    if (!on_host && penstock__binding_in_host_memory(binding))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s computes in the host's memory", device->name);
    if (binding->state.problem->kind == PENSTOCK_PROBLEM_FFT && binding->state.problem->fft.format == PENSTOCK_PLANAR)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "planar samples cannot be repeated on a device");
    return PENSTOCK_OK;
}

static int wait_for_all(struct penstock_resident *resident)
{
    uint64_t mark;
    int status = backend_of(resident)->mark(&resident->slot.slot, &mark);
    return status ? status : backend_of(resident)->wait(&resident->slot.slot, mark);
}

static size_t round_up(size_t bytes)
{
    return (bytes + PIECE - 1) / PIECE * PIECE;
}

/* The first piece comes from the host, the device doubles it until the buffer is full. */
static int fill_input(struct penstock_resident *resident, const void *in, size_t bytes)
{
    const struct penstock_backend *backend = backend_of(resident);
    struct penstock__slot *slot = &resident->slot;
    size_t whole = round_up(resident->in_bytes), have = bytes < whole ? bytes : whole;
    int status = backend->upload(&slot->slot, &slot->in, in, have);
    while (!status && have < whole) {
        size_t more = have < whole - have ? have : whole - have;
        struct penstock_device_copy copy = {.to = &slot->in, .from = &slot->in, .to_at = have, .bytes = more};
        status = backend->copy(&slot->slot, &copy);
        have += more;
    }
    return status;
}

static int fill(struct penstock_resident *resident, const struct penstock__resident_work *work)
{
    struct penstock__slot *slot = &resident->slot;
    struct penstock_device *device = resident->binding->state.device;
    size_t whole = round_up(resident->in_bytes), out = round_up(resident->out_bytes);
    int status;
    if ((status = penstock__slot_open(slot, device)) || (status = penstock__slot_buffer(&slot->in, device, whole)) ||
        (status = penstock__slot_buffer(&slot->out, device, out > whole ? out : whole)) ||
        (status = fill_input(resident, work->in, work->in_bytes)))
        return status;
    if (work->batch.response &&
        (status = penstock__slot_upload(slot, &slot->gains, work->batch.response,
                                        penstock__filter_response(&resident->binding->state.problem->filter) *
                                            sizeof *work->batch.response)))
        return status;
    const struct penstock_ofdm_tables *ofdm = work->batch.ofdm;
    if (ofdm &&
        (status = penstock__slot_upload(
             slot, &slot->gains, ofdm->gains,
             ofdm->frame_count * penstock__ofdm_gains(&resident->binding->state.problem->ofdm) * sizeof *ofdm->gains)))
        return status;
    if (ofdm && ofdm->places &&
        (status = penstock__slot_upload(slot, &slot->gather, ofdm->places,
                                        penstock__ofdm_places(ofdm, work->batch.frames) * sizeof *ofdm->places)))
        return status;
    resident->job = penstock__slot_job(slot, &work->batch);
    return wait_for_all(resident);
}

int penstock__resident_new(penstock_resident **resident, struct penstock__binding *binding,
                           const struct penstock__resident_work *work, bool on_host)
{
    const struct penstock_problem *problem = binding->state.problem;
    struct penstock_resident *new;
    int status = supported(binding, on_host);
    *resident = NULL;
    if (status)
        return status;
    if (!work->in || !work->in_bytes || work->in_bytes % PIECE || !work->batch.frames)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a resident's input needs a multiple of %d bytes, and frames",
                               PIECE);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->binding = binding;
    new->in_bytes = penstock__problem_in_bytes(problem, work->batch.samples);
    new->out_bytes = penstock__problem_out_bytes(problem, work->batch.frames);
    if ((status = fill(new, work))) {
        penstock_resident_free(new);
        return status;
    }
    *resident = new;
    return PENSTOCK_OK;
}

void penstock__resident_use(penstock_resident *resident, struct penstock__binding *binding)
{
    resident->binding = binding;
}

int penstock_resident_new(penstock_resident **resident, const penstock_plan *plan, const void *in, size_t in_bytes,
                          size_t frames)
{
    struct penstock__resident_work work = {.in = in, .in_bytes = in_bytes, .batch.frames = frames};
    const struct penstock_problem *problem;
    int status;
    if (!resident || !plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_resident_new: resident or plan is NULL");
    *resident = NULL;
    problem = penstock__plan_problem(plan);
    if (penstock__problem_gathered(problem) || !frames || frames % penstock__problem_average(problem))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%zu frames of this plan cannot be resident", frames);
    if ((status = penstock__problem_check_frames(problem, frames)))
        return status;
    work.batch.samples = penstock__problem_samples(problem, frames);
    return penstock__resident_new(resident, penstock__plan_binding(plan), &work, false);
}

void penstock_resident_free(penstock_resident *resident)
{
    if (!resident)
        return;
    penstock__slot_close(&resident->slot);
    penstock__free(resident);
}

/* Work between two notes of the time. */
static int timed(struct penstock_resident *resident, unsigned repeats, const struct penstock_device_copy *copy,
                 double *seconds)
{
    const struct penstock_backend *backend = backend_of(resident);
    struct penstock__slot *slot = &resident->slot;
    int status = backend->stamp(&slot->slot, 0);
    for (unsigned i = 0; i < repeats && !status; i++)
        status = copy ? backend->copy(&slot->slot, copy)
                      : backend->enqueue(&slot->slot, &resident->binding->state, &resident->job);
    if (status || (status = backend->stamp(&slot->slot, 1)) || (status = wait_for_all(resident)) ||
        (status = backend->elapsed(&slot->slot, 0, 1, seconds)))
        return status;
    *seconds /= repeats;
    return PENSTOCK_OK;
}

int penstock_resident_run(penstock_resident *resident, unsigned repeats, double *seconds)
{
    if (!resident || !repeats || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_resident_run: no object, repeats or place for seconds");
    return timed(resident, repeats, NULL, seconds);
}

int penstock_resident_copy(penstock_resident *resident, bool by_kernel, size_t *bytes, double *seconds)
{
    if (!resident || !bytes || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_resident_copy: an argument is NULL");
    struct penstock_device_copy copy = {.to = &resident->slot.out,
                                        .from = &resident->slot.in,
                                        .bytes = round_up(resident->in_bytes),
                                        .way = by_kernel ? PENSTOCK_COPY_KERNEL : PENSTOCK_COPY_OWN};
    *bytes = copy.bytes;
    return timed(resident, 1, &copy, seconds);
}

/* ---------------------------------------------------------------- the bus --------------------- */

/* One direction: a slot of its own, and host memory for a piece. */
struct lane {
    struct penstock__slot slot;
    void *host;
    size_t bytes, left;
};

static int open_lane(struct lane *lane, const struct penstock_resident *resident, size_t bytes)
{
    struct penstock_device *device = resident->binding->state.device;
    lane->left = bytes;
    lane->bytes = bytes < TRANSFER_BYTES ? bytes : TRANSFER_BYTES;
    int status = penstock__host_block_new(&lane->host, device->context, device, lane->bytes);
    return status ? status : penstock__slot_open(&lane->slot, device);
}

/* Both directions at once: all pieces are queued, in turns. */
static int copy_lanes(struct penstock_resident *resident, struct lane *up, struct lane *down)
{
    const struct penstock_backend *backend = backend_of(resident);
    uint64_t marks[2];
    int status = PENSTOCK_OK;
    while ((up->left || down->left) && !status) {
        size_t in = up->left < up->bytes ? up->left : up->bytes,
               out = down->left < down->bytes ? down->left : down->bytes;
        if (in)
            status = backend->upload(&up->slot.slot, &resident->slot.in, up->host, in);
        if (out && !status)
            status = backend->download(&down->slot.slot, down->host, &resident->slot.out, out);
        up->left -= in;
        down->left -= out;
    }
    if (status || (status = backend->mark(&up->slot.slot, &marks[0])) ||
        (status = backend->mark(&down->slot.slot, &marks[1])) || (status = backend->wait(&up->slot.slot, marks[0])))
        return status;
    return backend->wait(&down->slot.slot, marks[1]);
}

int penstock_resident_transfer(penstock_resident *resident, double *seconds)
{
    struct lane up = {.left = 0}, down = {.left = 0};
    int status;
    if (!resident || !seconds)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_resident_transfer: an argument is NULL");
    penstock_context *context = resident->binding->state.device->context;
    if (!(status = open_lane(&up, resident, resident->in_bytes)) &&
        !(status = open_lane(&down, resident, resident->out_bytes)) &&
        !(status = backend_of(resident)->download(&up.slot.slot, up.host, &resident->slot.in, up.bytes))) {
        uint64_t mark;
        if (!(status = backend_of(resident)->mark(&up.slot.slot, &mark)))
            status = backend_of(resident)->wait(&up.slot.slot, mark);
        double start = penstock__now_s();
        if (!status)
            status = copy_lanes(resident, &up, &down);
        *seconds = penstock__now_s() - start;
    }
    penstock__slot_close(&up.slot);
    penstock__slot_close(&down.slot);
    penstock_host_memory_free(context, up.host);
    penstock_host_memory_free(context, down.host);
    return status;
}

int penstock_resident_read(penstock_resident *resident, void *out, size_t bytes)
{
    if (!resident || !out || !bytes || bytes > resident->out_bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_resident_read: not within the output");
    struct penstock__slot *slot = &resident->slot;
    int status = backend_of(resident)->download(&slot->slot, out, &slot->out, bytes);
    return status ? status : wait_for_all(resident);
}

size_t penstock_resident_bytes(const penstock_resident *resident)
{
    return resident ? resident->in_bytes + resident->out_bytes : 0;
}
