/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter bank as a stream: samples gather as floats in one piece of memory along which the frames' windows move;
 * what is left of them goes back to its front when the end is reached.
 */
#include "core/description.h"
#include "ops/channelizer_check.h"
#include "ops/channelizer_stream.h"

#include <math.h>
#include <string.h>

/* Samples that may gather besides a window, at least. */
#define ROOM_SAMPLES ((size_t)1 << 16)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channelizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- life ------------------------ */

static int check(penstock_channelizer_desc *desc)
{
    int status;
    if ((status = penstock__channels_check(desc->channels, &desc->hop)) ||
        (status = penstock__prototype_check(desc->taps, &desc->tap_count, desc->channels, desc->hop)) ||
        (status = penstock__selection_check(desc->select, desc->select_count, desc->channels)))
        return status;
    if (!penstock_format_bytes(desc->format))
        return bad("format %d is no sample format", (int)desc->format);
    if (desc->advance >= desc->tap_count)
        return bad("advance is %zu, not 0 .. %zu (tap_count - 1)", desc->advance, desc->tap_count - 1);
    if (desc->origin >= desc->channels)
        return bad("origin is %zu, not 0 .. %zu (channels - 1)", desc->origin, desc->channels - 1);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return PENSTOCK_OK;
}

int penstock__channelizer_bank(struct channel_bank *bank, const penstock_channelizer_desc *desc, const float *taps,
                               size_t count)
{
    float *designed = NULL;
    int status = PENSTOCK_OK;
    if (!taps) {
        if (!(designed = penstock__alloc(count * sizeof *designed)))
            return PENSTOCK_ERR_MEMORY;
        status = penstock_channelizer_taps(designed, count, desc->channels, desc->hop);
    }
    if (!status)
        status = penstock__channel_bank_init(bank, desc, taps ? taps : designed, count);
    penstock__free(designed);
    return status;
}

size_t penstock__channelizer_room(const struct channelizer_engine *engine, size_t window)
{
    size_t batch = engine->item * penstock__threads(engine->context) * engine->bank.hop;
    return 2 * window + (batch > ROOM_SAMPLES ? batch : ROOM_SAMPLES);
}

static int make_room(struct channelizer *made)
{
    made->widest = made->engine.bank.window;
    made->capacity = penstock__channelizer_room(&made->engine, made->widest);
    made->in = penstock__calloc(made->capacity + BANK_SLACK, sizeof *made->in);
    return made->in ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* The first window begins with what is before the stream. */
static void rewind_stream(struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start = channelizer->widest - bank->window;
    channelizer->end = channelizer->widest - 1 - bank->advance;
    memset(channelizer->in, 0, channelizer->end * sizeof *channelizer->in);
    channelizer->folded = channelizer->total = channelizer->meanwhile = 0;
    penstock__rest_free(&channelizer->rest);
    penstock__stream_start(&channelizer->stream);
}

int penstock_channelizer_open(penstock_stream **stream, penstock_context *context,
                              const penstock_channelizer_desc *desc, const char *device)
{
    penstock_channelizer_desc d;
    struct channelizer *made;
    int status;
    if (!stream || !context)
        return bad("penstock_channelizer_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_channelizer_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->engine.context = context;
    made->stream = (struct penstock_stream){
        .kind = &penstock__channelizer_kind, .context = context, .in_bytes = penstock_format_bytes(d.format)};
    if ((status = penstock__channelizer_bank(&made->engine.bank, &d, d.taps, d.tap_count)) ||
        (status = penstock__channelizer_select(made, d.select, d.select_count)) ||
        (status = penstock__channelizer_make_engine(made, device)) || (status = make_room(made))) {
        penstock_stream_free(&made->stream);
        return status;
    }
    made->desc.taps = NULL;
    made->desc.select = NULL;
    rewind_stream(made);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    penstock__arrival_free(channelizer->arrival);
    penstock__channelizer_settle(channelizer);
    penstock__channelizer_engine_free(&channelizer->engine);
    penstock__channel_bank_free(&channelizer->engine.bank);
    penstock__rest_free(&channelizer->rest);
    penstock__free(channelizer->select);
    penstock__free(channelizer->in);
    penstock__free(channelizer);
}

static void reset(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    if (channelizer->engine.batcher)
        penstock__batcher_reset(channelizer->engine.batcher);
    penstock__channelizer_settle(channelizer);
    rewind_stream(channelizer);
}

int penstock_channelizer_get_info(const penstock_stream *stream, penstock_channelizer_info *info)
{
    penstock_channelizer_info known = PENSTOCK_CHANNELIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    int status = penstock__stream_is(stream, &penstock__channelizer_kind, "penstock_channelizer_get_info");
    if (status)
        return status;
    const struct channelizer *channelizer = const_channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    if ((status = penstock_plan_get_info(engine->plans[0], &plan)))
        return status;
    known.device = plan.device;
    known.kept = engine->kept;
    known.hop = channelizer->desc.hop;
    known.tap_count = channelizer->desc.tap_count;
    known.batch = engine->batcher ? penstock__batcher_capacity(engine->batcher) : 1;
    known.latency = (known.batch - 1) * known.hop;
    known.delay = (double)(known.tap_count - 1) / 2 - (double)channelizer->desc.advance;
    known.samples = channelizer->stream.taken;
    known.frames = channelizer->stream.given;
    known.fallbacks = penstock__plan_fallbacks(engine->plans[0]);
    return penstock__description_write(info, &known, sizeof known, "penstock_channelizer_info");
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* Frames whose windows are full, up to the next change. */
static size_t full_windows(const struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    size_t filled = channelizer->end - channelizer->start;
    size_t full = filled < bank->window ? 0 : (filled - bank->window) / bank->hop + 1;
    uint64_t alike = channelizer->changes ? channelizer->changes->frame - channelizer->folded : full;
    return full < alike ? full : (size_t)alike;
}

int penstock__channelizer_send(struct channelizer *channelizer)
{
    struct channelizer_engine *engine = &channelizer->engine;
    size_t count, sent = 0;
    int status = PENSTOCK_OK;
    while (engine->batcher && !status && (count = full_windows(channelizer))) {
        status = penstock__channelizer_engine_send(engine, channelizer->in + channelizer->start, channelizer->folded,
                                                   count, &sent);
        penstock__channelizer_leave(channelizer, sent);
        if (sent < count)
            break;
    }
    return status;
}

/* What is in use goes to the front of the memory. */
static void to_front(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    memmove(channelizer->in, channelizer->in + from, (channelizer->end - from) * sizeof *channelizer->in);
    channelizer->start -= from;
    channelizer->end -= from;
}

/* How many samples there is room for, after that; it goes not before as much has left. */
static size_t make_way(struct channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (channelizer->end == channelizer->capacity && from >= channelizer->end - from)
        to_front(channelizer);
    return channelizer->capacity - channelizer->end;
}

/* As many of `count` samples as there is room for. */
static int take_in(struct channelizer *channelizer, const void *samples, penstock_format format, size_t count,
                   size_t *taken)
{
    size_t room;
    int status = PENSTOCK_OK;
    if (channelizer->end == channelizer->capacity) /* there was no room for all when it was sent */
        status = penstock__channelizer_send(channelizer);
    while (*taken < count && !status && (room = make_way(channelizer))) {
        size_t piece = count - *taken < room ? count - *taken : room;
        penstock__convert_all(channelizer->engine.context, channelizer->in + channelizer->end, samples, format, *taken,
                              piece, count);
        channelizer->end += piece;
        *taken += piece;
        if (piece == room || channelizer->desc.max_latency_s > 0)
            status = penstock__channelizer_send(channelizer);
    }
    return status;
}

/* What is left of a planar push, as far as there is room. */
static int take_rest(struct channelizer *channelizer)
{
    struct penstock__rest *rest = &channelizer->rest;
    size_t count = penstock__rest_count(rest), taken = 0;
    int status = count ? take_in(channelizer, rest->samples + rest->first, PENSTOCK_CF32, count, &taken) : PENSTOCK_OK;
    rest->first += taken;
    return status;
}

static int take_push(struct channelizer *channelizer, const void *samples, size_t count, size_t *taken)
{
    bool planar = channelizer->desc.format == PENSTOCK_PLANAR;
    int status = take_rest(channelizer);
    if (status || penstock__rest_count(&channelizer->rest))
        return status;
    if ((planar && (status = penstock__rest_reserve(&channelizer->rest, count))) ||
        (status = take_in(channelizer, samples, channelizer->desc.format, count, taken)))
        return status;
    if (planar && *taken < count)
        penstock__rest_keep(&channelizer->rest, samples, count, taken);
    return PENSTOCK_OK;
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    penstock__channelizer_welcome(channelizer_of(stream));
    return take_push(channelizer_of(stream), in->whole, count, taken);
}

/* Frames that a stream of `samples` makes. */
static uint64_t count_frames(const struct channelizer *channelizer)
{
    const penstock_channelizer_desc *desc = &channelizer->desc;
    uint64_t more = desc->tail && channelizer->stream.taken ? desc->tap_count - 1 - desc->advance : 0;
    return (channelizer->stream.taken + more + desc->hop - 1) / desc->hop;
}

/* Zeros that the last windows lack, as far as there is room. */
static void fill_up(struct channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    uint64_t left = channelizer->total - channelizer->folded;
    if (!left)
        return;
    to_front(channelizer);
    uint64_t wanted = channelizer->start + (left - 1) * bank->hop + bank->window;
    size_t whole = wanted < channelizer->capacity ? (size_t)wanted : channelizer->capacity;
    if (channelizer->end < whole) {
        memset(channelizer->in + channelizer->end, 0, (whole - channelizer->end) * sizeof *channelizer->in);
        channelizer->end = whole;
    }
}

/* After the end: all that is left, on its way. */
static int end_input(struct channelizer *channelizer)
{
    struct channelizer_engine *engine = &channelizer->engine;
    int status = take_rest(channelizer);
    if (status || penstock__rest_count(&channelizer->rest))
        return status;
    if (!full_windows(channelizer))
        fill_up(channelizer);
    if (!engine->batcher)
        return PENSTOCK_OK;
    status = penstock__channelizer_send(channelizer);
    return status ? status : penstock__batcher_flush(engine->batcher);
}

static int flush(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    int status = penstock__channelizer_send(channelizer);
    return status || !channelizer->engine.batcher ? status : penstock__batcher_flush(channelizer->engine.batcher);
}

static int finish(penstock_stream *stream)
{
    struct channelizer *channelizer = channelizer_of(stream);
    if (!stream->finished)
        channelizer->total = count_frames(channelizer);
    stream->finished = true;
    return end_input(channelizer);
}

/* ---------------------------------------------------------------- frames out ------------------ */

/* Some of the frames that can be had at once, at most `count`. */
static int take(struct channelizer *channelizer, bool wait, const struct frame_sink *sink, size_t at, size_t count,
                size_t *taken)
{
    struct channelizer_engine *engine = &channelizer->engine;
    if (channelizer->stream.finished)
        end_input(channelizer); /* the batcher keeps a failure until its turn comes */
    else
        take_rest(channelizer);
    if (engine->batcher)
        return penstock__channelizer_engine_take(engine, wait || channelizer->stream.finished, sink, at, count, taken);
    size_t ready = full_windows(channelizer), some = ready < count ? ready : count;
    if (channelizer->stream.finished && some > channelizer->total - channelizer->folded)
        some = (size_t)(channelizer->total - channelizer->folded);
    *taken = 0;
    if (!some)
        return PENSTOCK_OK;
    double began = penstock__now_s();
    int status = penstock__channelizer_engine_run(engine, channelizer->in + channelizer->start, channelizer->folded,
                                                  some, sink, at);
    if (status)
        return status;
    penstock__meter_batch(&channelizer->stream.meter, some, penstock__now_s() - began);
    channelizer->meanwhile += channelizer->arrival != NULL;
    penstock__arrival_serve(channelizer->arrival, some);
    penstock__channelizer_leave(channelizer, some);
    *taken = some;
    return PENSTOCK_OK;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    struct channelizer *channelizer = channelizer_of(stream);
    const struct frame_sink sink = {.frames = out->whole, .streams = out->channels};
    int status = PENSTOCK_OK;
    penstock__channelizer_welcome(channelizer);
    while (*count < capacity && !status) {
        size_t some = 0;
        status = take(channelizer, wait, &sink, *count, capacity - *count, &some);
        if (!some)
            break;
        *count += some;
    }
    /* The first frame needs the samples up to p; those after the stream's end are not waited for. */
    penstock__stream_gave(stream, *count, stream->given * channelizer->desc.hop + channelizer->desc.advance + 1,
                          channelizer->desc.hop);
    return *count ? PENSTOCK_OK : status;
}

static double due_s(const penstock_stream *stream)
{
    const struct channelizer *channelizer = const_channelizer_of(stream);
    if (channelizer->engine.batcher)
        return penstock__batcher_due_s(channelizer->engine.batcher);
    return full_windows(channelizer) ? 0 : (double)INFINITY;
}

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    const struct channelizer_engine *engine = &const_channelizer_of(stream)->engine;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    penstock_plan_get_info(engine->plans[0], &plan);
    info->device = plan.device;
    info->batch = engine->batcher ? penstock__batcher_capacity(engine->batcher) : 1;
}

/* ---------------------------------------------------------------- the kind -------------------- */

const struct penstock__stream_kind penstock__channelizer_kind = {
    .name = "channelizer",
    .push = push,
    .pull = pull,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = penstock__channelizer_set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = penstock__channelizer_get_stats,
};
