/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Opening devices, and the calls that tell of them. */
#include "core/device/devices.h"
#include "core/base/description.h"
#include "core/device/background.h"
#include "core/device/device_group.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- opening --------------------- */

static int open_here(struct penstock_device *device)
{
    penstock_context *context = device->context;
    size_t bytes = device->backend->device_bytes;
    void *priv = bytes ? penstock__calloc(1, bytes) : NULL;
    int status = bytes && !priv ? PENSTOCK_ERR_MEMORY : PENSTOCK_OK;
    device->priv = priv;
    if (!status) {
        penstock__background_enter(context);
        status = device->backend->open(device);
        penstock__background_leave(context);
    }
    if (status) {
        penstock__free(priv);
        device->priv = NULL;
    }
    return status;
}

static void open_now(void *owner)
{
    struct penstock__opening *opening = owner;
    struct penstock_device *device = opening->device;
    int status = open_here(device);
    pthread_mutex_lock(&device->context->table_lock);
    device->opened = !status;
    opening->status = status;
    snprintf(opening->text, sizeof opening->text, "%s", status ? penstock_error_text() : "");
    opening->failed = status ? device : NULL;
    opening->device = NULL;
    pthread_cond_broadcast(&device->context->table_changed);
    pthread_mutex_unlock(&device->context->table_lock);
}

/* With the lock. A driver may take long over it. */
static void begin_opening(struct penstock_device *device)
{
    penstock_context *context = device->context;
    struct penstock__opening *opening = &context->opening;
    opening->device = device;
    opening->failed = NULL;
    if (device->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER)
        penstock__background_has_driver(context);
    if (device->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER &&
        penstock__background_start(context, open_now, opening))
        return;
    pthread_mutex_unlock(&context->table_lock);
    open_now(opening);
    pthread_mutex_lock(&context->table_lock);
}

static int open_one(struct penstock_device *device)
{
    penstock_context *context = device->context;
    struct penstock__opening *opening = &context->opening;
    bool asked = false, waits = true;
    int status = PENSTOCK_OK;
    pthread_mutex_lock(&context->table_lock);
    if (!device->opened && (opening->device || device->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER))
        status = penstock__log_lets_wait();
    while (!status && !device->opened && waits && !(asked && opening->failed == device)) {
        if (!opening->device) {
            begin_opening(device);
            asked = true;
        } else {
            asked = asked || opening->device == device;
            waits = penstock__background_wait(context, INFINITY);
        }
    }
    if (!status && !device->opened)
        status = waits ? penstock__error(opening->status, "%s", opening->text)
                       : penstock__error(PENSTOCK_ERR_TIMEOUT, "%s: nobody waits for it any more", device->name);
    pthread_mutex_unlock(&context->table_lock);
    return status;
}

/* All members; an error where none opens. */
static int open_members(struct penstock_device *group)
{
    int failed = PENSTOCK_OK;
    bool opened = false;
    for (size_t i = 0; i < group->member_count; i++) {
        const struct penstock_device *member = group->members[i];
        int status = open_one(group->members[i]);
        if (status) {
            failed = status;
            continue;
        }
        pthread_mutex_lock(&group->context->table_lock);
        if (member->host_memory && !group->host_memory) /* who has opened it before may read it */
            group->host_memory = true;
        if (member->alignment > group->alignment)
            group->alignment = member->alignment;
        pthread_mutex_unlock(&group->context->table_lock);
        opened = true;
    }
    return opened ? PENSTOCK_OK : failed;
}

int penstock__device_open(struct penstock_device *device)
{
    return device->member_count ? open_members(device) : open_one(device);
}

static int find_named(struct penstock_device **device, penstock_context *context, const char *name)
{
    enum penstock_preference preference;
    const char *found;
    int status = penstock__device_parse(&preference, &found, name);
    if (!status && preference != PENSTOCK_DEVICE_NAMED)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "a buffer or queue is on a device that is named, neither \"auto\" nor \"prefer:\"");
    return status ? status : penstock__device_find(context, found, device);
}

int penstock__devices_open_named(struct penstock_device **device, penstock_context *context, const char *name)
{
    int status = find_named(device, context, name);
    return status ? status : penstock__device_open(*device);
}

int penstock__device_open_named(struct penstock_device **device, penstock_context *context, const char *name)
{
    int status = find_named(device, context, name);
    if (status || (status = penstock__device_alone(*device, "a buffer or queue is on one")))
        return status;
    return penstock__device_open(*device);
}

/* ---------------------------------------------------------------- calls ----------------------- */

int penstock_device_count(penstock_context *context, size_t *count)
{
    int status;
    if (!context || !count)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_device_count: an argument is NULL");
    *count = 0;
    if ((status = penstock__devices_probe(context, NULL)))
        return status;
    while (penstock__device_row(context, NULL, *count))
        ++*count;
    return PENSTOCK_OK;
}

int penstock_device_get(penstock_context *context, size_t index, penstock_device_info *info)
{
    const struct penstock_device *device;
    penstock_device_info known = PENSTOCK_DEVICE_INFO;
    int status;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_device_get: the context is NULL");
    if (!penstock__device_row(context, NULL, 0) && (status = penstock__devices_probe(context, NULL)))
        return status;
    if (!(device = penstock__device_row(context, NULL, index)))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "there is no row %zu in the device table", index);
    known.name = device->name;
    known.product = device->product;
    known.driver = device->driver;
    known.reason = *device->reason ? device->reason : NULL;
    known.licence = device->backend ? device->backend->licence : "MIT";
    known.automatic = !known.reason && !(device->backend->flags & PENSTOCK_BACKEND_NOT_AUTOMATIC);
    known.compute_units = device->compute_units;
    known.memory_bytes = device->memory_bytes;
    known.profile = device->profile;
    known.awaited = penstock__device_is_awaited(device);
    return penstock__description_write(info, &known, sizeof known, "penstock_device_info");
}

int penstock_device_find(penstock_context *context, const char *name, size_t *index)
{
    struct penstock_device *device;
    int status;
    if (!context || !name || !*name || !index)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_device_find: an argument is NULL, or the name empty");
    *index = 0;
    if ((status = penstock__devices_probe(context, NULL)) || (status = penstock__device_find(context, name, &device)) ||
        (status = penstock__device_alone(device, "a row of the device table is one")))
        return status;
    while (penstock__device_row(context, NULL, *index) != device)
        ++*index;
    return PENSTOCK_OK;
}

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
