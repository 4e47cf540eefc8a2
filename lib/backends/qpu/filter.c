/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Overlap-save on the QPUs: forward transforms, then reverse ones that multiply by the response while they load. */
#include "backends/qpu/qpu.h"

#include <string.h>

/* The kernels give integers a full scale of 1; the response is for whole numbers. */
static float full_scale(penstock_format format)
{
    return format == PENSTOCK_CS16 ? 32768.0f : format == PENSTOCK_CF32 ? 1.0f : 128.0f;
}

/* The samples lie where the results will: nobody reads them any more when those are written. */
static int make_plans(struct qpu_plan *p, unsigned qpus, const struct penstock_filter_problem *filter)
{
    struct qpu_fft_description forward = {.points = (uint32_t)filter->n,
                                          .batch = (uint32_t)p->batch,
                                          .qpus = qpus,
                                          .spacing = (uint32_t)filter->block,
                                          .scale = full_scale(filter->format),
                                          .elsewhere = true};
    struct qpu_fft_description reverse = {.points = (uint32_t)filter->n,
                                          .reverse = true,
                                          .batch = (uint32_t)p->batch,
                                          .qpus = qpus,
                                          .product = (const float *)(const void *)p->response};
    penstock__qpu_format(&forward.format, filter->format);
    if (qpu_fft_plan_new(&p->transforms, &forward) || qpu_fft_plan_new(&p->reverse, &reverse))
        return penstock__error(PENSTOCK_ERR_MEMORY, "no memory for a filter of %zu points", filter->n);
    return PENSTOCK_OK;
}

int penstock__qpu_filter_init(struct qpu_plan *p, struct qpu_device *device, const struct penstock_problem *problem)
{
    const struct penstock_filter_problem *filter = &problem->filter;
    int status = PENSTOCK_ERR_MEMORY;
    if (!(p->response = penstock__calloc(filter->n, sizeof *p->response)) ||
        (status = make_plans(p, qpu_device_qpus(device), filter)))
        goto fail;
    p->reverse_at = qpu_fft_plan_bytes(p->transforms);
    if (qpu_memory_alloc(device, &p->memory, p->reverse_at + qpu_fft_plan_bytes(p->reverse))) {
        status = penstock__error(PENSTOCK_ERR_DEVICE, "%s", qpu_device_error(device)); /* two plans may have room */
        goto fail;
    }
    qpu_fft_plan_place(p->transforms, p->memory.host, p->memory.bus);
    qpu_fft_plan_place(p->reverse, (char *)p->memory.host + p->reverse_at, p->memory.bus + (uint32_t)p->reverse_at);
    return PENSTOCK_OK;
fail:
    penstock__qpu_filter_free(p);
    return status;
}

void penstock__qpu_filter_free(struct qpu_plan *p)
{
    qpu_fft_plan_free(p->reverse);
    qpu_fft_plan_free(p->transforms);
    penstock__free(p->response);
}

static void set_response(struct qpu_plan *p, const penstock_cf32 *response, size_t n)
{
    bool same = true;
    for (size_t k = 0; k < n; k++) {
        const penstock_cf32 *value = response + penstock__filter_place(n, k);
        same = same && !memcmp(&p->response[k], value, sizeof *value);
        p->response[k] = *value;
    }
    if (!same)
        qpu_fft_plan_set_product(p->reverse, (char *)p->memory.host + p->reverse_at,
                                 (const float *)(const void *)p->response);
}

int penstock__qpu_filter_run(const struct penstock_plan_state *plan, const struct penstock_job *job, size_t first,
                             size_t count)
{
    const struct penstock_filter_problem *filter = &plan->problem->filter;
    struct qpu_plan *p = plan->priv;
    struct qpu_state *state = plan->device->priv;
    char *block = (char *)p->memory.host + p->reverse_at, *results = block + qpu_fft_plan_output(p->reverse);
    uint32_t bus = p->memory.bus + (uint32_t)p->reverse_at;
    size_t sample = penstock_format_bytes(filter->format), kept = filter->block * sizeof(penstock_cf32);
    int status;
    set_response(p, job->coefficients->host, filter->n);
    memcpy(results, (const char *)job->in->host + first * filter->block * sample,
           ((count - 1) * filter->block + filter->n) * sample);
    qpu_fft_plan_set_data(p->transforms, p->memory.host, p->memory.bus, (uint32_t)count,
                          bus + (uint32_t)qpu_fft_plan_output(p->reverse),
                          bus + (uint32_t)qpu_fft_plan_input(p->reverse));
    qpu_fft_plan_set_count(p->reverse, block, bus, (uint32_t)count);
    if ((status = penstock__qpu_launch(p, state, p->transforms, p->memory.bus)) ||
        (status = penstock__qpu_launch(p, state, p->reverse, bus)))
        return status;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)job->out->host + (first + i) * kept,
               results + (i * filter->n + filter->first) * sizeof(penstock_cf32), kept);
    return PENSTOCK_OK;
}
