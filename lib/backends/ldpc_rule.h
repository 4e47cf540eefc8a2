/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the rule of penstock_ldpc_plan() leaves to the code: how messages are made, and the level of floats. */
#ifndef PENSTOCK_BACKENDS_LDPC_RULE_H
#define PENSTOCK_BACKENDS_LDPC_RULE_H

#include "backends/backend.h"

static inline double penstock__ldpc_rate(const struct penstock_ldpc_problem *ldpc)
{
    return (double)penstock__ldpc_bits(ldpc) / (double)penstock__ldpc_sent(ldpc);
}

/* A check's message is floor((factor m + rounding) / 8) of the least m of the absolute values that it sees and `most`:
 * 32 is the largest. */
struct penstock_ldpc_rule {
    unsigned factor;   /* 6 or 7 */
    unsigned rounding; /* 0, or of 6 also 2 */
    unsigned most;     /* 42 or 37 */
};

/* Checks of few bits, as codes of low rates have them: 10 on average or less. */
static inline bool penstock__ldpc_small_checks(const struct penstock_ldpc_problem *ldpc)
{
    return ldpc->first[ldpc->rows] <= 10 * ldpc->rows;
}

/*
 * Min-sum takes checks for more certain than they are: the more so the more bits a check has and the more checks a bit
 * has, as NR's punctured ones have at low rates. Rounding down takes away from small values most. Found by frame
 * errors. Kernels for GPUs round to the nearest number, as 2 does, in an instruction less for each bit of a check.
 */
static inline struct penstock_ldpc_rule penstock__ldpc_rule(const struct penstock_ldpc_problem *ldpc)
{
    const double rate = penstock__ldpc_rate(ldpc);
    const bool small = penstock__ldpc_small_checks(ldpc);
    if (ldpc->punctured && rate < (small ? 0.65 : 0.7))
        return (struct penstock_ldpc_rule){6, 0, 42};
    if (small || (ldpc->punctured && rate > 0.9))
        return (struct penstock_ldpc_rule){7, 0, 37};
    return (struct penstock_ldpc_rule){6, 2, 42};
}

/* The factor without rounding: 3/4; or 13/16, about what 7/8 rounded down makes of usual values. */
static inline double penstock__ldpc_factor(const struct penstock_ldpc_problem *ldpc)
{
    return penstock__ldpc_rule(ldpc).factor == 6 ? 0.75 : 0.8125;
}

/*
 * The mean level of floats with a scale of their own: checks of many bits, as codes of high rates have them, see least
 * values that are small parts of the mean, and lose more by rounding; codes of low rates need the room above it. Where
 * bits are punctured at the start, values grow from less. Found by frame errors. A whole number.
 */
static inline double penstock__ldpc_mean(const struct penstock_ldpc_problem *ldpc)
{
    const double rate = penstock__ldpc_rate(ldpc);
    double level = 12 + 60 * (rate - 0.5), least = 12, most = 40;
    if (ldpc->punctured) {
        least = 10;
        level = 11 + 30 * (rate - 1.0 / 3);
        if (!penstock__ldpc_small_checks(ldpc) && rate > 0.65)
            level += 60 * (rate - 0.65);
    }
    return level > most ? most : level > least ? (int)(level + 0.5) : least;
}

#endif
