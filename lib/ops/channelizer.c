/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter bank as a stream: samples gather as floats in one piece of memory along which the frames' windows move;
 * what is left of them goes back to its front when the end is reached.
 */
#include "core/description.h"
#include "ops/channelizer_check.h"
#include "ops/channelizer_engine.h"

#include <math.h>
#include <string.h>

/* Samples that may gather besides a window, at least. */
#define ROOM_SAMPLES ((size_t)1 << 16)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "channelizer: " __VA_ARGS__)

struct penstock_channelizer {
    penstock_channelizer_desc desc; /* defaults filled in; only the pointer to the selection is kept */
    size_t *select;
    struct channelizer_engine engine;

    penstock_cf32 *in;
    size_t start, end, capacity; /* what is in use of `in`, from the next frame's window on */
    uint64_t samples;            /* pushed */
    uint64_t folded, pulled;     /* frames that left `in`, and the library */
    bool finished;
    uint64_t total; /* frames of the whole stream, once finished */
};

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
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return PENSTOCK_OK;
}

static int make_bank(penstock_channelizer *made)
{
    const penstock_channelizer_desc *d = &made->desc;
    float *designed = NULL;
    int status = PENSTOCK_OK;
    if (!d->taps) {
        if (!(designed = penstock__alloc(d->tap_count * sizeof *designed)))
            return PENSTOCK_ERR_MEMORY;
        status = penstock_channelizer_taps(designed, d->tap_count, d->channels, d->hop);
    }
    if (!status)
        status = penstock__channel_bank_init(&made->engine.bank, d->channels, d->hop, d->advance,
                                             d->taps ? d->taps : designed, d->tap_count);
    penstock__free(designed);
    return status;
}

static int copy_selection(penstock_channelizer *made)
{
    size_t bytes = made->desc.select_count * sizeof *made->select;
    made->engine.kept = bytes ? made->desc.select_count : made->desc.channels;
    if (!bytes)
        return PENSTOCK_OK;
    if (!(made->select = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(made->select, made->desc.select, bytes);
    made->engine.select = made->select;
    return PENSTOCK_OK;
}

/* Enough for the windows of a batch, and for as much again as must be moved to the front. */
static int make_room(penstock_channelizer *made)
{
    const struct channelizer_engine *engine = &made->engine;
    size_t batch = engine->item * penstock__threads(engine->context) * engine->bank.hop;
    size_t room = batch > ROOM_SAMPLES ? batch : ROOM_SAMPLES;
    made->capacity = 2 * engine->bank.window + room;
    made->in = penstock__calloc(made->capacity + BANK_SLACK, sizeof *made->in);
    return made->in ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* The first window begins with what is before the stream. */
static void rewind_stream(penstock_channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start = 0;
    channelizer->end = bank->window - 1 - bank->advance;
    memset(channelizer->in, 0, channelizer->end * sizeof *channelizer->in);
    channelizer->samples = channelizer->folded = channelizer->pulled = channelizer->total = 0;
    channelizer->finished = false;
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
    if ((status = make_bank(made)) || (status = copy_selection(made)) ||
        (status = penstock__channelizer_engine_init(&made->engine, d.max_latency_s, device)) ||
        (status = make_room(made))) {
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
    penstock__channelizer_engine_free(&channelizer->engine);
    penstock__channel_bank_free(&channelizer->engine.bank);
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

/* Frames whose windows are full. */
static size_t full_windows(const penstock_channelizer *channelizer)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    size_t filled = channelizer->end - channelizer->start;
    return filled < bank->window ? 0 : (filled - bank->window) / bank->hop + 1;
}

static void leave_frames(penstock_channelizer *channelizer, size_t count)
{
    channelizer->start += count * channelizer->desc.hop;
    channelizer->folded += count;
}

/* Full windows on their way to a device that works in batches. */
static int send(penstock_channelizer *channelizer)
{
    struct channelizer_engine *engine = &channelizer->engine;
    size_t count = full_windows(channelizer), sent = 0;
    if (!engine->batcher || !count)
        return PENSTOCK_OK;
    int status = penstock__channelizer_engine_send(engine, channelizer->in + channelizer->start, channelizer->folded,
                                                   count, &sent);
    leave_frames(channelizer, sent);
    return status;
}

/* How many samples there is room for, after what is in use has gone to the front; not before as much has left. */
static size_t make_way(penstock_channelizer *channelizer)
{
    size_t used = channelizer->end - channelizer->start;
    if (channelizer->end == channelizer->capacity && channelizer->start >= used) {
        memmove(channelizer->in, channelizer->in + channelizer->start, used * sizeof *channelizer->in);
        channelizer->start = 0;
        channelizer->end = used;
    }
    return channelizer->capacity - channelizer->end;
}

int penstock_channelizer_push(penstock_channelizer *channelizer, const void *samples, size_t count, size_t *taken)
{
    size_t ignored, room;
    int status = PENSTOCK_OK;
    taken = taken ? taken : &ignored;
    *taken = 0;
    if (!channelizer || (count && !samples))
        return bad("penstock_channelizer_push: channelizer or samples is NULL");
    if (channelizer->finished)
        return penstock__error(PENSTOCK_ERR_STATE,
                               "channelizer: the stream was finished; reset it before pushing again");
    while (*taken < count && !status && (room = make_way(channelizer))) {
        size_t piece = count - *taken < room ? count - *taken : room;
        penstock__convert(channelizer->in + channelizer->end, samples, channelizer->desc.format, *taken, piece, count);
        channelizer->end += piece;
        channelizer->samples += piece;
        *taken += piece;
        if (piece == room || channelizer->desc.max_latency_s > 0)
            status = send(channelizer);
    }
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
    size_t used = channelizer->end - channelizer->start;
    memmove(channelizer->in, channelizer->in + channelizer->start, used * sizeof *channelizer->in);
    channelizer->start = 0;
    channelizer->end = used;
    uint64_t wanted = (left - 1) * bank->hop + bank->window;
    size_t whole = wanted < channelizer->capacity ? (size_t)wanted : channelizer->capacity;
    if (used < whole) {
        memset(channelizer->in + used, 0, (whole - used) * sizeof *channelizer->in);
        channelizer->end = whole;
    }
}

/* After the end: all that is left, on its way. */
static int end_input(penstock_channelizer *channelizer)
{
    struct channelizer_engine *engine = &channelizer->engine;
    if (!full_windows(channelizer))
        fill_up(channelizer);
    if (!engine->batcher)
        return PENSTOCK_OK;
    int status = send(channelizer);
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
    if (engine->batcher)
        return penstock__channelizer_engine_take(engine, wait || channelizer->finished, sink, at, count, taken);
    size_t ready = full_windows(channelizer), some = ready < count ? ready : count;
    if (channelizer->finished && some > channelizer->total - channelizer->folded)
        some = (size_t)(channelizer->total - channelizer->folded);
    *taken = 0;
    if (!some)
        return PENSTOCK_OK;
    int status = penstock__channelizer_engine_run(engine, channelizer->in + channelizer->start, channelizer->folded,
                                                  some, sink, at);
    if (status)
        return status;
    leave_frames(channelizer, some);
    *taken = some;
    return PENSTOCK_OK;
}

static int pull(penstock_channelizer *channelizer, const struct frame_sink *sink, size_t capacity, bool wait,
                size_t *count)
{
    *count = 0;
    while (*count < capacity) {
        size_t some = 0;
        int status = take(channelizer, wait, sink, *count, capacity - *count, &some);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        *count += some;
        channelizer->pulled += some;
    }
    return PENSTOCK_OK;
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
