/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The reference backend's table: one device, ordinary memory, work done within enqueue. */
#include "backends/reference/reference.h"

#include <stdio.h>

static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    (void)context;
    reason[0] = 0;
    *count = capacity ? 1 : 0;
    if (!capacity)
        return PENSTOCK_OK;
    snprintf(rows->product, sizeof rows->product, "liquid-dsp on one thread");
    snprintf(rows->driver, sizeof rows->driver, "liquid-dsp %s", liquid_libversion());
    rows->compute_units = 1;
    return PENSTOCK_OK;
}

static int open_device(struct penstock_device *device)
{
    (void)device;
    return PENSTOCK_OK;
}

static void close_device(struct penstock_device *device)
{
    (void)device;
}

static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    int status;
    (void)device;
    if (problem->kind == PENSTOCK_PROBLEM_VITERBI || problem->kind == PENSTOCK_PROBLEM_LDPC ||
        problem->kind == PENSTOCK_PROBLEM_RESAMPLE)
        return 1;
    if (problem->kind != PENSTOCK_PROBLEM_FFT)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "reference: problem kind %d is not known", (int)problem->kind);
    status = penstock__reference_supports(&problem->fft);
    return status ? status : 1;
}

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    return plan->problem->kind == PENSTOCK_PROBLEM_VITERBI    ? penstock__reference_viterbi_init(plan, variant)
           : plan->problem->kind == PENSTOCK_PROBLEM_LDPC     ? penstock__reference_ldpc_init(plan, variant)
           : plan->problem->kind == PENSTOCK_PROBLEM_RESAMPLE ? penstock__reference_resample_init(plan, variant)
                                                              : penstock__reference_plan_init(plan, variant);
}

static void plan_free(struct penstock_plan_state *plan)
{
    if (plan->problem->kind == PENSTOCK_PROBLEM_FFT)
        penstock__reference_plan_free(plan);
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    return plan->problem->kind == PENSTOCK_PROBLEM_VITERBI    ? penstock__reference_viterbi_enqueue(plan, job)
           : plan->problem->kind == PENSTOCK_PROBLEM_LDPC     ? penstock__reference_ldpc_enqueue(plan, job)
           : plan->problem->kind == PENSTOCK_PROBLEM_RESAMPLE ? penstock__reference_resample_enqueue(plan, job)
                                                              : penstock__reference_enqueue(slot, plan, job);
}

const struct penstock_backend penstock__reference_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "reference",
    .licence = "GPL-2.0-or-later", /* liquid-dsp is under MIT, but Debian links it with FFTW */
    .flags = PENSTOCK_BACKEND_HOST_MEMORY | PENSTOCK_BACKEND_NOT_AUTOMATIC | PENSTOCK_BACKEND_PLANES |
             PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC | PENSTOCK_BACKEND_UNROUNDED | PENSTOCK_BACKEND_RESAMPLE |
             PENSTOCK_BACKEND_FORKS,
    .error_factor = 6,
    .single = true,
    .slot_bytes = sizeof(struct penstock_host_slot),
    .plan_bytes = sizeof(struct reference_plan),
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .buffer_alloc = penstock__host_buffer_alloc,
    .buffer_wrap = penstock__host_buffer_wrap,
    .buffer_free = penstock__host_buffer_free,
    .supports = supports,
    .plan_init = plan_init,
    .plan_free = plan_free,
    .slot_init = penstock__host_slot_init,
    .slot_free = penstock__host_slot_free,
    .upload = penstock__host_upload,
    .enqueue = enqueue,
    .download = penstock__host_download,
    .mark = penstock__host_mark,
    .wait = penstock__host_wait,
};
