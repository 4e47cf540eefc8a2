/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a plan: executors of it are timed. */
#include "core/choose.h"
#include "core/choice.h"
#include "core/measure.h"

struct wanted {
    const struct penstock_problem *problem;
    unsigned slots, in_flight;
    struct penstock__executor *timed, *best;
};

static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    const struct wanted *wanted = owner;
    (void)list;
    penstock__question_add(question, "%u slots, %u in flight: ", wanted->slots, wanted->in_flight);
    penstock__question_add_problem(question, wanted->problem);
}

static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    struct wanted *wanted = owner;
    int status = penstock__executor_new(&wanted->timed, device, wanted->problem, wanted->slots);
    if (!status && (status = penstock__measure(seconds, wanted->timed, wanted->in_flight))) {
        penstock__executor_free(wanted->timed);
        wanted->timed = NULL;
    }
    return status;
}

static void keep(void *owner, bool fastest)
{
    struct wanted *wanted = owner;
    penstock__executor_free(fastest ? wanted->best : wanted->timed);
    wanted->best = fastest ? wanted->timed : wanted->best;
    wanted->timed = NULL;
}

static int take(void *owner, struct penstock_device *device)
{
    struct wanted *wanted = owner;
    return penstock__executor_new(&wanted->best, device, wanted->problem, wanted->slots);
}

int penstock__choose(struct penstock__executor **executor, penstock_context *context,
                     const struct penstock_problem *problem, unsigned slots, unsigned in_flight)
{
    struct wanted wanted = {.problem = problem, .slots = slots, .in_flight = in_flight};
    struct penstock_device *device;
    int status = penstock__choice_make(&device, &(struct penstock__choice){.context = context,
                                                                           .problem = problem,
                                                                           .kind = "choice",
                                                                           .unit = "frame",
                                                                           .owner = &wanted,
                                                                           .ask = ask,
                                                                           .time = time_on,
                                                                           .keep = keep,
                                                                           .take = take});
    if (status)
        penstock__executor_free(wanted.best);
    *executor = status ? NULL : wanted.best;
    return status;
}
