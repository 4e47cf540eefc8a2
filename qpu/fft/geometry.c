/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */
#include "geometry.h"

#include <string.h>

enum { RESULT = 8, WORD = 4, PAIR_OF_VECTORS = 128 };

/*
 * Bits of a pass's digit in registers and lanes. The last pass has at most one in lanes, and none where that would put
 * its two rows further apart than a store's set-up reaches.
 */
static const struct cut {
    unsigned log_points, passes;
    struct {
        uint8_t registers, lanes;
    } pass[PASSES];
} cuts[] = {
    {6, 1, {{2, 4}}},
    {7, 1, {{3, 4}}},
    {8, 1, {{4, 4}}},
    {9, 2, {{4, 0}, {4, 1}}},
    {10, 2, {{4, 1}, {4, 1}}},
    {11, 2, {{4, 2}, {4, 1}}},
    {12, 3, {{4, 0}, {4, 0}, {4, 0}}},
    {13, 3, {{4, 1}, {4, 0}, {4, 0}}},
    {14, 3, {{4, 1}, {4, 1}, {4, 0}}},
    {15, 3, {{4, 1}, {4, 1}, {4, 1}}},
    {16, 3, {{4, 1}, {4, 2}, {4, 1}}},
    {17, 3, {{4, 2}, {4, 2}, {4, 1}}},
    {18, 4, {{4, 1}, {4, 1}, {4, 0}, {4, 0}}},
    {19, 4, {{4, 1}, {4, 1}, {4, 1}, {4, 0}}},
    {20, 4, {{4, 1}, {4, 2}, {4, 1}, {4, 0}}},
    {21, 4, {{4, 1}, {4, 2}, {4, 2}, {4, 0}}},
    {22, 4, {{4, 2}, {4, 2}, {4, 2}, {4, 0}}},
};

/* In two dimensions: of the first one that is transformed, along rows, and of the second one. */
static const struct cut column_cuts[] = {
    {4, 1, {{4, 0}}},         {5, 1, {{4, 1}}},         {6, 1, {{4, 2}}},          {7, 2, {{4, 0}, {3, 0}}},
    {8, 2, {{4, 0}, {4, 0}}}, {9, 2, {{4, 1}, {4, 0}}}, {10, 2, {{4, 1}, {4, 1}}},
};
static const struct cut row_cuts[] = {
    {4, 1, {{4, 0}}},         {5, 1, {{4, 1}}},         {6, 2, {{3, 0}, {3, 0}}},  {7, 2, {{4, 0}, {3, 0}}},
    {8, 2, {{4, 0}, {4, 0}}}, {9, 2, {{4, 1}, {4, 0}}}, {10, 2, {{4, 2}, {4, 0}}},
};

/* Lane bits that take bits of the digit, its highest bit first; see lanes.qinc. */
static const uint8_t lane_order[LANE_BITS + 1][LANE_BITS] = {[1] = {0}, [2] = {1, 3}, [4] = {1, 2, 3, 0}};

uint32_t qpu_fft__weigh(const struct qpu_fft__layout *layout, const struct qpu_fft__bit *bits, unsigned count,
                        uint32_t value)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (value >> i & 1)
            sum += layout->weight[bits[i].digit][bits[i].bit];
    return sum;
}

unsigned qpu_fft__reversed(unsigned number, unsigned bits)
{
    unsigned reversed = 0;
    for (unsigned i = 0; i < bits; i++)
        reversed |= (number >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Place of digit `digit`'s bit 0 in its dimension's n (digits behind it) or k (digits before it). */
static unsigned place_in_n(const struct qpu_fft__geometry *g, unsigned digit)
{
    unsigned place = 0;
    for (unsigned d = digit + 1; d < g->pass_count; d++)
        if (g->dimension[d] == g->dimension[digit])
            place += g->digit_bits[d];
    return place;
}

static unsigned place_in_k(const struct qpu_fft__geometry *g, unsigned digit)
{
    unsigned place = 0;
    for (unsigned d = 0; d < digit; d++)
        if (g->dimension[d] == g->dimension[digit])
            place += g->digit_bits[d];
    return place;
}

static void interleaved(const struct qpu_fft__geometry *g, struct qpu_fft__layout *layout, uint32_t bytes,
                        bool frequencies)
{
    for (unsigned d = 0; d < g->pass_count; d++) {
        unsigned place = frequencies ? place_in_k(g, d) : place_in_n(g, d);
        if (g->dimension[d])
            place += g->log_columns;
        for (unsigned b = 0; b < g->digit_bits[d]; b++)
            layout->weight[d][b] = bytes << (place + b);
    }
}

static bool has(const struct qpu_fft__bit *bits, unsigned count, unsigned digit, unsigned bit)
{
    for (unsigned i = 0; i < count; i++)
        if (bits[i].digit == digit && bits[i].bit == bit)
            return true;
    return false;
}

static unsigned last_digit(const struct qpu_fft__geometry *g, unsigned dimension)
{
    unsigned d = g->pass_count - 1;
    while (g->dimension[d] != dimension)
        d--;
    return d;
}

/*
 * What lanes take that the digit leaves: neighbours in memory. Before the last pass bits of the dimension's last digit,
 * which a row of vectors then has; in the last pass bits of the first digit's frequency, so that results are
 * neighbours.
 */
static void neighbours(const struct qpu_fft__geometry *g, unsigned pass, struct qpu_fft__bit bits[LANE_BITS])
{
    bool last = pass + 1 == g->pass_count;
    unsigned first = last ? 0 : last_digit(g, g->dimension[pass]), count = 0;
    for (unsigned i = 0; i <= g->pass_count; i++) {
        unsigned d = i ? g->pass_count - i : first;
        for (unsigned b = 0; b < g->digit_bits[d] && d != pass && (!i || d != first) && count < LANE_BITS; b++)
            bits[count++] = (struct qpu_fft__bit){(uint8_t)d, (uint8_t)b};
    }
}

static void choose_lanes(struct qpu_fft__geometry *g, unsigned pass)
{
    struct qpu_fft__pass *p = &g->pass[pass];
    struct qpu_fft__bit neighbour[LANE_BITS];
    bool last = pass + 1 == g->pass_count, taken[LANE_BITS] = {false};
    neighbours(g, pass, neighbour);
    for (unsigned i = 0; i < p->lane_bits; i++) {
        unsigned lane = lane_order[p->lane_bits][i];
        taken[lane] = true;
        p->lane_before[lane] = (struct qpu_fft__bit){(uint8_t)pass, (uint8_t)(g->digit_bits[pass] - 1 - i)};
        p->lane_after[lane] = (struct qpu_fft__bit){(uint8_t)pass, (uint8_t)i};
    }
    for (unsigned i = 0, next = 0; i < LANE_BITS; i++) {
        unsigned lane = last ? (i + 1) % LANE_BITS : i; /* results: lane bits 1, 2, 3, 0 */
        if (taken[lane])
            continue;
        p->lane_before[lane] = p->lane_after[lane] = neighbour[next++];
    }
}

/*
 * Vectors as they are in the registers. Of the other bits, the last digit's and then the first digit's are nearest: the
 * last pass has both in its lanes, and so finds them in different lines of a direct-mapped cache.
 */
static void layout_of_vectors(const struct qpu_fft__geometry *g, const struct qpu_fft__pass *p,
                              struct qpu_fft__layout *layout)
{
    uint32_t weight = PAIR_OF_VECTORS;
    for (unsigned lane = 0; lane < LANE_BITS; lane++)
        layout->weight[p->lane_after[lane].digit][p->lane_after[lane].bit] = (uint32_t)WORD << lane;
    for (unsigned i = 0; i < g->pass_count; i++) {
        unsigned d = i ? i - 1 : g->pass_count - 1;
        for (unsigned b = 0; b < g->digit_bits[d]; b++)
            if (!has(p->lane_after, LANE_BITS, d, b)) {
                layout->weight[d][b] = weight;
                weight *= 2;
            }
    }
}

static void choose_groups(struct qpu_fft__geometry *g, unsigned pass)
{
    struct qpu_fft__pass *p = &g->pass[pass];
    for (unsigned d = 0; d < g->pass_count; d++)
        for (unsigned b = 0; d != pass && b < g->digit_bits[d]; b++) {
            unsigned at = p->group_bits;
            if (has(p->lane_before, LANE_BITS, d, b))
                continue;
            p->group_bits++;
            for (; at && p->before.weight[p->group[at - 1].digit][p->group[at - 1].bit] > p->before.weight[d][b]; at--)
                p->group[at] = p->group[at - 1];
            p->group[at] = (struct qpu_fft__bit){(uint8_t)d, (uint8_t)b};
        }
}

static const struct cut *find(const struct cut *list, size_t count, uint32_t points)
{
    for (size_t i = 0; i < count; i++)
        if (points == UINT32_C(1) << list[i].log_points)
            return &list[i];
    return NULL;
}

static bool add_dimension(struct qpu_fft__geometry *g, const struct cut *cut, uint8_t dimension)
{
    for (unsigned i = 0; cut && i < cut->passes; i++) {
        unsigned at = g->pass_count++;
        g->pass[at].register_bits = cut->pass[i].registers;
        g->pass[at].lane_bits = cut->pass[i].lanes;
        g->digit_bits[at] = cut->pass[i].registers + cut->pass[i].lanes;
        g->dimension[at] = dimension;
    }
    g->log_points += cut ? cut->log_points : 0;
    return cut;
}

bool qpu_fft__geometry(struct qpu_fft__geometry *g, uint32_t points, uint32_t rows, uint32_t sample_bytes)
{
    memset(g, 0, sizeof *g);
    if (rows == 1) {
        if (!add_dimension(g, find(cuts, sizeof cuts / sizeof *cuts, points), 0))
            return false;
    } else {
        if (!add_dimension(g, find(column_cuts, sizeof column_cuts / sizeof *column_cuts, points), 0))
            return false;
        g->log_columns = g->log_points;
        if (!add_dimension(g, find(row_cuts, sizeof row_cuts / sizeof *row_cuts, rows), 1))
            return false;
    }
    interleaved(g, &g->pass[0].before, sample_bytes, false);
    for (unsigned i = 0; i < g->pass_count; i++) {
        struct qpu_fft__pass *p = &g->pass[i];
        choose_lanes(g, i);
        if (i + 1 == g->pass_count) {
            interleaved(g, &p->after, RESULT, true);
        } else {
            layout_of_vectors(g, p, &p->after);
            g->pass[i + 1].before = p->after;
        }
        choose_groups(g, i);
    }
    return true;
}

static unsigned log2_of(uint32_t number)
{
    unsigned log = 0;
    while (number >>= 1)
        log++;
    return log;
}

bool qpu_fft__transposition(struct qpu_fft__geometry *g, uint32_t points, uint32_t rows, uint32_t sample_bytes)
{
    const unsigned bits[2] = {log2_of(points), log2_of(rows)}; /* digit 0: columns; digit 1: rows */
    struct qpu_fft__pass *p = &g->pass[0];
    memset(g, 0, sizeof *g);
    if (points & (points - 1) || rows & (rows - 1) || bits[0] < LANE_BITS || bits[1] < LANE_BITS ||
        bits[0] + bits[1] > GROUP_BITS)
        return false;
    g->log_points = bits[0] + bits[1];
    g->pass_count = 1;
    p->register_bits = REGISTER_BITS;
    for (unsigned lane = 0; lane < LANE_BITS; lane++)
        p->lane_before[lane] = p->lane_after[lane] =
            (struct qpu_fft__bit){1, (uint8_t)((lane + LANE_BITS - 1) % LANE_BITS)};
    for (unsigned d = 0; d < 2; d++)
        for (unsigned b = 0; b < bits[d]; b++) {
            p->before.weight[d][b] = sample_bytes << (d ? bits[0] + b : b);
            p->after.weight[d][b] = (uint32_t)RESULT << (d ? b : bits[1] + b);
            if (b >= LANE_BITS)
                p->group[p->group_bits++] = (struct qpu_fft__bit){(uint8_t)d, (uint8_t)b};
        }
    return true;
}

uint32_t qpu_fft__sample(const struct qpu_fft__geometry *g, uint32_t group, unsigned point, unsigned lane)
{
    const struct qpu_fft__pass *p = &g->pass[0];
    uint32_t sum = qpu_fft__weigh(&p->before, p->group, p->group_bits, group) +
                   qpu_fft__weigh(&p->before, p->lane_before, LANE_BITS, lane);
    for (unsigned b = 0; b < p->register_bits; b++)
        if (point >> b & 1)
            sum += p->before.weight[0][b];
    return sum;
}

uint32_t qpu_fft__result(const struct qpu_fft__geometry *g, unsigned pass, unsigned i)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    unsigned high = qpu_fft__reversed(i, p->register_bits);
    uint32_t sum = 0;
    for (unsigned b = 0; b < p->register_bits; b++)
        if (high >> b & 1)
            sum += p->after.weight[pass][p->lane_bits + b];
    return sum;
}

/* Whether a bit of n is part of b, see geometry.h. */
static bool is_rest(const struct qpu_fft__geometry *g, unsigned pass, struct qpu_fft__bit bit)
{
    return bit.digit > pass && g->dimension[bit.digit] == g->dimension[pass];
}

static uint32_t rest_of(const struct qpu_fft__geometry *g, unsigned pass, const struct qpu_fft__bit *bits,
                        unsigned count, uint32_t value)
{
    uint32_t rest = 0;
    for (unsigned i = 0; i < count; i++)
        if (value >> i & 1 && is_rest(g, pass, bits[i]))
            rest |= UINT32_C(1) << (place_in_n(g, bits[i].digit) + bits[i].bit);
    return rest;
}

uint32_t qpu_fft__rest(const struct qpu_fft__geometry *g, unsigned pass, uint32_t group, unsigned lane)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    return rest_of(g, pass, p->group, p->group_bits, group) | rest_of(g, pass, p->lane_before, LANE_BITS, lane);
}

uint32_t qpu_fft__table_count(const struct qpu_fft__geometry *g, unsigned pass)
{
    uint32_t last_group = (UINT32_C(1) << g->pass[pass].group_bits) - 1;
    return qpu_fft__table_of(g, pass, last_group) + 1;
}

uint32_t qpu_fft__table_of(const struct qpu_fft__geometry *g, unsigned pass, uint32_t group)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    uint32_t table = 0;
    for (unsigned i = 0, at = 0; i < p->group_bits; i++)
        if (is_rest(g, pass, p->group[i]))
            table |= (group >> i & 1) << at++;
    return table;
}

uint32_t qpu_fft__group_of(const struct qpu_fft__geometry *g, unsigned pass, uint32_t table)
{
    const struct qpu_fft__pass *p = &g->pass[pass];
    uint32_t group = 0;
    for (unsigned i = 0, at = 0; i < p->group_bits; i++)
        if (is_rest(g, pass, p->group[i]))
            group |= (table >> at++ & 1) << i;
    return group;
}
