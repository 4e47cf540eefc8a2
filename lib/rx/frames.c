/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The list of frames between their discovery and the caller. */
#include "rx/receiver.h"

#include <stdio.h>
#include <stdlib.h>

#define KEPT_BYTES    4096 /* of the memory of a frame that was given back */
#define FETCHED_BYTES 384  /* of a frame's object */
#define LINE          64   /* of the processor's caches, bytes */

static void free_memory(struct penstock__rx_frame *frame)
{
    penstock__free(frame->memory);
    frame->memory = NULL;
    frame->memory_bytes = 0;
}

/* Threads find frames and one gives them back: by way of the allocator each would take its locks for that. */
void penstock__rx_give_back(struct penstock__rx *rx, struct penstock__rx_frame *frame)
{
    if (!frame)
        return;
    const bool spare = rx->spare_count < PENSTOCK__RX_SPARE;
    if (!spare || frame->memory_bytes > KEPT_BYTES)
        free_memory(frame);
    if (spare)
        rx->spare[rx->spare_count++] = frame;
    else
        penstock__free(frame);
}

void penstock__rx_spare_free(struct penstock__rx *rx)
{
    while (rx->spare_count) {
        struct penstock__rx_frame *frame = rx->spare[--rx->spare_count];
        free_memory(frame);
        penstock__free(frame);
    }
}

void penstock__rx_frames_clear(struct penstock__rx *rx)
{
    penstock__rx_give_back(rx, rx->current);
    while (rx->first) {
        struct penstock__rx_frame *frame = rx->first;
        rx->first = frame->next;
        penstock__rx_give_back(rx, frame);
    }
    rx->current = rx->last = rx->waiting = NULL;
}

/* Takes a known frame into the account: whether a new one that begins at `start` is this one. */
static bool is_same(const struct penstock__rx_standard *standard, int64_t known_start, int64_t known_end, int64_t start,
                    unsigned *covering)
{
    *covering += known_start < start && known_end - (int64_t)standard->splice > start;
    return llabs(known_start - start) < (int64_t)standard->same;
}

/* Whether it, or one before it, is where one that begins at `start` is, or may be. */
static bool is_near(const struct penstock__rx_standard *standard, const struct penstock__rx_frame *frame, int64_t start)
{
    return frame->last_end - (int64_t)standard->splice > start || frame->start + (int64_t)standard->same > start;
}

/* A frame that is there already, or begins within too many. Those that were taken out count as well: what is found must
 * not depend on how soon the caller takes frames. */
static bool is_superfluous(const struct penstock__rx *rx, int64_t start)
{
    const struct penstock__rx_standard *standard = rx->standard;
    const int64_t reach = start - (int64_t)standard->longest;
    unsigned covering = 0;
    for (const struct penstock__rx_frame *f = rx->last; f && f->start > reach && is_near(standard, f, start);
         f = f->before)
        if (is_same(standard, f->start, f->end, start, &covering))
            return true;
    for (unsigned i = 0; i < rx->past_count; i++)
        if (is_same(standard, rx->past[i].start, rx->past[i].end, start, &covering))
            return true;
    return covering >= standard->overlaps;
}

void penstock__rx_enter(struct penstock__rx *rx, struct penstock__rx_frame *frame)
{
    struct penstock__rx_frame *before = rx->last;
    if (is_superfluous(rx, frame->start)) {
        penstock__rx_give_back(rx, frame);
        return;
    }
    while (before && before->start >= frame->start)
        before = before->before;
    frame->before = before;
    frame->next = before ? before->next : rx->first;
    *(before ? &before->next : &rx->first) = frame;
    *(frame->next ? &frame->next->before : &rx->last) = frame;
    frame->last_end = frame->end;
    for (struct penstock__rx_frame *f = frame; f; before = f, f = f->next)
        if (before && before->last_end > f->last_end)
            f->last_end = before->last_end;
    if (!rx->waiting || frame->start <= rx->waiting->start)
        rx->waiting = frame;
    rx->counters.found++;
    rx->counters.headers += frame->headed;
    rx->counters.unsupported += frame->unsupported;
}

/* Few frames can overlap: there is always room. */
static void remember(struct penstock__rx *rx, const struct penstock__rx_frame *frame, int64_t horizon)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < rx->past_count; i++)
        if (rx->past[i].end - (int64_t)rx->standard->splice > horizon ||
            rx->past[i].start + (int64_t)rx->standard->same > horizon)
            rx->past[kept++] = rx->past[i];
    rx->past_count = kept < PENSTOCK__RX_PAST ? kept : PENSTOCK__RX_PAST - 1;
    rx->past[rx->past_count++] = (struct penstock__rx_past){frame->start, frame->end};
}

void penstock__rx_fetch(const struct penstock__rx_frame *frame)
{
    const char *at = (const char *)frame;
    for (size_t i = 0; frame && i < FETCHED_BYTES; i += LINE)
        __builtin_prefetch(at + i);
}

struct penstock__rx_frame *penstock__rx_take(struct penstock__rx *rx)
{
    const int64_t horizon = penstock__rx_horizon(rx), splice = (int64_t)rx->standard->splice;
    struct penstock__rx_frame *frame;
    while ((frame = rx->first) && frame->state == PENSTOCK__RX_DONE && frame->start < horizon) {
        rx->first = frame->next;
        if (rx->waiting == frame)
            rx->waiting = rx->first;
        penstock__rx_fetch(rx->first);
        *(rx->first ? &rx->first->before : &rx->last) = NULL;
        remember(rx, frame, horizon);
        if (frame->sure || frame->start >= rx->sure_until) {
            if (frame->sure && frame->end - splice > rx->sure_until)
                rx->sure_until = frame->end - splice;
            return frame;
        }
        penstock__rx_give_back(rx, frame); /* a part of a frame that looked like one */
    }
    return NULL;
}

/* What was not recognised may well be a frame that ends later. */
void penstock__rx_truncate(struct penstock__rx *rx)
{
    for (struct penstock__rx_frame *frame = rx->first; frame; frame = frame->next) {
        bool cut = frame->end - (int64_t)rx->standard->spare > rx->total;
        if (frame->truncated || !cut || (frame->state == PENSTOCK__RX_DONE && (frame->headed || frame->unsupported)))
            continue;
        frame->state = PENSTOCK__RX_DONE;
        frame->truncated = true;
        snprintf(frame->reason, sizeof frame->reason, "stream ended within the frame");
        rx->counters.truncated++;
    }
}

void penstock__rx_count(struct penstock__rx *rx, const struct penstock__rx_frame *frame)
{
    rx->counters.decoded += frame->decoded;
    rx->counters.checked += frame->checked;
}
