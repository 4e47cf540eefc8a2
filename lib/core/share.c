/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Devices that work in an object of the application's. */
#include "core/context.h"
#include "core/devices.h"

#include <penstock/buffer.h>

int penstock_device_share(penstock_context *context, const char *device, uint64_t native)
{
    enum penstock_preference preference;
    struct penstock_device *found;
    const char *name;
    int status;
    if (!context || !native)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_device_share: the context or the object is NULL");
    if ((status = penstock__device_parse(&preference, &name, device)))
        return status;
    if (preference != PENSTOCK_DEVICE_NAMED)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the device that shares an object is to be named");
    if ((status = penstock__device_find(context, name, &found)))
        return status;
    if (!(found->backend->flags & PENSTOCK_BACKEND_SHARES))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no object to be shared", found->name);
    pthread_mutex_lock(&context->table_lock);
    bool used = found->opened || context->opening.device == found;
    if (!used)
        found->shared = native;
    pthread_mutex_unlock(&context->table_lock);
    if (used)
        return penstock__error(PENSTOCK_ERR_STATE, "%s is in use already; share its object before", found->name);
    if ((status = penstock__device_open(found))) {
        pthread_mutex_lock(&context->table_lock);
        found->shared = 0;
        pthread_mutex_unlock(&context->table_lock);
    }
    return status;
}
