/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Demodulation to soft bits with the samples on the device, where one kernel does it all. */
#include "core/device/buffer.h"
#include "core/device/device_group.h"
#include "ops/ofdm/ofdm_check.h"
#include "ops/ofdm/ofdm_demodulator.h"

/* What is on the queue's device; NULL where that is none of the demodulator's, and before anything is. */
static struct ofdm_there *there_on(const struct ofdm_fused *fused, const penstock_queue *queue)
{
    const unsigned index = penstock__device_index(fused->device, queue->slot.device);
    return fused->there && index < penstock__device_members(fused->device) ? &fused->there[index] : NULL;
}

/* Into buffers of its own: those of the frame before may be in use. */
static int send_frame(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_frame *frame,
                      size_t skip, size_t length, penstock_queue *queue)
{
    const penstock_ofdm_batch batch = {.frames = frame, .frame_count = 1};
    const penstock_ofdm_result soft = {.soft = (int8_t *)(uintptr_t)frame}; /* soft bits alone are wanted */
    const penstock_ofdm_symbol first = {.start = 0};
    struct penstock_ofdm_descriptor descriptors[2];
    struct ofdm_there *there = there_on(fused, queue);
    int status = penstock__ofdm_fused_begin(fused, grid, &batch, &soft, 0);
    penstock__ofdm_there_free(there);
    if (status <= 0 || fused->chosen != &fused->kernels[OFDM_SOFT])
        return status < 0 ? status
                          : penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                            "the device does not demodulate such a frame in one kernel");
    struct penstock_ofdm_tables tables =
        penstock__ofdm_even_tables(fused, grid, frame, &first, skip, (uint32_t)length, descriptors);
    if (!tables.descriptors)
        tables.start = (uint32_t)skip;
    descriptors[0].start = (uint32_t)skip;
    size_t bytes = penstock__ofdm_coefficients(&fused->chosen->problem.ofdm) * sizeof *tables.coefficients;
    status = penstock__buffer_holding(&there->coefficients, tables.coefficients, bytes, queue);
    if (!status && tables.descriptors)
        status = penstock__buffer_holding(&there->descriptors, tables.descriptors, sizeof descriptors, queue);
    there->tables = tables;
    if (status)
        penstock__ofdm_there_free(there);
    return status;
}

static int check_symbols(const struct penstock_problem *problem, size_t symbols, size_t length)
{
    if (symbols > PTRDIFF_MAX / (length * problem->in_bytes + problem->out_bytes))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%zu symbols are more than memory can hold", symbols);
    return PENSTOCK_OK;
}

int penstock__ofdm_fused_enqueue(struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                 const penstock_ofdm_frame *frame, const penstock_buffer *in, penstock_buffer *out,
                                 size_t symbols, size_t skip, size_t length, penstock_queue *queue)
{
    struct ofdm_kernel *kernel = &fused->kernels[OFDM_SOFT];
    struct penstock_job job = {.frames = symbols, .samples = (symbols - 1) * length + skip + grid->n};
    int status;
    if (!kernel->executor)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not demodulate in one kernel");
    if ((status = check_symbols(&kernel->problem, symbols, length)) ||
        (status = penstock__job_place(&job, kernel->executor, in, out, queue)))
        return status;
    if (!fused->there &&
        !(fused->there = penstock__calloc(penstock__device_members(fused->device), sizeof *fused->there)))
        return PENSTOCK_ERR_MEMORY;
    if (frame && (status = send_frame(fused, grid, frame, skip, length, queue)))
        return status;
    const struct ofdm_there *there = there_on(fused, queue);
    if (!there->coefficients)
        return penstock__error(PENSTOCK_ERR_STATE, "no frame was given on %s before; the symbols' first call needs one",
                               queue->slot.device->name);
    job.coefficients = there->coefficients;
    job.gather = there->descriptors;
    job.start = there->tables.start;
    job.spacing = there->tables.spacing;
    job.narrow = there->tables.narrow;
    return penstock__enqueue(penstock__executor_on(kernel->executor, queue->slot.device), &job, queue);
}

/* Symbols follow from the first one, and so have its row of pilots. */
static bool lists(const penstock_ofdm *ofdm)
{
    return ofdm->grid.pilots.count && ofdm->grid.tracking == PENSTOCK_TRACK_PILOTS && ofdm->grid.pilot_rows > 1;
}

static int check_kind(const penstock_ofdm *ofdm)
{
    return ofdm->convert || lists(ofdm)
               ? penstock__error(PENSTOCK_ERR_UNSUPPORTED, "neither pilots of several rows nor this format are "
                                                           "demodulated with the samples on the device")
               : PENSTOCK_OK;
}

const struct penstock__executor *penstock__ofdm_enqueuing(const penstock_ofdm *ofdm)
{
    const bool able = !ofdm->build && ofdm->fused && !ofdm->convert && !lists(ofdm);
    return able ? ofdm->fused->kernels[OFDM_SOFT].executor : NULL;
}

int penstock__ofdm_enqueues(penstock_ofdm *ofdm)
{
    penstock__ofdm_collect(ofdm);
    int status = check_kind(ofdm);
    return status || penstock__ofdm_enqueuing(ofdm)
               ? status
               : penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not demodulate in one kernel");
}

int penstock__ofdm_enqueue_more(penstock_ofdm *ofdm, const penstock_ofdm_frame *frame, const penstock_buffer *in,
                                penstock_buffer *out, size_t symbols, penstock_queue *queue)
{
    const struct ofdm_there *there = there_on(ofdm->fused, queue);
    return penstock_ofdm_enqueue(ofdm, there && there->coefficients ? NULL : frame, in, out, symbols, queue);
}

int penstock_ofdm_enqueue(penstock_ofdm *ofdm, const penstock_ofdm_frame *frame, const penstock_buffer *in,
                          penstock_buffer *out, size_t symbols, penstock_queue *queue)
{
    const penstock_ofdm_batch batch = {.frames = frame, .frame_count = 1};
    int status;
    if (!ofdm)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ofdm_enqueue: ofdm is NULL");
    if (frame && (status = penstock__ofdm_check_frames(&ofdm->grid, &batch)))
        return status;
    penstock__ofdm_collect(ofdm);
    if ((status = check_kind(ofdm)))
        return status;
    if (!symbols)
        return PENSTOCK_OK;
    return penstock__ofdm_fused_enqueue(ofdm->fused, &ofdm->grid, frame, in, out, symbols, ofdm->skip, ofdm->length,
                                        queue);
}
