/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device that is asked for, the CPU where it fails, or the CPU until it is ready. */
#include "core/bind.h"
#include "core/arrival.h"
#include "core/choose.h"
#include "core/devices.h"

#include <string.h>

#define READY_S 0.05 /* kernels from the cache do not take so long */

/* Options are for GPUs: the CPU goes without. */
static int bind_cpu(struct penstock__flight *flight)
{
    struct penstock_device *device;
    int status = penstock__device_find(flight->context, "cpu", &device);
    return status ? status : penstock__binding_new(&flight->binding, device, flight->problem, flight->slots);
}

/* After the failure of a device that is not "auto"'s, which has tried the CPU too. */
static int instead(struct penstock__flight *flight, const struct penstock__wanted *wanted, int status)
{
    if (wanted->preference != PENSTOCK_DEVICE_PREFERRED)
        return status;
    penstock__log(flight->context, PENSTOCK_LOG_WARNING, "%s is preferred, the CPU is used: %s", wanted->name,
                  penstock_error_text());
    return bind_cpu(flight);
}

static int bind_now(struct penstock__flight *flight, const struct penstock__wanted *wanted)
{
    int status = penstock__wanted_bind(&flight->binding, wanted, NULL);
    return status ? instead(flight, wanted, status) : PENSTOCK_OK;
}

static int bind_meanwhile(struct penstock__flight *flight, const struct penstock__wanted *wanted)
{
    struct penstock__arrival *arrival;
    int status;
    if (penstock__arrival_new(&arrival, wanted))
        return bind_now(flight, wanted);
    if (!penstock__arrival_done(arrival, READY_S)) {
        penstock__arrival_overtake(arrival);
        if (!bind_cpu(flight)) {
            penstock__log(flight->context, PENSTOCK_LOG_INFO, "%s is being made ready, the CPU serves meanwhile",
                          penstock__arrival_name(arrival));
            flight->arrival = arrival;
            return PENSTOCK_OK;
        }
    }
    while (!penstock__arrival_done(arrival, 1))
        ;
    if ((status = penstock__arrival_take(arrival, &flight->binding)))
        status = instead(flight, wanted, status);
    penstock__arrival_free(arrival);
    return status;
}

/* Beside the CPU, which would have to wait for itself, there is a device to wait for. */
static bool may_take_long(const struct penstock__wanted *wanted)
{
    struct penstock_device *device;
    if (wanted->preference == PENSTOCK_DEVICE_AUTO)
        return penstock__choices(wanted->context) > 1;
    return wanted->preference == PENSTOCK_DEVICE_PREFERRED &&
           !penstock__device_find(wanted->context, wanted->name, &device) && strcmp(device->name, "cpu");
}

int penstock__bind(struct penstock__flight *flight, const char *device, bool meanwhile)
{
    struct penstock__wanted wanted = {.context = flight->context, .problem = flight->problem, .slots = flight->slots};
    int status = penstock__device_parse(&wanted.preference, &wanted.name, device);
    if (status)
        return status;
    flight->movable = wanted.preference != PENSTOCK_DEVICE_NAMED;
    return meanwhile && may_take_long(&wanted) ? bind_meanwhile(flight, &wanted) : bind_now(flight, &wanted);
}
