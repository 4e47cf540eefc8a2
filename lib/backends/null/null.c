/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The null backend: the whole contract, doing nothing. Its one device refuses every problem, which shows that
 * the core bears it, and is where a new backend starts: copy this file, then fill in the functions in their order.
 */
#include "backends/backend.h"

#include <stdio.h>

/* Private parts. The core allocates them, zeroed; handles of the driver's objects go here. */
struct device {
    int handle;
};

struct buffer {
    int handle;
};

struct slot {
    uint64_t marks;
};

struct plan {
    int handle;
};

static int refuse(const char *what)
{
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the null device does not %s", what);
}

/* Load the driver's library here, count its devices, describe each. A missing driver is no error: count 0, a reason. */
static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    (void)context;
    *count = 0;
    if (!capacity) {
        snprintf(reason, 256, "no room in the device table");
        return PENSTOCK_OK;
    }
    snprintf(rows[0].product, sizeof rows[0].product, "nothing");
    snprintf(rows[0].driver, sizeof rows[0].driver, "none");
    *count = 1;
    return PENSTOCK_OK;
}

/* What costs time or memory waits until a plan needs the device. */
static int open(struct penstock_device *device)
{
    struct device *self = device->priv;
    self->handle = 1;
    return PENSTOCK_OK;
}

static void close(struct penstock_device *device)
{
    struct device *self = device->priv;
    self->handle = 0;
}

static int buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    (void)buffer, (void)bytes;
    return refuse("have memory");
}

static void buffer_free(struct penstock_buffer *buffer)
{
    (void)buffer;
}

/* Say in words what cannot be done, so that "why is my device not used?" has an answer. */
static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    (void)device, (void)problem;
    return refuse("compute anything");
}

/* Compile kernels or fetch them from the cache, make tables of constants. */
static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    (void)plan, (void)variant;
    return refuse("plan anything");
}

static void plan_free(struct penstock_plan_state *plan)
{
    (void)plan;
}

/* A queue or stream of the driver, in order. */
static int slot_init(struct penstock_slot *slot)
{
    (void)slot;
    return PENSTOCK_OK;
}

/* Waits until the driver has let go of host memory. */
static void slot_free(struct penstock_slot *slot)
{
    (void)slot;
}

static int upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    (void)slot, (void)buffer, (void)host, (void)bytes;
    return refuse("have memory");
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    (void)slot, (void)plan, (void)job;
    return refuse("compute anything");
}

static int download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    (void)slot, (void)host, (void)buffer, (void)bytes;
    return refuse("have memory");
}

/* Record an event of the driver after what was enqueued so far, and number it. */
static int mark(struct penstock_slot *slot, uint64_t *number)
{
    struct slot *self = slot->priv;
    *number = ++self->marks;
    return PENSTOCK_OK;
}

/* Wait for the event of that number, or a later one. */
static int wait_until(struct penstock_slot *slot, uint64_t number)
{
    struct slot *self = slot->priv;
    if (number > self->marks)
        return penstock__error(PENSTOCK_ERR_STATE, "mark %llu was never set", (unsigned long long)number);
    return PENSTOCK_OK;
}

const struct penstock_backend penstock__null_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .name = "null",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_NOT_AUTOMATIC | PENSTOCK_BACKEND_DEVELOPERS | PENSTOCK_BACKEND_FORKS,
    .single = true,
    .device_bytes = sizeof(struct device),
    .buffer_bytes = sizeof(struct buffer),
    .slot_bytes = sizeof(struct slot),
    .plan_bytes = sizeof(struct plan),
    .probe = probe,
    .open = open,
    .close = close,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .supports = supports,
    .plan_init = plan_init,
    .plan_free = plan_free,
    .slot_init = slot_init,
    .slot_free = slot_free,
    .upload = upload,
    .enqueue = enqueue,
    .download = download,
    .mark = mark,
    .wait = wait_until,
};
