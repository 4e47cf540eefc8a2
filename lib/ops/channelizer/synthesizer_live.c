/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The synthesis bank while it runs: other taps and channels. */
#include "ops/channelizer/channelizer_check.h"
#include "ops/channelizer/synthesizer.h"

#include <string.h>

#define MOST_VALUES ((size_t)1 << 27) /* of the frames that samples are made of */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "synthesizer: " __VA_ARGS__)

/* ---------------------------------------------------------------- other taps ------------------ */

int penstock__synthesizer_check_depth(const penstock_synthesizer_desc *desc, size_t tap_count)
{
    if (tap_count / desc->hop <= MOST_VALUES / (desc->channels + desc->hop))
        return PENSTOCK_OK;
    return bad("hop %zu is too small for %zu channels and %zu taps: samples would be sums over %zu frames", desc->hop,
               desc->channels, tap_count, tap_count / desc->hop);
}

static void free_change(struct synthesizer_change *change)
{
    penstock__plan_free(change->plan);
    penstock__free(change->taps);
    penstock__free(change);
}

void penstock__synthesizer_adopt(struct synthesizer *synthesizer, uint64_t frame)
{
    while (synthesizer->changes && synthesizer->changes->frame <= frame) {
        struct synthesizer_change *change = synthesizer->changes;
        penstock__batched_change(&synthesizer->batched, change->plan);
        penstock__free(synthesizer->taps);
        synthesizer->taps = change->taps;
        synthesizer->tap_count = change->tap_count;
        synthesizer->changes = change->next;
        penstock__free(change);
    }
}

void penstock__synthesizer_drop_changes(struct synthesizer *synthesizer, uint64_t frame)
{
    struct synthesizer_change **at = &synthesizer->changes;
    while (*at && (*at)->frame <= frame)
        at = &(*at)->next;
    while (*at) {
        struct synthesizer_change *change = *at;
        *at = change->next;
        free_change(change);
    }
}

void penstock__synthesizer_drop_before(struct synthesizer *synthesizer)
{
    struct synthesizer_before *before = synthesizer->before;
    synthesizer->before = before->next;
    synthesizer->batched.fallbacks += penstock__plan_fallbacks(before->plan);
    penstock__batcher_free(before->batcher);
    penstock__plan_free(before->plan);
    penstock__free(before);
}

/* ---------------------------------------------------------------- sums over more frames ------- */

/* Plans of sums over `depth` frames beside those that wait. */
static int deepen_changes(struct synthesizer *synthesizer, size_t depth)
{
    int status = PENSTOCK_OK;
    for (struct synthesizer_change *change = synthesizer->changes; change && !status; change = change->next)
        status = penstock__synthesizer_plan(&change->deeper, synthesizer, change->taps, change->tap_count, depth);
    return status;
}

/* Those plans in the place of the others; `made`: all of them are there, or else the others stay. */
static void settle_changes(struct synthesizer *synthesizer, bool made)
{
    for (struct synthesizer_change *change = synthesizer->changes; change; change = change->next) {
        penstock__plan_free(made ? change->plan : change->deeper);
        change->plan = made ? change->deeper : change->plan;
        change->deeper = NULL;
    }
}

/* The frames that the present batcher has for results to come, behind zeros for those that it has not any more. */
static int take_frames(struct penstock__batcher *next, struct penstock__batcher *present, size_t channels, size_t zeros)
{
    uint64_t padded = 0;
    size_t samples, room;
    void *to;
    int status = penstock__synthesizer_pad(next, channels, zeros, &padded);
    const void *from = penstock__batcher_rest(present, &samples);
    if (!status)
        status = penstock__batcher_room(next, &to, &room);
    if (!status) {
        memcpy(to, from, samples * sizeof(penstock_cf32));
        status = penstock__batcher_commit(next, samples);
    }
    return status;
}

/* A plan of the same taps, and its batcher, from the next frame on. */
static int deepen(struct synthesizer *synthesizer, size_t depth)
{
    struct penstock__batched *batched = &synthesizer->batched;
    struct synthesizer_before *before = penstock__calloc(1, sizeof *before), **last = &synthesizer->before;
    penstock_plan *plan = NULL;
    struct penstock__batcher *batcher = NULL;
    int status = before ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    if (!status &&
        !(status = penstock__synthesizer_plan(&plan, synthesizer, synthesizer->taps, synthesizer->tap_count, depth)) &&
        !(status = penstock__batcher_new(&batcher, plan, PENSTOCK__BATCH_BYTES, synthesizer->desc.max_latency_s)) &&
        !(status = deepen_changes(synthesizer, depth)) && !(status = penstock__batcher_flush(batched->batcher)))
        status = take_frames(batcher, batched->batcher, synthesizer->desc.channels, depth - synthesizer->depth);
    settle_changes(synthesizer, !status);
    if (status) {
        penstock__batcher_free(batcher);
        penstock__plan_free(plan);
        penstock__free(before);
        return status;
    }
    penstock__batcher_go_on(batcher, batched->batcher);
    *before = (struct synthesizer_before){.plan = batched->plan, .batcher = batched->batcher};
    while (*last)
        last = &(*last)->next;
    *last = before;
    batched->plan = plan;
    batched->batcher = batcher;
    const uint64_t taken = batched->stream.taken,
                   gone = taken < synthesizer->depth ? 0 : taken - synthesizer->depth + 1;
    synthesizer->oldest = gone > synthesizer->oldest ? gone : synthesizer->oldest;
    synthesizer->depth = depth;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- other taps ------------------ */

/* The first frame from `at` on whose sums over `depth` frames can be made, behind all that is decided already. */
static uint64_t change_frame(const struct synthesizer *synthesizer, size_t depth, uint64_t at)
{
    const uint64_t oldest = synthesizer->oldest ? synthesizer->oldest + depth - 1 : 0;
    uint64_t frame = at > synthesizer->batched.stream.taken ? at : synthesizer->batched.stream.taken;
    for (const struct synthesizer_change *change = synthesizer->changes; change; change = change->next)
        frame = change->frame > frame ? change->frame : frame;
    return frame > oldest ? frame : oldest;
}

static int make_change(struct synthesizer_change **made, const struct synthesizer *synthesizer, const float *taps,
                       size_t tap_count)
{
    struct synthesizer_change *change = penstock__calloc(1, sizeof *change);
    int status = PENSTOCK_ERR_MEMORY;
    if (!change)
        return status;
    change->tap_count = tap_count;
    if ((change->taps = penstock__alloc(tap_count * sizeof *taps))) {
        memcpy(change->taps, taps, tap_count * sizeof *taps);
        status = penstock__synthesizer_plan(&change->plan, synthesizer, taps, tap_count, synthesizer->depth);
    }
    if (status) {
        free_change(change);
        return status;
    }
    *made = change;
    return PENSTOCK_OK;
}

int penstock_synthesizer_set_taps(penstock_stream *stream, const float *taps, size_t tap_count, uint64_t at,
                                  uint64_t *from)
{
    struct synthesizer_change *change, **last;
    int status = penstock__stream_is(stream, &penstock__synthesizer_kind.calls, "penstock_synthesizer_set_taps");
    if (status || (status = penstock__stream_goes_on(stream)))
        return status;
    struct synthesizer *synthesizer = synthesizer_of(stream);
    const penstock_synthesizer_desc *desc = &synthesizer->desc;
    if (!taps || !tap_count)
        return bad("penstock_synthesizer_set_taps: there are no taps");
    if ((status = penstock__prototype_check(taps, &tap_count, desc->channels, desc->hop)) ||
        (status = penstock__synthesizer_check_depth(desc, tap_count)))
        return status;
    const size_t depth = (tap_count + desc->hop - 1) / desc->hop;
    if ((depth > synthesizer->depth && (status = deepen(synthesizer, depth))) ||
        (status = make_change(&change, synthesizer, taps, tap_count)))
        return status;
    change->frame = change_frame(synthesizer, depth, at);
    if (from)
        *from = change->frame;
    for (last = &synthesizer->changes; *last;)
        last = &(*last)->next;
    *last = change;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- other channels -------------- */

int penstock__synthesizer_select(struct synthesizer *synthesizer, const size_t *select, size_t select_count)
{
    size_t *kept = NULL;
    if (select_count) {
        if (!(kept = penstock__alloc(select_count * sizeof *kept)))
            return PENSTOCK_ERR_MEMORY;
        memcpy(kept, select, select_count * sizeof *kept);
    }
    penstock__free(synthesizer->select);
    synthesizer->select = kept;
    return PENSTOCK_OK;
}

int penstock_synthesizer_set_select(penstock_stream *stream, const size_t *select, size_t select_count)
{
    int status = penstock__stream_is(stream, &penstock__synthesizer_kind.calls, "penstock_synthesizer_set_select");
    if (status)
        return status;
    struct synthesizer *synthesizer = synthesizer_of(stream);
    const size_t channels = synthesizer->desc.channels, count = select_count ? select_count : channels;
    if ((status = penstock__selection_check(select, select_count, channels)))
        return status;
    if (count != synthesizer->kept)
        return bad("select_count is %zu, but a frame holds %zu channels", count, synthesizer->kept);
    if ((status = penstock__synthesizer_select(synthesizer, select, select_count)))
        return status;
    penstock__lent_forget(stream); /* frames lie elsewhere now */
    stream->lends_in = !select_count;
    return PENSTOCK_OK;
}
