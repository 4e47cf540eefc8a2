/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The Viterbi algorithm on whole blocks, written to be read: sums in double precision, a decision for each state and
 * step. Floats are not rounded. G. D. Forney, "The Viterbi algorithm", Proc. IEEE 61(3), 1973.
 */
#include "backends/reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_STATES 256

struct work {
    const struct penstock_viterbi_problem *problem;
    uint8_t labels[2 * MOST_STATES]; /* coded bits of the branch from state s with input u at s + u states, generator
                                        g's in bit g */
    double *soft;                    /* of all coded bits of the block, 0 for those that were not sent */
    uint8_t *decisions; /* for each step and state: whether the way in came from the state with 1 as its oldest bit */
    uint8_t *bits;      /* one a step */
};

int penstock__reference_viterbi_init(struct penstock_plan_state *plan, unsigned variant)
{
    if (variant)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "reference has no variant %u", variant);
    snprintf(plan->variant, sizeof plan->variant, "viterbi, whole blocks in double precision");
    plan->passes = 1;
    plan->best_batch = 1;
    return PENSTOCK_OK;
}

static double soft_value(const struct penstock_viterbi_problem *problem, const void *in, size_t i)
{
    double value;
    if (problem->soft == PENSTOCK_SOFT_S8)
        return ((const int8_t *)in)[i];
    if (problem->soft == PENSTOCK_SOFT_HARD)
        return ((const uint8_t *)in)[i] ? -1 : 1;
    value = (double)((const float *)in)[i];
    return isnan(value) ? 0 : fmax(-(double)FLT_MAX, fmin((double)FLT_MAX, value));
}

static void read_soft(const struct work *work, const void *in, size_t steps)
{
    const struct penstock_viterbi_problem *problem = work->problem;
    for (size_t i = 0, next = 0; i < steps * problem->count; i++)
        work->soft[i] = problem->kept[i % problem->period] ? soft_value(problem, in, next++) : 0;
}

static unsigned label_of(const struct penstock_viterbi_problem *problem, unsigned window)
{
    unsigned value = problem->inverted;
    for (unsigned g = 0; g < problem->count; g++)
        for (unsigned x = window & problem->generators[g]; x; x >>= 1)
            value ^= (x & 1) << g;
    return value;
}

/* What branches with a label add: of each generator's bit plus the soft bit for 0, minus it for 1. */
static double sum_of(const struct penstock_viterbi_problem *problem, const double *soft, unsigned label)
{
    double sum = 0;
    for (unsigned g = 0; g < problem->count; g++)
        sum += label >> g & 1 ? -soft[g] : soft[g];
    return sum;
}

static void step(const struct work *work, double *next, const double *metrics, const double *soft, uint8_t *decisions)
{
    const unsigned half = 1u << (work->problem->constraint - 2);
    double sums[1 << PENSTOCK_MAX_GENERATORS];
    for (unsigned label = 0; label < 1u << work->problem->count; label++)
        sums[label] = sum_of(work->problem, soft, label);
    for (unsigned j = 0; j < half; j++)
        for (unsigned input = 0; input < 2; input++) {
            const uint8_t *labels = work->labels + 2 * j + 2 * half * input;
            double lower = metrics[2 * j] + sums[labels[0]], upper = metrics[2 * j + 1] + sums[labels[1]];
            next[j + input * half] = upper > lower ? upper : lower;
            decisions[j + input * half] = upper > lower;
        }
}

/* The one whose oldest bits are 0 among the best. */
static unsigned best_state(const double *metrics, unsigned memory)
{
    unsigned best = 0;
    for (unsigned i = 1; i < 1u << memory; i++) {
        unsigned state = 0;
        for (unsigned bit = 0; bit < memory; bit++)
            state |= (i >> bit & 1) << (memory - 1 - bit);
        if (metrics[state] > metrics[best])
            best = state;
    }
    return best;
}

/* All steps of a block, a tail-biting one's from `depth` before it to `depth` behind it. */
static void decode(const struct work *work, size_t steps)
{
    const struct penstock_viterbi_problem *problem = work->problem;
    const unsigned memory = problem->constraint - 1, states = 1u << memory;
    const size_t all = steps + 2 * problem->depth, skipped = (steps - problem->depth % steps) % steps;
    double metrics[2][MOST_STATES];
    unsigned state;
    for (unsigned s = 0; s < states; s++)
        metrics[0][s] = s && problem->end != PENSTOCK_TRELLIS_TAIL_BITING ? -INFINITY : 0;
    for (size_t t = 0; t < all; t++)
        step(work, metrics[(t + 1) % 2], metrics[t % 2], work->soft + (t + skipped) % steps * problem->count,
             work->decisions + t * states);
    state = problem->end == PENSTOCK_TRELLIS_ZERO ? 0 : best_state(metrics[all % 2], memory);
    for (size_t t = all; t--;) {
        if (t >= problem->depth && t < problem->depth + steps)
            work->bits[t - problem->depth] = (uint8_t)(state >> (memory - 1));
        state = (state << 1 & (states - 1)) | work->decisions[t * states + state];
    }
}

static void write_bits(const struct work *work, uint8_t *out, size_t bits)
{
    const struct penstock_viterbi_problem *problem = work->problem;
    if (problem->result == PENSTOCK_BITS_UNPACKED) {
        memcpy(out, work->bits, bits);
        return;
    }
    memset(out, 0, (bits + 7) / 8);
    for (size_t i = 0; i < bits; i++)
        out[i / 8] |= (uint8_t)(work->bits[i] << (problem->result == PENSTOCK_BITS_LSB_FIRST ? i % 8 : 7 - i % 8));
}

int penstock__reference_viterbi_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_viterbi_problem *problem = &plan->problem->viterbi;
    const penstock_viterbi_block *blocks = job->gather ? job->gather->host : NULL;
    const size_t steps = penstock__viterbi_steps(problem, problem->bits), all = steps + 2 * problem->depth;
    struct work work = {.problem = problem,
                        .soft = penstock__calloc(steps * problem->count, sizeof *work.soft),
                        .decisions = penstock__calloc(all, (size_t)1 << (problem->constraint - 1)),
                        .bits = penstock__calloc(steps, 1)};
    int status = work.soft && work.decisions && work.bits ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (unsigned window = 0; window < 1u << problem->constraint; window++)
        work.labels[window] = (uint8_t)label_of(problem, window);
    for (size_t i = 0; !status && i < job->frames; i++) {
        size_t bits = blocks ? blocks[i].bits : problem->bits;
        size_t in = blocks ? blocks[i].at * penstock__viterbi_soft_bytes(problem) : i * plan->problem->in_bytes;
        size_t here = penstock__viterbi_steps(problem, bits);
        read_soft(&work, (const char *)job->in->host + in, here);
        decode(&work, here);
        write_bits(&work, (uint8_t *)job->out->host + i * plan->problem->out_bytes, bits);
    }
    penstock__free(work.bits);
    penstock__free(work.decisions);
    penstock__free(work.soft);
    return status;
}
