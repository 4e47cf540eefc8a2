/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Memory of a stream of symbols: samples where the device reaches them, and batches, which are used again. */
#include "ops/ofdm/ofdm_stream.h"

#include <string.h>

#define MOST_BATCH ((size_t)1 << 20) /* samples: symbols with a longer guard interval than anyone has */

bool penstock__ofdm_stream_grow_frames(struct ofdm_stream *ofdm, size_t count)
{
    const size_t bytes = sizeof *ofdm->frames, room = count + count / 2;
    if (count <= ofdm->frame_room)
        return true;
    void *frames =
        room <= SIZE_MAX / bytes ? penstock__realloc(ofdm->frames, ofdm->frame_count * bytes, room * bytes) : NULL;
    if (!frames)
        return false;
    ofdm->frames = frames;
    ofdm->frame_room = room;
    return true;
}

/* `count` elements that the device reaches by itself, or NULL. Ordinary memory where the device stayed with the process
 * that forked this one: what may go over to the CPU does so there, and what may not says why when it is run. */
static void *reached(const struct ofdm_stream *ofdm, size_t count, size_t bytes)
{
    const char *device = penstock_ofdm_device(ofdm->data);
    void *memory;
    if (count > SIZE_MAX / bytes)
        return NULL;
    int status = penstock_host_memory_new(&memory, ofdm->stream.context, device, count * bytes);
    if (status == PENSTOCK_ERR_NO_DEVICE)
        status = penstock_host_memory_new(&memory, ofdm->stream.context, NULL, count * bytes);
    return status ? NULL : memory;
}

/* Samples of a whole batch of symbols that follow each other, where the device takes several at once; else 0. */
static size_t batch_samples(const struct ofdm_stream *ofdm)
{
    const size_t samples = ofdm->continuous ? penstock__ofdm_chunk(ofdm->data) * ofdm->step : 0;
    return samples <= MOST_BATCH ? samples : 0;
}

size_t penstock__ofdm_stream_lacks(const struct ofdm_stream *ofdm)
{
    const size_t batch = batch_samples(ofdm), waiting = ofdm->filled - ofdm->begin;
    return waiting < batch ? batch - waiting : 0;
}

static struct ofdm_memory *make_memory(const struct ofdm_stream *ofdm, size_t samples)
{
    const size_t batch = batch_samples(ofdm);
    struct ofdm_memory *memory = penstock__calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->room = samples <= batch ? batch : samples + samples / 2;
    if (!(memory->samples = reached(ofdm, memory->room, sizeof *memory->samples))) {
        penstock__free(memory);
        return NULL;
    }
    return memory;
}

/* Memory of at least `samples`; what is spare and too small goes. */
static struct ofdm_memory *new_memory(struct ofdm_stream *ofdm, size_t samples)
{
    struct ofdm_memory *memory;
    while ((memory = ofdm->spare_memory)) {
        ofdm->spare_memory = memory->next;
        if (memory->room >= samples)
            return memory;
        penstock_host_memory_free(ofdm->stream.context, memory->samples);
        penstock__free(memory);
    }
    return make_memory(ofdm, samples);
}

void penstock__ofdm_memory_leave(struct ofdm_stream *ofdm, struct ofdm_memory *memory)
{
    if (!memory || memory->batches || memory == ofdm->memory)
        return;
    memory->next = ofdm->spare_memory;
    ofdm->spare_memory = memory;
}

int penstock__ofdm_stream_reserve(struct ofdm_stream *ofdm, size_t count)
{
    struct ofdm_memory *memory = ofdm->memory, *other = memory;
    const size_t waiting = ofdm->filled - ofdm->begin, all = waiting + count;
    if (memory && count <= memory->room - ofdm->filled)
        return PENSTOCK_OK;
    if (!memory || memory->batches || all > memory->room) {
        if (!(other = new_memory(ofdm, all)))
            return PENSTOCK_ERR_MEMORY;
        if (waiting)
            penstock__copy(ofdm->stream.context, other->samples, memory->samples + ofdm->begin,
                           waiting * sizeof *other->samples);
    } else if (waiting) {
        memmove(memory->samples, memory->samples + ofdm->begin, waiting * sizeof *memory->samples);
    }
    ofdm->memory = other;
    penstock__ofdm_memory_leave(ofdm, memory);
    ofdm->base += ofdm->begin;
    ofdm->filled = waiting;
    ofdm->begin = 0;
    return PENSTOCK_OK;
}

int penstock__ofdm_stream_foresee(struct ofdm_stream *ofdm, size_t count)
{
    const size_t batch = batch_samples(ofdm), lacks = penstock__ofdm_stream_lacks(ofdm);
    const size_t behind = lacks && count > lacks ? (count - lacks + batch - 1) / batch : 0;
    size_t spare = 0;
    int status = penstock__ofdm_stream_reserve(ofdm, lacks ? lacks : count);
    for (const struct ofdm_memory *memory = ofdm->spare_memory; memory; memory = memory->next)
        spare += memory->room >= batch;
    for (; spare < behind && !status; spare++) {
        struct ofdm_memory *memory = make_memory(ofdm, batch);
        if (!memory)
            return PENSTOCK_ERR_MEMORY;
        penstock__ofdm_memory_leave(ofdm, memory);
    }
    return status;
}

void penstock__ofdm_batch_free(const struct ofdm_stream *ofdm, struct ofdm_batch *batch)
{
    penstock__free(batch->frames);
    penstock__free(batch->described);
    penstock__free(batch->channels);
    penstock__free(batch->symbols);
    penstock_host_memory_free(ofdm->stream.context, batch->made);
    penstock__free(batch);
}

static bool reserve_frames(const struct ofdm_stream *ofdm, struct ofdm_batch *batch, size_t frames)
{
    if (frames <= batch->frame_room)
        return true;
    penstock__free(batch->frames);
    penstock__free(batch->described);
    penstock__free(batch->channels);
    batch->frames = penstock__alloc(frames * sizeof *batch->frames);
    batch->described = penstock__alloc(frames * sizeof *batch->described);
    batch->channels = ofdm->training ? penstock__alloc(frames * ofdm->n * sizeof *batch->channels) : NULL;
    batch->frame_room = batch->frames && batch->described && (batch->channels || !ofdm->training) ? frames : 0;
    return batch->frame_room;
}

static bool reserve_symbols(const struct ofdm_stream *ofdm, struct ofdm_batch *batch, size_t frames, size_t symbols)
{
    const size_t training = frames * ofdm->used_count * sizeof(penstock_cf32),
                 results = symbols * penstock__ofdm_row(&ofdm->layout), bytes = training > results ? training : results;
    if (symbols < frames) /* the training's go through the same memory */
        symbols = frames;
    if (symbols > batch->symbol_room) {
        penstock__free(batch->symbols);
        batch->symbols = penstock__alloc(symbols * sizeof *batch->symbols);
        batch->symbol_room = batch->symbols ? symbols : 0;
    }
    if (bytes > batch->made_bytes) {
        penstock_host_memory_free(ofdm->stream.context, batch->made);
        batch->made = reached(ofdm, bytes, 1);
        batch->made_bytes = batch->made ? bytes : 0;
    }
    return batch->symbol_room && batch->made_bytes;
}

struct ofdm_batch *penstock__ofdm_batch_new(struct ofdm_stream *ofdm, size_t frames, size_t symbols)
{
    struct ofdm_batch *batch = ofdm->spare;
    if (batch)
        ofdm->spare = batch->next;
    else if (!(batch = penstock__calloc(1, sizeof *batch)))
        return NULL;
    if (!reserve_frames(ofdm, batch, frames) || !reserve_symbols(ofdm, batch, frames, symbols)) {
        batch->next = ofdm->spare;
        ofdm->spare = batch;
        return NULL;
    }
    batch->frame_count = frames;
    batch->symbol_count = symbols;
    batch->given = batch->given_symbols = 0;
    batch->next = NULL;
    return batch;
}
