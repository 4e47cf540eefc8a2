/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Steps forward, one or two at once, and the state in which a lane ends. */
#ifndef PENSTOCK_FEC_VITERBI_LANES_STEPS_H
#define PENSTOCK_FEC_VITERBI_LANES_STEPS_H

#include "fec/viterbi_lanes_soft.h"

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

#endif
