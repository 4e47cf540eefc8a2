/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The device table: what each backend finds, or why it finds nothing. Backends whose driver may hang are asked by
 * threads of their own; until theirs has answered, a kind has one row that says so.
 */
#include "core/base/cancel.h"
#include "core/device/backends.h"
#include "core/device/background.h"
#include "core/device/devices.h"
#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BACKENDS  16
#define HELD_BEFORE_S 5.0 /* for a driver that held when it was tried last, where patience is short */

#define MAX_DEVICES_PER_BACKEND PENSTOCK__MAX_DEVICES

static int set_rows(struct penstock__kind *kind, const struct penstock_device *rows, size_t count)
{
    if (!(kind->rows = penstock__alloc(count * sizeof *rows)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(kind->rows, rows, count * sizeof *rows);
    kind->count = count;
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
        if (backend->single && count == 1)
            snprintf(rows[i].name, sizeof rows[i].name, "%s", backend->name);
        else
            snprintf(rows[i].name, sizeof rows[i].name, "%s:%zu", backend->name, i);
    }
    return set_rows(kind, rows, count);
}

/* In this process, once its driver has held in another. */
static int probe_here(penstock_context *context, const struct penstock_backend *backend, struct penstock_device *rows,
                      size_t *count, char reason[256])
{
    int status;
    penstock__background_enter(context);
    status = backend->probe(context, rows, MAX_DEVICES_PER_BACKEND, count, reason);
    penstock__background_leave(context);
    return status;
}

/* From now on it is worth waiting for. */
static void has_held(penstock_context *context, struct penstock__kind *kind)
{
    pthread_mutex_lock(&context->table_lock);
    kind->held = true;
    pthread_mutex_unlock(&context->table_lock);
}

/* As the backend's own probe, behind a helper that tries the driver. What was remembered of other devices than these is
 * asked for once more. */
static int probe_fragile(penstock_context *context, struct penstock__kind *kind, const struct penstock_backend *backend,
                         struct penstock_device *rows, size_t *count, char reason[256])
{
    struct penstock__probe_result result;
    bool remembered = penstock__probe_devices(&result, context, backend, false);
    int status = PENSTOCK_OK;
    for (;;) {
        *count = 0;
        snprintf(reason, 256, "%s", result.whole.reason);
        if (*reason || penstock__cancelled())
            break;
        has_held(context, kind);
        if ((status = probe_here(context, backend, rows, count, reason)) || !remembered ||
            penstock__result_fits(&result, rows, *count))
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
                 ? probe_fragile(context, kind, backend, rows, &count, reason)
                 : backend->probe(context, rows, MAX_DEVICES_PER_BACKEND, &count, reason);
    if (status)
        return status;
    return count ? set_present(context, kind, backend, rows, count) : set_absent(context, kind, entry, reason);
}

static int probe(struct penstock__kind *kind)
{
    const struct penstock__backend_entry *entry = &penstock__backends[kind - kind->context->kinds];
    struct penstock_device *rows = penstock__calloc(MAX_DEVICES_PER_BACKEND, sizeof *rows);
    int status = rows ? probe_with(kind->context, kind, entry, rows) : PENSTOCK_ERR_MEMORY;
    penstock__free(rows);
    return status;
}

/* ---------------------------------------------------------------- asking ---------------------- */

static void ask(void *owner)
{
    struct penstock__kind *kind = owner;
    int status = probe(kind);
    pthread_mutex_lock(&kind->context->table_lock);
    kind->status = status;
    atomic_store(&kind->state, PENSTOCK__ANSWERED);
    pthread_cond_broadcast(&kind->context->table_changed);
    pthread_mutex_unlock(&kind->context->table_lock);
}

/* The row of a kind whose driver has not answered yet. */
static void write_waiting(struct penstock__kind *kind, const struct penstock__backend_entry *entry)
{
    kind->waiting = (struct penstock_device){.backend = entry->backend, .context = kind->context};
    snprintf(kind->waiting.name, sizeof kind->waiting.name, "%s", entry->name);
    snprintf(kind->waiting.reason, sizeof kind->waiting.reason,
             "its driver is being tried and has not answered yet; who names it waits for it");
}

/* With the lock. What needs no driver, or has no thread, is done at once. */
static void begin(penstock_context *context, size_t index)
{
    const struct penstock__backend_entry *entry = &penstock__backends[index];
    struct penstock__kind *kind = &context->kinds[index];
    if (atomic_load(&kind->state) != PENSTOCK__UNASKED)
        return;
    kind->context = context;
    kind->asked_s = penstock__now_s();
    write_waiting(kind, entry);
    atomic_store(&kind->state, PENSTOCK__ASKED);
    if (entry->backend && entry->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER &&
        penstock__background_start(context, ask, kind))
        return;
    pthread_mutex_unlock(&context->table_lock);
    ask(kind);
    pthread_mutex_lock(&context->table_lock);
}

/* With the lock. The rows of a kind that has answered are in the table from here on; one that failed is asked anew. */
static int list(struct penstock__kind *kind)
{
    int status = kind->status;
    if (atomic_load(&kind->state) != PENSTOCK__ANSWERED)
        return PENSTOCK_OK;
    atomic_store(&kind->state, status ? PENSTOCK__UNASKED : PENSTOCK__LISTED);
    return status ? penstock__error(status, "out of memory") : PENSTOCK_OK;
}

/* When each backend's driver was asked first: a process has patience once, however many contexts it makes. */
static _Atomic double first_asked_s[MAX_BACKENDS];

static double first_asked(const struct penstock__kind *kind)
{
    _Atomic double *first = &first_asked_s[kind - kind->context->kinds];
    double none = 0;
    atomic_compare_exchange_strong(first, &none, kind->asked_s);
    return atomic_load(first);
}

/* Until when it is waited for. */
static double patience_end_s(const penstock_context *context, const struct penstock__kind *kind, const char *name)
{
    if (name || penstock__cancellable() || context->patience_s <= 0)
        return INFINITY;
    return first_asked(kind) + (kind->held ? HELD_BEFORE_S : context->patience_s);
}

/* Whether the name of a device, up to its colon, is that of the kind; NULL is all names. */
static bool concerns(const char *name, size_t index)
{
    const char *kind = penstock__backends[index].name;
    size_t length = strlen(kind);
    return !name || (!strncmp(name, kind, length) && (!name[length] || name[length] == ':'));
}

void penstock__devices_ask(penstock_context *context)
{
    pthread_mutex_lock(&context->table_lock);
    for (size_t i = 0; i < penstock__backend_count; i++) {
        begin(context, i);
        if (!context->kinds[i].status)
            list(&context->kinds[i]);
    }
    pthread_mutex_unlock(&context->table_lock);
}

/* With the lock: whether a maker's own way has led to a device. */
static bool native_has_come(const penstock_context *context)
{
    for (size_t i = 0; i < penstock__backend_count; i++) {
        const struct penstock_backend *backend = penstock__backends[i].backend;
        const struct penstock__kind *kind = &context->kinds[i];
        if (!backend || !(backend->flags & PENSTOCK_BACKEND_NATIVE) || atomic_load(&kind->state) < PENSTOCK__ANSWERED)
            continue;
        for (size_t row = 0; row < kind->count; row++)
            if (!*kind->rows[row].reason)
                return true;
    }
    return false;
}

/* Beside a stream that the CPU serves: while it is decided where that goes, and a maker's own way has led to a GPU, it
 * does not wait for the longer ways, whose drivers can take seconds and mostly lead to the same one. */
static bool can_do_without(const penstock_context *context, size_t index)
{
    const struct penstock_backend *backend = penstock__backends[index].backend;
    return penstock__cancellable() && backend && !(backend->flags & PENSTOCK_BACKEND_NATIVE) &&
           native_has_come(context);
}

int penstock__devices_probe(penstock_context *context, const char *name)
{
    int status = PENSTOCK_OK;
    pthread_mutex_lock(&context->table_lock);
    for (size_t i = 0; i < penstock__backend_count; i++)
        if (concerns(name, i))
            begin(context, i);
    for (size_t i = 0; i < penstock__backend_count && !status; i++) {
        struct penstock__kind *kind = &context->kinds[i];
        if (!concerns(name, i))
            continue;
        while (atomic_load(&kind->state) == PENSTOCK__ASKED && !(!name && can_do_without(context, i)) &&
               !(status = penstock__log_lets_wait()) &&
               penstock__background_wait(context, patience_end_s(context, kind, name)))
            ;
        if (!status)
            status = list(kind);
    }
    pthread_mutex_unlock(&context->table_lock);
    if (!status && penstock__cancelled())
        return penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for the devices any more");
    return status;
}

/* ---------------------------------------------------------------- rows ------------------------ */

static size_t rows_of(struct penstock_device **rows, struct penstock__kind *kind)
{
    const int state = atomic_load(&kind->state);
    if (state == PENSTOCK__UNASKED)
        return 0;
    *rows = state == PENSTOCK__LISTED ? kind->rows : &kind->waiting;
    return state == PENSTOCK__LISTED ? kind->count : 1;
}

struct penstock_device *penstock__device_row(penstock_context *context, const char *name, size_t index)
{
    for (size_t i = 0; i < penstock__backend_count; i++) {
        struct penstock_device *rows = NULL;
        size_t count;
        if (!concerns(name, i))
            continue;
        count = rows_of(&rows, &context->kinds[i]);
        if (index < count)
            return &rows[index];
        index -= count;
    }
    return NULL;
}

bool penstock__device_is_awaited(const struct penstock_device *device)
{
    for (size_t i = 0; i < penstock__backend_count; i++)
        if (device == &device->context->kinds[i].waiting)
            return true;
    return false;
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
