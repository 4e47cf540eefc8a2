/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Checks of LDPC codes, by vectors of LANES bytes. Before it is included there are LANES and, of vectors: LESS(a, b)
 * and MORE(a, b), the smaller and the larger signed bytes; ADD_LIMITED(a, b); SIGNED(m, x), -m where x < 0, else m;
 * WHERE_EQUAL(a, b, x, y), x where a = b, else y.
 */
#ifndef PENSTOCK_FEC_LDPC_LANES_CHECKS_H
#define PENSTOCK_FEC_LDPC_LANES_CHECKS_H

#include "fec/ldpc_lanes.h"

typedef int8_t vec __attribute__((vector_size(LANES)));
typedef uint8_t uvec __attribute__((vector_size(LANES)));

#define ALWAYS static inline __attribute__((always_inline))

/* The rule of messages: m less a quarter or an eighth of it, rounded up or to the nearest. */
struct rule {
    bool eighth;
    vec rest; /* to be added before a division that rounds down */
    vec most;
};

static struct rule rule_of(const struct penstock_ldpc_problem *p)
{
    const struct penstock_ldpc_rule rule = penstock__ldpc_rule(p);
    const bool eighth = rule.factor == 7;
    return (struct rule){eighth, (vec){0} + (int8_t)(eighth ? 7 - rule.rounding : 3 - rule.rounding / 2),
                         (vec){0} + (int8_t)rule.most};
}

ALWAYS vec message(vec m, const struct rule *rule)
{
    uvec part = (uvec)(m + rule->rest);
    return m - (vec)(rule->eighth ? part >> 3 : part >> 2);
}

/* `count` checks of `degree` bits: those of edge e follow each other from bits[e] on. */
ALWAYS void update(vec *const *bits, vec *messages, unsigned degree, size_t count, const struct rule *rule)
{
    const struct rule own = *rule;
    const vec most = (vec){0} + PENSTOCK_LDPC_LEVEL, least = -most;
    vec t[PENSTOCK_MAX_LDPC_DEGREE];
    for (size_t i = 0; i < count; i++, messages += degree) {
        vec signs = {0}, first = own.most, second = first, scaled, other;
        for (unsigned e = 0; e < degree; e++) {
            vec size;
            t[e] = bits[e][i] - messages[e];
            size = MORE(t[e], -t[e]);
            signs ^= t[e];
            second = LESS(second, MORE(first, size));
            first = LESS(first, size);
        }
        scaled = message(first, &own);
        other = message(second, &own);
        for (unsigned e = 0; e < degree; e++) {
            vec size = MORE(t[e], -t[e]);
            messages[e] = SIGNED(WHERE_EQUAL(size, first, other, scaled), signs ^ t[e]);
            bits[e][i] = LESS(MORE(ADD_LIMITED(t[e], messages[e]), least), most);
        }
    }
}

/* The compiler keeps a check's values in registers where it knows how many they are. */
static void update_checks(vec *const *bits, vec *messages, unsigned degree, size_t count, const struct rule *rule)
{
    switch (degree) {
#define DEGREE(n)                               \
    case n:                                     \
        update(bits, messages, n, count, rule); \
        break;
        DEGREE(3)
        DEGREE(4)
        DEGREE(5)
        DEGREE(6)
        DEGREE(7)
        DEGREE(8)
        DEGREE(9)
        DEGREE(10)
        DEGREE(11)
        DEGREE(14)
        DEGREE(15)
        DEGREE(19)
        DEGREE(20)
#undef DEGREE
    default:
        update(bits, messages, degree, count, rule);
    }
}

#endif
