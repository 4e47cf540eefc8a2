/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device table: what each backend finds, or why it finds nothing. */
#include "core/devices.h"
#include "core/backends.h"
#include "core/context.h"
#include "core/description.h"
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#define MAX_DEVICES_PER_BACKEND PENSTOCK__MAX_DEVICES

static int set_rows(struct penstock__kind *kind, const struct penstock_device *rows, size_t count)
{
    if (!(kind->rows = penstock__alloc(count * sizeof *rows)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(kind->rows, rows, count * sizeof *rows);
    kind->count = count;
    kind->probed = true;
    return PENSTOCK_OK;
}

/* One row for a kind that is absent. */
static int set_absent(penstock_context *context, struct penstock__kind *kind,
                      const struct penstock__backend_entry *entry, const char *reason)
{
    struct penstock_device row = {.backend = entry->backend, .context = context};
    snprintf(row.name, sizeof row.name, "%s", entry->name);
    snprintf(row.reason, sizeof row.reason, "%s", *reason ? reason : "no device found");
    return set_rows(kind, &row, 1);
}

static int set_present(penstock_context *context, struct penstock__kind *kind, const struct penstock_backend *backend,
                       struct penstock_device *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rows[i].backend = backend;
        rows[i].context = context;
        rows[i].index = (unsigned)i;
        if (backend->single)
            snprintf(rows[i].name, sizeof rows[i].name, "%s", backend->name);
        else
            snprintf(rows[i].name, sizeof rows[i].name, "%s:%zu", backend->name, i);
    }
    return set_rows(kind, rows, count);
}

/* As the backend's own probe, behind a helper that tries the driver. What was remembered of other devices than these is
 * asked for once more. */
static int probe_fragile(penstock_context *context, const struct penstock_backend *backend,
                         struct penstock_device *rows, size_t *count, char reason[256])
{
    struct penstock__probe_result result;
    bool remembered = penstock__probe_devices(&result, context, backend, false);
    int status = PENSTOCK_OK;
    for (;;) {
        *count = 0;
        snprintf(reason, 256, "%s", result.whole.reason);
        if (*reason || (status = backend->probe(context, rows, MAX_DEVICES_PER_BACKEND, count, reason)) ||
            !remembered || penstock__result_fits(&result, rows, *count))
            break;
        memset(rows, 0, MAX_DEVICES_PER_BACKEND * sizeof *rows);
        remembered = penstock__probe_devices(&result, context, backend, true);
    }
    penstock__result_apply(&result, rows, *count);
    return status;
}

static int probe_with(penstock_context *context, struct penstock__kind *kind,
                      const struct penstock__backend_entry *entry, struct penstock_device *rows)
{
    const struct penstock_backend *backend = entry->backend;
    char reason[256] = "";
    size_t count = 0;
    int status;
    if (!backend) {
        snprintf(reason, sizeof reason, "left out of this build: %s", entry->why_not);
        return set_absent(context, kind, entry, reason);
    }
    if (backend->abi != PENSTOCK_BACKEND_ABI) {
        snprintf(reason, sizeof reason, "made for backend contract %u, this library has %u", (unsigned)backend->abi,
                 PENSTOCK_BACKEND_ABI);
        return set_absent(context, kind, entry, reason);
    }
    status = backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER
                 ? probe_fragile(context, backend, rows, &count, reason)
                 : backend->probe(context, rows, MAX_DEVICES_PER_BACKEND, &count, reason);
    if (status)
        return status;
    return count ? set_present(context, kind, backend, rows, count) : set_absent(context, kind, entry, reason);
}

static int probe(penstock_context *context, size_t index)
{
    struct penstock_device *rows;
    int status;
    if (context->kinds[index].probed)
        return PENSTOCK_OK;
    if (!(rows = penstock__calloc(MAX_DEVICES_PER_BACKEND, sizeof *rows)))
        return PENSTOCK_ERR_MEMORY;
    status = probe_with(context, &context->kinds[index], &penstock__backends[index], rows);
    penstock__free(rows);
    return status;
}

/* Whether the name of a device, up to its colon, is that of the kind; NULL is all names. */
static bool concerns(const char *name, size_t index)
{
    const char *kind = penstock__backends[index].name;
    size_t length = strlen(kind);
    return !name || (!strncmp(name, kind, length) && (!name[length] || name[length] == ':'));
}

int penstock__devices_probe(penstock_context *context, const char *name)
{
    int status = PENSTOCK_OK;
    pthread_mutex_lock(&context->device_lock);
    for (size_t i = 0; i < penstock__backend_count && !status; i++)
        if (concerns(name, i))
            status = probe(context, i);
    pthread_mutex_unlock(&context->device_lock);
    return status;
}

struct penstock_device *penstock__device_row(penstock_context *context, const char *name, size_t index)
{
    for (size_t i = 0; i < penstock__backend_count; i++) {
        if (!concerns(name, i))
            continue;
        if (index < context->kinds[i].count)
            return &context->kinds[i].rows[index];
        index -= context->kinds[i].count;
    }
    return NULL;
}

static void free_rows(struct penstock__kind *kind)
{
    for (size_t i = 0; i < kind->count; i++) {
        struct penstock_device *device = &kind->rows[i];
        if (device->opened)
            device->backend->close(device);
        penstock__free(device->priv);
    }
    penstock__free(kind->rows);
}

void penstock__devices_free(penstock_context *context)
{
    for (size_t i = 0; context->kinds && i < penstock__backend_count; i++)
        free_rows(&context->kinds[i]);
    penstock__free(context->kinds);
}

int penstock__device_open(struct penstock_device *device)
{
    penstock_context *context = device->context;
    size_t bytes = device->backend->device_bytes;
    int status = PENSTOCK_OK;
    pthread_mutex_lock(&context->device_lock);
    if (!device->opened) {
        if (bytes && !(device->priv = penstock__calloc(1, bytes)))
            status = PENSTOCK_ERR_MEMORY;
        else
            status = device->backend->open(device);
        device->opened = !status;
        if (status) {
            penstock__free(device->priv);
            device->priv = NULL;
        }
    }
    pthread_mutex_unlock(&context->device_lock);
    return status;
}

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
    if ((status = penstock__devices_probe(context, NULL)))
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
    return penstock__description_write(info, &known, sizeof known, "penstock_device_info");
}

int penstock_device_find(penstock_context *context, const char *name, size_t *index)
{
    struct penstock_device *device;
    int status;
    if (!context || !name || !*name || !index)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_device_find: an argument is NULL, or the name empty");
    *index = 0;
    if ((status = penstock__devices_probe(context, NULL)) || (status = penstock__device_find(context, name, &device)))
        return status;
    while (penstock__device_row(context, NULL, *index) != device)
        ++*index;
    return PENSTOCK_OK;
}
