/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A link whose two streams may work on one device: its life, and what it needs to begin. */
#include "core/device/background.h"
#include "core/stream/device_link_state.h"
#include "core/stream/link.h"

int penstock__device_link_new(struct penstock__device_link **link, penstock_stream *from, penstock_stream *to)
{
    *link = NULL;
    if (!from->kind->device_source || !to->kind->device_batcher)
        return PENSTOCK_OK;
    if (!(*link = penstock__calloc(1, sizeof **link)))
        return PENSTOCK_ERR_MEMORY;
    (*link)->from = from;
    (*link)->to = to;
    (*link)->source = from->kind->device_source;
    return PENSTOCK_OK;
}

const struct penstock_device *penstock__device_link_device(const struct penstock__device_link *link)
{
    struct penstock__device_shape shape;
    return link && penstock__device_link_find(link, &shape) ? shape.device : NULL;
}

static void free_link(void *owner)
{
    struct penstock__device_link *link = owner;
    penstock__device_pieces_free(&link->pieces);
    penstock__free(link);
}

void penstock__device_link_free(struct penstock__device_link *link)
{
    if (!link)
        return;
    penstock__device_link_settle(link);
    link->source->share(link->from, false);
    penstock__background_free(link->from->context, free_link, link);
}

/* ---------------------------------------------------------------- what it needs --------------- */

/* Samples on the device may follow so many bytes that the host's link holds as end where memory may begin there. */
size_t penstock__device_link_lacks(const struct penstock__device_link *link)
{
    enum { MOST = 4096 }; /* more than there are places that memory may begin behind */
    struct penstock__device_shape shape;
    if (!link || link->active || !link->source->full(link->from) || !link->source->idle(link->from) ||
        !penstock__device_link_find(link, &shape))
        return 0;
    const struct penstock__link *host = link->to->source;
    const size_t step = penstock__device_pieces_step(shape.device, 1);
    size_t held = host->bytes - host->at;
    for (size_t results = 0; results < MOST; results++) {
        if (held % step == 0)
            return results;
        held = (held + link->from->out_bytes) % link->to->in_bytes;
    }
    return 0;
}
