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

static int make_room(penstock_channelizer *made)
{
    made->widest = made->engine.bank.window;
    made->capacity = penstock__channelizer_room(&made->engine, made->widest);
    made->in = penstock__calloc(made->capacity + BANK_SLACK, sizeof *made->in);
    return made->in ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* The first window begins with what is before the stream. */
static void rewind_stream(penstock_channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start = channelizer->widest - bank->window;
    channelizer->end = channelizer->widest - 1 - bank->advance;
    memset(channelizer->in, 0, channelizer->end * sizeof *channelizer->in);
    channelizer->samples = channelizer->folded = channelizer->pulled = channelizer->total = channelizer->meanwhile = 0;
    channelizer->finished = false;
    penstock__rest_free(&channelizer->rest);
    penstock__meter_start(&channelizer->meter, penstock__now_s());
}

int penstock_channelizer_new(penstock_channelizer **channelizer, penstock_context *context,
                             const penstock_channelizer_desc *desc, const char *device)
{
    penstock_channelizer_desc d;
    penstock_channelizer *made;
    int status;
    if (!channelizer || !context)
        return bad("penstock_channelizer_new: channelizer or context is NULL");
    *channelizer = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_channelizer_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->engine.context = context;
    if ((status = penstock__channelizer_bank(&made->engine.bank, &d, d.taps, d.tap_count)) ||
        (status = penstock_channelizer_set_select(made, d.select, d.select_count)) ||
        (status = penstock__channelizer_make_engine(made, device)) || (status = make_room(made))) {
        penstock_channelizer_free(made);
        return status;
    }
    made->desc.taps = NULL;
    made->desc.select = NULL;
    rewind_stream(made);
    *channelizer = made;
    return PENSTOCK_OK;
}

void penstock_channelizer_free(penstock_channelizer *channelizer)
{
    if (!channelizer)
        return;
    penstock__arrival_free(channelizer->arrival);
    penstock__channelizer_settle(channelizer);
    penstock__channelizer_engine_free(&channelizer->engine);
    penstock__channel_bank_free(&channelizer->engine.bank);
    penstock__rest_free(&channelizer->rest);
    penstock__free(channelizer->select);
    penstock__free(channelizer->in);
    penstock__free(channelizer);
}

int penstock_channelizer_reset(penstock_channelizer *channelizer)
{
    if (!channelizer)
        return bad("penstock_channelizer_reset: channelizer is NULL");
    if (channelizer->engine.batcher)
        penstock__batcher_reset(channelizer->engine.batcher);
    penstock__channelizer_settle(channelizer);
    rewind_stream(channelizer);
    return PENSTOCK_OK;
}

int penstock_channelizer_get_info(const penstock_channelizer *channelizer, penstock_channelizer_info *info)
{
    penstock_channelizer_info known = PENSTOCK_CHANNELIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    const struct channelizer_engine *engine;
    int status;
    if (!channelizer)
        return bad("penstock_channelizer_get_info: channelizer is NULL");
    engine = &channelizer->engine;
    if ((status = penstock_plan_get_info(engine->plans[0], &plan)))
        return status;
    known.device = plan.device;
    known.kept = engine->kept;
    known.hop = channelizer->desc.hop;
    known.tap_count = channelizer->desc.tap_count;
    known.batch = engine->batcher ? penstock__batcher_capacity(engine->batcher) : 1;
    known.latency = (known.batch - 1) * known.hop;
    known.delay = (double)(known.tap_count - 1) / 2 - (double)channelizer->desc.advance;
    known.samples = channelizer->samples;
    known.frames = channelizer->pulled;
    known.fallbacks = penstock__plan_fallbacks(engine->plans[0]);
    return penstock__description_write(info, &known, sizeof known, "penstock_channelizer_info");
}

/* ---------------------------------------------------------------- samples in ------------------ */

/* Frames whose windows are full, up to the next change. */
static size_t full_windows(const penstock_channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    size_t filled = channelizer->end - channelizer->start;
    size_t full = filled < bank->window ? 0 : (filled - bank->window) / bank->hop + 1;
    uint64_t alike = channelizer->changes ? channelizer->changes->frame - channelizer->folded : full;
    return full < alike ? full : (size_t)alike;
}

int penstock__channelizer_send(penstock_channelizer *channelizer)
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
static void to_front(penstock_channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    memmove(channelizer->in, channelizer->in + from, (channelizer->end - from) * sizeof *channelizer->in);
    channelizer->start -= from;
    channelizer->end -= from;
}

/* How many samples there is room for, after that; it goes not before as much has left. */
static size_t make_way(penstock_channelizer *channelizer)
{
    size_t from = penstock__channelizer_oldest(channelizer);
    if (channelizer->end == channelizer->capacity && from >= channelizer->end - from)
        to_front(channelizer);
    return channelizer->capacity - channelizer->end;
}

/* As many of `count` samples as there is room for. */
static int take_in(penstock_channelizer *channelizer, const void *samples, penstock_format format, size_t count,
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
static int take_rest(penstock_channelizer *channelizer)
{
    struct penstock__rest *rest = &channelizer->rest;
    size_t count = penstock__rest_count(rest), taken = 0;
    int status = count ? take_in(channelizer, rest->samples + rest->first, PENSTOCK_CF32, count, &taken) : PENSTOCK_OK;
    rest->first += taken;
    return status;
}

static int take_push(penstock_channelizer *channelizer, const void *samples, size_t count, size_t *taken)
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

int penstock_channelizer_push(penstock_channelizer *channelizer, const void *samples, size_t count, size_t *taken)
{
    int status;
    if (!channelizer || (count && !samples))
        return bad("penstock_channelizer_push: channelizer or samples is NULL");
    if ((status = penstock__check_taken("penstock_channelizer_push", count,
                                        penstock_format_bytes(channelizer->desc.format), taken)))
        return status;
    if (channelizer->finished)
        return penstock__error(PENSTOCK_ERR_STATE,
                               "channelizer: the stream was finished; reset it before pushing again");
    penstock__channelizer_welcome(channelizer);
    status = take_push(channelizer, samples, count, taken);
    channelizer->samples += *taken;
    penstock__meter_take(&channelizer->meter, *taken, penstock__now_s());
    return status;
}

/* Frames that a stream of `samples` makes. */
static uint64_t count_frames(const penstock_channelizer *channelizer)
{
    const penstock_channelizer_desc *desc = &channelizer->desc;
    uint64_t more = desc->tail && channelizer->samples ? desc->tap_count - 1 - desc->advance : 0;
    return (channelizer->samples + more + desc->hop - 1) / desc->hop;
}

/* Zeros that the last windows lack, as far as there is room. */
static void fill_up(penstock_channelizer *channelizer)
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
static int end_input(penstock_channelizer *channelizer)
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

int penstock_channelizer_finish(penstock_channelizer *channelizer)
{
    if (!channelizer)
        return bad("penstock_channelizer_finish: channelizer is NULL");
    if (!channelizer->finished)
        channelizer->total = count_frames(channelizer);
    channelizer->finished = true;
    return end_input(channelizer);
}

/* ---------------------------------------------------------------- frames out ------------------ */

/* Some of the frames that can be had at once, at most `count`. */
static int take(penstock_channelizer *channelizer, bool wait, const struct frame_sink *sink, size_t at, size_t count,
                size_t *taken)
{
    struct channelizer_engine *engine = &channelizer->engine;
    if (channelizer->finished)
        end_input(channelizer); /* the batcher keeps a failure until its turn comes */
    else
        take_rest(channelizer);
    if (engine->batcher)
        return penstock__channelizer_engine_take(engine, wait || channelizer->finished, sink, at, count, taken);
    size_t ready = full_windows(channelizer), some = ready < count ? ready : count;
    if (channelizer->finished && some > channelizer->total - channelizer->folded)
        some = (size_t)(channelizer->total - channelizer->folded);
    *taken = 0;
    if (!some)
        return PENSTOCK_OK;
    double began = penstock__now_s();
    int status = penstock__channelizer_engine_run(engine, channelizer->in + channelizer->start, channelizer->folded,
                                                  some, sink, at);
    if (status)
        return status;
    penstock__meter_batch(&channelizer->meter, some, penstock__now_s() - began);
    channelizer->meanwhile += channelizer->arrival != NULL;
    penstock__channelizer_leave(channelizer, some);
    *taken = some;
    return PENSTOCK_OK;
}

/* The first frame needs the samples up to p; those after the stream's end are not waited for. */
static void count_frames_out(penstock_channelizer *channelizer, size_t count)
{
    uint64_t first_end = channelizer->pulled * channelizer->desc.hop + channelizer->desc.advance + 1;
    if (count)
        penstock__meter_give(&channelizer->meter, count, first_end, channelizer->desc.hop, penstock__now_s());
    channelizer->pulled += count;
}

static int pull(penstock_channelizer *channelizer, const struct frame_sink *sink, size_t capacity, bool wait,
                size_t *count)
{
    int status = PENSTOCK_OK;
    *count = 0;
    penstock__channelizer_welcome(channelizer);
    while (*count < capacity && !status) {
        size_t some = 0;
        status = take(channelizer, wait, sink, *count, capacity - *count, &some);
        if (!some)
            break;
        *count += some;
    }
    count_frames_out(channelizer, *count);
    return *count ? PENSTOCK_OK : status;
}

int penstock_channelizer_pull(penstock_channelizer *channelizer, penstock_cf32 *frames, size_t capacity, bool wait,
                              size_t *count)
{
    if (!channelizer || !count || (capacity && !frames))
        return bad("penstock_channelizer_pull: an argument is NULL");
    return pull(channelizer, &(struct frame_sink){.frames = frames}, capacity, wait, count);
}

int penstock_channelizer_pull_streams(penstock_channelizer *channelizer, penstock_cf32 *const *streams, size_t capacity,
                                      bool wait, size_t *count)
{
    if (!channelizer || !count || (capacity && !streams))
        return bad("penstock_channelizer_pull_streams: an argument is NULL");
    return pull(channelizer, &(struct frame_sink){.streams = streams}, capacity, wait, count);
}

double penstock_channelizer_due_s(const penstock_channelizer *channelizer)
{
    if (!channelizer)
        return (double)INFINITY;
    if (channelizer->engine.batcher)
        return penstock__batcher_due_s(channelizer->engine.batcher);
    return full_windows(channelizer) ? 0 : (double)INFINITY;
}
