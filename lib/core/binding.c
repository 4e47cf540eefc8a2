/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A problem bound to one device: the ladder of variants. */
#include "core/binding.h"
#include "core/check.h"
#include "core/devices.h"
#include "core/problem.h"
#include "core/tune.h"
#include "probe/probe.h"

#include <stdio.h>

#define MAX_VARIANTS 16
#define PIECE_BYTES  ((size_t)4 << 20) /* from here on a copy's fixed cost is small against its length */

static const struct penstock_backend *backend_of(const struct penstock__binding *binding)
{
    return binding->state.device->backend;
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
    penstock__trial_begin(&binding->state, variant);
    status = backend->plan_init(&binding->state, variant);
    penstock__trial_end();
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

/* ---------------------------------------------------------------- what is known --------------- */

bool penstock__binding_in_host_memory(const struct penstock__binding *binding)
{
    return binding->state.device->host_memory || (backend_of(binding)->flags & PENSTOCK_BACKEND_HOST_MEMORY);
}

size_t penstock__binding_piece(const struct penstock__binding *binding, size_t frames)
{
    const struct penstock_problem *problem = binding->state.problem;
    size_t average = penstock__problem_average(problem), best = binding->state.best_batch;
    size_t enough = PIECE_BYTES / (problem->in_bytes + problem->out_bytes / average + 1) + 1;
    if (penstock__binding_in_host_memory(binding) || problem->kind != PENSTOCK_PROBLEM_FFT || problem->fft.gathered ||
        problem->fft.format == PENSTOCK_PLANAR)
        return frames;
    if (enough < best)
        enough = best;
    enough = (enough + average - 1) / average * average;
    return enough < frames ? enough : frames;
}
