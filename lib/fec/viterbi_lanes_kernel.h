/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The decoder of viterbi_lanes.h for sources that define LANES, MAX(a, b) of two vectors, and unpack_low/high() of 16
 * bytes where the processor has that.
 *
 * A metric is the upper part of 16 bits; the lowest `together` bits are the decisions of the last steps, the newest
 * highest, which the maximum carries along: the branch from the state with 0 as its oldest bit brings a 1 for its step.
 * Metrics that are equal thus compare by the newest decision, which is the rule for ties, and cost nothing. After
 * `together` steps the decisions are stored, 4 bits a state, and cleared. Going back, x = state << together | inverted
 * decisions holds the state before in its lowest K - 1 bits and the inputs of these steps above.
 *
 * A step's words may go round in 16 bits where state 0's metric is taken off; a metric plus a word does not, and is
 * right (built with -fwrapv).
 *
 * Two steps at once take states 4 j .. 4 j + 3 to j, j + S/4, j + S/2 and j + 3 S/4, whose decisions are word j.
 */
#ifndef PENSTOCK_FEC_VITERBI_LANES_KERNEL_H
#define PENSTOCK_FEC_VITERBI_LANES_KERNEL_H

#include "fec/viterbi_lanes_back.h"

/* ---------------------------------------------------------------- blocks ---------------------- */

static size_t history_words(const struct penstock__trellis *t, size_t steps)
{
    return (steps / t->together + 1) * (t->states / 4);
}

static size_t workspace(const struct penstock__trellis *t, size_t steps)
{
    return (sizeof(struct work) + history_words(t, steps) * sizeof(vec) + 63) / 64 * 64;
}

static void set_lane(struct run *r, unsigned lane, const int8_t *soft, size_t steps)
{
    r->soft[lane] = soft;
    r->soft_steps[lane] = steps;
}

static void decode(const struct penstock__trellis *t, const struct penstock__viterbi_block *blocks, unsigned count,
                   struct penstock__viterbi_ends ends, void *memory)
{
    struct run r = {.t = t, .w = memory, .chunk = SIZE_MAX};
    struct ending endings[LANES];
    unsigned left = count;
    size_t k = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        set_lane(&r, lane, lane < count ? blocks[lane].soft : NULL, lane < count ? blocks[lane].steps : 0);
    begin(&r, splat(ends.start_zero ? 0 : -1));
    while (left) { /* the shortest blocks end first */
        size_t steps = blocks[left - 1].steps, end = steps / t->together;
        const vec *metrics;
        run_blocks(&r, k, end);
        k = end;
        metrics = run_rest(&r, k, (unsigned)(steps % t->together));
        for (; left && blocks[left - 1].steps == steps; left--)
            endings[left - 1] = find_end(&r, metrics, left - 1, (unsigned)(steps % t->together), ends.end_zero);
    }
    for (unsigned lane = 0; lane < count; lane++)
        trace_rest(&r, &endings[lane], &blocks[lane], lane);
    for (size_t group = blocks[0].steps / GROUP; group--;) {
        while (left < count && blocks[left].steps / GROUP > group)
            left++;
        trace_lanes(&r, endings, blocks, 0, left, group);
    }
}

/* ---------------------------------------------------------------- windows --------------------- */

/*
 * Window i holds the steps from i `length` + PENSTOCK__VITERBI_WARM on, and begins PENSTOCK__VITERBI_WARM steps earlier
 * with all states equal; window 0 begins with the block. Where the metrics that a window has after
 * PENSTOCK__VITERBI_WARM steps are those that the window before it ends with, but for a constant, all its decisions are
 * those of the whole block.
 */
struct windows {
    unsigned count;
    size_t length, last; /* steps of the last one, PENSTOCK__VITERBI_WARM included */
};

static bool cut_windows(struct windows *windows, size_t steps)
{
    size_t each;
    if (steps < PENSTOCK__VITERBI_LONG)
        return false;
    each = (steps - PENSTOCK__VITERBI_WARM + LANES - 1) / LANES;
    windows->length = (each + GROUP - 1) / GROUP * GROUP;
    windows->count = (unsigned)((steps - PENSTOCK__VITERBI_WARM + windows->length - 1) / windows->length);
    windows->last = steps - (windows->count - 1) * windows->length;
    return windows->count > 1;
}

static size_t workspace_long(const struct penstock__trellis *t, size_t steps)
{
    struct windows windows;
    size_t most;
    if (!cut_windows(&windows, steps))
        return 0;
    most = PENSTOCK__VITERBI_WARM + windows.length;
    return (sizeof(struct work) + history_words(t, most) * sizeof(vec) + most / GROUP * LANES + 63) / 64 * 64;
}

/* Whether the first `count` lanes of the metrics, relative to state 0's, are those that were kept; keeps them. */
static bool keep_metrics(struct run *r, vec *kept, unsigned count)
{
    const vec *m = r->w->metrics[0];
    int16_t differ[LANES];
    vec difference = {0};
    bool same = true;
    for (unsigned s = 0; s < r->t->states; s++) {
        vec now = m[s] - m[0];
        difference |= now ^ kept[s];
        kept[s] = now;
    }
    memcpy(differ, &difference, sizeof differ);
    for (unsigned lane = 0; lane < count; lane++)
        same &= !differ[lane];
    return same;
}

/* The metrics of each window's end become those of the next one's start. */
static void pass_on_ends(struct run *r)
{
    vec *m = r->w->metrics[0];
    const vec zero = m[0];
    int16_t line[LANES + 1];
    for (unsigned s = 0; s < r->t->states; s++) {
        vec ended = m[s] - zero;
        memcpy(line, &r->w->starts[s], sizeof line[0]);
        memcpy(line + 1, &ended, sizeof ended);
        memcpy(&m[s], line, sizeof m[s]);
    }
}

/* Steps first .. end of all windows; if the last window's end is among them, also its ending. */
static void run_span(struct run *r, const struct windows *windows, size_t first, size_t end, struct ending *ending,
                     bool end_zero)
{
    const unsigned together = r->t->together, rest = (unsigned)(windows->last % together);
    const size_t last = windows->last / together;
    if (first > windows->last || windows->last > end + together - 1) {
        run_blocks(r, first / together, end / together);
        return;
    }
    run_blocks(r, first / together, last);
    *ending = find_end(r, run_rest(r, last, rest), windows->count - 1, rest, end_zero);
    run_blocks(r, last, end / together);
}

/*
 * Runs all windows, their decisions being exact after that; how the last one ends. A window that begins anew has soon
 * the metrics that it had, from where on nothing changes.
 */
static struct ending run_windows(struct run *r, const struct windows *windows, bool end_zero)
{
    const size_t end = PENSTOCK__VITERBI_WARM + windows->length, half = windows->length / 2 / GROUP * GROUP;
    const size_t middle = PENSTOCK__VITERBI_WARM + (half < AGAIN ? half : AGAIN);
    const unsigned count = windows->count;
    struct ending ending = {0};
    run_blocks(r, 0, PENSTOCK__VITERBI_WARM / r->t->together);
    keep_metrics(r, r->w->starts, count);
    run_span(r, windows, PENSTOCK__VITERBI_WARM, middle, &ending, end_zero);
    keep_metrics(r, r->w->middles, count);
    run_span(r, windows, middle, end, &ending, end_zero);
    for (;;) {
        pass_on_ends(r);
        if (keep_metrics(r, r->w->starts, count))
            return ending;
        run_span(r, windows, PENSTOCK__VITERBI_WARM, middle, &ending, end_zero);
        if (keep_metrics(r, r->w->middles, count))
            return ending;
        run_span(r, windows, middle, end, &ending, end_zero);
    }
}

/* From guessed ends at once; then each window again from its real end until that way meets the one of the guess. */
static void trace_windows(struct run *r, const struct windows *windows, struct ending *ends,
                          const struct penstock__viterbi_block *blocks)
{
    const size_t groups = (PENSTOCK__VITERBI_WARM + windows->length) / GROUP, warm = PENSTOCK__VITERBI_WARM / GROUP;
    const unsigned last = windows->count - 1;
    uint8_t *states = (uint8_t *)(r->w->history + history_words(r->t, PENSTOCK__VITERBI_WARM + windows->length));
    unsigned active = last;
    trace_rest(r, &ends[last], &blocks[last], last);
    for (size_t group = groups; group-- > warm;) {
        active += active == last && windows->last / GROUP > group;
        trace_lanes(r, ends, blocks, 0, active, group);
        for (unsigned lane = 0; lane < active; lane++)
            states[group * LANES + lane] = (uint8_t)ends[lane].state;
    }
    for (unsigned lane = last; lane--;) {
        unsigned first_state = ends[lane].state;
        ends[lane].state = ends[lane + 1].state;
        for (size_t group = groups; group-- > warm;) {
            trace_lanes(r, ends, blocks, lane, lane + 1, group);
            if (ends[lane].state == states[group * LANES + lane]) {
                ends[lane].state = first_state;
                break;
            }
        }
    }
    for (size_t group = warm; group--;)
        trace_lanes(r, ends, blocks, 0, 1, group);
}

static bool decode_long(const struct penstock__trellis *t, const struct penstock__viterbi_block *block,
                        struct penstock__viterbi_ends ends, void *memory)
{
    struct run r = {.t = t, .w = memory, .chunk = SIZE_MAX};
    struct penstock__viterbi_block parts[LANES];
    struct ending endings[LANES] = {{0}};
    struct windows windows;
    int16_t reached[LANES];
    vec start;
    if (!cut_windows(&windows, block->steps))
        return false;
    for (unsigned lane = 0; lane < LANES; lane++) {
        size_t first = lane * windows.length;
        bool used = lane < windows.count;
        set_lane(&r, lane, used ? block->soft + first * t->count : NULL, used ? block->steps - first : 0);
        parts[lane] = (struct penstock__viterbi_block){.steps = windows.last};
        if (used)
            parts[lane].packed = block->packed + first / 8;
        reached[lane] = lane || !ends.start_zero ? -1 : 0;
    }
    memcpy(&start, reached, sizeof start);
    begin(&r, start);
    endings[windows.count - 1] = run_windows(&r, &windows, ends.end_zero);
    trace_windows(&r, &windows, endings, parts);
    return true;
}

#endif
