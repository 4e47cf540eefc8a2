/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The synthesis bank as a stream: frames go through a batched reverse transform, and what comes of it through the
 * polyphase sums. */
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

static int make_bank(struct synthesizer *made)
{
    const penstock_synthesizer_desc *d = &made->desc;
    float *analysis = NULL, *dual = NULL;
    int status = PENSTOCK_OK;
    if (!d->taps) {
        analysis = penstock__alloc(d->tap_count * sizeof *analysis);
        dual = penstock__alloc(d->tap_count * sizeof *dual);
        status = PENSTOCK_ERR_MEMORY;
        if (analysis && dual && !(status = penstock_channelizer_taps(analysis, d->tap_count, d->channels, d->hop)))
            status = penstock_channelizer_dual(dual, d->tap_count, analysis, d->tap_count, d->channels, d->hop,
                                               d->delay, NULL);
    }
    if (!status)
        status = penstock__synthesis_bank_init(&made->bank, made->batched.stream.context, d->channels, d->hop,
                                               d->delay - d->advance, d->taps ? d->taps : dual, d->tap_count);
    made->bank.origin = d->origin;
    penstock__free(analysis);
    penstock__free(dual);
    return status;
}

static int make(struct penstock__batched *batched)
{
    struct synthesizer *made = synthesizer_of(&batched->stream);
    int status;
    batched->unit = made->desc.channels;
    batched->max_latency_s = made->desc.max_latency_s;
    batched->stream.out_bytes = sizeof(penstock_cf32);
    batched->stream.in_values = batched->stream.out_values = 1 + PENSTOCK_CF32;
    made->kept = made->desc.select_count ? made->desc.select_count : made->desc.channels;
    if ((status = make_bank(made)) ||
        (status = penstock__synthesizer_select(made, made->desc.select, made->desc.select_count)))
        return status;
    batched->stream.in_channels = made->kept;
    batched->stream.in_bytes = made->kept * sizeof(penstock_cf32);
    batched->stream.lends_in = !made->select;
    return PENSTOCK_OK;
}

static int plan(const struct penstock__batched *batched, penstock_plan **made)
{
    return penstock_fft_plan(made, batched->stream.context,
                             &PENSTOCK_FFT_DESC(.n = const_synthesizer_of(&batched->stream)->desc.channels,
                                                .slots = PENSTOCK__BATCHED_SLOTS, .direction = PENSTOCK_REVERSE),
                             batched->device);
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
    penstock__synthesizer_adopt(synthesizer_of(&batched->stream), UINT64_MAX);
    penstock__synthesis_bank_free(&synthesizer_of(&batched->stream)->bank);
    penstock__free(synthesizer_of(&batched->stream)->select);
}

static void reset(struct penstock__batched *batched)
{
    struct synthesizer *synthesizer = synthesizer_of(&batched->stream);
    penstock__synthesis_bank_reset(&synthesizer->bank);
    penstock__synthesizer_adopt(synthesizer, UINT64_MAX);
    synthesizer->folded = synthesizer->total = synthesizer->oldest = 0;
    synthesizer->ready = synthesizer->given = 0;
    synthesizer->to_skip = synthesizer->bank.delay;
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
    known.tap_count = synthesizer->bank.tap_count;
    known.delay = synthesizer->bank.delay;
    known.batch = penstock__batcher_capacity(synthesizer->batched.batcher);
    known.frames = synthesizer->batched.stream.taken;
    known.samples = synthesizer->batched.stream.given;
    known.fallbacks = penstock__plan_fallbacks(synthesizer->batched.plan);
    return penstock__description_write(info, &known, sizeof known, "penstock_synthesizer_info");
}

/* ---------------------------------------------------------------- frames in ------------------- */

static const void *ready(const struct penstock__batched *batched, const struct penstock__items *in)
{
    return const_synthesizer_of(&batched->stream)->select ? NULL : in->whole;
}

/* Frames `first` .. `first + count` - 1 of a push, all channels in order. */
static void fill(const struct penstock__batched *batched, const struct penstock__items *in, void *to, size_t first,
                 size_t count)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(&batched->stream);
    const size_t channels = synthesizer->desc.channels, kept = synthesizer->kept, *select = synthesizer->select;
    const penstock_cf32 *whole = in->whole;
    penstock_cf32 *values = to;
    if (select)
        memset(values, 0, count * channels * sizeof *values);
    for (size_t f = 0; f < count; f++)
        for (size_t c = 0; c < kept; c++)
            values[f * channels + (select ? select[c] : c)] =
                whole ? whole[(first + f) * kept + c] : ((const penstock_cf32 *)in->channels[c])[first + f];
}

/* Samples that the frames pushed make; all changes that wait will hold. */
static uint64_t count_samples(const struct synthesizer *synthesizer)
{
    const penstock_synthesizer_desc *desc = &synthesizer->desc;
    uint64_t end = synthesizer->batched.stream.taken * desc->hop;
    size_t tap_count = synthesizer->bank.tap_count;
    for (const struct synthesizer_change *change = synthesizer->changes; change; change = change->next)
        tap_count = change->tap_count;
    if (synthesizer->batched.stream.taken && desc->tail)
        end = (synthesizer->batched.stream.taken - 1) * desc->hop + tap_count;
    return end > synthesizer->bank.delay ? end - synthesizer->bank.delay : 0;
}

static int finish(penstock_stream *stream)
{
    if (!stream->finished) {
        penstock__synthesizer_drop_changes(synthesizer_of(stream), stream->taken);
        synthesizer_of(stream)->total = count_samples(synthesizer_of(stream));
    }
    return penstock__batched_finish(stream);
}

/* ---------------------------------------------------------------- samples out ----------------- */

static void fold(struct synthesizer *synthesizer, penstock_cf32 *to, const penstock_cf32 *spectra, size_t count)
{
    penstock__synthesis_bank_run(&synthesizer->bank, to, spectra, synthesizer->folded, count);
    synthesizer->folded += count;
}

static void fold_apart(struct synthesizer *synthesizer, const penstock_cf32 *spectra, size_t count)
{
    fold(synthesizer, synthesizer->bank.made, spectra, count);
    synthesizer->ready = count * synthesizer->desc.hop;
    synthesizer->given = 0;
}

/* Whether so many samples, the next ones, are all the caller's and have room there. */
static bool goes_straight(const struct synthesizer *synthesizer, size_t count, size_t room)
{
    const penstock_stream *stream = &synthesizer->batched.stream;
    return count <= room && !synthesizer->to_skip && (!stream->finished || count <= synthesizer->total - stream->given);
}

/* Frames that have the same taps, at most as many as a batch of the bank. */
static size_t frames_alike(struct synthesizer *synthesizer)
{
    const size_t capacity = synthesizer->bank.capacity;
    penstock__synthesizer_adopt(synthesizer, synthesizer->folded);
    const struct synthesizer_change *next = synthesizer->changes;
    return next && next->frame - synthesizer->folded < capacity ? (size_t)(next->frame - synthesizer->folded)
                                                                : capacity;
}

/* More samples, if there can be any: `*straight` of them to `to`, where there is room for them, else some apart. */
static int refill(struct synthesizer *synthesizer, penstock_cf32 *to, size_t room, bool wait, size_t *straight)
{
    const size_t hop = synthesizer->desc.hop, capacity = frames_alike(synthesizer);
    const void *from;
    size_t groups = 0;
    int status = penstock__batched_peek(&synthesizer->batched.stream, wait, &from, &groups);
    if (status)
        return status;
    if (groups) {
        groups = groups < capacity ? groups : capacity;
        if (goes_straight(synthesizer, groups * hop, room)) {
            fold(synthesizer, to, from, groups);
            *straight = groups * hop;
        } else {
            fold_apart(synthesizer, from, groups);
        }
        penstock__batcher_release(synthesizer->batched.batcher, groups);
    } else if (synthesizer->batched.stream.finished && synthesizer->batched.stream.given < synthesizer->total) {
        uint64_t end = synthesizer->total + synthesizer->bank.delay;
        uint64_t left = (end + hop - 1) / hop - synthesizer->folded;
        fold_apart(synthesizer, NULL, left < capacity ? (size_t)left : capacity);
    }
    return PENSTOCK_OK;
}

/* Up to `capacity` of the samples that were made apart. */
static size_t give(struct synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity)
{
    size_t left = synthesizer->ready - synthesizer->given;
    size_t skipped = left < synthesizer->to_skip ? left : (size_t)synthesizer->to_skip;
    synthesizer->given += skipped;
    synthesizer->to_skip -= skipped;
    left -= skipped;
    left = left < capacity ? left : capacity;
    if (synthesizer->batched.stream.finished && left > synthesizer->total - synthesizer->batched.stream.given) {
        left = (size_t)(synthesizer->total - synthesizer->batched.stream.given);
        if (!left)
            synthesizer->given = synthesizer->ready;
    }
    penstock__copy(synthesizer->batched.stream.context, samples, synthesizer->bank.made + synthesizer->given,
                   left * sizeof *samples);
    synthesizer->given += left;
    return left;
}

static int give_all(struct synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity, bool wait, size_t *count)
{
    while (*count < capacity) {
        size_t some = 0;
        if (synthesizer->given == synthesizer->ready) {
            int status = refill(synthesizer, samples + *count, capacity - *count, wait, &some);
            if (status)
                return *count ? PENSTOCK_OK : status;
            if (!some && synthesizer->given == synthesizer->ready)
                break;
        }
        if (!some)
            some = give(synthesizer, samples + *count, capacity - *count);
        uint64_t end = (synthesizer->batched.stream.given + synthesizer->bank.delay) / synthesizer->desc.hop + 1;
        penstock__stream_gave(&synthesizer->batched.stream, some,
                              end < synthesizer->batched.stream.taken ? end : synthesizer->batched.stream.taken, 0);
        *count += some;
    }
    return PENSTOCK_OK;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    return give_all(synthesizer_of(stream), out->whole, capacity, wait, count);
}

static double due_s(const penstock_stream *stream)
{
    const struct synthesizer *synthesizer = const_synthesizer_of(stream);
    return synthesizer->given < synthesizer->ready ? 0 : penstock__batcher_due_s(synthesizer->batched.batcher);
}

const struct penstock__batched_kind penstock__synthesizer_kind = {
    .calls = {.name = "synthesizer",
              PENSTOCK__BATCHED_LIFE,
              .push = penstock__batched_push,
              .pull = pull,
              .acquire = penstock__batched_acquire,
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
    .free = free_synthesizer,
    .ready = ready,
    .fill = fill,
};
