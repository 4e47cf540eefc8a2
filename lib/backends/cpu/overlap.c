/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Overlapped transforms on the CPU. A batch is taken apart into ranges of frames, which threads make side by side: each
 * transforms the rows that its own frames reach back to, once more than others that need them do, so that nobody waits.
 * A row goes on for a hop behind its n values, so that a hop is a piece of it wherever it begins; a frame is then a
 * weighted sum of such pieces. A range is made chunk by chunk, whose rows stay in the thread's own cache.
 */
#include "backends/cpu/overlap.h"

#include <stdio.h>
#include <string.h>

#define LINE         8    /* values of one of the caches: rows an odd number of them apart share no place there */
#define CHUNK_VALUES 8192 /* of a chunk's rows, some ten microseconds of work */
#define CHUNKS       2    /* of a range, where a batch has so many */
#define RANGES       2    /* for each thread */
#define LONG         4    /* times the rows before it */

static int fill_weights(struct fold_weights *weights, const struct penstock_fft_problem *fft)
{
    int status = penstock__fold_weights_init(weights, fft->fold, fft->hop);
    for (size_t t = 0; t < fft->fold && !status; t++)
        for (size_t i = 0; i < fft->hop; i++)
            penstock__fold_weight(weights, t, i, fft->window[t * fft->hop + i]);
    return status;
}

int penstock__cpu_overlap_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    const size_t together = FOLD_TOGETHER * penstock__round_up(fft->hop, FOLD_WIDTH) * sizeof(penstock_cf32);
    struct cpu_overlap *overlap = plan->priv;
    *overlap = (struct cpu_overlap){
        .row = *fft,
        .kernels = penstock__fold_kernels(),
        .hop = fft->hop,
        .stride = penstock__round_up(fft->n + penstock__round_up(fft->hop, FOLD_WIDTH / 2), FOLD_WIDTH) | LINE,
    };
    overlap->row.fold = overlap->row.hop = 0;
    overlap->row.window = NULL;
    const size_t before = fft->fold - 1, values = CHUNK_VALUES / fft->n + 1;
    overlap->chunk = penstock__round_up(values > before ? values : before, overlap->kernels->frames);
    overlap->rows_bytes = (before + overlap->chunk) * overlap->stride * sizeof(penstock_cf32);
    int status = fill_weights(&overlap->weights, fft);
    if (status || (status = penstock__cpu_rows_init(&overlap->rows, &overlap->row, variant))) {
        penstock__free(overlap->weights.values);
        return status;
    }
    overlap->scratch_bytes =
        penstock__aligned(overlap->rows.scratch_bytes > together ? overlap->rows.scratch_bytes : together);
    snprintf(plan->variant, sizeof plan->variant, "%s", overlap->rows.transform.kind->name);
    plan->kernels = 0;
    plan->passes = 2;
    plan->best_batch = CHUNKS * RANGES * penstock__threads(plan->device->context) * overlap->chunk;
    return PENSTOCK_OK;
}

void penstock__cpu_overlap_free(struct penstock_plan_state *plan)
{
    struct cpu_overlap *overlap = plan->priv;
    penstock__cpu_rows_free(&overlap->rows);
    penstock__free(overlap->weights.values);
}

/* ---------------------------------------------------------------- a range --------------------- */

struct batch {
    const struct cpu_overlap *overlap;
    const char *in;
    penstock_cf32 *out;
    size_t turn, frames;
    size_t range, ranges; /* frames of one, and how many there are */
    size_t threads;
    char *scratch; /* of each range, or of each thread where these are fewer: rows, and what the stages need */
};

/* `count` rows to `rows`. */
static void transform(const struct batch *batch, size_t first, size_t count, penstock_cf32 *rows, char *scratch)
{
    const struct cpu_overlap *overlap = batch->overlap;
    const size_t n = overlap->row.n, row_bytes = n * penstock_format_bytes(overlap->row.format);
    penstock__cpu_run_rows(&overlap->rows, batch->in + first * row_bytes, count, rows, overlap->stride * sizeof *rows,
                           scratch);
    for (size_t row = 0; row < count; row++, rows += overlap->stride)
        memcpy(rows + n, rows, overlap->hop * sizeof *rows);
}

/* Frames `first` .. `first + count` - 1; `rows` are those from `first` on. */
static void sum(const struct batch *batch, size_t first, size_t count, const penstock_cf32 *rows, char *scratch)
{
    const struct cpu_overlap *overlap = batch->overlap;
    const struct fold_weights *weights = &overlap->weights;
    const size_t hop = overlap->hop, n = overlap->row.n;
    const bool apart = weights->width > hop; /* more is written than a hop */
    penstock_cf32 *to = batch->out + first * hop, *spare = (penstock_cf32 *)(void *)scratch;
    size_t place = (batch->turn + first % n * hop) % n;
    rows += (weights->depth - 1) * overlap->stride;
    for (size_t frame = 0, frames; frame < count; frame += frames) {
        penstock_cf32 *out[FOLD_TOGETHER];
        const penstock_cf32 *from[FOLD_TOGETHER];
        frames = count - frame < FOLD_TOGETHER ? count - frame : FOLD_TOGETHER;
        for (size_t f = 0; f < frames; f++) {
            out[f] = apart ? spare + f * weights->width : to + (frame + f) * hop;
            from[f] = rows + (frame + f) * overlap->stride + place;
            place = place + hop < n ? place + hop : place + hop - n;
        }
        overlap->kernels->fold(out, from, frames, -(ptrdiff_t)overlap->stride, weights);
        for (size_t f = 0; f < frames && apart; f++)
            memcpy(to + (frame + f) * hop, out[f], hop * sizeof *out[f]);
    }
}

static void run_range(void *argument, size_t range, unsigned worker)
{
    const struct batch *batch = argument;
    const struct cpu_overlap *overlap = batch->overlap;
    char *own = batch->scratch +
                (batch->ranges < batch->threads ? range : worker) * (overlap->rows_bytes + overlap->scratch_bytes),
         *scratch = own + overlap->rows_bytes;
    penstock_cf32 *rows = (penstock_cf32 *)(void *)own;
    const size_t before = overlap->weights.depth - 1, first = range * batch->range,
                 end = batch->frames - first < batch->range ? batch->frames : first + batch->range;
    for (size_t frame = first, count; frame < end; frame += count) {
        const size_t made = frame > first ? before : 0; /* rows that the chunk before had too */
        count = end - frame < overlap->chunk ? end - frame : overlap->chunk;
        memmove(rows, rows + overlap->chunk * overlap->stride, made * overlap->stride * sizeof *rows);
        transform(batch, frame + made, before + count - made, rows + made * overlap->stride, scratch);
        sum(batch, frame, count, rows, scratch);
    }
}

/* ---------------------------------------------------------------- a batch --------------------- */

/* Frames of a range: two for each thread where they are long beside the rows before them, one where not; and none that
 * is not worth these. */
static size_t choose_range(const struct cpu_overlap *overlap, size_t frames, size_t threads)
{
    const size_t before = overlap->weights.depth - 1, values = CHUNK_VALUES / overlap->row.n + 1,
                 least = values > before / 2 ? values : before / 2, share = (frames + threads - 1) / threads;
    const size_t range = threads > 1 && share / RANGES >= LONG * before ? (share + RANGES - 1) / RANGES : share;
    return penstock__round_up(range > least ? range : least, overlap->kernels->frames);
}

int penstock__cpu_overlap_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                  const struct penstock_job *job)
{
    struct cpu_slot *s = slot->priv;
    const struct cpu_overlap *overlap = plan->priv;
    penstock_context *context = plan->device->context;
    struct batch batch = {.overlap = overlap,
                          .in = job->in->host,
                          .out = job->out->host,
                          .turn = job->spacing,
                          .frames = job->frames,
                          .threads = penstock__threads(context)};
    batch.range = choose_range(overlap, batch.frames, batch.threads);
    batch.ranges = (batch.frames + batch.range - 1) / batch.range;
    const size_t rooms = batch.ranges < batch.threads ? batch.ranges : batch.threads;
    int status = penstock__cpu_grow_scratch(s, rooms * (overlap->rows_bytes + overlap->scratch_bytes));
    if (status)
        return status;
    batch.scratch = s->scratch;
    penstock__parallel(context, batch.ranges, run_range, &batch);
    return PENSTOCK_OK;
}
