/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A ring of batches in memory that a device reaches by itself. */
#include "core/stream/ring.h"
#include "core/base/context.h"
#include "core/device/device_group.h"
#include "core/stream/latency.h"

/* ---------------------------------------------------------------- life ------------------------ */

static int fill(char **memory, const struct penstock__ring *ring, struct penstock_device *device, size_t bytes)
{
    void *made;
    int status = penstock__host_block_new(&made, ring->context, device, bytes);
    *memory = made;
    return status;
}

unsigned penstock__ring_count(const struct penstock_device *device, unsigned each)
{
    unsigned count = (each - 1) * penstock__device_members(device) + 1;
    return count < PENSTOCK__RING_MOST ? count : PENSTOCK__RING_MOST;
}

size_t penstock__ring_batch_bytes(const struct penstock_device *device, size_t bytes)
{
    return penstock__device_members(device) > 1 ? bytes / 2 : bytes;
}

int penstock__ring_init(struct penstock__ring *ring, penstock_context *context, struct penstock_device *device,
                        unsigned count, size_t in_bytes, size_t out_bytes)
{
    ring->context = context;
    ring->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[i];
        int status = in_bytes ? fill(&batch->in, ring, device, in_bytes) : PENSTOCK_OK;
        if (status || (out_bytes && (status = fill(&batch->out, ring, device, out_bytes))))
            return status;
    }
    penstock__ring_reset(ring);
    return PENSTOCK_OK;
}

void penstock__ring_free(struct penstock__ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++) {
        penstock_host_memory_free(ring->context, ring->batches[i].in);
        penstock_host_memory_free(ring->context, ring->batches[i].out);
    }
}

void penstock__ring_reset(struct penstock__ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++) {
        struct penstock__ring_batch *batch = &ring->batches[i];
        batch->state = PENSTOCK__RING_FREE;
        batch->samples = batch->items = batch->read = 0;
    }
    ring->batches[0].state = PENSTOCK__RING_FILLING;
    ring->filling = ring->oldest = 0;
}

/* ---------------------------------------------------------------- around ---------------------- */

void penstock__ring_sent(struct penstock__ring *ring)
{
    penstock__ring_last(ring)->state = PENSTOCK__RING_SENT;
    ring->filling = (ring->filling + 1) % ring->count;
}

bool penstock__ring_release(struct penstock__ring *ring, size_t items)
{
    struct penstock__ring_batch *oldest = penstock__ring_oldest(ring);
    oldest->read += items;
    if (oldest->read < oldest->items)
        return false;
    oldest->state = PENSTOCK__RING_FREE;
    ring->oldest = (ring->oldest + 1) % ring->count;
    return true;
}

void penstock__ring_used(struct penstock__ring *ring, size_t items)
{
    for (size_t some; items; items -= some) {
        some = penstock__ring_unread(ring, items);
        penstock__ring_release(ring, some);
    }
}

void penstock__ring_take_back(struct penstock__ring *ring)
{
    for (unsigned i = 0; i < ring->count; i++)
        if (ring->batches[i].state == PENSTOCK__RING_HANDED)
            ring->batches[i].state = PENSTOCK__RING_LOST;
}

bool penstock__ring_overdue(const struct penstock__ring_batch *batch, double max_latency_s)
{
    return batch->items && penstock__latency_is_over(batch->since, max_latency_s);
}

double penstock__ring_due_s(const struct penstock__ring *ring, double max_latency_s)
{
    const struct penstock__ring_batch *oldest = &ring->batches[ring->oldest];
    if (oldest->state == PENSTOCK__RING_DONE || oldest->state == PENSTOCK__RING_LOST)
        return 0;
    if (oldest->state == PENSTOCK__RING_FREE || !oldest->items)
        return (double)INFINITY;
    return penstock__latency_left_s(oldest->since, max_latency_s);
}
