/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The trace backend: computes on the cpu backend, logs each call, checks that the core keeps the contract and fails
 * on request. Its memory is its own, poisoned and guarded; what is enqueued waits until somebody waits for it.
 */
#include "backends/trace/rules.h"
#include "backends/trace/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    const char *wanted = getenv("PENSTOCK_TRACE_DEVICES");
    const size_t devices = wanted ? (size_t)strtoul(wanted, NULL, 10) : 1;
    (void)context, (void)reason;
    for (*count = 0; *count < devices && *count < capacity; ++*count) {
        snprintf(rows[*count].product, sizeof rows->product, "call trace");
        snprintf(rows[*count].driver, sizeof rows->driver, "the cpu backend");
        rows[*count].compute_units = 1;
    }
    return PENSTOCK_OK;
}

static int open(struct penstock_device *device)
{
    struct trace_device *self = device->priv;
    const struct penstock_backend *cpu = &penstock__cpu_backend;
    int status;
    penstock__trace_fresh(device->context, self, sizeof *self, "device");
    if ((status = penstock__trace_call(device->context, "open")))
        return status;
    self->cpu = (struct penstock_device){.backend = cpu, .context = device->context, .name = "trace"};
    if (cpu->device_bytes && !(self->cpu.priv = penstock__calloc(1, cpu->device_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = cpu->open(&self->cpu))) {
        penstock__free(self->cpu.priv);
        return status;
    }
    penstock__trace_made(&self->object);
    return PENSTOCK_OK;
}

static void close(struct penstock_device *device)
{
    struct trace_device *self = device->priv;
    penstock__trace_note(device->context, "close");
    penstock__trace_freed(device->context, &self->object, "device");
    penstock__cpu_backend.close(&self->cpu);
    penstock__free(self->cpu.priv);
}

static struct trace_device *open_device(struct penstock_device *device)
{
    struct trace_device *self = device->priv;
    return penstock__trace_alive(device->context, self ? &self->object : NULL, "device") ? self : NULL;
}

static int buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    penstock_context *context = buffer->device->context;
    struct trace_buffer *self = buffer->priv;
    int status;
    penstock__trace_fresh(context, self, sizeof *self, "buffer");
    if (!open_device(buffer->device))
        return penstock__error(PENSTOCK_ERR_STATE, "trace: the device is not open");
    if ((status = penstock__trace_call(context, "buffer_alloc %zu bytes", bytes)) ||
        (status = penstock__trace_memory_new(&self->place.memory, bytes)))
        return status;
    self->place.bytes = bytes;
    penstock__trace_made(&self->object);
    return PENSTOCK_OK;
}

static int buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at)
{
    penstock_context *context = buffer->device->context;
    struct trace_buffer *self = buffer->priv;
    const struct trace_buffer *other = of->priv;
    int status;
    penstock__trace_fresh(context, self, sizeof *self, "buffer");
    if (!penstock__trace_alive(context, &other->object, "buffer") || other->part)
        return penstock__error(PENSTOCK_ERR_STATE, "trace: no buffer that parts can be of");
    if ((status = penstock__trace_call(context, "buffer_part %zu bytes at %zu", buffer->bytes, at)))
        return status;
    if (at > other->place.bytes || buffer->bytes > other->place.bytes - at)
        penstock__trace_violation(context, "a part of %zu bytes at %zu is not within its buffer", buffer->bytes, at);
    self->place = (struct trace_place){.memory = other->place.memory, .at = at, .bytes = buffer->bytes};
    self->part = true;
    penstock__trace_made(&self->object);
    return PENSTOCK_OK;
}

static void buffer_free(struct penstock_buffer *buffer)
{
    penstock_context *context = buffer->device->context;
    struct trace_buffer *self = buffer->priv;
    penstock__trace_note(context, "buffer_free");
    penstock__trace_freed(context, &self->object, "buffer");
    if (self->part)
        return;
    if (self->place.memory->users > 1)
        penstock__trace_violation(context, "a buffer is freed while work on it is in flight");
    if (!penstock__trace_memory_intact(self->place.memory))
        penstock__trace_violation(context, "memory beside a buffer was written");
    penstock__trace_memory_drop(self->place.memory);
}

static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    return penstock__cpu_backend.supports(device, problem);
}

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_backend *cpu = &penstock__cpu_backend;
    penstock_context *context = plan->device->context;
    struct trace_plan *self = plan->priv;
    struct trace_device *device = open_device(plan->device);
    int status;
    penstock__trace_fresh(context, self, sizeof *self, "plan");
    if (!device)
        return penstock__error(PENSTOCK_ERR_STATE, "trace: the device is not open");
    if (variant) /* one only, so that values do not depend on what failed before */
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "trace: there is no variant %u", variant);
    if ((status = penstock__trace_call(context, "plan_init")))
        return status;
    self->cpu = (struct penstock_plan_state){.device = &device->cpu, .problem = plan->problem};
    if (cpu->plan_bytes && !(self->cpu.priv = penstock__calloc(1, cpu->plan_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = cpu->plan_init(&self->cpu, variant))) {
        penstock__free(self->cpu.priv);
        return status;
    }
    snprintf(plan->variant, sizeof plan->variant, "%s", self->cpu.variant);
    plan->passes = self->cpu.passes;
    plan->best_batch = self->cpu.best_batch;
    penstock__trace_made(&self->object);
    return PENSTOCK_OK;
}

static void plan_free(struct penstock_plan_state *plan)
{
    struct trace_plan *self = plan->priv;
    penstock__trace_note(plan->device->context, "plan_free");
    penstock__trace_freed(plan->device->context, &self->object, "plan");
    if (atomic_load(&self->jobs))
        penstock__trace_violation(plan->device->context, "a plan is freed while work with it is in flight");
    penstock__cpu_backend.plan_free(&self->cpu);
    penstock__free(self->cpu.priv);
}

static int slot_init(struct penstock_slot *slot)
{
    const struct penstock_backend *cpu = &penstock__cpu_backend;
    penstock_context *context = slot->device->context;
    struct trace_slot *self = slot->priv;
    struct trace_device *device = open_device(slot->device);
    int status;
    penstock__trace_fresh(context, self, sizeof *self, "slot");
    if (!device)
        return penstock__error(PENSTOCK_ERR_STATE, "trace: the device is not open");
    if ((status = penstock__trace_call(context, "slot_init")))
        return status;
    self->cpu = (struct penstock_slot){.device = &device->cpu};
    if (cpu->slot_bytes && !(self->cpu.priv = penstock__calloc(1, cpu->slot_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = cpu->slot_init(&self->cpu))) {
        penstock__free(self->cpu.priv);
        return status;
    }
    penstock__trace_made(&self->object);
    return PENSTOCK_OK;
}

static void slot_free(struct penstock_slot *slot)
{
    struct trace_slot *self = slot->priv;
    penstock__trace_note(slot->device->context, "slot_free");
    penstock__trace_freed(slot->device->context, &self->object, "slot");
    penstock__trace_drop_steps(self);
    penstock__cpu_backend.slot_free(&self->cpu);
    penstock__free(self->cpu.priv);
}

const struct penstock_backend penstock__trace_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "trace",
    .licence = "MIT",
    .flags = PENSTOCK_BACKEND_NOT_AUTOMATIC | PENSTOCK_BACKEND_PLANES | PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC |
             PENSTOCK_BACKEND_DEVELOPERS | PENSTOCK_BACKEND_FORKS,
    .single = true,
    .device_bytes = sizeof(struct trace_device),
    .buffer_bytes = sizeof(struct trace_buffer),
    .slot_bytes = sizeof(struct trace_slot),
    .plan_bytes = sizeof(struct trace_plan),
    .probe = probe,
    .open = open,
    .close = close,
    .buffer_alloc = buffer_alloc,
    .buffer_free = buffer_free,
    .buffer_part = buffer_part,
    .supports = supports,
    .plan_init = plan_init,
    .plan_free = plan_free,
    .slot_init = slot_init,
    .slot_free = slot_free,
    .upload = penstock__trace_upload,
    .enqueue = penstock__trace_enqueue,
    .copy = penstock__trace_copy,
    .download = penstock__trace_download,
    .mark = penstock__trace_mark,
    .wait = penstock__trace_wait,
    .stamp = penstock__trace_stamp,
    .elapsed = penstock__trace_elapsed,
};
