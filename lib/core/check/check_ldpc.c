/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The self-check of plans of kind LDPC: noise, and zeros with noise, must give what the rule of penstock_ldpc_plan()
 * gives when it is followed bit by bit. Of a backend that does not round, only zeros that no noise has reversed are
 * compared.
 */
#include "backends/ldpc_rule.h"
#include "core/check/check.h"
#include "core/check/check_samples.h"
#include "core/plan/problem.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 67
#define WORK   1000000 /* updates of bits by checks that are followed; further blocks are as the first ones */

struct check {
    struct penstock__executor *executor;
    const struct penstock_ldpc_problem *ldpc;
    struct penstock_ldpc_rule rule;
    size_t different; /* blocks */
    bool rounds;
    unsigned char *in, *out, *want;
    int *values, *messages;
    uint64_t random;
};

/* ---------------------------------------------------------------- the rule -------------------- */

static int limited(int value, int most)
{
    return value > most ? most : value < -most ? -most : value;
}

static int *value_at(const struct check *check, unsigned e, size_t i)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    return &check->values[ldpc->edges[e].column * ldpc->lifting + (ldpc->edges[e].shift + i) % ldpc->lifting];
}

static void update(const struct check *check, unsigned row, size_t i)
{
    const unsigned first = check->ldpc->first[row], end = check->ldpc->first[row + 1];
    const size_t lifting = check->ldpc->lifting;
    int t[PENSTOCK_MAX_LDPC_DEGREE];
    for (unsigned e = first; e < end; e++)
        t[e - first] = *value_at(check, e, i) - check->messages[e * lifting + i];
    for (unsigned e = first; e < end; e++) {
        int least = (int)check->rule.most, sign = 1, message;
        for (unsigned other = first; other < end; other++)
            if (other != e) {
                least = abs(t[other - first]) < least ? abs(t[other - first]) : least;
                sign = t[other - first] < 0 ? -sign : sign;
            }
        message = sign * (((int)check->rule.factor * least + (int)check->rule.rounding) / 8);
        check->messages[e * lifting + i] = message;
        *value_at(check, e, i) = limited(t[e - first] + message, PENSTOCK_LDPC_LEVEL);
    }
}

static bool holds(const struct check *check)
{
    for (unsigned row = 0; row < check->ldpc->rows; row++)
        for (size_t i = 0; i < check->ldpc->lifting; i++) {
            bool odd = false;
            for (unsigned e = check->ldpc->first[row]; e < check->ldpc->first[row + 1]; e++)
                odd ^= *value_at(check, e, i) < 0;
            if (odd)
                return false;
        }
    return true;
}

static penstock_ldpc_report follow(const struct check *check)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    unsigned done = 0;
    bool parity = false;
    memset(check->messages, 0, (size_t)ldpc->first[ldpc->rows] * ldpc->lifting * sizeof *check->messages);
    while (done < ldpc->iterations && !(ldpc->stop_early && parity)) {
        for (unsigned row = 0; row < ldpc->rows; row++)
            for (size_t i = 0; i < ldpc->lifting; i++)
                update(check, row, i);
        done++;
        parity = holds(check);
    }
    return (penstock_ldpc_report){(uint16_t)done, parity};
}

static void write_result(const struct check *check, unsigned char *out, penstock_ldpc_report report)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    const size_t bytes = penstock__ldpc_bits_bytes(ldpc);
    memset(out, 0, penstock__ldpc_out_bytes(ldpc));
    for (size_t i = 0; i < penstock__ldpc_bits(ldpc); i++) {
        int value = check->values[i], one = value < 0;
        if (ldpc->soft_result)
            out[i] = (unsigned char)value;
        else if (ldpc->result == PENSTOCK_BITS_UNPACKED)
            out[i] = (unsigned char)one;
        else
            out[i / 8] |= (unsigned char)(one << (ldpc->result == PENSTOCK_BITS_LSB_FIRST ? i % 8 : 7 - i % 8));
    }
    if (ldpc->report)
        memcpy(out + (bytes + 3) / 4 * 4, &report, sizeof report);
}

/* ---------------------------------------------------------------- blocks ---------------------- */

/* A soft bit, as a whole number: of blocks that are floats with a scale of their own all are as large as their mean. */
static int level(struct check *check, bool clean)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    uint64_t random = penstock__check_random(&check->random) >> 20;
    bool negative = check->rounds && (clean ? random % 32 == 0 : random % 2 == 0);
    int size = (int)(random / 64 % (clean ? 40 : 128));
    if (ldpc->soft == PENSTOCK_SOFT_HARD)
        size = PENSTOCK__LDPC_HARD;
    else if (ldpc->soft == PENSTOCK_SOFT_F32 && ldpc->scale == 0)
        size = (int)(penstock__ldpc_mean(ldpc) + 0.5);
    return negative ? -size : size;
}

static void put(const struct check *check, size_t i, int value)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    if (ldpc->soft == PENSTOCK_SOFT_F32)
        ((float *)(void *)check->in)[i] = (float)((double)value / (ldpc->scale != 0 ? (double)ldpc->scale : 1));
    else if (ldpc->soft == PENSTOCK_SOFT_S8)
        ((int8_t *)check->in)[i] = (int8_t)value;
    else
        check->in[i] = value < 0;
}

static void fill_block(struct check *check, size_t block)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    const size_t out_bytes = check->executor->state.problem->out_bytes, sent = penstock__ldpc_sent(ldpc);
    struct penstock_ldpc_part parts[2];
    size_t at = block * sent;
    penstock__ldpc_parts(parts, ldpc);
    memset(check->values, 0, penstock__ldpc_word(ldpc) * sizeof *check->values);
    for (size_t i = 0; i < ldpc->filler; i++)
        check->values[penstock__ldpc_bits(ldpc) + i] = PENSTOCK_LDPC_LEVEL;
    for (unsigned part = 0; part < 2; part++)
        for (size_t i = parts[part].at; i < parts[part].end; i++) {
            int value = level(check, block % 2 == 0);
            put(check, at++, value);
            check->values[i] = limited(value, PENSTOCK_LDPC_LEVEL);
        }
    write_result(check, check->want + block * out_bytes, follow(check));
}

static bool differs(const struct check *check, const unsigned char *got, const unsigned char *want)
{
    const struct penstock_ldpc_problem *ldpc = check->ldpc;
    if (check->rounds || !ldpc->soft_result)
        return memcmp(got, want, check->rounds ? penstock__ldpc_out_bytes(ldpc) : penstock__ldpc_bits_bytes(ldpc)) != 0;
    for (size_t i = 0; i < penstock__ldpc_bits(ldpc); i++)
        if ((int8_t)got[i] < 0)
            return true;
    return false;
}

static int run(struct check *check)
{
    const struct penstock_problem *problem = check->executor->state.problem;
    const size_t out_bytes = problem->out_bytes;
    struct penstock__batch batch = {
        .in = check->in, .out = check->out, .frames = BLOCKS, .samples = penstock__problem_samples(problem, BLOCKS)};
    int status;
    for (size_t i = 0; i < check->different; i++)
        fill_block(check, i);
    for (size_t i = check->different; i < BLOCKS; i++)
        memcpy(check->in + i * problem->in_bytes, check->in + i % check->different * problem->in_bytes,
               problem->in_bytes);
    if ((status = penstock__check_run(check->executor, &batch, BLOCKS * out_bytes)))
        return status;
    if (!penstock__check_guarded(check->out, BLOCKS * out_bytes))
        return penstock__error(PENSTOCK_ERR_CHECK, "self-check: written beyond the output's end");
    for (size_t i = 0; i < BLOCKS; i++)
        if (differs(check, check->out + i * out_bytes, check->want + i % check->different * out_bytes))
            return penstock__error(PENSTOCK_ERR_CHECK, "self-check with %s: block %zu is not decoded by the rule",
                                   i % check->different % 2 ? "noise" : "zeros and noise", i);
    return PENSTOCK_OK;
}

int penstock__check_ldpc(struct penstock__executor *executor)
{
    const struct penstock_problem *problem = executor->state.problem;
    const struct penstock_ldpc_problem *ldpc = &problem->ldpc;
    const size_t edges = (size_t)ldpc->first[ldpc->rows] * ldpc->lifting;
    struct check check = {.executor = executor,
                          .ldpc = ldpc,
                          .rule = penstock__ldpc_rule(ldpc),
                          .different = WORK / (edges * ldpc->iterations),
                          .rounds = !(executor->state.device->backend->flags & PENSTOCK_BACKEND_UNROUNDED),
                          .random = 1};
    int status = PENSTOCK_ERR_MEMORY;
    check.different = check.different > BLOCKS ? BLOCKS : check.different < 2 ? 2 : check.different;
    if ((check.in = penstock__calloc(BLOCKS, problem->in_bytes)) &&
        (check.out = penstock__alloc(BLOCKS * problem->out_bytes + PENSTOCK__GUARD_BYTES)) &&
        (check.want = penstock__alloc(check.different * problem->out_bytes)) &&
        (check.values = penstock__calloc(penstock__ldpc_word(ldpc), sizeof *check.values)) &&
        (check.messages = penstock__calloc(edges, sizeof *check.messages)))
        status = run(&check);
    penstock__free(check.messages);
    penstock__free(check.values);
    penstock__free(check.want);
    penstock__free(check.out);
    penstock__free(check.in);
    return status;
}
