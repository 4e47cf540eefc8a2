/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Queues of work on a device. */
#include "core/device/buffer.h"
#include "core/device/devices.h"

/* ---------------------------------------------------------------- life ------------------------ */

/* `native` or, where that is NULL, a queue of its own. */
static int make_on(penstock_queue **queue, struct penstock_device *device, const uint64_t *native)
{
    penstock_queue *new;
    int status;
    if (native && !device->backend->slot_adopt)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no queues to be wrapped", device->name);
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = penstock__slot_open(&new->slot, device, native))) {
        penstock__free(new);
        return status;
    }
    *queue = new;
    return PENSTOCK_OK;
}

int penstock__queue_make(penstock_queue **queue, struct penstock_device *device)
{
    return make_on(queue, device, NULL);
}

static int make(penstock_queue **queue, penstock_context *context, const char *name, const uint64_t *native)
{
    struct penstock_device *device;
    int status;
    if (!queue)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue is to be made, and there is no place for it (NULL)");
    *queue = NULL;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue is to be made, and the context is NULL");
    status = penstock__device_open_named(&device, context, name);
    return status ? status : make_on(queue, device, native);
}

int penstock_queue_new(penstock_queue **queue, penstock_context *context, const char *device)
{
    return make(queue, context, device, NULL);
}

int penstock_queue_wrap(penstock_queue **queue, penstock_context *context, const char *device, uint64_t native)
{
    return make(queue, context, device, &native);
}

void penstock_queue_free(penstock_queue *queue)
{
    if (!queue)
        return;
    if (!queue->failure.status)
        penstock__queue_drain(queue);
    penstock__slot_close(&queue->slot);
    penstock__free(queue);
}

uint64_t penstock_queue_native(const penstock_queue *queue)
{
    return queue && queue->slot.device->backend->slot_native ? queue->slot.device->backend->slot_native(&queue->slot)
                                                             : 0;
}

/* ---------------------------------------------------------------- order ----------------------- */

int penstock__queue_check(const penstock_queue *queue)
{
    if (!queue)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "the queue is NULL");
    return penstock__failure_tell(&queue->failure);
}

int penstock__queue_note(penstock_queue *queue, int status)
{
    if (status && status != PENSTOCK_ERR_ARGUMENT && status != PENSTOCK_ERR_UNSUPPORTED && !queue->failure.status)
        penstock__failure_keep(&queue->failure, status);
    return status;
}

int penstock__queue_drain(penstock_queue *queue)
{
    const struct penstock_backend *backend = queue->slot.device->backend;
    uint64_t mark;
    int status = backend->mark(&queue->slot, &mark);
    return penstock__queue_note(queue, status ? status : backend->wait(&queue->slot, mark));
}

int penstock_queue_wait(penstock_queue *queue)
{
    int status = penstock__queue_check(queue);
    return status ? status : penstock__queue_drain(queue);
}

int penstock_queue_follow(penstock_queue *queue, penstock_queue *before)
{
    int status = penstock__queue_check(queue);
    if (status || (status = penstock__queue_check(before)))
        return status;
    if (queue->slot.device != before->slot.device)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a queue on %s cannot follow one on %s", queue->slot.device->name,
                               before->slot.device->name);
    if (queue == before)
        return PENSTOCK_OK;
    if (!queue->slot.device->backend->follow)
        return penstock__queue_drain(before);
    return penstock__queue_note(queue, queue->slot.device->backend->follow(&queue->slot, &before->slot));
}
