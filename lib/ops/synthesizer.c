/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The synthesis bank as a stream: frames go through a batched reverse transform, and what comes of it through the
 * polyphase sums. */
#include "core/description.h"
#include "core/rest.h"
#include "ops/channelizer_check.h"
#include "ops/synthesizer_bank.h"

#include <math.h>
#include <string.h>

#define BATCH_BYTES ((size_t)8 << 20)
#define MOST_VALUES ((size_t)1 << 27) /* of the frames that samples are made of */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "synthesizer: " __VA_ARGS__)

struct penstock_synthesizer {
    penstock_synthesizer_desc desc; /* defaults filled in; pointers are not kept */
    size_t *select;                 /* NULL: all channels */
    size_t kept;
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    struct synthesis_bank bank;

    uint64_t pushed, folded; /* frames; those of zeros after the end are folded too */
    size_t ready, given;     /* samples in the bank's `made`, and how many of them are done with */
    uint64_t to_skip;        /* samples at the beginning that are still to be left out */
    uint64_t samples;        /* pulled */
    bool finished;
    uint64_t total; /* samples of the whole stream, once finished */
};

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

static int make_bank(penstock_synthesizer *made, penstock_context *context)
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
        status = penstock__synthesis_bank_init(&made->bank, context, d->channels, d->hop, d->delay - d->advance,
                                               d->taps ? d->taps : dual, d->tap_count);
    penstock__free(analysis);
    penstock__free(dual);
    return status;
}

static int copy_selection(penstock_synthesizer *made)
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

static void rewind_stream(penstock_synthesizer *synthesizer)
{
    penstock__synthesis_bank_reset(&synthesizer->bank);
    synthesizer->pushed = synthesizer->folded = synthesizer->samples = synthesizer->total = 0;
    synthesizer->ready = synthesizer->given = 0;
    synthesizer->to_skip = synthesizer->bank.delay;
    synthesizer->finished = false;
}

int penstock_synthesizer_new(penstock_synthesizer **synthesizer, penstock_context *context,
                             const penstock_synthesizer_desc *desc, const char *device)
{
    penstock_synthesizer_desc d;
    penstock_synthesizer *made;
    int status;
    if (!synthesizer || !context)
        return bad("penstock_synthesizer_new: synthesizer or context is NULL");
    *synthesizer = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_synthesizer_desc")) || (status = check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    if ((status = make_bank(made, context)) || (status = copy_selection(made)) ||
        (status = penstock_fft_plan(&made->plan, context,
                                    &PENSTOCK_FFT_DESC(.n = d.channels, .direction = PENSTOCK_REVERSE), device)) ||
        (status = penstock__batcher_new(&made->batcher, made->plan, BATCH_BYTES, d.max_latency_s))) {
        penstock_synthesizer_free(made);
        return status;
    }
    made->desc.taps = NULL;
    made->desc.select = NULL;
    rewind_stream(made);
    *synthesizer = made;
    return PENSTOCK_OK;
}

void penstock_synthesizer_free(penstock_synthesizer *synthesizer)
{
    if (!synthesizer)
        return;
    penstock__batcher_free(synthesizer->batcher);
    penstock_plan_free(synthesizer->plan);
    penstock__synthesis_bank_free(&synthesizer->bank);
    penstock__free(synthesizer->select);
    penstock__free(synthesizer);
}

int penstock_synthesizer_reset(penstock_synthesizer *synthesizer)
{
    if (!synthesizer)
        return bad("penstock_synthesizer_reset: synthesizer is NULL");
    penstock__batcher_reset(synthesizer->batcher);
    rewind_stream(synthesizer);
    return PENSTOCK_OK;
}

int penstock_synthesizer_get_info(const penstock_synthesizer *synthesizer, penstock_synthesizer_info *info)
{
    penstock_synthesizer_info known = PENSTOCK_SYNTHESIZER_INFO;
    penstock_plan_info plan = PENSTOCK_PLAN_INFO;
    int status;
    if (!synthesizer)
        return bad("penstock_synthesizer_get_info: synthesizer is NULL");
    if ((status = penstock_plan_get_info(synthesizer->plan, &plan)))
        return status;
    known.device = plan.device;
    known.kept = synthesizer->kept;
    known.hop = synthesizer->desc.hop;
    known.tap_count = synthesizer->desc.tap_count;
    known.delay = synthesizer->bank.delay;
    known.batch = penstock__batcher_capacity(synthesizer->batcher);
    known.frames = synthesizer->pushed;
    known.samples = synthesizer->samples;
    known.fallbacks = penstock__plan_fallbacks(synthesizer->plan);
    return penstock__description_write(info, &known, sizeof known, "penstock_synthesizer_info");
}

/* ---------------------------------------------------------------- frames in ------------------- */

/* Where frames come from: one after the other, or a stream for each value. The other one is NULL. */
struct source {
    const penstock_cf32 *frames;
    const penstock_cf32 *const *streams;
};

/* Frames `first` .. `first + count` - 1 of a push, all channels in order. */
static void gather(const penstock_synthesizer *synthesizer, penstock_cf32 *to, const struct source *from, size_t first,
                   size_t count)
{
    const size_t channels = synthesizer->desc.channels, kept = synthesizer->kept, *select = synthesizer->select;
    if (from->frames && !select) {
        memcpy(to, from->frames + first * channels, count * channels * sizeof *to);
        return;
    }
    if (select)
        memset(to, 0, count * channels * sizeof *to);
    for (size_t f = 0; f < count; f++)
        for (size_t c = 0; c < kept; c++)
            to[f * channels + (select ? select[c] : c)] =
                from->frames ? from->frames[(first + f) * kept + c] : from->streams[c][first + f];
}

static int push(penstock_synthesizer *synthesizer, const struct source *from, size_t count, size_t *taken)
{
    const size_t channels = synthesizer->desc.channels;
    if (synthesizer->finished)
        return penstock__error(PENSTOCK_ERR_STATE,
                               "synthesizer: the stream was finished; reset it before pushing again");
    while (*taken < count) {
        size_t some = count - *taken, room;
        void *to;
        int status = penstock__batcher_room(synthesizer->batcher, &to, &room);
        if (status || !room)
            return status;
        some = some < room / channels ? some : room / channels;
        gather(synthesizer, to, from, *taken, some);
        *taken += some;
        synthesizer->pushed += some;
        if ((status = penstock__batcher_commit(synthesizer->batcher, some * channels)))
            return status;
    }
    return PENSTOCK_OK;
}

int penstock_synthesizer_push(penstock_synthesizer *synthesizer, const penstock_cf32 *frames, size_t count,
                              size_t *taken)
{
    int status;
    if (!synthesizer || (count && !frames))
        return bad("penstock_synthesizer_push: synthesizer or frames is NULL");
    status = penstock__check_taken("penstock_synthesizer_push", count, synthesizer->kept * sizeof *frames, taken);
    if (status)
        return status;
    return push(synthesizer, &(struct source){.frames = frames}, count, taken);
}

int penstock_synthesizer_push_streams(penstock_synthesizer *synthesizer, const penstock_cf32 *const *streams,
                                      size_t count, size_t *taken)
{
    int status;
    if (!synthesizer || (count && !streams))
        return bad("penstock_synthesizer_push_streams: synthesizer or streams is NULL");
    for (size_t c = 0; count && c < synthesizer->kept; c++)
        if (!streams[c])
            return bad("penstock_synthesizer_push_streams: stream %zu is NULL", c);
    if ((status = penstock__check_taken("penstock_synthesizer_push_streams", count, sizeof **streams, taken)))
        return status;
    return push(synthesizer, &(struct source){.streams = streams}, count, taken);
}

/* Samples that the frames pushed make. */
static uint64_t count_samples(const penstock_synthesizer *synthesizer)
{
    const penstock_synthesizer_desc *desc = &synthesizer->desc;
    uint64_t end = synthesizer->pushed * desc->hop;
    if (synthesizer->pushed && desc->tail)
        end = (synthesizer->pushed - 1) * desc->hop + desc->tap_count;
    return end > synthesizer->bank.delay ? end - synthesizer->bank.delay : 0;
}

int penstock_synthesizer_finish(penstock_synthesizer *synthesizer)
{
    if (!synthesizer)
        return bad("penstock_synthesizer_finish: synthesizer is NULL");
    if (!synthesizer->finished)
        synthesizer->total = count_samples(synthesizer);
    synthesizer->finished = true;
    return penstock__batcher_flush(synthesizer->batcher);
}

/* ---------------------------------------------------------------- samples out ----------------- */

static void fold(penstock_synthesizer *synthesizer, const penstock_cf32 *spectra, size_t count)
{
    penstock__synthesis_bank_run(&synthesizer->bank, spectra, synthesizer->folded, count);
    synthesizer->folded += count;
    synthesizer->ready = count * synthesizer->desc.hop;
    synthesizer->given = 0;
}

/* More samples, if there can be any. */
static int refill(penstock_synthesizer *synthesizer, bool wait)
{
    struct penstock__batcher *batcher = synthesizer->batcher;
    const size_t capacity = synthesizer->bank.capacity;
    const void *from;
    size_t groups = 0;
    if (synthesizer->finished)
        penstock__batcher_flush(batcher); /* the batcher keeps a failure until its turn comes */
    int status = penstock__batcher_ready(batcher, wait || synthesizer->finished, &from, &groups);
    if (status)
        return status;
    if (groups) {
        groups = groups < capacity ? groups : capacity;
        fold(synthesizer, from, groups);
        penstock__batcher_release(batcher, groups);
    } else if (synthesizer->finished && synthesizer->samples < synthesizer->total) {
        uint64_t end = synthesizer->total + synthesizer->bank.delay;
        uint64_t left = (end + synthesizer->desc.hop - 1) / synthesizer->desc.hop - synthesizer->folded;
        fold(synthesizer, NULL, left < capacity ? (size_t)left : capacity);
    }
    return PENSTOCK_OK;
}

/* Up to `capacity` of the samples that are made. */
static size_t give(penstock_synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity)
{
    size_t left = synthesizer->ready - synthesizer->given;
    size_t skipped = left < synthesizer->to_skip ? left : (size_t)synthesizer->to_skip;
    synthesizer->given += skipped;
    synthesizer->to_skip -= skipped;
    left -= skipped;
    left = left < capacity ? left : capacity;
    if (synthesizer->finished && left > synthesizer->total - synthesizer->samples) {
        left = (size_t)(synthesizer->total - synthesizer->samples);
        if (!left)
            synthesizer->given = synthesizer->ready;
    }
    memcpy(samples, synthesizer->bank.made + synthesizer->given, left * sizeof *samples);
    synthesizer->given += left;
    synthesizer->samples += left;
    return left;
}

int penstock_synthesizer_pull(penstock_synthesizer *synthesizer, penstock_cf32 *samples, size_t capacity, bool wait,
                              size_t *count)
{
    if (!synthesizer || !count || (capacity && !samples))
        return bad("penstock_synthesizer_pull: an argument is NULL");
    *count = 0;
    while (*count < capacity) {
        if (synthesizer->given == synthesizer->ready) {
            int status = refill(synthesizer, wait);
            if (status)
                return *count ? PENSTOCK_OK : status;
            if (synthesizer->given == synthesizer->ready)
                break;
        }
        *count += give(synthesizer, samples + *count, capacity - *count);
    }
    return PENSTOCK_OK;
}

double penstock_synthesizer_due_s(const penstock_synthesizer *synthesizer)
{
    if (!synthesizer)
        return (double)INFINITY;
    return synthesizer->given < synthesizer->ready ? 0 : penstock__batcher_due_s(synthesizer->batcher);
}
