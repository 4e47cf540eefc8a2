/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A flight's binding to the device that is asked for. */
#include "core/bind.h"
#include "core/choose.h"
#include "core/devices.h"
#include "core/meanwhile.h"
#include "core/problem.h"

static int bind_named(struct penstock__binding **binding, const struct penstock__flight *flight, const char *name)
{
    struct penstock_device *device;
    int status = penstock__device_find(flight->context, name, &device);
    if (status || (status = penstock__device_open(device)) ||
        (status = penstock__problem_supported(device, flight->problem)) < 0)
        return status;
    return penstock__binding_new(binding, device, flight->problem, flight->slots);
}

/* The device that is wanted, and no other instead. */
static int bind(void **made, void *owner, const char *device)
{
    const struct penstock__flight *flight = owner;
    struct penstock__binding *binding = NULL;
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    if (!status)
        status = preference == PENSTOCK_DEVICE_AUTO
                     ? penstock__choose(&binding, flight->context, flight->problem, flight->slots, flight->in_flight)
                     : bind_named(&binding, flight, name);
    *made = binding;
    return status;
}

static void unbind(void *made)
{
    penstock__binding_free(made);
}

static const char *device_of(const void *made)
{
    return ((const struct penstock__binding *)made)->state.device->name;
}

int penstock__bind(struct penstock__flight *flight, const char *device, bool meanwhile)
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
    flight->binding = made;
    return status;
}
