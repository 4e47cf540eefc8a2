/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Pieces of a device's memory between two streams. */
#include "core/stream/device_pieces.h"

#define LEAST_ALIGNMENT 16 /* what kernels read at once, and copies move */

size_t penstock__device_pieces_step(const struct penstock_device *device, size_t sample_bytes)
{
    const size_t bytes = device->alignment > LEAST_ALIGNMENT ? device->alignment : LEAST_ALIGNMENT;
    return bytes / sample_bytes;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int make_buffer(penstock_buffer **buffer, const struct penstock__device_pieces *pieces, size_t bytes)
{
    return *buffer || !bytes ? PENSTOCK_OK : penstock__buffer_make(buffer, pieces->device, bytes);
}

int penstock__device_piece_make(struct penstock__device_pieces *pieces, unsigned number)
{
    struct penstock__device_piece *piece = &pieces->pieces[number];
    const size_t bytes = pieces->sample_bytes;
    int status = piece->queue ? PENSTOCK_OK : penstock__queue_make(&piece->queue, pieces->device);
    if (status || (status = make_buffer(&piece->in, pieces, pieces->in_bytes)) ||
        (status = make_buffer(&piece->memory, pieces, (pieces->before + pieces->own) * bytes)) ||
        (status = make_buffer(&piece->out, pieces, pieces->out_bytes)))
        return status;
    return piece->filled
               ? PENSTOCK_OK
               : penstock_buffer_slice(&piece->filled, piece->memory, pieces->before * bytes, pieces->own * bytes);
}

void penstock__device_pieces_free(struct penstock__device_pieces *pieces)
{
    for (unsigned i = 0; i < PENSTOCK__DEVICE_PIECES; i++)
        penstock_queue_free(pieces->pieces[i].queue); /* before any memory that another one reads */
    for (unsigned i = 0; i < PENSTOCK__DEVICE_PIECES; i++) {
        struct penstock__device_piece *piece = &pieces->pieces[i];
        penstock_buffer_free(piece->filled);
        penstock_buffer_free(piece->memory);
        penstock_buffer_free(piece->in);
        penstock_buffer_free(piece->out);
        *piece = (struct penstock__device_piece){.queue = NULL};
    }
}

/* ---------------------------------------------------------------- history --------------------- */

static void set_place(struct penstock__device_pieces *pieces, unsigned number, size_t history)
{
    struct penstock__device_piece *piece = &pieces->pieces[number];
    piece->start = pieces->before - history;
    piece->end = pieces->before + pieces->own;
    piece->since = penstock__now_s();
}

int penstock__device_piece_continue(struct penstock__device_pieces *pieces, unsigned number, unsigned before)
{
    const struct penstock__device_piece *piece = &pieces->pieces[number], *other = &pieces->pieces[before];
    const size_t history = other->end - other->start, bytes = pieces->sample_bytes;
    set_place(pieces, number, history);
    if (!history)
        return PENSTOCK_OK;
    const struct penstock_device_copy copy = {.to = piece->memory,
                                              .from = other->memory,
                                              .to_at = piece->start * bytes,
                                              .from_at = other->start * bytes,
                                              .bytes = history * bytes,
                                              .way = PENSTOCK_COPY_OWN};
    int status = penstock_queue_follow(piece->queue, other->queue);
    return status ? status
                  : penstock__queue_note(piece->queue, pieces->device->backend->copy(&piece->queue->slot, &copy));
}

int penstock__device_piece_begin(struct penstock__device_pieces *pieces, unsigned number, const void *samples,
                                 size_t count)
{
    const struct penstock__device_piece *piece = &pieces->pieces[number];
    penstock_buffer *part;
    set_place(pieces, number, count);
    if (!count)
        return PENSTOCK_OK;
    int status = penstock__device_piece_part(&part, pieces, number, count);
    if (status)
        return status;
    if (!(status = penstock__buffer_send(part, samples, count * pieces->sample_bytes, piece->queue)))
        status = penstock__queue_drain(piece->queue);
    penstock_buffer_free(part);
    return status;
}

int penstock__device_piece_part(penstock_buffer **part, const struct penstock__device_pieces *pieces, unsigned number,
                                size_t samples)
{
    const struct penstock__device_piece *piece = &pieces->pieces[number];
    return penstock_buffer_slice(part, piece->memory, piece->start * pieces->sample_bytes,
                                 samples * pieces->sample_bytes);
}
