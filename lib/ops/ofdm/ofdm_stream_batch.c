/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of a stream. One of two batch objects brings the bins of the training symbols of all complete frames, over a
 * channel of one; they, divided by what was sent, are the channel of the other one, which does the data. A device that
 * takes whole batches at once has some of them on their way, each reading its part of the memory that samples lie in.
 */
#include "ops/ofdm/ofdm_stream.h"

#include <string.h>

#define BATCH_SYMBOLS 4096  /* where the device does not say how many it takes at once */
#define STRONG_BIT    24.0F /* soft value of a bit whose carrier has the mean power, at the least distance */

/* ---------------------------------------------------------------- a batch --------------------- */

static bool complete(const struct ofdm_stream *ofdm, const struct ofdm_waiting_frame *frame)
{
    return penstock__ofdm_stream_end(ofdm, frame) <= ofdm->base + ofdm->filled;
}

float penstock__ofdm_stream_strength(penstock_constellation constellation, float power)
{
    const unsigned bits = (unsigned)constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2)), axes = bits == 1 ? 1 : 2;
    const float distance = 12 / (axes * (levels * levels - 1)); /* squared, of neighbours at mean power one */
    float scale = STRONG_BIT / (distance * power);
    return scale > 1e-20F && scale < 1e20F ? scale : 1;
}

float penstock__ofdm_stream_scale(const struct ofdm_stream *ofdm, const penstock_cf32 *channel)
{
    float power = 0;
    size_t used = ofdm->training ? ofdm->used_count : ofdm->n;
    for (size_t k = 0; k < ofdm->n; k++)
        power += (channel[k].re * channel[k].re + channel[k].im * channel[k].im) / (float)used;
    return penstock__ofdm_stream_strength(ofdm->constellation, power);
}

void penstock__ofdm_stream_symbols(penstock_ofdm_symbol *symbols, size_t count, uint32_t frame, uint64_t start,
                                   size_t step, uint64_t number, size_t pilot_rows)
{
    size_t row = (size_t)(number % pilot_rows);
    for (size_t i = 0; i < count; i++, start += step) {
        symbols[i] = (penstock_ofdm_symbol){.start = start, .frame = frame, .pilot_row = (uint32_t)row};
        row = row + 1 < pilot_rows ? row + 1 : 0;
    }
}

static penstock_ofdm_batch batch_of(const struct ofdm_batch *batch, size_t symbols)
{
    return PENSTOCK_OFDM_BATCH(.samples = batch->memory->samples + batch->begin, .sample_count = batch->sample_count,
                               .frames = batch->described, .frame_count = batch->frame_count, .symbols = batch->symbols,
                               .symbol_count = symbols);
}

/* The batch's channels, from its training symbols. */
static int estimate(const struct ofdm_stream *ofdm, const struct ofdm_batch *made)
{
    penstock_cf32 *points = (penstock_cf32 *)(void *)made->made;
    for (size_t f = 0; f < made->frame_count; f++) {
        made->described[f].channel = ofdm->ones;
        made->symbols[f] = (penstock_ofdm_symbol){
            .start = made->described[f].origin + (ofdm->training_symbols - 1) * ofdm->step, .frame = (uint32_t)f};
    }
    penstock_ofdm_batch batch = batch_of(made, made->frame_count);
    int status = penstock_ofdm_run(ofdm->training, &batch, &PENSTOCK_OFDM_RESULT(.points = points));
    for (size_t f = 0; f < made->frame_count && !status; f++) {
        penstock_cf32 *channel = made->channels + f * ofdm->n;
        memset(channel, 0, ofdm->n * sizeof *channel);
        for (size_t i = 0; i < ofdm->used_count; i++) {
            penstock_cf32 got = points[f * ofdm->used_count + i], sent = ofdm->sent[i];
            float power = sent.re * sent.re + sent.im * sent.im;
            channel[(size_t)(ofdm->used[i] + (int32_t)ofdm->n) % ofdm->n] = (penstock_cf32){
                (got.re * sent.re + got.im * sent.im) / power, (got.im * sent.re - got.re * sent.im) / power};
        }
    }
    return status;
}

/* Everything that is known of the batch's frames before the device sees their data. */
static int describe(const struct ofdm_stream *ofdm, const struct ofdm_batch *batch)
{
    size_t count = 0;
    int status = PENSTOCK_OK;
    for (size_t f = 0; f < batch->frame_count; f++)
        batch->described[f] = (penstock_ofdm_frame){.noise = 1,
                                                    .llr_scale = 1,
                                                    .cfo = batch->frames[f].cfo,
                                                    .origin = batch->frames[f].start - batch->base,
                                                    .constellation = PENSTOCK_BPSK};
    if (ofdm->training && (status = estimate(ofdm, batch)))
        return status;
    for (size_t f = 0; f < batch->frame_count; f++) {
        const struct ofdm_waiting_frame *frame = &batch->frames[f];
        const penstock_cf32 *channel = ofdm->training ? batch->channels + f * ofdm->n : ofdm->ones;
        batch->described[f].channel = channel;
        batch->described[f].constellation = ofdm->constellation;
        batch->described[f].llr_scale = ofdm->training ? penstock__ofdm_stream_scale(ofdm, channel) : ofdm->plain_scale;
        penstock__ofdm_stream_symbols(batch->symbols + count, frame->symbols, (uint32_t)f,
                                      batch->described[f].origin + ofdm->training_symbols * ofdm->step, ofdm->step,
                                      frame->row, ofdm->pilot_rows);
        count += frame->symbols;
    }
    return status;
}

/* ---------------------------------------------------------------- on their way ---------------- */

/* Its samples are needed no more. */
static void leave_memory(struct ofdm_stream *ofdm, struct ofdm_batch *batch)
{
    if (!batch->memory)
        return;
    batch->memory->batches--;
    penstock__ofdm_memory_leave(ofdm, batch->memory);
    batch->memory = NULL;
}

static void done(struct ofdm_stream *ofdm, struct ofdm_batch *batch)
{
    batch->state = OFDM_BATCH_DONE;
    leave_memory(ofdm, batch);
}

/* Waits for the oldest one that is. */
static void wait_for_one(struct ofdm_stream *ofdm)
{
    struct ofdm_batch *batch = ofdm->first;
    while (batch->state != OFDM_BATCH_SENT)
        batch = batch->next;
    const int status = penstock__ofdm_wait(ofdm->data, batch->slot);
    ofdm->on_their_way--;
    if (!status) {
        done(ofdm, batch);
        return;
    }
    batch->state = OFDM_BATCH_LOST;
    while (ofdm->on_their_way)
        wait_for_one(ofdm);
    penstock__ofdm_give_up(ofdm->data);
}

/* While nothing is on its way. */
static int run(struct ofdm_stream *ofdm, struct ofdm_batch *made)
{
    const penstock_ofdm_batch batch = batch_of(made, made->symbol_count);
    char *points = made->made + made->symbol_count * penstock__ofdm_points_at(&ofdm->layout);
    int status = penstock_ofdm_run(
        ofdm->data, &batch,
        &PENSTOCK_OFDM_RESULT(.points = (penstock_cf32 *)(void *)points, .soft = (int8_t *)made->made));
    if (!status)
        done(ofdm, made);
    return status;
}

static int begin(struct ofdm_stream *ofdm, struct ofdm_batch *made)
{
    const double began = penstock__now_s();
    bool started = false;
    int status = describe(ofdm, made);
    if (status)
        return status;
    if (penstock__ofdm_chunk(ofdm->data)) {
        const penstock_ofdm_batch batch = batch_of(made, made->symbol_count);
        while (ofdm->on_their_way == penstock__ofdm_slots(ofdm->data))
            wait_for_one(ofdm);
        status = penstock__ofdm_start(ofdm->data, &batch, ofdm->continuous, made->made, ofdm->next_slot, &started);
    }
    if (started) {
        made->state = OFDM_BATCH_SENT;
        made->slot = ofdm->next_slot;
        ofdm->next_slot = (ofdm->next_slot + 1) % penstock__ofdm_slots(ofdm->data);
        ofdm->on_their_way++;
    } else {
        while (ofdm->on_their_way)
            wait_for_one(ofdm);
        if (status)
            penstock__ofdm_give_up(ofdm->data);
        if ((status = run(ofdm, made)))
            return status;
    }
    bool clock = penstock__ofdm_has_clock(ofdm->data);
    penstock__meter_batch(&ofdm->stream.meter, made->symbol_count, clock ? 0 : penstock__now_s() - began);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in their order -------------- */

/* Samples that no frame needs go. */
static void trim(struct ofdm_stream *ofdm)
{
    const uint64_t first = ofdm->base + ofdm->begin;
    size_t gone = ofdm->filled - ofdm->begin;
    if (ofdm->continuous)
        return;
    if (ofdm->frame_count && ofdm->frames[0].start - first < gone)
        gone = (size_t)(ofdm->frames[0].start - first);
    ofdm->begin += gone;
}

/* Frames of the next batch, of `*symbols` symbols in all. */
static size_t gather(const struct ofdm_stream *ofdm, size_t *symbols)
{
    const size_t chunk = penstock__ofdm_chunk(ofdm->data), most = chunk ? chunk : BATCH_SYMBOLS,
                 there = (ofdm->filled - ofdm->begin) / ofdm->step;
    size_t count = 0;
    *symbols = 0;
    if (ofdm->continuous) {
        *symbols = there < most ? there : most;
        return *symbols > 0;
    }
    while (count < ofdm->frame_count && complete(ofdm, &ofdm->frames[count]) &&
           (!count || *symbols + ofdm->frames[count].symbols <= most))
        *symbols += ofdm->frames[count++].symbols;
    return count;
}

/* What is complete, as far as it goes into one batch. */
static int send(struct ofdm_stream *ofdm)
{
    size_t symbols;
    const size_t count = gather(ofdm, &symbols);
    const uint64_t base = ofdm->base + ofdm->begin;
    struct ofdm_batch *batch = count ? penstock__ofdm_batch_new(ofdm, count, symbols) : NULL;
    if (!batch)
        return count ? PENSTOCK_ERR_MEMORY : PENSTOCK_OK;
    batch->memory = ofdm->memory;
    batch->memory->batches++;
    batch->begin = ofdm->begin;
    batch->sample_count = ofdm->filled - ofdm->begin;
    batch->base = base;
    if (ofdm->continuous)
        batch->frames[0] = (struct ofdm_waiting_frame){.start = base, .row = base / ofdm->step, .symbols = symbols};
    else
        memcpy(batch->frames, ofdm->frames, count * sizeof *batch->frames);
    int status = begin(ofdm, batch);
    if (status) {
        leave_memory(ofdm, batch);
        batch->next = ofdm->spare;
        ofdm->spare = batch;
        return status;
    }
    *(ofdm->first ? &ofdm->last->next : &ofdm->first) = batch;
    ofdm->last = batch;
    ofdm->sent_frames += count;
    if (ofdm->continuous) {
        ofdm->begin += symbols * ofdm->step;
    } else {
        ofdm->frame_count -= count;
        memmove(ofdm->frames, ofdm->frames + count, ofdm->frame_count * sizeof *ofdm->frames);
    }
    trim(ofdm);
    return PENSTOCK_OK;
}

void penstock__ofdm_stream_send(struct ofdm_stream *ofdm)
{
    const size_t chunk = penstock__ofdm_chunk(ofdm->data), least = ofdm->stream.finished ? 1 : chunk;
    size_t symbols = 0;
    if (ofdm->continuous)
        symbols = (ofdm->filled - ofdm->begin) / ofdm->step;
    for (size_t f = 0; f < ofdm->frame_count && symbols < least && complete(ofdm, &ofdm->frames[f]); f++)
        symbols += ofdm->frames[f].symbols;
    if (!chunk || ofdm->held || symbols < least)
        return;
    ofdm->held = send(ofdm);
    penstock__ofdm_stream_send(ofdm);
}

/* The first one was read, or is forgotten. */
static void drop(struct ofdm_stream *ofdm)
{
    struct ofdm_batch *batch = ofdm->first;
    ofdm->first = batch->next;
    leave_memory(ofdm, batch);
    batch->next = ofdm->spare;
    ofdm->spare = batch;
}

int penstock__ofdm_stream_next(struct ofdm_stream *ofdm, struct ofdm_batch **batch)
{
    int status = PENSTOCK_OK;
    if (ofdm->first && ofdm->first->given == ofdm->first->frame_count)
        drop(ofdm);
    ofdm->held = false;
    if (!ofdm->first && (status = send(ofdm)))
        return status;
    if (!ofdm->first)
        return PENSTOCK_OK;
    if (ofdm->first->state == OFDM_BATCH_SENT)
        wait_for_one(ofdm);
    if (ofdm->first->state == OFDM_BATCH_LOST) {
        while (ofdm->on_their_way)
            wait_for_one(ofdm);
        status = run(ofdm, ofdm->first);
    }
    *batch = status ? NULL : ofdm->first;
    return status;
}

void penstock__ofdm_stream_forget(struct ofdm_stream *ofdm)
{
    while (ofdm->on_their_way)
        wait_for_one(ofdm);
    while (ofdm->first)
        drop(ofdm);
    ofdm->begin = ofdm->filled = ofdm->frame_count = 0;
    ofdm->base = ofdm->sent_frames = ofdm->pulled_frames = 0;
    ofdm->held = false;
}

void penstock__ofdm_stream_free(struct ofdm_stream *ofdm)
{
    struct ofdm_memory *memory;
    struct ofdm_batch *batch;
    penstock__ofdm_stream_forget(ofdm);
    memory = ofdm->memory;
    ofdm->memory = NULL;
    penstock__ofdm_memory_leave(ofdm, memory);
    while ((memory = ofdm->spare_memory)) {
        ofdm->spare_memory = memory->next;
        penstock_host_memory_free(ofdm->stream.context, memory->samples);
        penstock__free(memory);
    }
    while ((batch = ofdm->spare)) {
        ofdm->spare = batch->next;
        penstock__ofdm_batch_free(ofdm, batch);
    }
}
