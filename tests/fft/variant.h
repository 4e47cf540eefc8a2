/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * One variant of a backend, driven through the contract: for tests that want a certain variant, or a plan without the
 * core's self-check.
 */
#ifndef PENSTOCK_TEST_VARIANT_H
#define PENSTOCK_TEST_VARIANT_H

#include "core/device/devices.h"

#include <stdint.h>

struct variant {
    const struct penstock_backend *backend;
    struct penstock_problem problem;
    struct penstock_plan_state plan;
    struct penstock_slot slot;
};

static inline void variant_free(struct variant *v)
{
    if (v->slot.device)
        v->backend->slot_free(&v->slot);
    if (v->plan.problem)
        v->backend->plan_free(&v->plan);
    penstock__free(v->slot.priv);
    penstock__free(v->plan.priv);
    *v = (struct variant){0};
}

/* For a device that shares host memory. On failure there is nothing to free. */
static inline int variant_new(struct variant *v, penstock_context *context, const char *name,
                              const struct penstock_problem *problem, unsigned number)
{
    struct penstock_device *device;
    int status;
    *v = (struct variant){.problem = *problem};
    if ((status = penstock__device_find(context, name, &device)) || (status = penstock__device_open(device)))
        return status;
    if ((status = device->backend->supports(device, &v->problem)) < 0)
        return status;
    v->backend = device->backend;
    v->plan.priv = penstock__calloc(1, v->backend->plan_bytes);
    v->slot.priv = penstock__calloc(1, v->backend->slot_bytes);
    v->plan.device = device;
    v->plan.problem = &v->problem;
    if (!v->plan.priv || !v->slot.priv)
        status = PENSTOCK_ERR_MEMORY;
    else
        status = v->backend->plan_init(&v->plan, number);
    if (status) {
        v->plan.problem = NULL;
        variant_free(v);
        return status;
    }
    v->slot.device = device;
    if ((status = v->backend->slot_init(&v->slot))) {
        v->slot.device = NULL;
        variant_free(v);
    }
    return status;
}

static inline int variant_run(struct variant *v, const void *in, size_t samples, const struct penstock_gather *gather,
                              void *out, size_t frames)
{
    struct penstock_device *device = v->plan.device;
    struct penstock_buffer buffers[3] = {
        {.device = device, .wrapped = true}, {.device = device, .wrapped = true}, {.device = device, .wrapped = true}};
    struct penstock_job job = {.in = &buffers[0],
                               .gather = gather ? &buffers[1] : NULL,
                               .out = &buffers[2],
                               .frames = frames,
                               .samples = samples};
    buffers[0].bytes = samples * penstock_format_bytes(v->problem.fft.format);
    buffers[1].bytes = frames * sizeof *gather;
    buffers[2].bytes = frames / v->problem.fft.average * v->problem.out_bytes;
    buffers[0].host = (void *)(uintptr_t)in;
    buffers[1].host = (void *)(uintptr_t)gather;
    buffers[2].host = out;
    return v->backend->enqueue(&v->slot, &v->plan, &job);
}

/* A problem as penstock_fft_plan() would make it. */
static inline struct penstock_problem variant_problem(struct penstock_fft_problem fft)
{
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT, .batch = 1};
    if (!fft.spacing)
        fft.spacing = fft.skip + penstock__fft_in_count(&fft);
    if (fft.scale == 0)
        fft.scale = 1;
    if (!fft.average)
        fft.average = 1;
    problem.fft = fft;
    problem.in_bytes = (fft.gathered ? 1 : fft.spacing) * penstock_format_bytes(fft.format);
    problem.out_bytes = penstock__fft_out_count(&fft) * penstock__fft_out_item(&fft);
    return problem;
}

#endif
