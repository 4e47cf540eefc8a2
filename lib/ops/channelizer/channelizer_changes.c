/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Prototypes of the analysis bank: those that wait for their frames, and what they need of the samples. */
#include "ops/channelizer/channelizer_stream.h"

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

/* Place in the stream of the first sample of a frame's window; below zero before it. */
static int64_t window_at(const struct channel_bank *bank, uint64_t frame)
{
    return (int64_t)(frame * bank->hop + bank->advance + 1) - (int64_t)bank->window;
}

/* Place in the stream of the first value of `in`. */
static int64_t memory_at(const struct channelizer *channelizer)
{
    return window_at(&channelizer->engine.bank, channelizer->folded) - (int64_t)channelizer->start;
}

size_t penstock__channelizer_oldest(const struct channelizer *channelizer)
{
    int64_t now = window_at(&channelizer->engine.bank, channelizer->folded), first = now;
    for (const struct channelizer_change *change = channelizer->changes; change; change = change->next)
        if (window_at(&change->bank, change->frame) < first)
            first = window_at(&change->bank, change->frame);
    return channelizer->start - (size_t)(now - first);
}

static void adopt(struct channelizer *channelizer)
{
    struct channelizer_change *change = channelizer->changes;
    struct channel_bank *bank = &channelizer->engine.bank;
    channelizer->start += bank->window;
    channelizer->start -= change->bank.window;
    if (change->plan)
        penstock__channelizer_engine_set_plan(&channelizer->engine, change->plan);
    penstock__channel_bank_free(bank);
    *bank = change->bank;
    channelizer->order.stale = true;
    channelizer->changes = change->next;
    penstock__free(change);
}

void penstock__channelizer_leave(struct channelizer *channelizer, size_t frames)
{
    channelizer->start += frames * channelizer->desc.hop;
    channelizer->folded += frames;
    while (channelizer->changes && channelizer->changes->frame <= channelizer->folded)
        adopt(channelizer);
}

void penstock__channelizer_settle(struct channelizer *channelizer)
{
    while (channelizer->changes)
        adopt(channelizer); /* `start` is to be set anew */
}

bool penstock__channelizer_is_whole(const struct channelizer *channelizer)
{
    return memory_at(channelizer) <= 0;
}

void penstock__channelizer_change_free(struct channelizer_change *change)
{
    penstock__plan_free(change->plan);
    penstock__channel_bank_free(&change->bank);
    penstock__free(change);
}

void penstock__channelizer_drop_changes(struct channelizer *channelizer)
{
    while (channelizer->changes) {
        struct channelizer_change *change = channelizer->changes;
        channelizer->changes = change->next;
        penstock__channelizer_change_free(change);
    }
}

/* The first frame from sample `at` on, after what was pushed and after the changes before. */
static uint64_t first_frame(const struct channelizer *channelizer, uint64_t at)
{
    const struct channel_bank *bank = &channelizer->engine.bank;
    at = at > channelizer->stream.taken ? at : channelizer->stream.taken;
    uint64_t frame = at > bank->advance ? (at - bank->advance + bank->hop - 1) / bank->hop : 0;
    for (const struct channelizer_change *change = channelizer->changes; change; change = change->next)
        frame = change->frame > frame ? change->frame : frame;
    return frame > channelizer->folded ? frame : channelizer->folded;
}

/* The first one from `frame` on whose window is still there. */
static uint64_t possible_frame(const struct channelizer *channelizer, const struct channel_bank *bank, uint64_t frame)
{
    int64_t lacks = memory_at(channelizer) - window_at(bank, frame);
    return lacks > 0 ? frame + ((uint64_t)lacks + bank->hop - 1) / bank->hop : frame;
}

uint64_t penstock__channelizer_change_frame(const struct channelizer *channelizer, const struct channel_bank *bank,
                                            uint64_t at)
{
    return possible_frame(channelizer, bank, first_frame(channelizer, at));
}
