/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The executor on the device that is asked for. */
#include "core/choice/cpu_while_compiling.h"
#include "core/device/devices.h"
#include "core/plan/chunk_queue.h"
#include "core/plan/problem.h"

static int executor_named(struct penstock__executor **executor, const struct penstock__chunk_queue *queue,
                          const char *name)
{
    struct penstock_device *device;
    int status = penstock__device_find(queue->context, name, &device);
    if (status || (status = penstock__device_open(device)) ||
        (status = penstock__problem_supported(device, queue->problem)) < 0)
        return status;
    return penstock__executor_new(executor, device, queue->problem, queue->slots);
}

/* The device that is wanted, and no other instead. */
static int bind(void **made, void *owner, const char *device)
{
    const struct penstock__chunk_queue *queue = owner;
    struct penstock__executor *executor = NULL;
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    if (!status)
        status = preference == PENSTOCK_DEVICE_AUTO
                     ? penstock__choose(&executor, queue->context, queue->problem, queue->slots, queue->in_flight)
                     : executor_named(&executor, queue, name);
    *made = executor;
    return status;
}

static void unbind(void *made)
{
    penstock__executor_free(made);
}

static const char *device_of(const void *made)
{
    return ((const struct penstock__executor *)made)->state.device->name;
}

int penstock__executor_begin(struct penstock__chunk_queue *queue, const char *device, bool cpu_while_compiling)
{
    static const struct penstock__maker waits = {.make = bind, .free = unbind, .device = device_of, .both_ways = true},
                                        overlaps = {.make = bind,
                                                    .free = unbind,
                                                    .device = device_of,
                                                    .both_ways = true,
                                                    .overlaps = true};
    enum penstock_preference preference;
    const char *name;
    void *made;
    int status = penstock__device_parse(&preference, &name, device);
    if (status)
        return status;
    queue->movable = preference != PENSTOCK_DEVICE_NAMED;
    status = penstock__make(&made, cpu_while_compiling ? &queue->build : NULL,
                            queue->in_flight > 1 ? &overlaps : &waits, queue, queue->context, device);
    queue->executor = made;
    return status;
}
