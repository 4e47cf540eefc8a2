/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The inside of a link on a device, for those files that are it. */
#ifndef PENSTOCK_CORE_DEVICE_LINK_STATE_H
#define PENSTOCK_CORE_DEVICE_LINK_STATE_H

#include "core/stream/batcher_device.h"
#include "core/stream/device_ends.h"
#include "core/stream/device_link.h"
#include "core/stream/device_pieces.h"
#include "core/stream/ring.h"

/* Groups of a piece, on their way: to the host, or made values for the link behind. */
struct penstock__device_cut {
    unsigned piece;
    uint64_t mark;
    size_t groups;
    penstock_buffer *in;
};

struct penstock__device_link {
    penstock_stream *from, *to;
    const struct penstock__device_source *source;
    struct penstock__batcher *batcher; /* while it is active */
    struct penstock__groups groups;
    size_t blocks; /* of a piece, at most */
    size_t lump;   /* groups are cut in multiples of so many, behind which memory may begin */
    size_t lead;   /* samples that the host's link holds, ahead of those on the device */
    bool active, given_up, told;
    bool stalled;   /* it would be active, but results of the second stream must be read first */
    unsigned piece; /* the last one that was filled, or PENSTOCK__DEVICE_PIECES */
    struct penstock__device_pieces pieces;
    struct penstock__device_cut cuts[PENSTOCK__RING_MOST]; /* a ring */
    unsigned first_cut, cut_count;

    /* Where the results of `to` stay there, too: core/stream/device_through.c. */
    bool shared;                                             /* groups wait for the link behind */
    struct penstock__device_link *behind;                    /* while it is active and takes them */
    struct penstock__device_cut parts[PENSTOCK__RING_USUAL]; /* that one's: a ring */
    unsigned first_part, part_count;
};

/* Both streams' device, with the batcher of the second one; or NULL. */
struct penstock__batcher *penstock__device_link_find(const struct penstock__device_link *link,
                                                     struct penstock__device_shape *shape);

/* Groups that are complete in the last piece, of which all behind may begin there. */
size_t penstock__device_link_groups(const struct penstock__device_link *link);

/* The second stream's device was given so many more samples, or the link behind's what is made of them. */
void penstock__device_link_used(struct penstock__device_link *link, size_t samples);

/* Nothing of it is on its way any more, or never was: what was not used up is made again. */
void penstock__device_link_leave(struct penstock__device_link *link);

#endif
