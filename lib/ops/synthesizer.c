/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The synthesis bank as a stream: frames go through a batched reverse transform, and what comes of it through the
 * polyphase sums. */
#include "core/description.h"
#include "core/stream.h"
#include "ops/channelizer_check.h"
#include "ops/synthesizer_bank.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES ((size_t)8 << 20)
#define MOST_VALUES ((size_t)1 << 27) /* of the frames that samples are made of */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "synthesizer: " __VA_ARGS__)

struct synthesizer {
    struct penstock_stream stream;
    penstock_synthesizer_desc desc; /* defaults filled in; pointers are not kept */
    size_t *select;                 /* NULL: all channels */
    size_t kept;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    struct synthesis_bank bank;

    uint64_t folded;     /* frames; those of zeros after the end are folded too */
    size_t ready, given; /* samples in the bank's `made`, and how many of them are done with */
    uint64_t to_skip;    /* samples at the beginning that are still to be left out */
    uint64_t total;      /* samples of the whole stream, once finished */
};

static const struct penstock__stream_kind kind;

static struct synthesizer *of(penstock_stream *stream)
{
    return (struct synthesizer *)(void *)stream;
}

static const struct synthesizer *of_const(const penstock_stream *stream)
{
    return (const struct synthesizer *)(const void *)stream;
}

/* ---------------------------------------------------------------- life ------------------------ */

static int check(penstock_synthesizer_desc *desc)
{
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
    if (desc->tap_count / desc->hop > MOST_VALUES / (desc->channels + desc->hop))
        return bad("hop %zu is too small for %zu channels and %zu taps: samples would be sums over %zu frames",
                   desc->hop, desc->channels, desc->tap_count, desc->tap_count / desc->hop);
    if (!(desc->max_latency_s >= 0))
        return bad("max_latency_s is %g, not 0 or more", desc->max_latency_s);
    return PENSTOCK_OK;
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
        status = penstock__synthesis_bank_init(&made->bank, made->stream.context, d->channels, d->hop,
                                               d->delay - d->advance, d->taps ? d->taps : dual, d->tap_count);
    penstock__free(analysis);
    penstock__free(dual);
    return status;
}

static int copy_selection(struct synthesizer *made)
{
    size_t bytes = made->desc.select_count * sizeof *made->select;
    made->kept = bytes ? made->desc.select_count : made->desc.channels;
    if (!bytes)
        return PENSTOCK_OK;
    if (!(made->select = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(made->select, made->desc.select, bytes);
    return PENSTOCK_OK;
}

static int make(struct synthesizer *made, const char *device)
{
    const penstock_synthesizer_desc *d = &made->desc;
    int status;
    if ((status = make_bank(made)) || (status = copy_selection(made)) ||
        (status = penstock_fft_plan(&made->plan, made->stream.context,
                                    &PENSTOCK_FFT_DESC(.n = d->channels, .direction = PENSTOCK_REVERSE), device)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d->max_latency_s)))
        return status;
    penstock__batcher_set_meter(made->batcher, &made->stream.meter);
    made->stream.in_bytes = made->kept * sizeof(penstock_cf32);
    made->stream.in_channels = made->kept;
    made->desc.taps = NULL;
    made->desc.select = NULL;
    made->to_skip = made->bank.delay;
    return PENSTOCK_OK;
}

int penstock_synthesizer_open(penstock_stream **stream, penstock_context *context,
                              const penstock_synthesizer_desc *desc, const char *device)
{
    penstock_synthesizer_desc d;
    struct synthesizer *made;
    int status;
    if (!stream || !context)
        return bad("penstock_synthesizer_open: stream or context is NULL");
    *stream = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_synthesizer_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->stream = (struct penstock_stream){.kind = &kind, .context = context, .out_bytes = sizeof(penstock_cf32)};
    if ((status = make(made, device))) {
        penstock_stream_free(&made->stream);
        return status;
    }
    penstock__stream_start(&made->stream);
    *stream = &made->stream;
    return PENSTOCK_OK;
}

static void free_stream(penstock_stream *stream)
{
    struct synthesizer *synthesizer = of(stream);
    penstock__batcher_free(synthesizer->batcher);
    penstock_plan_free(synthesizer->plan);
    penstock__synthesis_bank_free(&synthesizer->bank);
    penstock__free(synthesizer->select);
    penstock__free(synthesizer);
}

static void reset(penstock_stream *stream)
{
    struct synthesizer *synthesizer = of(stream);
    penstock__batcher_reset(synthesizer->batcher);
    penstock__synthesis_bank_reset(&synthesizer->bank);
    synthesizer->folded = synthesizer->total = 0;
    synthesizer->ready = synthesizer->given = 0;
    synthesizer->to_skip = synthesizer->bank.delay;
}

static int set_max_latency(penstock_stream *stream, double max_latency_s)
{
    of(stream)->desc.max_latency_s = max_latency_s;
    penstock__batcher_set_latency(of(stream)->batcher, max_latency_s);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

static void get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    penstock_plan_get_info(of_const(stream)->plan, &plan);
    info->device = plan.device;
    info->batch = penstock__batcher_capacity(of_const(stream)->batcher);
}

static void get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    stats->fallbacks = penstock__plan_fallbacks(of_const(stream)->plan);
    stats->meanwhile = penstock__plan_meanwhile(of_const(stream)->plan);
}

int penstock_synthesizer_get_info(const penstock_stream *stream, penstock_synthesizer_info *info)
{
    penstock_synthesizer_info known = PENSTOCK_SYNTHESIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    int status = penstock__stream_is(stream, &kind, "penstock_synthesizer_get_info");
    if (status)
        return status;
    const struct synthesizer *synthesizer = of_const(stream);
    if ((status = penstock_plan_get_info(synthesizer->plan, &plan)))
        return status;
    known.device = plan.device;
    known.kept = synthesizer->kept;
    known.hop = synthesizer->desc.hop;
    known.tap_count = synthesizer->desc.tap_count;
    known.delay = synthesizer->bank.delay;
    known.batch = penstock__batcher_capacity(synthesizer->batcher);
    known.frames = synthesizer->stream.taken;
    known.samples = synthesizer->stream.given;
    known.fallbacks = penstock__plan_fallbacks(synthesizer->plan);
    return penstock__description_write(info, &known, sizeof known, "penstock_synthesizer_info");
}

/* ---------------------------------------------------------------- frames in ------------------- */

/* Frames `first` .. `first + count` - 1 of a push, all channels in order. */
static void gather(const struct synthesizer *synthesizer, penstock_cf32 *to, const struct penstock__items *from,
                   size_t first, size_t count)
{
    const size_t channels = synthesizer->desc.channels, kept = synthesizer->kept, *select = synthesizer->select;
    const penstock_cf32 *whole = from->whole;
    if (whole && !select) {
        memcpy(to, whole + first * channels, count * channels * sizeof *to);
        return;
    }
    if (select)
        memset(to, 0, count * channels * sizeof *to);
    for (size_t f = 0; f < count; f++)
        for (size_t c = 0; c < kept; c++)
            to[f * channels + (select ? select[c] : c)] =
                whole ? whole[(first + f) * kept + c] : ((const penstock_cf32 *)from->channels[c])[first + f];
}

static int push(penstock_stream *stream, const struct penstock__items *in, size_t count, size_t *taken)
{
    struct synthesizer *synthesizer = of(stream);
    const size_t channels = synthesizer->desc.channels;
    while (*taken < count) {
        size_t some = count - *taken, room;
        void *to;
        int status = penstock__batcher_room(synthesizer->batcher, &to, &room);
        if (status || !room)
            return status;
        some = some < room / channels ? some : room / channels;
        gather(synthesizer, to, in, *taken, some);
        *taken += some;
        if ((status = penstock__batcher_commit(synthesizer->batcher, some * channels)))
            return status;
    }
    return PENSTOCK_OK;
}

/* Samples that the frames pushed make. */
static uint64_t count_samples(const struct synthesizer *synthesizer)
{
    const penstock_synthesizer_desc *desc = &synthesizer->desc;
    uint64_t end = synthesizer->stream.taken * desc->hop;
    if (synthesizer->stream.taken && desc->tail)
        end = (synthesizer->stream.taken - 1) * desc->hop + desc->tap_count;
    return end > synthesizer->bank.delay ? end - synthesizer->bank.delay : 0;
}

static int flush(penstock_stream *stream)
{
    return penstock__batcher_flush(of(stream)->batcher);
}

static int finish(penstock_stream *stream)
{
    if (!stream->finished)
        of(stream)->total = count_samples(of(stream));
    stream->finished = true;
    return flush(stream);
}

/* ---------------------------------------------------------------- samples out ----------------- */

static void fold(struct synthesizer *synthesizer, const penstock_cf32 *spectra, size_t count)
{
    penstock__synthesis_bank_run(&synthesizer->bank, spectra, synthesizer->folded, count);
    synthesizer->folded += count;
    synthesizer->ready = count * synthesizer->desc.hop;
    synthesizer->given = 0;
}

/* More samples, if there can be any. */
static int refill(struct synthesizer *synthesizer, bool wait)
{
    struct penstock__batcher *batcher = synthesizer->batcher;
    const size_t capacity = synthesizer->bank.capacity;
    const void *from;
    size_t groups = 0;
    if (synthesizer->stream.finished)
        penstock__batcher_flush(batcher); /* the batcher keeps a failure until its turn comes */
    int status = penstock__batcher_ready(batcher, wait || synthesizer->stream.finished, &from, &groups);
    if (status)
        return status;
    if (groups) {
        groups = groups < capacity ? groups : capacity;
        fold(synthesizer, from, groups);
        penstock__batcher_release(batcher, groups);
    } else if (synthesizer->stream.finished && synthesizer->stream.given < synthesizer->total) {
        uint64_t end = synthesizer->total + synthesizer->bank.delay;
        uint64_t left = (end + synthesizer->desc.hop - 1) / synthesizer->desc.hop - synthesizer->folded;
        fold(synthesizer, NULL, left < capacity ? (size_t)left : capacity);
    }
    return PENSTOCK_OK;
}

/* Up to `capacity` of the samples that are made. */
static size_t give(struct synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity)
{
    size_t left = synthesizer->ready - synthesizer->given;
    size_t skipped = left < synthesizer->to_skip ? left : (size_t)synthesizer->to_skip;
    synthesizer->given += skipped;
    synthesizer->to_skip -= skipped;
    left -= skipped;
    left = left < capacity ? left : capacity;
    if (synthesizer->stream.finished && left > synthesizer->total - synthesizer->stream.given) {
        left = (size_t)(synthesizer->total - synthesizer->stream.given);
        if (!left)
            synthesizer->given = synthesizer->ready;
    }
    memcpy(samples, synthesizer->bank.made + synthesizer->given, left * sizeof *samples);
    synthesizer->given += left;
    return left;
}

static int give_all(struct synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity, bool wait, size_t *count)
{
    while (*count < capacity) {
        if (synthesizer->given == synthesizer->ready) {
            int status = refill(synthesizer, wait);
            if (status)
                return *count ? PENSTOCK_OK : status;
            if (synthesizer->given == synthesizer->ready)
                break;
        }
        size_t some = give(synthesizer, samples + *count, capacity - *count);
        uint64_t end = (synthesizer->stream.given + synthesizer->bank.delay) / synthesizer->desc.hop + 1;
        penstock__stream_gave(&synthesizer->stream, some,
                              end < synthesizer->stream.taken ? end : synthesizer->stream.taken, 0);
        *count += some;
    }
    return PENSTOCK_OK;
}

static int pull(penstock_stream *stream, const struct penstock__room *out, size_t capacity, bool wait, size_t *count)
{
    return give_all(of(stream), out->whole, capacity, wait, count);
}

static double due_s(const penstock_stream *stream)
{
    const struct synthesizer *synthesizer = of_const(stream);
    return synthesizer->given < synthesizer->ready ? 0 : penstock__batcher_due_s(synthesizer->batcher);
}

static const struct penstock__stream_kind kind = {
    .name = "synthesizer",
    .push = push,
    .pull = pull,
    .flush = flush,
    .finish = finish,
    .reset = reset,
    .free = free_stream,
    .set_max_latency = set_max_latency,
    .due_s = due_s,
    .get_info = get_info,
    .get_stats = get_stats,
};
