/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols of a stream: its life, samples and frames that come in, results that go out. */
#include "ops/ofdm_stream.h"
#include "core/description.h"
#include "core/rest.h"

#include <math.h>
#include <string.h>

#define MAX_SYMBOLS 65536 /* of a frame */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm stream: " __VA_ARGS__)

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
    penstock__ofdm_set_times(made->data, &made->meter.times);
    if (made->training)
        penstock__ofdm_set_times(made->training, &made->meter.times);
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

static uint64_t meanwhile(const penstock_ofdm_stream *stream)
{
    return penstock__ofdm_meanwhile(stream->data) + (stream->training ? penstock__ofdm_meanwhile(stream->training) : 0);
}

int penstock_ofdm_stream_reset(penstock_ofdm_stream *stream)
{
    if (!stream)
        return bad("penstock_ofdm_stream_reset: stream is NULL");
    stream->filled = stream->frame_count = stream->batch_count = stream->given = 0;
    stream->base = 0;
    stream->counters = (penstock_ofdm_stream_counters){.size = sizeof stream->counters};
    stream->earlier_fallbacks = fallbacks(stream);
    stream->earlier_meanwhile = meanwhile(stream);
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
    now.meanwhile = meanwhile(stream) - stream->earlier_meanwhile;
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}

/* ---------------------------------------------------------------- in -------------------------- */

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
    if (!penstock__ofdm_stream_grow_frames(stream, stream->frame_count + 1))
        return PENSTOCK_ERR_MEMORY;
    stream->frames[stream->frame_count++] =
        (struct ofdm_waiting_frame){.start = sample, .symbols = symbols, .cfo = cfo};
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
    int status = penstock__check_count("penstock_ofdm_stream_push", count, sizeof *samples);
    if (status)
        return status;
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
    penstock_cf32 *room = penstock__ofdm_stream_grown(stream->samples, &stream->sample_room, stream->filled + count,
                                                      stream->filled, sizeof *stream->samples);
    if (!room)
        return PENSTOCK_ERR_MEMORY;
    stream->samples = room;
    memcpy(stream->samples + stream->filled, samples, count * sizeof *samples);
    stream->filled += count;
    stream->counters.samples += count;
    measure_in(stream);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- out ------------------------- */

int penstock_ofdm_stream_pull(penstock_ofdm_stream *stream, penstock_ofdm_stream_result *result)
{
    penstock_ofdm_stream_result made = PENSTOCK_OFDM_STREAM_RESULT;
    if (!stream)
        return bad("penstock_ofdm_stream_pull: stream is NULL");
    int status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result");
    if (!status && stream->given == stream->batch_count)
        status = penstock__ofdm_stream_work(stream);
    if (status || stream->given == stream->batch_count)
        return status;
    const struct ofdm_waiting_frame *frame = &stream->frames[stream->given];
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
    penstock__meter_give(&stream->meter, frame->symbols, penstock__ofdm_stream_end(stream, frame), 0,
                         penstock__now_s());
    status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result");
    return status ? status : 1;
}
