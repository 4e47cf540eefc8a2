/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbols of a stream by two batch objects: one brings the bins of the training symbols of all complete frames,
 * over a channel of one; they, divided by what was sent, are the channel of the other one, which does the data.
 */
#include "core/description.h"
#include "core/meter.h"
#include "ops/ofdm.h"

#include "backends/backend.h"

#include <math.h>
#include <penstock/ofdm_stream.h>
#include <string.h>

#define MAX_SYMBOLS   65536 /* of a frame */
#define BATCH_SYMBOLS 4096  /* no further frame joins a batch from here on */
#define STRONG_BIT    24.0F /* soft value of a bit whose carrier has the mean power, at the least distance */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm stream: " __VA_ARGS__)

struct waiting_frame {
    uint64_t start, row; /* sample, and the pilots' row of the first data symbol */
    size_t symbols;
    double cfo;
};

struct penstock_ofdm_stream {
    penstock_ofdm *data, *training; /* the second NULL without training */
    size_t n, step, carrier_count, used_count, pilot_rows, training_symbols;
    int32_t *used; /* the training's carriers, and what is sent on each */
    penstock_cf32 *sent;
    penstock_cf32 *ones; /* channel of one, n values */
    penstock_constellation constellation;
    bool continuous;

    penstock_cf32 *samples; /* samples[i] is stream sample base + i */
    size_t filled, sample_room;
    uint64_t base;

    struct waiting_frame *frames; /* in the order of their starts */
    size_t frame_count, frame_room;

    /* The last batch: its first `batch_count` of `frames`, of which `given` were pulled. */
    size_t batch_count, batch_room, given, given_symbols, symbol_room;
    penstock_ofdm_frame *described;
    penstock_ofdm_symbol *symbols;
    penstock_cf32 *channels, *points;
    int8_t *soft;
    penstock_ofdm_stream_counters counters;
    uint64_t earlier_fallbacks;
    struct penstock__meter meter;
};

/* ---------------------------------------------------------------- life ------------------------ */

/* What penstock_ofdm_new() has not refused. */
static int check(const penstock_ofdm_stream_desc *desc)
{
    if (!desc->training != !desc->training_symbols)
        return bad("training_symbols is %zu %s training", desc->training_symbols, desc->training ? "with" : "without");
    if (desc->training_symbols > MAX_SYMBOLS)
        return bad("training_symbols is %zu, more than %d", desc->training_symbols, MAX_SYMBOLS);
    if (desc->continuous && desc->training)
        return bad("symbols without frames have no training");
    for (size_t i = 0; desc->training && i < desc->carrier_count + desc->pilot_count; i++) {
        int32_t carrier = i < desc->carrier_count ? desc->carriers[i] : desc->pilots[i - desc->carrier_count];
        const penstock_cf32 *sent = &desc->training[(size_t)(carrier + (int32_t)desc->n) % desc->n];
        if (!(sent->re * sent->re + sent->im * sent->im > 0))
            return bad("the training has nothing on carrier %d", (int)carrier);
    }
    return PENSTOCK_OK;
}

static int make_training(penstock_ofdm_stream *stream, penstock_context *context, const penstock_ofdm_stream_desc *desc,
                         const char *device)
{
    size_t n = desc->n;
    if (!desc->training)
        return PENSTOCK_OK;
    stream->used = penstock__alloc(n * sizeof *stream->used);
    stream->sent = penstock__alloc(n * sizeof *stream->sent);
    if (!stream->used || !stream->sent)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++)
        if (desc->training[k].re != 0 || desc->training[k].im != 0) {
            stream->used[stream->used_count] = (int32_t)k - (k > (n - 1) / 2 ? (int32_t)n : 0);
            stream->sent[stream->used_count++] = desc->training[k];
        }
    return penstock_ofdm_new(&stream->training, context,
                             &PENSTOCK_OFDM_DESC(.n = n, .guard = desc->guard, .carriers = stream->used,
                                                 .carrier_count = stream->used_count, .tracking = PENSTOCK_TRACK_GIVEN,
                                                 .max_constellation = PENSTOCK_BPSK, .batch = 16),
                             device);
}

static int make(penstock_ofdm_stream *stream, penstock_context *context, const penstock_ofdm_stream_desc *desc,
                const char *device)
{
    stream->n = desc->n;
    stream->step = desc->n + desc->guard;
    stream->carrier_count = desc->carrier_count;
    stream->pilot_rows = desc->pilot_count ? desc->pilot_rows : 1;
    stream->training_symbols = desc->training_symbols;
    stream->constellation = desc->constellation ? desc->constellation : PENSTOCK_QPSK;
    stream->continuous = desc->continuous;
    int status =
        penstock_ofdm_new(&stream->data, context,
                          &PENSTOCK_OFDM_DESC(.n = desc->n, .guard = desc->guard, .carriers = desc->carriers,
                                              .carrier_count = desc->carrier_count, .pilots = desc->pilots,
                                              .pilot_count = desc->pilot_count, .pilot_values = desc->pilot_values,
                                              .pilot_rows = desc->pilot_rows,
                                              .tracking = desc->track ? PENSTOCK_TRACK_PILOTS : PENSTOCK_TRACK_GIVEN,
                                              .max_constellation = stream->constellation, .batch = 256),
                          device);
    if (status || (status = check(desc)))
        return status;
    if (!(stream->ones = penstock__alloc(desc->n * sizeof *stream->ones)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < desc->n; k++)
        stream->ones[k] = (penstock_cf32){1, 0};
    return make_training(stream, context, desc, device);
}

int penstock_ofdm_stream_new(penstock_ofdm_stream **stream, penstock_context *context,
                             const penstock_ofdm_stream_desc *desc, const char *device)
{
    penstock_ofdm_stream_desc d;
    penstock_ofdm_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_ofdm_stream_new: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_ofdm_stream_desc")))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = make(made, context, &d, device))) {
        penstock_ofdm_stream_free(made);
        return status;
    }
    penstock_ofdm_stream_reset(made);
    *stream = made;
    return PENSTOCK_OK;
}

void penstock_ofdm_stream_free(penstock_ofdm_stream *stream)
{
    if (!stream)
        return;
    penstock_ofdm_free(stream->data);
    penstock_ofdm_free(stream->training);
    penstock__free(stream->used);
    penstock__free(stream->sent);
    penstock__free(stream->ones);
    penstock__free(stream->samples);
    penstock__free(stream->frames);
    penstock__free(stream->described);
    penstock__free(stream->symbols);
    penstock__free(stream->channels);
    penstock__free(stream->points);
    penstock__free(stream->soft);
    penstock__free(stream);
}

const char *penstock_ofdm_stream_device(const penstock_ofdm_stream *stream)
{
    return stream ? penstock_ofdm_device(stream->data) : NULL;
}

static uint64_t fallbacks(const penstock_ofdm_stream *stream)
{
    return penstock__ofdm_fallbacks(stream->data) + (stream->training ? penstock__ofdm_fallbacks(stream->training) : 0);
}

int penstock_ofdm_stream_reset(penstock_ofdm_stream *stream)
{
    if (!stream)
        return bad("penstock_ofdm_stream_reset: stream is NULL");
    stream->filled = stream->frame_count = stream->batch_count = stream->given = 0;
    stream->base = 0;
    stream->counters = (penstock_ofdm_stream_counters){.size = sizeof stream->counters};
    stream->earlier_fallbacks = fallbacks(stream);
    penstock__meter_start(&stream->meter, penstock__now_s());
    return PENSTOCK_OK;
}

int penstock_ofdm_stream_get_counters(const penstock_ofdm_stream *stream, penstock_ofdm_stream_counters *counters)
{
    if (!stream)
        return bad("penstock_ofdm_stream_get_counters: stream is NULL");
    penstock_ofdm_stream_counters known = stream->counters;
    known.waiting = stream->continuous ? 0 : stream->frame_count - stream->given;
    known.fallbacks = fallbacks(stream) - stream->earlier_fallbacks;
    return penstock__description_write(counters, &known, sizeof known, "penstock_ofdm_stream_counters");
}

int penstock_ofdm_stream_get_stats(const penstock_ofdm_stream *stream, penstock_stream_stats *stats)
{
    penstock_stream_stats now = PENSTOCK_STREAM_STATS;
    if (!stream)
        return bad("penstock_ofdm_stream_get_stats: stream is NULL");
    penstock__meter_read(&stream->meter, &now, penstock__now_s());
    now.fallbacks = fallbacks(stream) - stream->earlier_fallbacks;
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}

/* ---------------------------------------------------------------- in -------------------------- */

/* `old`, or a larger copy with room for `count` elements, of which `kept` are kept; NULL without memory. */
static void *grown(void *old, size_t *room, size_t count, size_t kept, size_t bytes)
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

static bool grow_frames(penstock_ofdm_stream *stream, size_t count)
{
    void *frames = grown(stream->frames, &stream->frame_room, count, stream->frame_count, sizeof *stream->frames);
    if (frames)
        stream->frames = frames;
    return frames != NULL;
}

int penstock_ofdm_stream_frame(penstock_ofdm_stream *stream, uint64_t sample, size_t symbols, double cfo)
{
    if (!stream)
        return bad("penstock_ofdm_stream_frame: stream is NULL");
    if (stream->continuous)
        return penstock__error(PENSTOCK_ERR_STATE, "ofdm stream: a continuous one has no frames");
    if (symbols < 1 || symbols > MAX_SYMBOLS)
        return bad("a frame of %zu symbols, not 1 .. %d", symbols, MAX_SYMBOLS);
    if (!(fabs(cfo) <= 0.5))
        return bad("cfo is %g, not -0.5 .. 0.5 turns per sample", cfo);
    if (sample < stream->counters.samples ||
        (stream->frame_count && sample < stream->frames[stream->frame_count - 1].start))
        return bad("a frame at sample %llu, before what was pushed or before another one", (unsigned long long)sample);
    if (!grow_frames(stream, stream->frame_count + 1))
        return PENSTOCK_ERR_MEMORY;
    stream->frames[stream->frame_count++] = (struct waiting_frame){.start = sample, .symbols = symbols, .cfo = cfo};
    return PENSTOCK_OK;
}

/* Samples were taken; those that belong to no frame wait for nothing. */
static void measure_in(penstock_ofdm_stream *stream)
{
    penstock__meter_take(&stream->meter, stream->counters.samples - stream->meter.in, penstock__now_s());
    if (!stream->filled)
        penstock__meter_skip(&stream->meter, stream->counters.samples);
}

int penstock_ofdm_stream_push(penstock_ofdm_stream *stream, const penstock_cf32 *samples, size_t count)
{
    if (!stream || (count && !samples))
        return bad("penstock_ofdm_stream_push: %s is NULL", stream ? "samples" : "stream");
    uint64_t from = stream->counters.samples, needed = stream->continuous ? 0 : UINT64_MAX;
    if (stream->frame_count)
        needed = stream->frames[0].start;
    if (!stream->filled && needed > from) { /* what lies before the first frame */
        size_t skipped = needed - from < count ? (size_t)(needed - from) : count;
        stream->base = from + skipped;
        samples += skipped;
        count -= skipped;
        stream->counters.samples += skipped;
        measure_in(stream);
    }
    if (!count)
        return PENSTOCK_OK;
    penstock_cf32 *room =
        grown(stream->samples, &stream->sample_room, stream->filled + count, stream->filled, sizeof *stream->samples);
    if (!room)
        return PENSTOCK_ERR_MEMORY;
    stream->samples = room;
    memcpy(stream->samples + stream->filled, samples, count * sizeof *samples);
    stream->filled += count;
    stream->counters.samples += count;
    measure_in(stream);
    return PENSTOCK_OK;
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
    if (!grow_frames(stream, 1))
        return PENSTOCK_ERR_MEMORY;
    symbols = symbols < BATCH_SYMBOLS ? symbols : BATCH_SYMBOLS;
    stream->frames[0] =
        (struct waiting_frame){.start = stream->base, .row = stream->base / stream->step, .symbols = symbols};
    stream->frame_count = 1;
    return PENSTOCK_OK;
}

static uint64_t end_of(const penstock_ofdm_stream *stream, const struct waiting_frame *frame)
{
    return frame->start + (uint64_t)(stream->training_symbols + frame->symbols) * stream->step;
}

static bool complete(const penstock_ofdm_stream *stream, const struct waiting_frame *frame)
{
    return end_of(stream, frame) <= stream->base + stream->filled;
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
        const struct waiting_frame *frame = &stream->frames[f];
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

/* The next batch, if a frame is complete. */
static int work(penstock_ofdm_stream *stream)
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
    bool host = penstock__ofdm_in_host_memory(stream->data);
    penstock__meter_batch(&stream->meter, symbols, host ? 0 : (double)NAN,
                          host ? penstock__now_s() - began : (double)NAN);
    return PENSTOCK_OK;
}

int penstock_ofdm_stream_pull(penstock_ofdm_stream *stream, penstock_ofdm_stream_result *result)
{
    penstock_ofdm_stream_result made = PENSTOCK_OFDM_STREAM_RESULT;
    if (!stream)
        return bad("penstock_ofdm_stream_pull: stream is NULL");
    int status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result");
    if (!status && stream->given == stream->batch_count)
        status = work(stream);
    if (status || stream->given == stream->batch_count)
        return status;
    const struct waiting_frame *frame = &stream->frames[stream->given];
    size_t bits = stream->carrier_count * (size_t)stream->constellation;
    made.sample = frame->start;
    made.symbols = frame->symbols;
    made.points = stream->points + stream->given_symbols * stream->carrier_count;
    made.soft = stream->soft + stream->given_symbols * bits;
    made.channel = stream->channels + stream->given * stream->n;
    stream->given++;
    stream->given_symbols += frame->symbols;
    stream->counters.frames++;
    stream->counters.symbols += frame->symbols;
    penstock__meter_give(&stream->meter, frame->symbols, end_of(stream, frame), 0, penstock__now_s());
    status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result");
    return status ? status : 1;
}
