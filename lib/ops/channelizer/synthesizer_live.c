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
    penstock__free(change->weights.values);
    penstock__free(change);
}

void penstock__synthesizer_adopt(struct synthesizer *synthesizer, uint64_t frame)
{
    while (synthesizer->changes && synthesizer->changes->frame <= frame) {
        struct synthesizer_change *change = synthesizer->changes;
        penstock__synthesis_bank_adopt(&synthesizer->bank, &change->weights, change->tap_count);
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

/* The first frame from `at` on whose sums over `depth` frames can be made, behind all that is decided already. */
static uint64_t change_frame(const struct synthesizer *synthesizer, size_t depth, uint64_t at)
{
    const uint64_t oldest = synthesizer->oldest ? synthesizer->oldest + depth - 1 : 0;
    uint64_t frame = at > synthesizer->batched.stream.taken ? at : synthesizer->batched.stream.taken;
    for (const struct synthesizer_change *change = synthesizer->changes; change; change = change->next)
        frame = change->frame > frame ? change->frame : frame;
    return frame > oldest ? frame : oldest;
}

/* Room for sums over so many frames; those of which the rows are gone are told by `oldest`. */
static int deepen(struct synthesizer *synthesizer, size_t depth)
{
    const size_t history = synthesizer->bank.history;
    const uint64_t gone = synthesizer->folded > history ? synthesizer->folded - history : 0;
    int status = depth - 1 > history ? penstock__synthesis_bank_deepen(&synthesizer->bank, depth - 1) : PENSTOCK_OK;
    if (!status && gone > synthesizer->oldest)
        synthesizer->oldest = gone;
    return status;
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
    if (!(change = penstock__calloc(1, sizeof *change)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = penstock__synthesis_weights(&change->weights, desc->hop, taps, tap_count)) ||
        (status = deepen(synthesizer, change->weights.depth))) {
        free_change(change);
        return status;
    }
    change->tap_count = tap_count;
    change->frame = change_frame(synthesizer, change->weights.depth, at);
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
