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

int penstock__ofdm_stream_reserve(struct ofdm_stream *ofdm, size_t count)
{
    const size_t all = ofdm->filled + count, room = all + all / 2;
    if (all <= ofdm->sample_room)
        return PENSTOCK_OK;
    penstock_cf32 *samples = reached(ofdm, room, sizeof *samples);
    if (!samples)
        return PENSTOCK_ERR_MEMORY;
    if (ofdm->filled)
        penstock__copy(ofdm->stream.context, samples, ofdm->samples, ofdm->filled * sizeof *samples);
    penstock_host_memory_free(ofdm->stream.context, ofdm->samples);
    ofdm->samples = samples;
    ofdm->sample_room = room;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- a batch --------------------- */

/* Frames that were pulled, and samples that no frame needs, go. */
static void forget(struct ofdm_stream *ofdm)
{
    uint64_t end = ofdm->base + ofdm->filled, needed = ofdm->continuous ? ofdm->base : end;
    if (ofdm->continuous && ofdm->given)
        needed = ofdm->frames[0].start + (uint64_t)ofdm->frames[0].symbols * ofdm->step;
    ofdm->frame_count -= ofdm->given;
    if (ofdm->given)
        memmove(ofdm->frames, ofdm->frames + ofdm->given, ofdm->frame_count * sizeof *ofdm->frames);
    if (ofdm->frame_count)
        needed = ofdm->frames[0].start;
    ofdm->batch_count = ofdm->given = 0;
    size_t gone = needed < end ? (size_t)(needed - ofdm->base) : ofdm->filled;
    if (gone)
        memmove(ofdm->samples, ofdm->samples + gone, (ofdm->filled - gone) * sizeof *ofdm->samples);
    ofdm->filled -= gone;
    ofdm->base += gone;
}

/* Symbols from the first one on that is not done, as a frame; none where there is none. */
static int continue_symbols(struct ofdm_stream *ofdm)
{
    size_t symbols = ofdm->filled / ofdm->step;
    if (!symbols)
        return PENSTOCK_OK;
    if (!penstock__ofdm_stream_grow_frames(ofdm, 1))
        return PENSTOCK_ERR_MEMORY;
    symbols = symbols < BATCH_SYMBOLS ? symbols : BATCH_SYMBOLS;
    ofdm->frames[0] =
        (struct ofdm_waiting_frame){.start = ofdm->base, .row = ofdm->base / ofdm->step, .symbols = symbols};
    ofdm->frame_count = 1;
    return PENSTOCK_OK;
}

static bool complete(const struct ofdm_stream *ofdm, const struct ofdm_waiting_frame *frame)
{
    return penstock__ofdm_stream_end(ofdm, frame) <= ofdm->base + ofdm->filled;
}

/* Room for a batch of `frames` and `symbols`; what is there of the last one may go. */
static int reserve(struct ofdm_stream *ofdm, size_t frames, size_t symbols)
{
    const size_t carriers = ofdm->carrier_count, bits = (size_t)ofdm->constellation;
    const size_t values = carriers > ofdm->used_count ? carriers : ofdm->used_count;
    if (symbols < frames) /* the training's go through the same memory */
        symbols = frames;
    if (frames > ofdm->batch_room) {
        penstock__free(ofdm->described);
        penstock__free(ofdm->channels);
        ofdm->described = penstock__alloc(frames * sizeof *ofdm->described);
        ofdm->channels = penstock__alloc(frames * ofdm->n * sizeof *ofdm->channels);
        ofdm->batch_room = ofdm->described && ofdm->channels ? frames : 0;
    }
    if (symbols > ofdm->symbol_room) {
        penstock__free(ofdm->symbols);
        penstock_host_memory_free(ofdm->stream.context, ofdm->points);
        penstock_host_memory_free(ofdm->stream.context, ofdm->soft);
        ofdm->symbols = penstock__alloc(symbols * sizeof *ofdm->symbols);
        ofdm->points = reached(ofdm, symbols * values, sizeof *ofdm->points);
        ofdm->soft = reached(ofdm, symbols * carriers, bits);
        ofdm->symbol_room = ofdm->symbols && ofdm->points && ofdm->soft ? symbols : 0;
    }
    return ofdm->batch_room && ofdm->symbol_room ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* So that a soft bit on a carrier with the frame's mean power is STRONG_BIT at the least distance. */
static float llr_scale(const struct ofdm_stream *ofdm, const penstock_cf32 *channel)
{
    const unsigned bits = (unsigned)ofdm->constellation;
    const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2)), axes = bits == 1 ? 1 : 2;
    const float distance = 12 / (axes * (levels * levels - 1)); /* squared, of neighbours at mean power one */
    float power = 0;
    size_t used = ofdm->training ? ofdm->used_count : ofdm->n;
    for (size_t k = 0; k < ofdm->n; k++)
        power += (channel[k].re * channel[k].re + channel[k].im * channel[k].im) / (float)used;
    float scale = STRONG_BIT / (distance * power);
    return scale > 1e-20F && scale < 1e20F ? scale : 1;
}

static penstock_ofdm_batch batch_of(const struct ofdm_stream *ofdm, size_t symbols)
{
    return PENSTOCK_OFDM_BATCH(.samples = ofdm->samples, .sample_count = ofdm->filled, .frames = ofdm->described,
                               .frame_count = ofdm->batch_count, .symbols = ofdm->symbols, .symbol_count = symbols);
}

/* The batch's channels, from its training symbols. */
static int estimate(struct ofdm_stream *ofdm)
{
    const penstock_ofdm_result result = PENSTOCK_OFDM_RESULT(.points = ofdm->points);
    for (size_t f = 0; f < ofdm->batch_count; f++) {
        ofdm->described[f].channel = ofdm->ones;
        ofdm->symbols[f] = (penstock_ofdm_symbol){
            .start = ofdm->described[f].origin + (ofdm->training_symbols - 1) * ofdm->step, .frame = (uint32_t)f};
    }
    penstock_ofdm_batch batch = batch_of(ofdm, ofdm->batch_count);
    int status = penstock_ofdm_run(ofdm->training, &batch, &result);
    for (size_t f = 0; f < ofdm->batch_count && !status; f++) {
        penstock_cf32 *channel = ofdm->channels + f * ofdm->n;
        memset(channel, 0, ofdm->n * sizeof *channel);
        for (size_t i = 0; i < ofdm->used_count; i++) {
            penstock_cf32 got = ofdm->points[f * ofdm->used_count + i], sent = ofdm->sent[i];
            float power = sent.re * sent.re + sent.im * sent.im;
            channel[(size_t)(ofdm->used[i] + (int32_t)ofdm->n) % ofdm->n] = (penstock_cf32){
                (got.re * sent.re + got.im * sent.im) / power, (got.im * sent.re - got.re * sent.im) / power};
        }
    }
    return status;
}

/* Everything that is known of the batch's frames before the device sees them; the number of their symbols. */
static void describe(struct ofdm_stream *ofdm)
{
    for (size_t f = 0; f < ofdm->batch_count; f++)
        ofdm->described[f] = (penstock_ofdm_frame){.noise = 1,
                                                   .llr_scale = 1,
                                                   .cfo = ofdm->frames[f].cfo,
                                                   .origin = ofdm->frames[f].start - ofdm->base,
                                                   .constellation = PENSTOCK_BPSK};
}

static int run(struct ofdm_stream *ofdm)
{
    size_t count = 0;
    int status = PENSTOCK_OK;
    describe(ofdm);
    if (ofdm->training && (status = estimate(ofdm)))
        return status;
    for (size_t f = 0; f < ofdm->batch_count; f++) {
        const struct ofdm_waiting_frame *frame = &ofdm->frames[f];
        penstock_cf32 *channel = ofdm->channels + f * ofdm->n;
        if (!ofdm->training)
            memcpy(channel, ofdm->ones, ofdm->n * sizeof *channel);
        ofdm->described[f].channel = channel;
        ofdm->described[f].constellation = ofdm->constellation;
        ofdm->described[f].llr_scale = llr_scale(ofdm, channel);
        for (size_t i = 0; i < frame->symbols; i++)
            ofdm->symbols[count++] =
                (penstock_ofdm_symbol){.start = ofdm->described[f].origin + (ofdm->training_symbols + i) * ofdm->step,
                                       .frame = (uint32_t)f,
                                       .pilot_row = (uint32_t)((frame->row + i) % ofdm->pilot_rows)};
    }
    penstock_ofdm_batch batch = batch_of(ofdm, count);
    return penstock_ofdm_run(ofdm->data, &batch, &PENSTOCK_OFDM_RESULT(.points = ofdm->points, .soft = ofdm->soft));
}

int penstock__ofdm_stream_work(struct ofdm_stream *ofdm)
{
    size_t count = 0, symbols = 0;
    int status = PENSTOCK_OK;
    forget(ofdm);
    if (ofdm->continuous && !ofdm->frame_count && (status = continue_symbols(ofdm)))
        return status;
    while (count < ofdm->frame_count && symbols < BATCH_SYMBOLS && complete(ofdm, &ofdm->frames[count]))
        symbols += ofdm->frames[count++].symbols;
    if (!count || (status = reserve(ofdm, count, symbols)))
        return status;
    ofdm->batch_count = count;
    ofdm->given_symbols = 0;
    double began = penstock__now_s();
    if ((status = run(ofdm))) {
        ofdm->batch_count = 0;
        return status;
    }
    bool clock = penstock__ofdm_has_clock(ofdm->data);
    penstock__meter_batch(&ofdm->stream.meter, symbols, clock ? 0 : penstock__now_s() - began);
    return PENSTOCK_OK;
}
