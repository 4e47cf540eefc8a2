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

#include "fec/viterbi_lanes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define CHUNK  16 /* steps whose soft bits are brought side by side at a time: a multiple of `together` */
#define AGAIN  96 /* steps after which a window that begins anew is looked at: a multiple of GROUP */
#define GROUP  24 /* steps whose bits are written at a time */

#define TOGETHER 8                                              /* lanes that go back at a time */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ /* they would take minutes to compile */
#define UNROLL
#elif defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#pragma clang diagnostic ignored "-Wpass-failed" /* loops of codes known at run time alone stay loops */
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define EACH(i, many) UNROLL for (unsigned i = 0; i < (many); i++)

typedef int16_t vec __attribute__((vector_size(2 * LANES)));
typedef int8_t byte_vec __attribute__((vector_size(LANES)));

/* The sum of soft bits that each label has as 0, centred; [0] with the bit of the step's decision. */
struct words {
    vec of[2][PENSTOCK__TRELLIS_MOST_LABELS];
};

struct work {
    vec metrics[2][PENSTOCK__TRELLIS_MOST_STATES]; /* `now` says which are the latest */
    vec rest[PENSTOCK__TRELLIS_MOST_STATES];
    vec starts[PENSTOCK__TRELLIS_MOST_STATES];  /* of windows, relative to state 0's: where they begin, */
    vec middles[PENSTOCK__TRELLIS_MOST_STATES]; /* and AGAIN steps on */
    vec soft[4 * CHUNK];
    int8_t bytes[4 * CHUNK][LANES];
    int8_t tail[LANES][4 * CHUNK];
    vec history[]; /* states / 4 words for each `together` steps; behind them, states of windows */
};

struct run {
    const struct penstock__trellis *t;
    struct work *w;
    const int8_t *soft[LANES];
    size_t soft_steps[LANES]; /* that there are at `soft` */
    size_t chunk;             /* that w->soft holds */
};

static vec splat(int value)
{
    return (vec){0} + (int16_t)value;
}

/* ---------------------------------------------------------------- soft bits ------------------- */

#ifdef UNPACK
static void transpose_tile(int8_t (*out)[LANES], const int8_t *const *in, size_t at)
{
    typedef BYTES row;
    row a[16], b[16];
    for (unsigned i = 0; i < 16; i++)
        memcpy(&a[i], in[i] + at, sizeof a[i]);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 8; i++) {
            b[2 * i] = UNPACK_LOW(a[i], a[i + 8]);
            b[2 * i + 1] = UNPACK_HIGH(a[i], a[i + 8]);
        }
        memcpy(a, b, sizeof a);
    }
    for (unsigned i = 0; i < 16; i++)
        memcpy(out[i], &a[i], sizeof a[i]);
}
#endif

/* 16 soft bits of all lanes, from `at` on. */
static void transpose(int8_t (*out)[LANES], const int8_t *const in[LANES], size_t at)
{
#ifdef UNPACK
    for (unsigned lane = 0; lane < LANES; lane += 16)
        transpose_tile((int8_t(*)[LANES])(void *)(out[0] + lane), in + lane, at);
#else
    for (unsigned i = 0; i < 16; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            out[i][lane] = in[lane][at + i];
#endif
}

/* The soft bits of 16 steps, 0 where a lane has no more. */
static void load_chunk(struct run *r, size_t chunk)
{
    const unsigned count = r->t->count, together = r->t->together;
    const size_t values = count * CHUNK, at = chunk * values;
    const int8_t *from[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        size_t there = count * r->soft_steps[lane];
        if (at + values <= there) {
            from[lane] = r->soft[lane] + at;
            continue;
        }
        memset(r->w->tail[lane], 0, values);
        if (at < there)
            memcpy(r->w->tail[lane], r->soft[lane] + at, there - at);
        from[lane] = r->w->tail[lane];
    }
    for (unsigned i = 0; i < count; i++)
        transpose(r->w->bytes + (size_t)CHUNK * i, from, (size_t)CHUNK * i);
    for (size_t i = 0; i < values; i++) {
        byte_vec b;
        memcpy(&b, r->w->bytes[i], sizeof b);
        r->w->soft[i] = __builtin_convertvector(b, vec) << together;
    }
    r->chunk = chunk;
}

/* ---------------------------------------------------------------- branches -------------------- */

/* Words of the step that is number `bit` since the decisions were cleared; `off` is taken off all metrics. */
INLINE void make_words(struct words *words, const struct penstock__trellis *t, const vec *soft, unsigned bit, vec off,
                       unsigned count)
{
    const unsigned labels = 1u << count; /* computed as the loop's bound, sanitizers keep it from unrolling */
    vec sum[PENSTOCK__TRELLIS_MOST_LABELS] = {{0}};
    EACH(g, count)
    {
        vec x = soft[t->place[g]];
        x = t->inverted[g] ? -x : x;
        const unsigned so_far = 1u << g;
        EACH(l, so_far)
        {
            sum[l | 1u << g] = sum[l];
            sum[l] += x;
        }
    }
    off += sum[0] >> (t->together + 1) << t->together;
    EACH(l, labels)
    {
        words->of[1][l] = sum[l] - off;
        words->of[0][l] = words->of[1][l] + (int16_t)(1 << bit);
    }
}

/* Codes whose labels are known when this is compiled, or none. */
struct known {
    unsigned constraint, count; /* 0: as the trellis says */
    unsigned generators[4];
};

INLINE unsigned label(const struct penstock__trellis *t, struct known known, unsigned state, unsigned input)
{
    unsigned value = 0;
    if (!known.constraint)
        return t->labels[2 * state + input];
    EACH(g, known.count)
    value |= (unsigned)__builtin_parity((input << (known.constraint - 1) | state) & known.generators[g]) << g;
    return value;
}

/* The better of the branches with `input` out of `even` and the state behind it. */
INLINE vec better(vec from_even, vec from_odd, const struct words *words, const struct penstock__trellis *t,
                  struct known known, unsigned even, unsigned input)
{
    return MAX(from_even + words->of[0][label(t, known, even, input)],
               from_odd + words->of[1][label(t, known, even + 1, input)]);
}

/* ---------------------------------------------------------------- steps ----------------------- */

INLINE void one_step(const struct penstock__trellis *t, const vec *in, vec *out, const struct words *words)
{
    const struct known unknown = {0};
    for (unsigned j = 0; j < t->states / 2; j++)
        for (unsigned input = 0; input < 2; input++)
            out[j + input * (t->states / 2)] = better(in[2 * j], in[2 * j + 1], words, t, unknown, 2 * j, input);
}

/* States 4 j .. 4 j + 3 over two steps. With `history` the decisions are stored there and cleared. */
INLINE void quad(const struct penstock__trellis *t, struct known known, const vec *in, vec *out,
                 const struct words words[2], vec *history, unsigned j, unsigned states, unsigned together)
{
    const unsigned half = states / 2, fourth = states / 4;
    const vec a = in[4 * j], b = in[4 * j + 1], c = in[4 * j + 2], d = in[4 * j + 3];
    vec e0 = better(a, b, &words[0], t, known, 4 * j, 0), e1 = better(a, b, &words[0], t, known, 4 * j, 1);
    vec f0 = better(c, d, &words[0], t, known, 4 * j + 2, 0), f1 = better(c, d, &words[0], t, known, 4 * j + 2, 1);
    vec x0 = better(e0, f0, &words[1], t, known, 2 * j, 0);
    vec x1 = better(e1, f1, &words[1], t, known, 2 * j + half, 0);
    vec x2 = better(e0, f0, &words[1], t, known, 2 * j, 1);
    vec x3 = better(e1, f1, &words[1], t, known, 2 * j + half, 1);
    if (history) {
        const vec low = splat((1 << together) - 1);
        vec h0 = x0 & low, h1 = x1 & low, h2 = x2 & low, h3 = x3 & low;
        history[j] = h0 | h1 << 4 | h2 << 8 | h3 << 12;
        x0 -= h0, x1 -= h1, x2 -= h2, x3 -= h3;
    }
    out[j] = x0;
    out[j + fourth] = x1;
    out[j + half] = x2;
    out[j + 3 * fourth] = x3;
}

INLINE void two_steps(const struct penstock__trellis *t, struct known known, const vec *in, vec *out,
                      const struct words words[2], vec *history, unsigned together)
{
    if (known.constraint) {
        const unsigned states = 1u << (known.constraint - 1), fourth = states / 4;
        EACH(j, fourth) quad(t, known, in, out, words, history, j, states, together);
    } else {
        for (unsigned j = 0; j < t->states / 4; j++)
            quad(t, known, in, out, words, history, j, t->states, together);
    }
}

/* `together` steps, from metrics[0] to metrics[0], by way of metrics[1] where there are two pairs of them. */
INLINE void advance(struct run *r, struct known known, const vec *soft, vec *history, unsigned together)
{
    const struct penstock__trellis *t = r->t;
    const unsigned count = known.constraint ? known.count : t->count;
    vec(*m)[PENSTOCK__TRELLIS_MOST_STATES] = r->w->metrics;
    struct words words[2];
    make_words(&words[0], t, soft, 0, m[0][0], count);
    make_words(&words[1], t, soft + count, 1, (vec){0}, count);
    if (together == 2) {
        two_steps(t, known, m[0], m[1], words, history, 2);
        memcpy(m[0], m[1], t->states * sizeof m[0][0]);
        return;
    }
    two_steps(t, known, m[0], m[1], words, NULL, 4);
    make_words(&words[0], t, soft + 2 * (size_t)count, 2, (vec){0}, count);
    make_words(&words[1], t, soft + 3 * (size_t)count, 3, (vec){0}, count);
    two_steps(t, known, m[1], m[0], words, history, 4);
}

static void advance_wide(struct run *r, const vec *soft, vec *history)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    const struct known code = {0};
#else
    const struct known code = {7, 2, {0133, 0171}};
#endif
    advance(r, code, soft, history, 4);
}

static void advance_any(struct run *r, const vec *soft, vec *history)
{
    const struct known unknown = {0};
    if (r->t->together == 4)
        advance(r, unknown, soft, history, 4);
    else
        advance(r, unknown, soft, history, 2);
}

static bool is_wide(const struct penstock__trellis *t)
{
    return t->constraint == 7 && t->count == 2 && t->generators[0] == 0133 && t->generators[1] == 0171;
}

/* Keeps the metrics of states that are not reached yet at the floor. */
static void hold_floor(struct run *r)
{
    vec *m = r->w->metrics[0], least = m[0] - (int16_t)(r->t->floor << r->t->together);
    for (unsigned s = 1; s < r->t->states; s++)
        m[s] = MAX(m[s], least);
}

static void begin(struct run *r, vec reached)
{
    vec start = splat(-(r->t->floor << r->t->together)) & ~reached;
    r->w->metrics[0][0] = (vec){0};
    for (unsigned s = 1; s < r->t->states; s++)
        r->w->metrics[0][s] = start;
}

/* The steps of blocks first .. end - 1 of `together` steps. */
static void run_blocks(struct run *r, size_t first, size_t end)
{
    const struct penstock__trellis *t = r->t;
    const unsigned together = t->together;
    const bool wide = is_wide(t);
    for (size_t k = first; k < end; k++) {
        size_t step = k * together;
        vec *history = r->w->history + k * (t->states / 4);
        const vec *soft = r->w->soft + step % CHUNK * t->count;
        if (step / CHUNK != r->chunk)
            load_chunk(r, step / CHUNK);
        if (wide)
            advance_wide(r, soft, history);
        else
            advance_any(r, soft, history);
        if (step < t->constraint)
            hold_floor(r);
    }
}

/* ---------------------------------------------------------------- ends ------------------------ */

static unsigned reversed(unsigned value, unsigned bits)
{
    unsigned out = 0;
    for (unsigned i = 0; i < bits; i++)
        out |= (value >> i & 1) << (bits - 1 - i);
    return out;
}

static int metric(const vec *metrics, unsigned state, unsigned lane, unsigned together)
{
    int16_t value;
    memcpy(&value, (const char *)&metrics[state] + 2 * (size_t)lane, sizeof value);
    return value >> together;
}

static unsigned best_state(const struct penstock__trellis *t, const vec *metrics, unsigned lane)
{
    unsigned best = 0, bits = t->constraint - 1;
    for (unsigned i = 1; i < t->states; i++) {
        unsigned s = reversed(i, bits);
        if (metric(metrics, s, lane, t->together) > metric(metrics, best, lane, t->together))
            best = s;
    }
    return best;
}

/* Where a block's way back begins: the state after its last whole `together` steps, and the bits after them. */
struct ending {
    unsigned state, bits, count;
};

/* The `rest` < together steps behind block k, for all lanes, leaving metrics[0] as it is; returns the metrics. */
static const vec *run_rest(struct run *r, size_t k, unsigned rest)
{
    const struct penstock__trellis *t = r->t;
    size_t step = k * t->together;
    const vec *in = r->w->metrics[0];
    struct words words;
    if (rest && step / CHUNK != r->chunk)
        load_chunk(r, step / CHUNK);
    for (unsigned i = 0; i < rest; i++) {
        vec *out = i % 2 ? r->w->rest : r->w->metrics[1];
        make_words(&words, t, r->w->soft + (step % CHUNK + i) * t->count, i, i ? (vec){0} : in[0], t->count);
        one_step(t, in, out, &words);
        in = out;
    }
    return in;
}

static struct ending find_end(const struct run *r, const vec *metrics, unsigned lane, unsigned rest, bool end_zero)
{
    const struct penstock__trellis *t = r->t;
    unsigned state = end_zero ? 0 : best_state(t, metrics, lane), mask = (1u << rest) - 1, x;
    int16_t value;
    memcpy(&value, (const char *)&metrics[state] + 2 * (size_t)lane, sizeof value);
    x = state << rest | (~(unsigned)value & mask);
    return (struct ending){.state = x & (t->states - 1), .bits = x >> (t->constraint - 1), .count = rest};
}

/* ---------------------------------------------------------------- the way back ---------------- */

/* Over one word of decisions: the inputs of its steps, the oldest lowest. */
INLINE unsigned step_back(unsigned *state, const vec *history, unsigned lane, unsigned constraint, unsigned together)
{
    const unsigned memory = constraint - 1, states = 1u << memory, mask = (1u << together) - 1;
    uint16_t word;
    unsigned x;
    memcpy(&word, (const char *)&history[*state & (states / 4 - 1)] + 2 * (size_t)lane, sizeof word);
    x = *state << together | ((~(unsigned)word >> 4 * (*state >> (memory - 2))) & mask);
    *state = x & (states - 1);
    return x >> memory;
}

static void put_bits(uint8_t *packed, size_t at, uint32_t bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++, at++)
        packed[at / 8] |= (uint8_t)((bits >> i & 1) << at % 8);
}

/* Lanes first .. first + many - 1, so that one does not wait for the other, over the GROUP steps from block k on. */
INLINE void trace_group(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks,
                        unsigned first, unsigned many, size_t k, unsigned constraint, unsigned together)
{
    const unsigned words = GROUP / together;
    const size_t pitch = r->t->states / 4;
    const vec *history = r->w->history + (k + words) * pitch;
    unsigned state[TOGETHER];
    uint32_t bits[TOGETHER] = {0};
    EACH(i, many) state[i] = ends[first + i].state;
    for (unsigned left = words; left--;) {
        history -= pitch;
        EACH(i, many) bits[i] = bits[i] << together | step_back(&state[i], history, first + i, constraint, together);
    }
    EACH(i, many)
    {
        uint8_t *out = blocks[first + i].packed + k * together / 8;
        out[0] = (uint8_t)bits[i];
        out[1] = (uint8_t)(bits[i] >> 8);
        out[2] = (uint8_t)(bits[i] >> 16);
        ends[first + i].state = state[i];
    }
}

/* Lanes first .. end - 1. */
INLINE void trace_some(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks, unsigned first,
                       unsigned end, size_t k, unsigned constraint, unsigned together)
{
    for (; first + TOGETHER <= end; first += TOGETHER)
        trace_group(r, ends, blocks, first, TOGETHER, k, constraint, together);
    for (; first < end; first++)
        trace_group(r, ends, blocks, first, 1, k, constraint, together);
}

static void trace_lanes(struct run *r, struct ending *ends, const struct penstock__viterbi_block *blocks,
                        unsigned first, unsigned end, size_t group)
{
    const unsigned together = r->t->together;
    const size_t k = group * (GROUP / together);
    if (r->t->constraint == 7 && together == 4)
        trace_some(r, ends, blocks, first, end, k, 7, 4);
    else
        trace_some(r, ends, blocks, first, end, k, r->t->constraint, together);
}

/* A lane's words from the last one back to a whole number of groups, bit by bit. */
static void trace_rest(struct run *r, struct ending *end, const struct penstock__viterbi_block *block, unsigned lane)
{
    const struct penstock__trellis *t = r->t;
    const size_t whole = block->steps / t->together, groups = block->steps / GROUP;
    const size_t pitch = t->states / 4, first = groups * (GROUP / t->together);
    memset(block->packed + groups * (GROUP / 8), 0, (block->steps + 7) / 8 - groups * (GROUP / 8));
    put_bits(block->packed, whole * t->together, end->bits, end->count);
    for (size_t k = whole; k-- > first;)
        put_bits(block->packed, k * t->together,
                 step_back(&end->state, r->w->history + k * pitch, lane, t->constraint, t->together), t->together);
}

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
