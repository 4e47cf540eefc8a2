/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem bound to one device: one variant of its plan. */
#include "core/plan/executor.h"
#include "core/device/background.h"
#include "core/device/devices.h"
#include "core/plan/problem.h"
#include "probe/probe.h"

#include <stdio.h>

#define CHUNK_BYTES ((size_t)4 << 20) /* from here on a copy's fixed cost is small against its length */

static const struct penstock_backend *backend_of(const struct penstock__executor *executor)
{
    return executor->state.device->backend;
}

/* ---------------------------------------------------------------- life ------------------------ */

void penstock__executor_unplan(struct penstock__executor *executor)
{
    penstock__executor_close(executor);
    if (executor->planned)
        backend_of(executor)->plan_free(&executor->state);
    penstock__free(executor->state.priv);
    executor->state.priv = NULL;
    executor->planned = false;
}

int penstock__executor_plan(struct penstock__executor *executor, unsigned variant)
{
    const struct penstock_backend *backend = backend_of(executor);
    executor->state =
        (struct penstock_plan_state){.device = executor->state.device, .problem = executor->state.problem};
    int status;
    executor->state.launch_config = variant || !*executor->launch_config ? NULL : executor->launch_config;
    if (backend->plan_bytes && !(executor->state.priv = penstock__calloc(1, backend->plan_bytes)))
        return PENSTOCK_ERR_MEMORY;
    penstock__trial_begin(&executor->state, variant);
    status = backend->plan_init(&executor->state, variant);
    penstock__trial_end();
    executor->planned = !status;
    if (status)
        penstock__executor_unplan(executor);
    return status;
}

int penstock__executor_open(struct penstock__executor **executor, struct penstock_device *device,
                            const struct penstock_problem *problem, unsigned slots)
{
    struct penstock__executor *new;
    int status;
    *executor = NULL;
    if ((status = penstock__device_open(device)))
        return status;
    penstock__background_await_freed(device);
    if ((status = penstock__problem_rank(device, problem)) <= 0)
        return status ? status : penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not support that", device->name);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->state.device = device;
    new->state.problem = problem;
    new->slot_count = slots;
    *executor = new;
    return PENSTOCK_OK;
}

int penstock__executor_new_as(struct penstock__executor **executor, struct penstock_device *device,
                              const struct penstock_problem *problem, unsigned slots, unsigned variant,
                              const char *launch_config)
{
    int status = penstock__executor_open(executor, device, problem, slots);
    if (status)
        return status;
    snprintf((*executor)->launch_config, sizeof(*executor)->launch_config, "%s", launch_config);
    if ((status = penstock__executor_plan(*executor, variant))) {
        penstock__executor_free(*executor);
        *executor = NULL;
    }
    return status;
}

void penstock__executor_free(struct penstock__executor *executor)
{
    if (!executor)
        return;
    if (executor->group)
        executor->group_calls->free(executor->group);
    else
        penstock__executor_unplan(executor);
    penstock__free(executor);
}

/* ---------------------------------------------------------------- what is known --------------- */

struct penstock__executor *penstock__executor_on(struct penstock__executor *executor,
                                                 const struct penstock_device *device)
{
    if (executor->group)
        return executor->group_calls->on(executor->group, device);
    return executor->state.device == device ? executor : NULL;
}

bool penstock__executor_spares(const struct penstock__executor *executor)
{
    return executor->group && executor->group_calls->spares(executor->group);
}

size_t penstock__executor_chunk(const struct penstock__executor *executor, size_t frames)
{
    const struct penstock_problem *problem = executor->state.problem;
    size_t average = penstock__problem_average(problem), best = executor->state.best_batch;
    size_t enough = CHUNK_BYTES / (problem->in_bytes + problem->out_bytes / average + 1) + 1;
    if (penstock__executor_in_host_memory(executor) || problem->kind != PENSTOCK_PROBLEM_FFT || problem->fft.gathered ||
        problem->fft.format == PENSTOCK_PLANAR)
        return frames;
    if (enough < best)
        enough = best;
    enough = penstock__round_up(enough, average);
    return enough < frames ? enough : frames;
}
