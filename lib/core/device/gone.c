/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The backend that takes the place of one whose driver stayed behind in the process that forked; and what several
 * devices under one name cannot do, for core/device/device_group.c. */
#include "core/base/fork.h"
#include "core/device/device_group.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of those that refuse, whatever they are given */

const char penstock__gone_reason[] =
    "its driver was loaded before this process was forked, and works in the process that loaded it alone";

static int refuse(const struct penstock_device *device)
{
    return device->member_count ? penstock__device_alone(device, "what it is asked for is of one")
                                : penstock__error(PENSTOCK_ERR_DEVICE, "%s: %s", device->name, penstock__gone_reason);
}

static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    *count = 0;
    return PENSTOCK_OK;
}

/* An error; a handle that is none; and what is left to the driver. */
#define REFUSES(name, device, ...) \
    static int name(__VA_ARGS__)   \
    {                              \
        return refuse(device);     \
    }
#define HAS_NONE(name, ...)           \
    static uint64_t name(__VA_ARGS__) \
    {                                 \
        return 0;                     \
    }
#define LEAVES(name, ...)         \
    static void name(__VA_ARGS__) \
    {                             \
    }

/* clang-format off */
REFUSES(open_device, device, struct penstock_device *device)
LEAVES(close_device, struct penstock_device *device)
REFUSES(buffer_alloc, buffer->device, struct penstock_buffer *buffer, size_t bytes)
REFUSES(buffer_wrap, buffer->device, struct penstock_buffer *buffer, void *host, size_t bytes)
REFUSES(buffer_adopt, buffer->device, struct penstock_buffer *buffer, uint64_t native)
HAS_NONE(buffer_native, const struct penstock_buffer *buffer)
REFUSES(buffer_part, buffer->device, struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at)
LEAVES(buffer_free, struct penstock_buffer *buffer)
REFUSES(supports, device, const struct penstock_device *device, const struct penstock_problem *problem)
REFUSES(plan_init, plan->device, struct penstock_plan_state *plan, unsigned variant)
LEAVES(plan_free, struct penstock_plan_state *plan)
REFUSES(slot_init, slot->device, struct penstock_slot *slot)
REFUSES(slot_adopt, slot->device, struct penstock_slot *slot, uint64_t native)
HAS_NONE(slot_native, const struct penstock_slot *slot)
REFUSES(follow, slot->device, struct penstock_slot *slot, struct penstock_slot *before)
LEAVES(slot_free, struct penstock_slot *slot)
REFUSES(upload, slot->device, struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host,
        size_t bytes)
REFUSES(enqueue, slot->device, struct penstock_slot *slot, struct penstock_plan_state *plan,
        const struct penstock_job *job)
REFUSES(download, slot->device, struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
REFUSES(mark, slot->device, struct penstock_slot *slot, uint64_t *number)
REFUSES(wait, slot->device, struct penstock_slot *slot, uint64_t number)
REFUSES(stamp, slot->device, struct penstock_slot *slot, unsigned which)
REFUSES(elapsed, slot->device, struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
REFUSES(copy, slot->device, struct penstock_slot *slot, const struct penstock_device_copy *device_copy)
REFUSES(host_alloc, device, struct penstock_device *device, void **memory, size_t bytes)
LEAVES(host_free, struct penstock_device *device, void *memory)
REFUSES(host_lock, device, struct penstock_device *device, void *memory, size_t bytes)
/* clang-format on */

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
