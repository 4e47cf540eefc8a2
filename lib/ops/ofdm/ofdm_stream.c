/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM symbols of a stream: its life, samples and frames that come in, results that go out. */
#include "ops/ofdm/ofdm_stream.h"
#include "core/base/description.h"
#include "core/stream/link.h"

#include <math.h>
#include <string.h>

#define MAX_SYMBOLS  65536             /* of a frame */
#define LENT_SAMPLES ((size_t)1 << 20) /* room of an acquire, at least, where batches end with frames */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm stream: " __VA_ARGS__)

static const struct penstock__stream_kind kind;

static struct ofdm_stream *of(penstock_stream *stream)
{
    return (struct ofdm_stream *)(void *)stream;
}

static const struct ofdm_stream *of_const(const penstock_stream *stream)
{
    return (const struct ofdm_stream *)(const void *)stream;
}

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
    if (desc->soft && !desc->continuous)
        return bad("soft bits alone are those of a continuous stream");
    if (desc->soft && (desc->format > PENSTOCK_CU8))
        return bad("soft bits are made of cf32, cs16, cs8 or cu8, not of %s", penstock_format_name(desc->format));
    if (!desc->soft && desc->format)
        return bad("format %s goes with soft", penstock_format_name(desc->format));
    for (size_t i = 0; desc->training && i < desc->carrier_count + desc->pilot_count; i++) {
        int32_t carrier = i < desc->carrier_count ? desc->carriers[i] : desc->pilots[i - desc->carrier_count];
        const penstock_cf32 *sent = &desc->training[(size_t)(carrier + (int32_t)desc->n) % desc->n];
        if (!(sent->re * sent->re + sent->im * sent->im > 0))
            return bad("the training has nothing on carrier %d", (int)carrier);
    }
    return PENSTOCK_OK;
}

static int make_training(struct ofdm_stream *ofdm, penstock_context *context, const penstock_ofdm_stream_desc *desc,
                         const char *device)
{
    size_t n = desc->n;
    if (!desc->training)
        return PENSTOCK_OK;
    ofdm->used = penstock__alloc(n * sizeof *ofdm->used);
    ofdm->sent = penstock__alloc(n * sizeof *ofdm->sent);
    if (!ofdm->used || !ofdm->sent)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < n; k++)
        if (desc->training[k].re != 0 || desc->training[k].im != 0) {
            ofdm->used[ofdm->used_count] = (int32_t)k - (k > (n - 1) / 2 ? (int32_t)n : 0);
            ofdm->sent[ofdm->used_count++] = desc->training[k];
        }
    return penstock_ofdm_new(&ofdm->training, context,
                             &PENSTOCK_OFDM_DESC(.n = n, .guard = desc->guard, .carriers = ofdm->used,
                                                 .carrier_count = ofdm->used_count, .tracking = PENSTOCK_TRACK_GIVEN,
                                                 .max_constellation = PENSTOCK_BPSK, .batch = 16),
                             device);
}

static int make(struct ofdm_stream *ofdm, penstock_context *context, const penstock_ofdm_stream_desc *desc,
                const char *device)
{
    ofdm->n = desc->n;
    ofdm->step = desc->n + desc->guard;
    ofdm->carrier_count = desc->carrier_count;
    ofdm->pilot_rows = desc->pilot_count ? desc->pilot_rows : 1;
    ofdm->training_symbols = desc->training_symbols;
    ofdm->constellation = desc->constellation ? desc->constellation : PENSTOCK_QPSK;
    ofdm->continuous = desc->continuous;
    ofdm->layout = (struct penstock_ofdm_problem){.carrier_count = desc->carrier_count,
                                                  .bits = (unsigned)ofdm->constellation,
                                                  .pilot_count = desc->pilot_count,
                                                  .complete = true};
    int status =
        penstock_ofdm_new(&ofdm->data, context,
                          &PENSTOCK_OFDM_DESC(.n = desc->n, .guard = desc->guard, .carriers = desc->carriers,
                                              .carrier_count = desc->carrier_count, .pilots = desc->pilots,
                                              .pilot_count = desc->pilot_count, .pilot_values = desc->pilot_values,
                                              .pilot_rows = desc->pilot_rows,
                                              .tracking = desc->track ? PENSTOCK_TRACK_PILOTS : PENSTOCK_TRACK_GIVEN,
                                              .max_constellation = ofdm->constellation, .batch = 256),
                          device);
    if (status || (status = check(desc)))
        return status;
    if (!(ofdm->ones = penstock__alloc(desc->n * sizeof *ofdm->ones)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < desc->n; k++)
        ofdm->ones[k] = (penstock_cf32){1, 0};
    ofdm->plain_scale = penstock__ofdm_stream_scale(ofdm, ofdm->ones);
    return make_training(ofdm, context, desc, device);
}

int penstock_ofdm_stream_open(penstock_stream **stream, penstock_context *context,
                              const penstock_ofdm_stream_desc *desc, const char *device)
{
    penstock_ofdm_stream_desc d;
    struct ofdm_stream *made;
    int status;
    if (!stream || !context)
        return bad("penstock_ofdm_stream_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_ofdm_stream_desc")))
        return status;
    if (!penstock_format_name(d.format))
        return bad("format %d is no sample format", (int)d.format);
    if (d.soft)
        return (status = check(&d)) ? status : penstock__ofdm_soft_stream_open(stream, context, &d, device);
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->stream = (struct penstock_stream){.kind = &kind,
                                            .context = context,
                                            .in_bytes = sizeof(penstock_cf32),
                                            .in_values = 1 + PENSTOCK_CF32,
                                            .lends_in = true};
    if ((status = make(made, context, &d, device))) {
        penstock__stream_free(&made->stream);
        return status;
    }
    penstock__ofdm_set_event_times(made->data, &made->stream.meter.event_times);
    if (made->training)
        penstock__ofdm_set_event_times(made->training, &made->stream.meter.event_times);
    penstock_stream_reset(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void cancel(penstock_stream *stream)
{
    penstock__ofdm_cancel(of(stream)->data);
    penstock__ofdm_cancel(of(stream)->training);
}

static void free_stream(penstock_stream *stream)
{
    struct ofdm_stream *ofdm = of(stream);
    penstock__ofdm_stream_free(ofdm);
    penstock__ofdm_free(ofdm->data);
    penstock__ofdm_free(ofdm->training);
    penstock__free(ofdm->used);
    penstock__free(ofdm->sent);
    penstock__free(ofdm->ones);
    penstock__free(ofdm->frames);
    penstock__free(ofdm);
}

static uint64_t fallbacks(const struct ofdm_stream *ofdm)
{
    return penstock__ofdm_fallbacks(ofdm->data) + (ofdm->training ? penstock__ofdm_fallbacks(ofdm->training) : 0);
}

static uint64_t cpu_while_compiling(const struct ofdm_stream *ofdm)
{
    return penstock__ofdm_cpu_while_compiling(ofdm->data) +
           (ofdm->training ? penstock__ofdm_cpu_while_compiling(ofdm->training) : 0);
}

static void reset(penstock_stream *stream)
{
    struct ofdm_stream *ofdm = of(stream);
    penstock__ofdm_stream_forget(ofdm);
    ofdm->counters = (penstock_ofdm_stream_counters){.size = sizeof ofdm->counters};
    ofdm->earlier_fallbacks = fallbacks(ofdm);
    ofdm->earlier_cpu_while_compiling = cpu_while_compiling(ofdm);
}

int penstock_ofdm_stream_get_counters(const penstock_stream *stream, penstock_ofdm_stream_counters *counters)
{
    int status = penstock__stream_is(stream, &kind, "penstock_ofdm_stream_get_counters");
    if (status)
        return status;
    const struct ofdm_stream *ofdm = of_const(stream);
    penstock_ofdm_stream_counters known = ofdm->counters;
    known.samples = stream->taken;
    known.waiting = ofdm->continuous ? 0 : ofdm->frame_count + ofdm->sent_frames - ofdm->pulled_frames;
    known.fallbacks = fallbacks(ofdm) - ofdm->earlier_fallbacks;
    return penstock__description_write(counters, &known, sizeof known, "penstock_ofdm_stream_counters");
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    info->device = penstock_ofdm_device(of_const(stream)->data);
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct ofdm_stream *ofdm = of_const(stream);
    stats->fallbacks = fallbacks(ofdm) - ofdm->earlier_fallbacks;
    stats->cpu_while_compiling = cpu_while_compiling(ofdm) - ofdm->earlier_cpu_while_compiling;
}

/* ---------------------------------------------------------------- in -------------------------- */

int penstock_ofdm_stream_frame(penstock_stream *stream, uint64_t sample, size_t symbols, double cfo)
{
    int status = penstock__stream_is(stream, &kind, "penstock_ofdm_stream_frame");
    if (status)
        return status;
    struct ofdm_stream *ofdm = of(stream);
    if (ofdm->continuous)
        return penstock__error(PENSTOCK_ERR_STATE, "ofdm stream: a continuous one has no frames");
    if (symbols < 1 || symbols > MAX_SYMBOLS)
        return bad("a frame of %zu symbols, not 1 .. %d", symbols, MAX_SYMBOLS);
    if (!(fabs(cfo) <= 0.5))
        return bad("cfo is %g, not -0.5 .. 0.5 turns per sample", cfo);
    if (sample < ofdm->stream.taken || (ofdm->frame_count && sample < ofdm->frames[ofdm->frame_count - 1].start))
        return bad("a frame at sample %llu, before what was pushed or before another one", (unsigned long long)sample);
    if (sample > UINT64_MAX - (uint64_t)(ofdm->training_symbols + symbols) * ofdm->step)
        return bad("a frame at sample %llu ends after sample 2^64", (unsigned long long)sample);
    if (!penstock__ofdm_stream_grow_frames(ofdm, ofdm->frame_count + 1))
        return PENSTOCK_ERR_MEMORY;
    ofdm->frames[ofdm->frame_count++] = (struct ofdm_waiting_frame){.start = sample, .symbols = symbols, .cfo = cfo};
    return PENSTOCK_OK;
}

static bool waits(const struct ofdm_stream *ofdm)
{
    return ofdm->filled > ofdm->begin;
}

/* Samples were taken; those that belong to no frame wait for nothing. */
static void took(struct ofdm_stream *ofdm, size_t samples)
{
    penstock__stream_took(&ofdm->stream, samples, penstock__now_s());
    if (!waits(ofdm) && ofdm->sent_frames == ofdm->pulled_frames)
        penstock__meter_skip(&ofdm->stream.meter, ofdm->stream.taken);
}

/* How many of the next `count` samples lie before the first frame. */
static size_t before_frames(const struct ofdm_stream *ofdm, size_t count)
{
    const uint64_t from = ofdm->stream.taken;
    uint64_t needed = ofdm->continuous ? 0 : UINT64_MAX;
    if (ofdm->frame_count)
        needed = ofdm->frames[0].start;
    if (waits(ofdm) || needed <= from)
        return 0;
    return needed - from < count ? (size_t)(needed - from) : count;
}

/* So many are counted as taken. */
static void skip(struct ofdm_stream *ofdm, size_t count)
{
    if (!count)
        return;
    ofdm->base = ofdm->stream.taken + count - ofdm->filled;
    took(ofdm, count);
}

static void filled(struct ofdm_stream *ofdm, size_t samples)
{
    ofdm->filled += samples;
    took(ofdm, samples);
    penstock__ofdm_stream_send(ofdm);
}

/* All or nothing. */
static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct ofdm_stream *ofdm = of(stream);
    const size_t skipped = before_frames(ofdm, count);
    int status = count > skipped ? penstock__ofdm_stream_foresee(ofdm, count - skipped) : PENSTOCK_OK;
    (void)taken;
    if (status)
        return status;
    skip(ofdm, skipped);
    for (size_t done = skipped, some; done < count; done += some) {
        const size_t left = count - done, lacks = penstock__ofdm_stream_lacks(ofdm);
        some = lacks && lacks < left ? lacks : left;
        if ((status = penstock__ofdm_stream_reserve(ofdm, lacks ? lacks : left))) /* not that of a batch's size */
            return status;
        penstock__copy(stream->context, ofdm->memory->samples + ofdm->filled, (const penstock_cf32 *)in->whole + done,
                       some * sizeof *ofdm->memory->samples);
        filled(ofdm, some);
    }
    return PENSTOCK_OK;
}

/* The memory that the device reads: samples come to lie behind those that wait there. */
static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct ofdm_stream *ofdm = of(stream);
    const size_t lacks = penstock__ofdm_stream_lacks(ofdm);
    int status = penstock__ofdm_stream_reserve(ofdm, lacks ? lacks : LENT_SAMPLES);
    if (status)
        return status;
    *to = ofdm->memory->samples + ofdm->filled;
    *room = lacks ? lacks : ofdm->memory->room - ofdm->filled;
    return PENSTOCK_OK;
}

static int commit(penstock_stream *stream, size_t count)
{
    struct ofdm_stream *ofdm = of(stream);
    const size_t skipped = before_frames(ofdm, count);
    skip(ofdm, skipped);
    if (skipped == count)
        return PENSTOCK_OK;
    count -= skipped;
    if (skipped) { /* nothing lies before them that waits */
        penstock_cf32 *to = ofdm->memory->samples + ofdm->filled;
        memmove(to, to + skipped, count * sizeof *to);
    }
    filled(ofdm, count);
    return PENSTOCK_OK;
}

/* Frames that are not complete by now never will be; the others need not wait until those before them are read. */
static int finish(penstock_stream *stream)
{
    stream->finished = true;
    penstock__ofdm_stream_send(of(stream));
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- out ------------------------- */

int penstock_ofdm_stream_pull(penstock_stream *stream, penstock_ofdm_stream_result *result)
{
    penstock_ofdm_stream_result made = PENSTOCK_OFDM_STREAM_RESULT;
    int status = penstock__stream_is(stream, &kind, "penstock_ofdm_stream_pull");
    if (status)
        return status;
    struct ofdm_stream *ofdm = of(stream);
    struct ofdm_batch *batch = NULL;
    if ((status = penstock__link_feed(stream, false)) ||
        (status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result")) ||
        (status = penstock__ofdm_stream_next(ofdm, &batch)) || !batch)
        return status;
    const struct ofdm_waiting_frame *frame = &batch->frames[batch->given];
    const char *points = batch->made + batch->symbol_count * penstock__ofdm_points_at(&ofdm->layout);
    made.sample = frame->start;
    made.symbols = frame->symbols;
    made.points = (const penstock_cf32 *)(const void *)points + batch->given_symbols * ofdm->carrier_count;
    made.soft = (const int8_t *)batch->made + batch->given_symbols * ofdm->carrier_count * ofdm->layout.bits;
    made.channel = batch->described[batch->given].channel;
    batch->given++;
    batch->given_symbols += frame->symbols;
    ofdm->pulled_frames++;
    ofdm->counters.frames++;
    ofdm->counters.symbols += frame->symbols;
    penstock__stream_gave(stream, frame->symbols, penstock__ofdm_stream_end(ofdm, frame), 0);
    status = penstock__description_write(result, &made, sizeof made, "penstock_ofdm_stream_result");
    return status ? status : 1;
}

static double due_s(const penstock_stream *stream)
{
    const struct ofdm_stream *ofdm = of_const(stream);
    const uint64_t end = ofdm->base + ofdm->filled;
    if (ofdm->sent_frames > ofdm->pulled_frames)
        return 0;
    if (ofdm->continuous)
        return ofdm->filled - ofdm->begin >= ofdm->step ? 0 : (double)INFINITY;
    bool complete = ofdm->frame_count && penstock__ofdm_stream_end(ofdm, &ofdm->frames[0]) <= end;
    return complete ? 0 : (double)INFINITY;
}

static const struct penstock__stream_kind kind = {
    .name = "ofdm",
    .takes_all = true,
    .push = push,
    .acquire = acquire,
    .commit = commit,
    .finish = finish,
    .reset = reset,
    .cancel = cancel,
    .free = free_stream,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
