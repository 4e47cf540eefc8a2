/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of frames: which frames, where each one's part begins, and what goes on with several of them at once. */
#include "rx/batch.h"

#include <stdatomic.h>

#define BATCHES_HERE 3 /* prepared, just sent, and finished */

struct penstock__rx_batches {
    struct penstock__rx *rx;
    const struct penstock__rx_way *way;
    void *owner;
    struct penstock__rx_frame *left; /* the first one that waits on, so far */
    struct progress {
        size_t prepared, sent, waited, finished; /* batches so far: each is one of `count` in turn */
        size_t earlier;                          /* sent before this call */
    } done;
    unsigned count;
    struct penstock__rx_batch *batch[];
};

void penstock__rx_batches_free(struct penstock__rx_batches *batches)
{
    for (unsigned i = 0; batches && i < batches->count && batches->batch[i]; i++) {
        batches->way->free(batches->owner, batches->batch[i]);
        penstock__free(batches->batch[i]->items);
        penstock__free(batches->batch[i]->frames);
        penstock__free(batches->batch[i]);
    }
    penstock__free(batches);
}

static int make(struct penstock__rx_batches *batches, unsigned number)
{
    const struct penstock__rx_way *way = batches->way;
    struct penstock__rx_batch *batch = batches->batch[number] = penstock__calloc(1, way->bytes);
    if (!batch || !(batch->items = penstock__alloc(way->frames * sizeof *batch->items)) ||
        !(batch->frames = penstock__alloc(way->frames * sizeof *batch->frames)))
        return PENSTOCK_ERR_MEMORY;
    return way->make(batches->owner, batch, number);
}

int penstock__rx_batches_new(struct penstock__rx_batches **batches, struct penstock__rx *rx,
                             const struct penstock__rx_way *way, void *owner, unsigned flying)
{
    const unsigned count = flying + BATCHES_HERE;
    struct penstock__rx_batches *made = penstock__calloc(1, sizeof *made + count * sizeof made->batch[0]);
    int status = made ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    if (made)
        *made = (struct penstock__rx_batches){.rx = rx, .way = way, .owner = owner, .count = count};
    for (unsigned i = 0; i < count && !status; i++)
        status = make(made, i);
    if (status)
        penstock__rx_batches_free(made);
    *batches = status ? NULL : made;
    return status;
}

/* ---------------------------------------------------------------- one batch ------------------- */

static bool is_due(const struct penstock__rx_batches *batches, const struct penstock__rx_frame *frame)
{
    return penstock__rx_complete(batches->rx, frame) && !(batches->way->lists && frame->unlisted);
}

static void leave(struct penstock__rx_batches *batches, struct penstock__rx_frame *frame)
{
    if (frame->state == PENSTOCK__RX_WAITING && (!batches->left || frame->start < batches->left->start))
        batches->left = frame;
}

/* Returns the next one. */
static const struct penstock__rx_frame *fetch(const struct penstock__rx_frame *frame)
{
    penstock__rx_fetch(frame);
    return frame ? frame->next : NULL;
}

/* As many frames as a batch holds, from `frame` on; returns the first that there was no room for. */
static struct penstock__rx_frame *collect(struct penstock__rx_batches *batches, struct penstock__rx_batch *batch,
                                          struct penstock__rx_frame *frame)
{
    const struct penstock__rx_standard *standard = batches->rx->standard;
    const struct penstock__rx_way *way = batches->way;
    const struct penstock__rx_frame *ahead = frame;
    batch->item_count = batch->sample_count = batch->symbol_count = batch->coded_bytes = batch->packed_bytes = 0;
    for (unsigned i = 0; i < PENSTOCK__RX_AHEAD; i++)
        ahead = fetch(ahead);
    for (; frame; frame = frame->next, ahead = fetch(ahead)) {
        if (!is_due(batches, frame)) {
            leave(batches, frame);
            continue;
        }
        if (batch->item_count == way->frames || batch->symbol_count + frame->symbols > way->symbols)
            break;
        struct penstock__rx_item *item = &batch->items[batch->item_count++];
        item->whole = false;
        item->frame = frame;
        item->sample = batch->sample_count;
        item->samples = standard->head + frame->symbols * standard->symbol + standard->margin;
        item->symbol = batch->symbol_count;
        if (way->enter)
            way->enter(batches->owner, batch, item);
        batch->sample_count += item->samples;
        batch->symbol_count += frame->symbols;
    }
    return frame;
}

/* False where there is no memory for what the frame gives. */
static bool prepare(const struct penstock__rx_batches *batches, struct penstock__rx_batch *batch, size_t index,
                    const struct penstock__rx_worker *worker)
{
    const struct penstock__rx *rx = batches->rx;
    struct penstock__rx_item *item = &batch->items[index];
    penstock_ofdm_symbol *symbols = batch->symbols ? batch->symbols + item->symbol : worker->symbols;
    if (rx->standard->reserve(rx, item->frame))
        return false;
    penstock__rx_read(rx, item->frame, 0, item->samples, batches->way->copies, batch->samples + item->sample);
    rx->standard->track(rx, worker->own, item->frame, symbols);
    for (unsigned i = 0; i < item->frame->symbols; i++) {
        symbols[i].start += item->sample;
        symbols[i].frame = (uint32_t)index;
    }
    batch->frames[index] = item->frame->ofdm;
    batch->frames[index].origin = item->sample;
    if (batches->way->list)
        batches->way->list(batches->owner, batch, index, symbols);
    item->whole = is_due(batches, item->frame); /* else a slow clock: it goes on, as its pilots have told */
    return true;
}

/* ---------------------------------------------------------------- several of them ------------- */

/* What goes on at once: each may be NULL. */
struct stage {
    const struct penstock__rx_batches *batches;
    struct penstock__rx_batch *prepared, *sent, *waited, *finished;
    atomic_bool no_memory;
    struct penstock__failure failure; /* the device's */
};

/* The device first, then frames. */
static void work(void *argument, size_t index, unsigned worker)
{
    struct stage *stage = argument;
    const struct penstock__rx_batches *batches = stage->batches;
    const struct penstock__rx_worker *own = &batches->rx->workers[worker];
    const size_t device = stage->sent || stage->waited, finished = stage->finished ? stage->finished->item_count : 0;
    if (index < device) {
        penstock__failure_keep(&stage->failure, batches->way->use(batches->owner, stage->sent, stage->waited));
    } else if (index < device + finished) {
        const struct penstock__rx_item *item = &stage->finished->items[index - device];
        if (item->whole)
            batches->way->finish(batches->owner, stage->finished, item, own->own);
    } else if (!prepare(batches, stage->prepared, index - device - finished, own)) {
        atomic_store(&stage->no_memory, true);
    }
}

static int run_stage(struct stage *stage)
{
    struct penstock__rx *rx = stage->batches->rx;
    const struct penstock__rx_batch *finished = stage->finished;
    penstock__parallel(rx->stream.context,
                       (stage->sent || stage->waited) + (finished ? finished->item_count : 0) +
                           (stage->prepared ? stage->prepared->item_count : 0),
                       work, stage);
    for (size_t i = 0; finished && i < finished->item_count; i++)
        if (finished->items[i].whole)
            penstock__rx_count(rx, finished->items[i].frame);
    return penstock__failure_tell(&stage->failure);
}

/* The next stage but for what is prepared in it. While frames are `left` to be prepared, that goes on beside a wait for
 * a batch of an earlier call, which will be over soon; behind the last of them nothing would. */
static void choose(struct stage *stage, const struct progress *done, bool left, bool all)
{
    struct penstock__rx_batch *const *batch = stage->batches->batch;
    const size_t count = stage->batches->count, flying = count - BATCHES_HERE, on_way = done->sent - done->waited;
    if (done->sent < done->prepared)
        stage->sent = batch[done->sent % count];
    if (done->finished < done->waited)
        stage->finished = batch[done->finished % count];
    if (on_way && ((left && (done->waited < done->earlier || on_way >= flying)) || (all && !stage->prepared)))
        stage->waited = batch[done->waited % count];
    else if (!on_way && (!flying || (all && !stage->prepared)))
        stage->waited = stage->sent;
}

/* The frames of a batch that was prepared are on their way. Where that lasts, the ring need not have their samples. */
static void mark(struct penstock__rx_batches *batches, const struct penstock__rx_batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        const struct penstock__rx_item *item = &batch->items[i];
        if (!item->whole) {
            leave(batches, item->frame);
            continue;
        }
        item->frame->state = PENSTOCK__RX_SENT;
        if (batches->count > BATCHES_HERE)
            item->frame->kept = batch->samples + item->sample;
    }
}

/* After a failure of the device. */
static void recall(struct penstock__rx_batches *batches)
{
    struct progress *done = &batches->done;
    for (size_t i = done->finished; i < done->prepared; i++) {
        const struct penstock__rx_batch *batch = batches->batch[i % batches->count];
        for (size_t k = 0; k < batch->item_count; k++)
            if (batch->items[k].whole)
                batch->items[k].frame->state = PENSTOCK__RX_WAITING;
    }
    batches->rx->waiting = batches->rx->first;
    *done = (struct progress){0};
}

/* One stage; *frame is the first that is in no batch yet, NULL where none is left. */
static int go_on(struct penstock__rx_batches *batches, struct penstock__rx_frame **frame, bool all, bool *no_memory)
{
    struct progress *done = &batches->done;
    struct stage stage = {.batches = batches};
    struct penstock__rx_batch *next = batches->batch[done->prepared % batches->count];
    const bool left = *frame;
    if (*frame && done->prepared - done->finished < batches->count) {
        *frame = collect(batches, next, *frame);
        stage.prepared = next->item_count ? next : NULL;
    }
    choose(&stage, done, left, all);
    const int status = run_stage(&stage);
    if (atomic_load(&stage.no_memory)) { /* those before it go on */
        *no_memory = true;
        *frame = NULL;
        stage.prepared = NULL;
    }
    if (stage.prepared)
        mark(batches, stage.prepared);
    done->prepared += stage.prepared != NULL;
    done->sent += stage.sent != NULL;
    done->waited += stage.waited != NULL;
    done->finished += stage.finished != NULL;
    return status;
}

static int run(struct penstock__rx_batches *batches, struct penstock__rx_frame *frame, bool all)
{
    struct progress *done = &batches->done;
    bool no_memory = false;
    int status = PENSTOCK_OK;
    done->earlier = done->sent;
    while (!status && (frame || done->sent < done->prepared || done->finished < done->waited ||
                       (all && done->finished < done->prepared)))
        status = go_on(batches, &frame, all, &no_memory);
    if (status)
        recall(batches);
    return status ? status : no_memory;
}

int penstock__rx_batches_run(struct penstock__rx_batches *batches, bool all)
{
    struct penstock__rx *rx = batches->rx;
    batches->left = NULL;
    const int status = run(batches, rx->waiting, all);
    if (!status)
        rx->waiting = batches->left;
    return status;
}

int penstock__rx_batches_finish(struct penstock__rx_batches *batches)
{
    return run(batches, NULL, true);
}

bool penstock__rx_batches_flying(const struct penstock__rx_batches *batches)
{
    return batches->done.finished < batches->done.prepared;
}

int penstock__rx_batches_drop(struct penstock__rx_batches *batches)
{
    struct progress *done = &batches->done;
    int status = PENSTOCK_OK;
    for (; done->waited < done->sent && !status; done->waited++)
        status = batches->way->use(batches->owner, NULL, batches->batch[done->waited % batches->count]);
    *done = (struct progress){0};
    return status;
}
