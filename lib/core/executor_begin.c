/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The executor on the device that is asked for. */
#include "core/executor_begin.h"
#include "core/choose.h"
#include "core/devices.h"
#include "core/meanwhile.h"
#include "core/problem.h"

static int executor_named(struct penstock__executor **executor, const struct penstock__flight *flight, const char *name)
{
    struct penstock_device *device;
    int status = penstock__device_find(flight->context, name, &device);
    if (status || (status = penstock__device_open(device)) ||
        (status = penstock__problem_supported(device, flight->problem)) < 0)
        return status;
    return penstock__executor_new(executor, device, flight->problem, flight->slots);
}

/* The device that is wanted, and no other instead. */
static int bind(void **made, void *owner, const char *device)
{
    const struct penstock__flight *flight = owner;
    struct penstock__executor *executor = NULL;
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    if (!status)
        status = preference == PENSTOCK_DEVICE_AUTO
                     ? penstock__choose(&executor, flight->context, flight->problem, flight->slots, flight->in_flight)
                     : executor_named(&executor, flight, name);
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

int penstock__executor_begin(struct penstock__flight *flight, const char *device, bool meanwhile)
{
    static const struct penstock__maker maker = {.make = bind, .free = unbind, .device = device_of};
    enum penstock_preference preference;
    const char *name;
    void *made;
    int status = penstock__device_parse(&preference, &name, device);
    if (status)
        return status;
    flight->movable = preference != PENSTOCK_DEVICE_NAMED;
    status = penstock__make(&made, meanwhile ? &flight->arrival : NULL, &maker, flight, flight->context, device);
    flight->executor = made;
    return status;
}
