/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of plans of kind VITERBI: coded blocks without noise must come back, and what is decoded from noise
 * must fit it as well as any sequence can, which a plain recursion over all states tells. Of tail-biting blocks the
 * first alone.
 */
#include "core/check/check.h"
#include "core/check/check_samples.h"
#include "core/plan/problem.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS  4096 /* blocks with more are checked with fewer, as blocks of unequal length */
#define BLOCKS      37
#define LEVEL       24
#define MOST_STATES 256

struct check {
    struct penstock__executor *executor;
    const struct penstock_viterbi_problem *viterbi;
    penstock_viterbi_block blocks[BLOCKS];
    size_t samples;
    bool clean;
    unsigned char *in, *out, *sent; /* bits one a byte, each block's as far apart as the results */
    double *soft;
    uint64_t random;
    unsigned char labels[2 * MOST_STATES]; /* the coded bits of a register's content, generator g's in bit g */
};

/* ---------------------------------------------------------------- the code -------------------- */

/* The register, its newest bit the highest of K, moves on by a bit. */
static unsigned shifted(const struct penstock_viterbi_problem *viterbi, unsigned window, unsigned bit)
{
    return window >> 1 | bit << (viterbi->constraint - 1);
}

static unsigned coded_bit(const struct penstock_viterbi_problem *viterbi, unsigned window, unsigned g)
{
    unsigned bit = viterbi->inverted >> g & 1;
    for (unsigned x = window & viterbi->generators[g]; x; x >>= 1)
        bit ^= x & 1;
    return bit;
}

static unsigned input_at(const unsigned char *bits, size_t count, size_t t)
{
    return t < count ? bits[t] : 0;
}

/* Of a stream: nothing is known of the states at its ends. */
static bool is_chunk(const struct penstock_viterbi_problem *viterbi)
{
    return viterbi->end == PENSTOCK_TRELLIS_TAIL_BITING && !viterbi->depth;
}

/* How well a block's bits fit its soft bits; `window`: the register before them, but for tail-biting ones. */
static double fit_behind(const struct check *check, const unsigned char *bits, size_t count, const double *soft,
                         unsigned window)
{
    const struct penstock_viterbi_problem *viterbi = check->viterbi;
    const size_t steps = penstock__viterbi_steps(viterbi, count);
    double sum = 0;
    if (viterbi->end == PENSTOCK_TRELLIS_TAIL_BITING && viterbi->depth)
        for (size_t t = 0; t < viterbi->constraint - 1; t++)
            window =
                shifted(viterbi, window, bits[(count * viterbi->constraint - viterbi->constraint + 1 + t) % count]);
    for (size_t t = 0; t < steps; t++) {
        window = shifted(viterbi, window, input_at(bits, count, t));
        for (unsigned g = 0; g < viterbi->count; g++)
            sum += coded_bit(viterbi, window, g) ? -soft[t * viterbi->count + g] : soft[t * viterbi->count + g];
    }
    return sum;
}

static double fit(const struct check *check, const unsigned char *bits, size_t count, const double *soft)
{
    double best = fit_behind(check, bits, count, soft, 0);
    for (unsigned s = 1; is_chunk(check->viterbi) && s < 1u << (check->viterbi->constraint - 1); s++)
        best = fmax(best, fit_behind(check, bits, count, soft, 2 * s));
    return best;
}

/* How well any bits can. */
static double best_fit(const struct check *check, size_t count, const double *soft)
{
    const struct penstock_viterbi_problem *viterbi = check->viterbi;
    const unsigned states = 1u << (viterbi->constraint - 1);
    double now[MOST_STATES], next[MOST_STATES] = {0}, best;
    for (unsigned s = 0; s < states; s++)
        now[s] = s && !is_chunk(viterbi) ? -INFINITY : 0;
    for (size_t t = 0; t < penstock__viterbi_steps(viterbi, count); t++, soft += viterbi->count) {
        double sums[1 << PENSTOCK_MAX_GENERATORS];
        for (unsigned label = 0; label < 1u << viterbi->count; label++) {
            sums[label] = 0;
            for (unsigned g = 0; g < viterbi->count; g++)
                sums[label] += label >> g & 1 ? -soft[g] : soft[g];
        }
        for (unsigned to = 0; to < states; to++) { /* from the states 2 to and 2 to + 1, without their highest bit */
            double lower = now[2 * to & (states - 1)] + sums[check->labels[2 * to]];
            double upper = now[(2 * to + 1) & (states - 1)] + sums[check->labels[2 * to + 1]];
            next[to] = upper > lower ? upper : lower;
        }
        memcpy(now, next, sizeof now);
    }
    best = now[0];
    for (unsigned s = 1; viterbi->end != PENSTOCK_TRELLIS_ZERO && s < states; s++)
        best = fmax(best, now[s]);
    return best;
}

/* ---------------------------------------------------------------- one run --------------------- */

/* Of one coded bit: from the block's bits, or noise. */
static double soft_value(struct check *check, unsigned bit)
{
    uint64_t random = penstock__check_random(&check->random) >> 20;
    if (check->clean)
        return bit ? -LEVEL : LEVEL;
    if (check->viterbi->soft == PENSTOCK_SOFT_HARD)
        return random & 1 ? 1 : -1;
    return (double)(random % 255) - 127;
}

static void put(const struct check *check, size_t i, double value)
{
    if (check->viterbi->soft == PENSTOCK_SOFT_F32)
        ((float *)(void *)check->in)[i] =
            (float)(value / (check->viterbi->scale != 0 ? (double)check->viterbi->scale : 1));
    else if (check->viterbi->soft == PENSTOCK_SOFT_S8)
        ((int8_t *)check->in)[i] = (int8_t)value;
    else
        check->in[i] = value < 0;
}

/* The soft bits of block i, to `soft` and to the input. */
static void fill_block(struct check *check, size_t i, double *soft)
{
    const struct penstock_viterbi_problem *viterbi = check->viterbi;
    const size_t count = check->blocks[i].bits, steps = penstock__viterbi_steps(viterbi, count);
    unsigned char *bits = check->sent + i * viterbi->bits;
    size_t at = check->blocks[i].at;
    unsigned window = 0;
    for (size_t t = 0; t < count; t++)
        bits[t] = penstock__check_random(&check->random) >> 40 & 1;
    if (viterbi->end == PENSTOCK_TRELLIS_TAIL_BITING)
        for (size_t t = 0; t < viterbi->constraint - 1; t++)
            window =
                shifted(viterbi, window, bits[(count * viterbi->constraint - viterbi->constraint + 1 + t) % count]);
    for (size_t j = 0; j < steps * viterbi->count; j++) {
        if (j % viterbi->count == 0)
            window = shifted(viterbi, window, input_at(bits, count, j / viterbi->count));
        soft[j] = 0;
        if (viterbi->kept[j % viterbi->period]) {
            soft[j] = soft_value(check, coded_bit(viterbi, window, (unsigned)(j % viterbi->count)));
            put(check, at++, soft[j]);
        }
    }
}

static void read_bits(const struct check *check, unsigned char *bits, size_t i)
{
    const unsigned char *out = check->out + i * check->executor->state.problem->out_bytes;
    for (size_t t = 0; t < check->blocks[i].bits; t++)
        bits[t] = check->viterbi->result == PENSTOCK_BITS_UNPACKED    ? out[t]
                  : check->viterbi->result == PENSTOCK_BITS_LSB_FIRST ? out[t / 8] >> t % 8 & 1
                                                                      : out[t / 8] >> (7 - t % 8) & 1;
}

/* A tail-biting block that ends amid the puncturing pattern may be sent as another one is. */
static bool is_certain(const struct check *check, size_t bits)
{
    const struct penstock_viterbi_problem *viterbi = check->viterbi;
    return viterbi->end != PENSTOCK_TRELLIS_TAIL_BITING || is_chunk(viterbi) ||
           bits % (viterbi->period / viterbi->count) == 0;
}

static int compare_block(const struct check *check, size_t i, const double *soft)
{
    unsigned char *bits = check->sent + i * check->viterbi->bits;
    const size_t count = check->blocks[i].bits;
    double want = check->clean ? fit(check, bits, count, soft) : best_fit(check, count, soft), got;
    read_bits(check, bits, i);
    got = fit(check, bits, count, soft);
    if (fabs(want - got) > 1e-6 * fabs(want))
        return penstock__error(PENSTOCK_ERR_CHECK,
                               "self-check with %s: block %zu fits its soft bits by %.0f, but could by %.0f",
                               check->clean ? "coded bits" : "noise", i, got, want);
    return PENSTOCK_OK;
}

static int run(struct check *check)
{
    const struct penstock_problem *problem = check->executor->state.problem;
    const size_t out_bytes = BLOCKS * problem->out_bytes;
    const size_t pitch = penstock__viterbi_steps(check->viterbi, check->blocks[0].bits) * check->viterbi->count;
    struct penstock__batch batch = {
        .in = check->in, .blocks = check->blocks, .out = check->out, .frames = BLOCKS, .samples = check->samples};
    int status;
    for (size_t i = 0; i < BLOCKS; i++)
        fill_block(check, i, check->soft + i * pitch);
    if ((status = penstock__check_run(check->executor, &batch, out_bytes)))
        return status;
    if (!penstock__check_guarded(check->out, out_bytes))
        return penstock__error(PENSTOCK_ERR_CHECK, "self-check: written beyond the output's end");
    for (size_t i = 0; i < BLOCKS && !status; i++)
        if (is_certain(check, check->blocks[i].bits))
            status = compare_block(check, i, check->soft + i * pitch);
    return status;
}

/* Blocks of different lengths, the longest first. */
static void lay_out(struct check *check)
{
    const struct penstock_viterbi_problem *viterbi = check->viterbi;
    const size_t most = viterbi->bits < MOST_STEPS / 8 ? viterbi->bits : MOST_STEPS / 8;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bits = i < 3 ? most : 1 + penstock__check_random(&check->random) % most;
        if (!i && viterbi->bits > most)
            bits = viterbi->bits < MOST_STEPS ? viterbi->bits : MOST_STEPS;
        if (!is_certain(check, bits) && bits > viterbi->period / viterbi->count)
            bits -= bits % (viterbi->period / viterbi->count);
        check->blocks[i] = (penstock_viterbi_block){.at = check->samples, .bits = (uint32_t)bits};
        check->samples += penstock__viterbi_sent(viterbi, penstock__viterbi_steps(viterbi, bits));
    }
}

int penstock__check_viterbi(struct penstock__executor *executor)
{
    const struct penstock_problem *problem = executor->state.problem;
    struct check check = {.executor = executor, .viterbi = &problem->viterbi, .clean = true, .random = 1};
    int status = PENSTOCK_ERR_MEMORY;
    for (unsigned window = 0; window < 1u << problem->viterbi.constraint; window++)
        for (unsigned g = 0; g < problem->viterbi.count; g++)
            check.labels[window] |= (unsigned char)(coded_bit(&problem->viterbi, window, g) << g);
    lay_out(&check);
    if ((check.in = penstock__calloc(1, penstock__problem_in_bytes(problem, check.samples))) &&
        (check.out = penstock__alloc(BLOCKS * problem->out_bytes + PENSTOCK__GUARD_BYTES)) &&
        (check.sent = penstock__calloc(BLOCKS, problem->viterbi.bits)) &&
        (check.soft = penstock__calloc(BLOCKS * penstock__viterbi_steps(&problem->viterbi, check.blocks[0].bits),
                                       problem->viterbi.count * sizeof *check.soft)))
        status = run(&check);
    check.clean = false;
    if (!status && (problem->viterbi.end != PENSTOCK_TRELLIS_TAIL_BITING || is_chunk(&problem->viterbi)) &&
        (problem->viterbi.soft != PENSTOCK_SOFT_F32 || problem->viterbi.scale != 0))
        status = run(&check);
    penstock__free(check.soft);
    penstock__free(check.sent);
    penstock__free(check.out);
    penstock__free(check.in);
    return status;
}
