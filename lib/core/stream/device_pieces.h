/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Pieces of a device's memory between two streams: the batches of one fill them, those of the other read them. What a
 * piece's last samples begin is continued in the next one, in front of whose own samples they are copied.
 */
#ifndef PENSTOCK_CORE_DEVICE_PIECES_H
#define PENSTOCK_CORE_DEVICE_PIECES_H

#include "core/device/buffer.h"

#define PENSTOCK__DEVICE_PIECES 8

struct penstock__device_piece {
    penstock_queue *queue;   /* all work with the piece, in order */
    penstock_buffer *in;     /* what is read to fill it */
    penstock_buffer *memory; /* samples of the piece before, and its own */
    penstock_buffer *filled; /* the part with its own */
    penstock_buffer *out;    /* what is made of it */
    size_t start, end;       /* samples of `memory` that are there and not used yet */
    double since;            /* when it was filled */
};

struct penstock__device_pieces {
    struct penstock_device *device;
    size_t sample_bytes;
    size_t before, own; /* samples: room for those of the piece before, and a piece's own */
    size_t in_bytes, out_bytes;
    struct penstock__device_piece pieces[PENSTOCK__DEVICE_PIECES];
};

/* Samples at whose multiples device and kernels let a part of memory begin. */
size_t penstock__device_pieces_step(const struct penstock_device *device, size_t sample_bytes);

/* Makes what piece `number` lacks. */
int penstock__device_piece_make(struct penstock__device_pieces *pieces, unsigned number);

/* Its own samples are being filled in; in front of them come the unused ones of piece `before`, or `count` from the
 * host, which stay there until the queue has come that far. */
int penstock__device_piece_continue(struct penstock__device_pieces *pieces, unsigned number, unsigned before);
int penstock__device_piece_begin(struct penstock__device_pieces *pieces, unsigned number, const void *samples,
                                 size_t count);

/* The part with its first `samples` unused ones. */
int penstock__device_piece_part(penstock_buffer **part, const struct penstock__device_pieces *pieces, unsigned number,
                                size_t samples);

/* Waits for what is on its way, as far as it has not failed. */
void penstock__device_pieces_free(struct penstock__device_pieces *pieces);

#endif
