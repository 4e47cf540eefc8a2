/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Means of few outputs by many threads: each takes pieces, and who makes an output's last one completes it. */
#include "backends/cpu/frames.h"

#include <stdatomic.h>

#define WORTH      2                  /* outputs for each thread: more are spread as they are */
#define MOST_BYTES ((size_t)16 << 20) /* of sums */

struct batch {
    const struct cpu_frames *frames;
    size_t pieces, count, item; /* of an output, of all, and those that a thread takes at a time */
    size_t sum_bytes;
    atomic_uint *left; /* pieces, of each output */
    char *sums, *scratch;
};

static void run_item(void *argument, size_t item, unsigned worker)
{
    const struct batch *b = argument;
    char *scratch = b->scratch + worker * b->frames->plan->scratch_bytes;
    for (size_t i = item * b->item; i < b->count && i < (item + 1) * b->item; i++) {
        const size_t output = i / b->pieces;
        penstock__cpu_frames_piece(b->frames, output, i % b->pieces, b->sums + i * b->sum_bytes, scratch);
        if (atomic_fetch_sub(&b->left[output], 1) == 1)
            penstock__cpu_frames_mean(b->frames, output, b->sums + output * b->pieces * b->sum_bytes, b->sum_bytes,
                                      scratch);
    }
}

int penstock__cpu_pieces_run(const struct cpu_frames *frames, size_t outputs, struct cpu_slot *slot,
                             penstock_context *context, bool *done)
{
    const struct cpu_plan *p = frames->plan;
    const size_t threads = penstock__threads(context), samples = POWER_TOGETHER * p->fft->n;
    struct batch b = {.frames = frames, .pieces = penstock__cpu_pieces(p), .sum_bytes = p->transform_at - p->sums_at};
    *done = threads > 1 && b.pieces > 1 && outputs < WORTH * threads && b.pieces <= MOST_BYTES / b.sum_bytes / outputs;
    if (!*done)
        return PENSTOCK_OK;
    b.count = outputs * b.pieces;
    const size_t left_bytes = penstock__aligned(outputs * sizeof *b.left), sums_bytes = b.count * b.sum_bytes;
    int status = penstock__cpu_grow_scratch(slot, left_bytes + sums_bytes + threads * p->scratch_bytes);
    if (status)
        return status;
    b.left = slot->scratch;
    b.sums = (char *)slot->scratch + left_bytes;
    b.scratch = b.sums + sums_bytes;
    b.item = penstock__fair_share(context, b.count, CPU_LEAST_SAMPLES / samples, CPU_CHUNK_SAMPLES / samples);
    for (size_t i = 0; i < outputs; i++)
        atomic_init(&b.left[i], (unsigned)b.pieces);
    penstock__parallel(context, (b.count - 1) / b.item + 1, run_item, &b);
    return PENSTOCK_OK;
}
