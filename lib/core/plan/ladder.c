/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The ladder of variants: down to the first one that is right. */
#include "core/base/process_exit.h"
#include "core/check/check.h"
#include "core/plan/executor.h"

#include <stdio.h>

#define MAX_VARIANTS 16

/* Plans one variant and checks it. */
static int try_variant(struct penstock__executor *executor, unsigned variant)
{
    int status = penstock__executor_plan(executor, variant);
    if (status)
        return status;
    if ((status = penstock__check(executor)))
        penstock__executor_unplan(executor);
    return status;
}

/* Down the ladder to the first variant that is right; one log line if it is not the fastest. The error is that of
 * the last variant that there was. */
static int climb_down(struct penstock__executor *executor)
{
    const struct penstock_device *device = executor->state.device;
    int status = try_variant(executor, 0), last;
    char text[512];
    for (unsigned variant = 1; status && variant < MAX_VARIANTS; variant++) {
        if (status == PENSTOCK_ERR_MEMORY || status == PENSTOCK_ERR_TIMEOUT ||
            (status == PENSTOCK_ERR_UNSUPPORTED && variant == 1))
            return status;
        last = status;
        snprintf(text, sizeof text, "%s", penstock_error_text());
        if ((status = try_variant(executor, variant)) == PENSTOCK_ERR_UNSUPPORTED)
            return penstock__error(last, "%s", text);
        if (!status)
            penstock__log(device->context, PENSTOCK_LOG_WARNING, "%s goes on with variant %u (%s), since: %s",
                          device->name, variant, executor->state.variant, text);
    }
    return status;
}

static int make(struct penstock__executor **executor, struct penstock_device *device,
                const struct penstock_problem *problem, unsigned slots)
{
    int status;
    if (penstock__tune(executor, device, problem, slots))
        return PENSTOCK_OK;
    if (!(status = penstock__executor_open(executor, device, problem, slots)) && (status = climb_down(*executor))) {
        penstock__executor_free(*executor);
        *executor = NULL;
    }
    return status;
}

int penstock__executor_climb_down(struct penstock__executor **executor, struct penstock_device *device,
                                  const struct penstock_problem *problem, unsigned slots)
{
    int status;
    penstock__exit_hold(); /* kernels are compiled, some when they run first */
    status = make(executor, device, problem, slots);
    penstock__exit_release();
    return status;
}
