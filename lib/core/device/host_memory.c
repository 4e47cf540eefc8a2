/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Buffers of devices that work in ordinary memory, and slots of those that compute at once. */
#include "backends/backend.h"

#include <string.h>

int penstock__host_buffer_alloc(struct penstock_buffer *buffer, size_t bytes)
{
    buffer->host = penstock__alloc(bytes);
    return buffer->host ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock__host_buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes)
{
    (void)bytes;
    buffer->host = host;
    return PENSTOCK_OK;
}

void penstock__host_buffer_free(struct penstock_buffer *buffer)
{
    if (!buffer->wrapped)
        penstock__free(buffer->host);
}

int penstock__host_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    (void)slot;
    memcpy(buffer->host, host, bytes);
    return PENSTOCK_OK;
}

int penstock__host_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    (void)slot;
    memcpy(host, buffer->host, bytes);
    return PENSTOCK_OK;
}

int penstock__host_slot_init(struct penstock_slot *slot)
{
    (void)slot; /* zeroed is right */
    return PENSTOCK_OK;
}

void penstock__host_slot_free(struct penstock_slot *slot)
{
    (void)slot;
}

int penstock__host_mark(struct penstock_slot *slot, uint64_t *number)
{
    struct penstock_host_slot *self = slot->priv;
    *number = ++self->marks;
    return PENSTOCK_OK;
}

int penstock__host_wait(struct penstock_slot *slot, uint64_t number)
{
    (void)slot, (void)number;
    return PENSTOCK_OK;
}
