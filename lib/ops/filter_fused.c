/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Blocks of a filter in one kernel of the device. */
#include "ops/filter_fused.h"

static bool fits(const struct penstock_device *device, const struct filter_shape *shape)
{
    return (device->backend->flags & PENSTOCK_BACKEND_FUSED) && !device->host_memory && !shape->real &&
           !shape->real_values && shape->interpolation == 1 && shape->decimation == 1 &&
           shape->format != PENSTOCK_PLANAR && shape->format != PENSTOCK_F32;
}

int penstock__filter_fused_init(struct filter_fused *fused, struct penstock_device *device,
                                const struct filter_shape *shape, size_t rows)
{
    int status;
    *fused = (struct filter_fused){0};
    if (!fits(device, shape))
        return PENSTOCK_OK;
    if (!(fused->response = penstock__alloc(shape->n * sizeof *fused->response)))
        return PENSTOCK_ERR_MEMORY;
    fused->problem = (struct penstock_problem){
        .kind = PENSTOCK_PROBLEM_FILTER,
        .in_bytes = penstock_format_bytes(shape->format),
        .out_bytes = shape->block * sizeof(penstock_cf32),
        .batch = rows,
        .filter = {shape->n, shape->format, shape->block, shape->first},
    };
    status = penstock__binding_new(&fused->binding, device, &fused->problem, 1);
    if (!status || status == PENSTOCK_ERR_MEMORY)
        return status;
    penstock__log(device->context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s filters by transforms alone: %s", device->name, penstock_error_text());
    return PENSTOCK_OK;
}

void penstock__filter_fused_free(struct filter_fused *fused)
{
    penstock__binding_free(fused->binding);
    penstock__free(fused->response);
    *fused = (struct filter_fused){0};
}

/* Integers are whole numbers to the kernel, and parts of full scale to the taps. */
static void fill_response(struct filter_fused *fused, const struct filter_taps *taps)
{
    penstock_format format = fused->problem.filter.format;
    float scale = format == PENSTOCK_CS16 ? 1.0f / 32768.0f : format == PENSTOCK_CF32 ? 1.0f : 1.0f / 128.0f;
    for (size_t k = 0; k < fused->problem.filter.n; k++)
        fused->response[k] = (penstock_cf32){scale * taps->spectrum[k].re, scale * taps->spectrum[k].im};
}

static size_t samples_of(const struct filter_fused *fused, size_t count)
{
    return (count - 1) * fused->problem.filter.block + fused->problem.filter.n;
}

int penstock__filter_fused_run(struct filter_fused *fused, const struct filter_taps *taps, const void *in, size_t count,
                               penstock_cf32 *out)
{
    struct penstock__batch batch = {
        .in = in, .response = fused->response, .out = out, .frames = count, .samples = samples_of(fused, count)};
    int status;
    fill_response(fused, taps);
    if (!(status = penstock__binding_submit(fused->binding, 0, &batch)) &&
        !(status = penstock__binding_wait(fused->binding, 0)))
        return PENSTOCK_OK;
    penstock__log(fused->binding->state.device->context, PENSTOCK_LOG_WARNING,
                  "%s goes on filtering by transforms alone, since: %s", fused->binding->state.device->name,
                  penstock_error_text());
    penstock__binding_free(fused->binding);
    fused->binding = NULL;
    return status;
}

int penstock__filter_fused_resident(penstock_resident **resident, struct filter_fused *fused,
                                    const struct filter_taps *taps, const void *in, size_t in_bytes, size_t count)
{
    struct penstock__resident_work work = {
        .in = in,
        .in_bytes = in_bytes,
        .batch = {.response = fused->response, .frames = count, .samples = samples_of(fused, count)}};
    *resident = NULL;
    if (!fused->binding)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not filter in one kernel");
    fill_response(fused, taps);
    return penstock__resident_new(resident, fused->binding, &work, false);
}
