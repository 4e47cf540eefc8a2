/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The synthesis bank as a stream: its life, frames in, samples out. */
#include "ops/channelizer/synthesizer.h"
#include "core/base/description.h"
#include "ops/channelizer/channelizer_check.h"

#include <stddef.h>
#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "synthesizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- life ------------------------ */

static int check(void *description)
{
    penstock_synthesizer_desc *desc = description;
    int status;
    if ((status = penstock__channels_check(desc->channels, &desc->hop)) ||
        (status = penstock__prototype_check(desc->taps, &desc->tap_count, desc->channels, desc->hop)) ||
        (status = penstock__selection_check(desc->select, desc->select_count, desc->channels)))
        return status;
    if (!desc->taps && desc->hop == desc->channels)
        return bad("nothing undoes the usual prototype at critical sampling: use a hop below %zu, or give taps",
                   desc->channels);
    if (!desc->taps)
        desc->delay = desc->tap_count - 1;
    if (desc->advance > desc->delay)
        return bad("advance is %zu, not 0 .. %zu (delay)", desc->advance, desc->delay);
    if (desc->origin >= desc->channels)
        return bad("origin is %zu, not 0 .. %zu", desc->origin, desc->channels - 1);
    return penstock__synthesizer_check_depth(desc, desc->tap_count);
}

/* What the description says, or the dual of the usual prototype. */
static int make_taps(struct synthesizer *made)
{
    const penstock_synthesizer_desc *d = &made->desc;
    float *analysis = d->taps ? NULL : penstock__alloc(d->tap_count * sizeof *analysis);
    made->taps = penstock__alloc(d->tap_count * sizeof *made->taps);
    made->tap_count = d->tap_count;
    int status = made->taps && (analysis || d->taps) ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    if (!status && d->taps)
        memcpy(made->taps, d->taps, d->tap_count * sizeof *made->taps);
    else if (!status && !(status = penstock_channelizer_taps(analysis, d->tap_count, d->channels, d->hop)))
        status = penstock_channelizer_dual(made->taps, d->tap_count, analysis, d->tap_count, d->channels, d->hop,
                                           d->delay, NULL);
    penstock__free(analysis);
    return status;
}

static int make(struct penstock__batched *batched)
{
    struct synthesizer *made = synthesizer_of(&batched->stream);
    const penstock_synthesizer_desc *desc = &made->desc;
    int status;
    batched->unit = desc->channels;
    batched->max_latency_s = desc->max_latency_s;
    batched->stream.out_bytes = sizeof(penstock_cf32);
    batched->stream.in_values = batched->stream.out_values = 1 + PENSTOCK_CF32;
    made->kept = desc->select_count ? desc->select_count : desc->channels;
    made->delay = desc->delay - desc->advance;
    made->depth = (desc->tap_count + desc->hop - 1) / desc->hop;
    if ((status = make_taps(made)) || (status = penstock__synthesizer_select(made, desc->select, desc->select_count)))
        return status;
    batched->stream.in_channels = made->kept;
    batched->stream.in_bytes = made->kept * sizeof(penstock_cf32);
    batched->stream.lends_in = !made->select;
    batched->stream.lends_out = true;
    return PENSTOCK_OK;
}

static int plan(const struct penstock__batched *batched, penstock_plan **made)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(&batched->stream);
    return penstock__synthesizer_plan(made, synthesizer, synthesizer->taps, synthesizer->tap_count, synthesizer->depth);
}

static void forget(struct penstock__batched *batched)
{
    synthesizer_of(&batched->stream)->desc.taps = NULL;
    synthesizer_of(&batched->stream)->desc.select = NULL;
}

int penstock_synthesizer_open(penstock_stream **stream, penstock_context *context,
                              const penstock_synthesizer_desc *desc, const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &penstock__synthesizer_kind);
}

static void free_synthesizer(struct penstock__batched *batched)
{
    struct synthesizer *synthesizer = synthesizer_of(&batched->stream);
    penstock__synthesizer_drop_changes(synthesizer, 0);
    while (synthesizer->before)
        penstock__synthesizer_drop_before(synthesizer);
    penstock__free(synthesizer->taps);
    penstock__free(synthesizer->select);
}

static void cancel(struct penstock__batched *batched)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(&batched->stream);
    for (const struct synthesizer_change *change = synthesizer->changes; change; change = change->next)
        penstock__plan_cancel(change->plan);
    for (const struct synthesizer_before *before = synthesizer->before; before; before = before->next)
        penstock__plan_cancel(before->plan);
}

/* The samples of frame 0 begin at place o - d of a row, and there are zeros before it. */
static void reset(struct penstock__batched *batched)
{
    struct synthesizer *synthesizer = synthesizer_of(&batched->stream);
    const size_t channels = synthesizer->desc.channels;
    uint64_t padded = 0;
    while (synthesizer->before)
        penstock__synthesizer_drop_before(synthesizer);
    penstock__synthesizer_adopt(synthesizer, UINT64_MAX);
    penstock__batcher_set_turn(batched->batcher,
                               (synthesizer->desc.origin + channels - synthesizer->delay % channels) % channels);
    penstock__synthesizer_pad(batched->batcher, channels, synthesizer->depth - 1, &padded);
    synthesizer->oldest = synthesizer->total = synthesizer->padding = 0;
    synthesizer->read = 0;
    synthesizer->to_skip = synthesizer->delay;
}

/* ---------------------------------------------------------------- what is known --------------- */

int penstock_synthesizer_get_info(const penstock_stream *stream, penstock_synthesizer_info *info)
{
    penstock_synthesizer_info known = PENSTOCK_SYNTHESIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    int status = penstock__stream_is(stream, &penstock__synthesizer_kind.calls, "penstock_synthesizer_get_info");
    if (status)
        return status;
    const struct synthesizer *synthesizer = const_synthesizer_of(stream);
    if ((status = penstock_plan_get_info(synthesizer->batched.plan, &plan)))
        return status;
    known.device = plan.device;
    known.kept = synthesizer->kept;
    known.hop = synthesizer->desc.hop;
    known.tap_count = synthesizer->tap_count;
    known.delay = synthesizer->delay;
    known.batch = penstock__batcher_capacity(synthesizer->batched.batcher);
    known.frames = synthesizer->batched.stream.taken;
    known.samples = synthesizer->batched.stream.given;
    known.fallbacks = synthesizer->batched.fallbacks + penstock__plan_fallbacks(synthesizer->batched.plan);
    return penstock__description_write(info, &known, sizeof known, "penstock_synthesizer_info");
}

/* ---------------------------------------------------------------- frames in ------------------- */

static const void *ready(const struct penstock__batched *batched, const struct penstock__items *in)
{
    return const_synthesizer_of(&batched->stream)->select ? NULL : in->whole;
}

/* Samples that the frames pushed make. */
static uint64_t count_samples(const struct synthesizer *synthesizer)
{
    const penstock_synthesizer_desc *desc = &synthesizer->desc;
    const uint64_t frames = synthesizer->batched.stream.taken;
    const size_t tail = desc->tail && synthesizer->tap_count > desc->hop ? synthesizer->tap_count - desc->hop : 0;
    const uint64_t end = frames ? frames * desc->hop + tail : 0;
    return end > synthesizer->delay ? end - synthesizer->delay : 0;
}

static int finish(penstock_stream *stream)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    if (!stream->finished) {
        penstock__synthesizer_drop_changes(synthesizer, stream->taken);
        penstock__synthesizer_adopt(synthesizer, stream->taken);
        synthesizer->total = count_samples(synthesizer);
    }
    return penstock__batched_finish(stream);
}

/* ---------------------------------------------------------------- samples out ----------------- */

/* Zeros behind the end, as far as there is room: as many as samples still need. */
static int pad(struct synthesizer *synthesizer)
{
    const penstock_stream *stream = &synthesizer->batched.stream;
    const size_t hop = synthesizer->desc.hop;
    const uint64_t frames = (synthesizer->total + synthesizer->delay + hop - 1) / hop;
    if (!stream->finished || !synthesizer->total || frames <= stream->taken)
        return PENSTOCK_OK;
    return penstock__synthesizer_pad(synthesizer->batched.batcher, synthesizer->desc.channels, frames - stream->taken,
                                     &synthesizer->padding);
}

/* The oldest results, of a plan before or of the present one. */
static int find_results(struct synthesizer *synthesizer, bool wait, const void **from, size_t *results)
{
    int status = PENSTOCK_OK;
    *results = 0;
    while (synthesizer->before && !*results && !status) {
        status = penstock__batcher_ready(synthesizer->before->batcher, true, from, results);
        if (!status && !*results)
            penstock__synthesizer_drop_before(synthesizer);
    }
    if (*results || status || (status = pad(synthesizer)))
        return status;
    return penstock__batched_peek(&synthesizer->batched.stream, wait, from, results);
}

/* Samples of `count` results that may be given, of which those are left out that lie before the first one. */
static size_t skip(struct synthesizer *synthesizer, size_t count)
{
    const penstock_stream *stream = &synthesizer->batched.stream;
    size_t left = count * synthesizer->desc.hop - synthesizer->read;
    const size_t skipped = left < synthesizer->to_skip ? left : (size_t)synthesizer->to_skip;
    synthesizer->read += skipped;
    synthesizer->to_skip -= skipped;
    left -= skipped;
    return stream->finished && left > synthesizer->total - stream->given ? (size_t)(synthesizer->total - stream->given)
                                                                         : left;
}

/* `count` samples of the oldest results are done with. */
static void drop(struct synthesizer *synthesizer, size_t count)
{
    struct penstock__batcher *oldest =
        synthesizer->before ? synthesizer->before->batcher : synthesizer->batched.batcher;
    const size_t hop = synthesizer->desc.hop;
    synthesizer->read += count;
    penstock__batcher_release(oldest, synthesizer->read / hop);
    synthesizer->read %= hop;
}

/* Results of which nothing is given, as far as they are there. */
static int leave_out(struct synthesizer *synthesizer, bool wait)
{
    while (synthesizer->to_skip) {
        const void *results;
        size_t some;
        int status = find_results(synthesizer, wait, &results, &some);
        const size_t samples = some * synthesizer->desc.hop - synthesizer->read;
        if (status || !some || samples > synthesizer->to_skip)
            return status;
        synthesizer->to_skip -= samples;
        drop(synthesizer, samples);
    }
    return PENSTOCK_OK;
}

/* Samples of the oldest results; none where none are ready. */
static int peek(penstock_stream *stream, bool wait, const void **from, size_t *count)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    const void *results;
    size_t some;
    int status;
    *count = 0;
    if (stream->finished && stream->given == synthesizer->total)
        return PENSTOCK_OK;
    if ((status = leave_out(synthesizer, wait)) || (status = find_results(synthesizer, wait, &results, &some)) || !some)
        return status;
    *count = skip(synthesizer, some);
    *from = (const penstock_cf32 *)results + synthesizer->read;
    return PENSTOCK_OK;
}

static void release(penstock_stream *stream, size_t count)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    const uint64_t end = (stream->given + synthesizer->delay) / synthesizer->desc.hop + 1;
    drop(synthesizer, count);
    penstock__stream_gave(stream, count, end < stream->taken ? end : stream->taken, 0);
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    while (*count < capacity) {
        const void *from;
        size_t some;
        int status = peek(stream, wait, &from, &some);
        if (status)
            return *count ? PENSTOCK_OK : status;
        if (!some)
            break;
        some = some < capacity - *count ? some : capacity - *count;
        penstock__copy(stream->context, (penstock_cf32 *)out->whole + *count, from, some * sizeof(penstock_cf32));
        release(stream, some);
        *count += some;
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- in, with what comes out ------ */

/* Frames before the next change. */
static size_t frames_alike(const struct synthesizer *synthesizer, uint64_t frame)
{
    const struct synthesizer_change *next = synthesizer->changes;
    return next && next->frame - frame < SIZE_MAX ? (size_t)(next->frame - frame) : SIZE_MAX;
}

static int push_some(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    size_t end;
    int status;
    do {
        penstock__synthesizer_adopt(synthesizer, stream->taken + *taken);
        const size_t alike = frames_alike(synthesizer, stream->taken + *taken);
        end = alike < count - *taken ? *taken + alike : count;
        status = penstock__batched_push(stream, in, end, taken);
    } while (!status && *taken == end && end < count);
    return status;
}

/* Where there is room only once results are left out, nobody is to find that nothing is taken and nothing given. */
static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    int status = push_some(stream, in, count, taken);
    if (!status && count && !*taken && synthesizer->to_skip && !(status = leave_out(synthesizer, true)))
        status = push_some(stream, in, count, taken);
    return status;
}

static int acquire(penstock_stream *stream, void **to, size_t *room)
{
    struct synthesizer *synthesizer = synthesizer_of(stream);
    penstock__synthesizer_adopt(synthesizer, stream->taken);
    int status = penstock__batched_acquire(stream, to, room);
    if (!status && !*room && synthesizer->to_skip && !(status = leave_out(synthesizer, true)))
        status = penstock__batched_acquire(stream, to, room);
    const size_t alike = frames_alike(synthesizer, stream->taken);
    *room = *room < alike ? *room : alike;
    return status;
}

static double due_s(const penstock_stream *stream)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(stream);
    return synthesizer->before ? 0 : penstock__batcher_due_s(synthesizer->batched.batcher);
}

const struct penstock__batched_kind penstock__synthesizer_kind = {
    .calls = {.name = "synthesizer",
              PENSTOCK__BATCHED_LIFE,
              .push = push,
              .pull = pull,
              .acquire = acquire,
              .peek = peek,
              .release = release,
              .finish = finish,
              .due_s = due_s,
              .get_info = penstock__batched_get_info},
    .bytes = sizeof(struct synthesizer),
    .desc_name = "penstock_synthesizer_desc",
    .desc_at = offsetof(struct synthesizer, desc),
    .desc_bytes = sizeof(penstock_synthesizer_desc),
    .check = check,
    .make = make,
    .plan = plan,
    .forget = forget,
    .reset = reset,
    .cancel = cancel,
    .free = free_synthesizer,
    .ready = ready,
    .fill = penstock__synthesizer_fill,
};
