/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The backend that takes the place of one whose driver stayed behind in the process that forked. */
#include "core/fork.h"

const char penstock__gone_reason[] =
    "its driver was loaded before this process was forked, and works in the process that loaded it alone";

static int gone(const struct penstock_device *device)
{
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: %s", device->name, penstock__gone_reason);
}

static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    (void)context, (void)rows, (void)capacity, (void)reason;
    *count = 0;
    return PENSTOCK_OK;
}

static int open_device(struct penstock_device *device)
{
    return gone(device);
}

static void close_device(struct penstock_device *device)
{
    (void)device;
}

static int buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    (void)bytes;
    return gone(buffer->device);
}

static int buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes)
{
    (void)host, (void)bytes;
    return gone(buffer->device);
}

static int buffer_adopt(struct penstock_buffer *buffer, uint64_t native)
{
    (void)native;
    return gone(buffer->device);
}

static uint64_t buffer_native(const struct penstock_buffer *buffer)
{
    (void)buffer;
    return 0;
}

static int buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at)
{
    (void)of, (void)at;
    return gone(buffer->device);
}

static void buffer_free(struct penstock_buffer *buffer)
{
    (void)buffer;
}

static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    (void)problem;
    return gone(device);
}

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    (void)variant;
    return gone(plan->device);
}

static void plan_free(struct penstock_plan_state *plan)
{
    (void)plan;
}

static int slot_init(struct penstock_slot *slot)
{
    return gone(slot->device);
}

static int slot_adopt(struct penstock_slot *slot, uint64_t native)
{
    (void)native;
    return gone(slot->device);
}

static uint64_t slot_native(const struct penstock_slot *slot)
{
    (void)slot;
    return 0;
}

static int follow(struct penstock_slot *slot, struct penstock_slot *before)
{
    (void)before;
    return gone(slot->device);
}

static void slot_free(struct penstock_slot *slot)
{
    (void)slot;
}

static int upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    (void)buffer, (void)host, (void)bytes;
    return gone(slot->device);
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    (void)plan, (void)job;
    return gone(slot->device);
}

static int download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    (void)host, (void)buffer, (void)bytes;
    return gone(slot->device);
}

static int mark(struct penstock_slot *slot, uint64_t *number)
{
    (void)number;
    return gone(slot->device);
}

static int wait(struct penstock_slot *slot, uint64_t number)
{
    (void)number;
    return gone(slot->device);
}

static int stamp(struct penstock_slot *slot, unsigned which)
{
    (void)which;
    return gone(slot->device);
}

static int elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
{
    (void)from, (void)to, (void)seconds;
    return gone(slot->device);
}

static int copy(struct penstock_slot *slot, const struct penstock_device_copy *device_copy)
{
    (void)device_copy;
    return gone(slot->device);
}

static int host_alloc(struct penstock_device *device, void **memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return gone(device);
}

static void host_free(struct penstock_device *device, void *memory)
{
    (void)device, (void)memory;
}

static int host_lock(struct penstock_device *device, void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return gone(device);
}

const struct penstock_backend penstock__gone_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .name = "gone",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_NOT_AUTOMATIC,
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .buffer_alloc = buffer_alloc,
    .buffer_wrap = buffer_wrap,
    .buffer_free = buffer_free,
    .buffer_adopt = buffer_adopt,
    .buffer_native = buffer_native,
    .buffer_part = buffer_part,
    .supports = supports,
    .plan_init = plan_init,
    .plan_free = plan_free,
    .slot_init = slot_init,
    .slot_free = slot_free,
    .slot_adopt = slot_adopt,
    .slot_native = slot_native,
    .follow = follow,
    .upload = upload,
    .enqueue = enqueue,
    .download = download,
    .mark = mark,
    .wait = wait,
    .stamp = stamp,
    .elapsed = elapsed,
    .copy = copy,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .host_lock = host_lock,
    .host_unlock = host_free,
};
