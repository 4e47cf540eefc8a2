/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A stream's batch by two batch objects: one brings the bins of the training symbols of all complete frames, over a
 * channel of one; they, divided by what was sent, are the channel of the other one, which does the data.
 */
#include "ops/ofdm_stream.h"

#include <string.h>

#define BATCH_SYMBOLS 4096  /* no further frame joins a batch from here on */
#define STRONG_BIT    24.0F /* soft value of a bit whose carrier has the mean power, at the least distance */

/* ---------------------------------------------------------------- memory ---------------------- */

void *penstock__ofdm_stream_grown(void *old, size_t *room, size_t count, size_t kept, size_t bytes)
{
    void *made;
    if (count <= *room)
        return old;
    count += count / 2;
    if (count > SIZE_MAX / bytes || !(made = penstock__alloc(count * bytes)))
        return NULL;
    if (kept)
        memcpy(made, old, kept * bytes);
    penstock__free(old);
    *room = count;
    return made;
}

bool penstock__ofdm_stream_grow_frames(penstock_ofdm_stream *stream, size_t count)
{
    void *frames = penstock__ofdm_stream_grown(stream->frames, &stream->frame_room, count, stream->frame_count,
                                               sizeof *stream->frames);
    if (frames)
        stream->frames = frames;
    return frames != NULL;
}

/* ---------------------------------------------------------------- a batch --------------------- */

/* Frames that were pulled, and samples that no frame needs, go. */
static void forget(penstock_ofdm_stream *stream)
{
    uint64_t end = stream->base + stream->filled, needed = stream->continuous ? stream->base : end;
    if (stream->continuous && stream->given)
        needed = stream->frames[0].start + (uint64_t)stream->frames[0].symbols * stream->step;
    stream->frame_count -= stream->given;
    if (stream->given)
        memmove(stream->frames, stream->frames + stream->given, stream->frame_count * sizeof *stream->frames);
    if (stream->frame_count)
        needed = stream->frames[0].start;
    stream->batch_count = stream->given = 0;
    size_t gone = needed < end ? (size_t)(needed - stream->base) : stream->filled;
    if (gone)
        memmove(stream->samples, stream->samples + gone, (stream->filled - gone) * sizeof *stream->samples);
    stream->filled -= gone;
    stream->base += gone;
}

/* Symbols from the first one on that is not done, as a frame; none where there is none. */
static int continue_symbols(penstock_ofdm_stream *stream)
{
    size_t symbols = stream->filled / stream->step;
    if (!symbols)
        return PENSTOCK_OK;
    if (!penstock__ofdm_stream_grow_frames(stream, 1))
        return PENSTOCK_ERR_MEMORY;
    symbols = symbols < BATCH_SYMBOLS ? symbols : BATCH_SYMBOLS;
    stream->frames[0] =
        (struct ofdm_waiting_frame){.start = stream->base, .row = stream->base / stream->step, .symbols = symbols};
    stream->frame_count = 1;
    return PENSTOCK_OK;
}

static bool complete(const penstock_ofdm_stream *stream, const struct ofdm_waiting_frame *frame)
{
    return penstock__ofdm_stream_end(stream, frame) <= stream->base + stream->filled;
}

/* Room for a batch of `frames` and `symbols`; what is there of the last one may go. */
static int reserve(penstock_ofdm_stream *stream, size_t frames, size_t symbols)
{
    const size_t carriers = stream->carrier_count, bits = (size_t)stream->constellation;
    const size_t values = carriers > stream->used_count ? carriers : stream->used_count;
    if (symbols < frames) /* the training's go through the same memory */
        symbols = frames;
    if (frames > stream->batch_room) {
        penstock__free(stream->described);
        penstock__free(stream->channels);
        stream->described = penstock__alloc(frames * sizeof *stream->described);
        stream->channels = penstock__alloc(frames * stream->n * sizeof *stream->channels);
        stream->batch_room = stream->described && stream->channels ? frames : 0;
    }
    if (symbols > stream->symbol_room) {
        penstock__free(stream->symbols);
        penstock__free(stream->points);
        penstock__free(stream->soft);
        stream->symbols = penstock__alloc(symbols * sizeof *stream->symbols);
        stream->points = penstock__alloc(symbols * values * sizeof *stream->points);
        stream->soft = penstock__alloc(symbols * carriers * bits);
        stream->symbol_room = stream->symbols && stream->points && stream->soft ? symbols : 0;
    }
    return stream->batch_room && stream->symbol_room ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* So that a soft bit on a carrier with the frame's mean power is STRONG_BIT at the least distance. */
static float llr_scale(const penstock_ofdm_stream *stream, const penstock_cf32 *channel)
{
    const unsigned bits = (unsigned)stream->constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2)), axes = bits == 1 ? 1 : 2;
    const float distance = 12 / (axes * (levels * levels - 1)); /* squared, of neighbours at mean power one */
    float power = 0;
    size_t used = stream->training ? stream->used_count : stream->n;
    for (size_t k = 0; k < stream->n; k++)
        power += (channel[k].re * channel[k].re + channel[k].im * channel[k].im) / (float)used;
    float scale = STRONG_BIT / (distance * power);
    return scale > 1e-20F && scale < 1e20F ? scale : 1;
}

static penstock_ofdm_batch batch_of(const penstock_ofdm_stream *stream, size_t symbols)
{
    return PENSTOCK_OFDM_BATCH(.samples = stream->samples, .sample_count = stream->filled, .frames = stream->described,
                               .frame_count = stream->batch_count, .symbols = stream->symbols, .symbol_count = symbols);
}

/* The batch's channels, from its training symbols. */
static int estimate(penstock_ofdm_stream *stream)
{
    const penstock_ofdm_result result = PENSTOCK_OFDM_RESULT(.points = stream->points);
    for (size_t f = 0; f < stream->batch_count; f++) {
        stream->described[f].channel = stream->ones;
        stream->symbols[f] = (penstock_ofdm_symbol){
            .start = stream->described[f].origin + (stream->training_symbols - 1) * stream->step, .frame = (uint32_t)f};
    }
    penstock_ofdm_batch batch = batch_of(stream, stream->batch_count);
    int status = penstock_ofdm_run(stream->training, &batch, &result);
    for (size_t f = 0; f < stream->batch_count && !status; f++) {
        penstock_cf32 *channel = stream->channels + f * stream->n;
        memset(channel, 0, stream->n * sizeof *channel);
        for (size_t i = 0; i < stream->used_count; i++) {
            penstock_cf32 got = stream->points[f * stream->used_count + i], sent = stream->sent[i];
            float power = sent.re * sent.re + sent.im * sent.im;
            channel[(size_t)(stream->used[i] + (int32_t)stream->n) % stream->n] = (penstock_cf32){
                (got.re * sent.re + got.im * sent.im) / power, (got.im * sent.re - got.re * sent.im) / power};
        }
    }
    return status;
}

/* Everything that is known of the batch's frames before the device sees them; the number of their symbols. */
static void describe(penstock_ofdm_stream *stream)
{
    for (size_t f = 0; f < stream->batch_count; f++)
        stream->described[f] = (penstock_ofdm_frame){.noise = 1,
                                                     .llr_scale = 1,
                                                     .cfo = stream->frames[f].cfo,
                                                     .origin = stream->frames[f].start - stream->base,
                                                     .constellation = PENSTOCK_BPSK};
}

static int run(penstock_ofdm_stream *stream)
{
    size_t count = 0;
    int status = PENSTOCK_OK;
    describe(stream);
    if (stream->training && (status = estimate(stream)))
        return status;
    for (size_t f = 0; f < stream->batch_count; f++) {
        const struct ofdm_waiting_frame *frame = &stream->frames[f];
        penstock_cf32 *channel = stream->channels + f * stream->n;
        if (!stream->training)
            memcpy(channel, stream->ones, stream->n * sizeof *channel);
        stream->described[f].channel = channel;
        stream->described[f].constellation = stream->constellation;
        stream->described[f].llr_scale = llr_scale(stream, channel);
        for (size_t i = 0; i < frame->symbols; i++)
            stream->symbols[count++] = (penstock_ofdm_symbol){
                .start = stream->described[f].origin + (stream->training_symbols + i) * stream->step,
                .frame = (uint32_t)f,
                .pilot_row = (uint32_t)((frame->row + i) % stream->pilot_rows)};
    }
    penstock_ofdm_batch batch = batch_of(stream, count);
    return penstock_ofdm_run(stream->data, &batch,
                             &PENSTOCK_OFDM_RESULT(.points = stream->points, .soft = stream->soft));
}

int penstock__ofdm_stream_work(penstock_ofdm_stream *stream)
{
    size_t count = 0, symbols = 0;
    int status = PENSTOCK_OK;
    forget(stream);
    if (stream->continuous && !stream->frame_count && (status = continue_symbols(stream)))
        return status;
    while (count < stream->frame_count && symbols < BATCH_SYMBOLS && complete(stream, &stream->frames[count]))
        symbols += stream->frames[count++].symbols;
    if (!count || (status = reserve(stream, count, symbols)))
        return status;
    stream->batch_count = count;
    stream->given_symbols = 0;
    double began = penstock__now_s();
    if ((status = run(stream))) {
        stream->batch_count = 0;
        return status;
    }
    bool clock = penstock__ofdm_has_clock(stream->data);
    penstock__meter_batch(&stream->meter, symbols, clock ? 0 : penstock__now_s() - began);
    return PENSTOCK_OK;
}
