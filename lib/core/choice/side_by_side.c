/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Makers in threads of their own. */
#include "core/choice/side_by_side.h"
#include "core/base/cancel.h"
#include "core/base/context.h"
#include "core/base/process_exit.h"
#include "core/base/thread.h"
#include "core/device/devices.h"

/* What a thread makes, and what it has of the one that waits for it. */
struct work {
    int (*make)(void *owner, unsigned which);
    void *owner;
    unsigned which;
    void *log_user;
    const atomic_bool *cancelled;
    struct penstock__failure failure;
    pthread_t thread;
    bool begun; /* there is a thread */
};

static void make_one(struct work *work)
{
    penstock__failure_keep(&work->failure, work->make(work->owner, work->which));
}

static void *run(void *argument)
{
    struct work *work = argument;
    penstock__exit_held();
    penstock_log_as(work->log_user);
    penstock__cancel_by(work->cancelled);
    make_one(work);
    return NULL;
}

/* A processor's compiler, as PoCL's, has no processor to itself, and a lock of its own. */
static bool compiles(const struct penstock_device *device)
{
    return device && device->backend->flags & PENSTOCK_BACKEND_FRAGILE_DRIVER && !device->on_cpu;
}

int penstock__compiled_for(struct penstock_device **device, penstock_context *context, const char *text)
{
    enum penstock_preference preference;
    struct penstock_device *found = NULL;
    const char *name;
    int status = penstock__device_parse(&preference, &name, text);
    *device = NULL;
    if (status || preference == PENSTOCK_DEVICE_AUTO)
        return PENSTOCK_OK;
    if (!(status = penstock__device_find(context, name, &found)) && !(status = penstock__device_open(found)) &&
        compiles(found))
        *device = found;
    return status == PENSTOCK_ERR_MEMORY ? status : PENSTOCK_OK;
}

int penstock__side_by_side(int (*make)(void *owner, unsigned which), void *owner, unsigned count,
                           const struct penstock_device *device)
{
    struct work works[PENSTOCK__MOST_BESIDE];
    int status = PENSTOCK_OK;
    if (!compiles(device) || penstock__threads(device->context) < 2) {
        for (unsigned i = 0; i < count && !status; i++)
            status = make(owner, i);
        return status;
    }
    penstock__exit_hold();
    for (unsigned i = 0; i < count; i++) {
        works[i] = (struct work){.make = make,
                                 .owner = owner,
                                 .which = i,
                                 .log_user = penstock__log_user(),
                                 .cancelled = penstock__cancel_flag()};
        works[i].begun = i && !penstock__thread_create(&works[i].thread, NULL, run, &works[i]);
    }
    for (unsigned i = 0; i < count; i++)
        if (!works[i].begun)
            make_one(&works[i]);
    for (unsigned i = 0; i < count; i++)
        if (works[i].begun)
            pthread_join(works[i].thread, NULL);
    penstock__exit_release();
    for (unsigned i = 0; i < count && !status; i++)
        status = penstock__failure_tell(&works[i].failure);
    return status;
}
