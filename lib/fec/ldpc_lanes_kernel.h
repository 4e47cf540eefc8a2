/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The decoders, for a vector of LANES bytes, in the words that fec/ldpc_lanes_checks.h wants.
 *
 * Side by side, bit v of all blocks is vector v. Alone, a base column is a row of bytes, which is copied in turned
 * order for each edge, and back. Messages lie check by check as they are needed.
 */
#ifndef PENSTOCK_FEC_LDPC_LANES_KERNEL_H
#define PENSTOCK_FEC_LDPC_LANES_KERNEL_H

#include "fec/ldpc_lanes_checks.h"

#include <string.h>

/* ---------------------------------------------------------------- side by side ---------------- */

struct walk {
    unsigned degree;
    size_t place[PENSTOCK_MAX_LDPC_DEGREE]; /* of each edge's next bit in its column */
    vec *bits[PENSTOCK_MAX_LDPC_DEGREE];
};

static void begin_row(struct walk *walk, const struct penstock_ldpc_problem *p, unsigned row, vec *word)
{
    walk->degree = p->first[row + 1] - p->first[row];
    for (unsigned e = 0; e < walk->degree; e++) {
        const struct penstock_ldpc_edge *edge = &p->edges[p->first[row] + e];
        walk->place[e] = edge->shift;
        walk->bits[e] = word + (size_t)edge->column * p->lifting + edge->shift;
    }
}

/* Checks up to the next one at which some edge's bits begin anew, of `left` checks. */
static size_t run_length(const struct walk *walk, const struct penstock_ldpc_problem *p, size_t left)
{
    for (unsigned e = 0; e < walk->degree; e++)
        left = p->lifting - walk->place[e] < left ? p->lifting - walk->place[e] : left;
    return left;
}

static void go_on(struct walk *walk, const struct penstock_ldpc_problem *p, size_t count)
{
    for (unsigned e = 0; e < walk->degree; e++) {
        walk->place[e] += count;
        walk->bits[e] += count;
        if (walk->place[e] == p->lifting) {
            walk->place[e] = 0;
            walk->bits[e] -= p->lifting;
        }
    }
}

static void iterate(const struct penstock_ldpc_problem *p, vec *word, vec *messages)
{
    const struct rule rule = rule_of(p);
    struct walk walk;
    for (unsigned row = 0; row < p->rows; row++) {
        begin_row(&walk, p, row, word);
        for (size_t i = 0, count; i < p->lifting; i += count) {
            count = run_length(&walk, p, p->lifting - i);
            update_checks(walk.bits, messages, walk.degree, count, &rule);
            messages += count * walk.degree;
            go_on(&walk, p, count);
        }
    }
}

static bool any_zero(vec lanes)
{
    uint64_t words[LANES / 8], all = ~(uint64_t)0;
    memcpy(words, &lanes, sizeof lanes);
    for (unsigned i = 0; i < LANES / 8; i++)
        all &= words[i];
    return all != ~(uint64_t)0;
}

/* -1 in the lanes where a check does not hold, 0 where all do; where every lane is in `known` or has one that does not,
 * the others are not looked at. */
static vec failing(const struct penstock_ldpc_problem *p, vec *word, vec known)
{
    vec wrong = {0};
    struct walk walk;
    for (unsigned row = 0; row < p->rows; row++) {
        begin_row(&walk, p, row, word);
        for (size_t i = 0, count; i < p->lifting; i += count) {
            count = run_length(&walk, p, p->lifting - i);
            for (size_t j = 0; j < count; j++) {
                vec sum = {0};
                for (unsigned e = 0; e < walk.degree; e++)
                    sum ^= walk.bits[e][j];
                wrong |= sum;
            }
            go_on(&walk, p, count);
            if (!any_zero((vec)(wrong < 0) | known))
                return (vec)(wrong < 0);
        }
    }
    return (vec)(wrong < 0);
}

/* An 8 x 8 matrix of bytes, row i in rows[i], the first column lowest: H. S. Warren, "Hacker's Delight", 7-3. */
ALWAYS void turn(uint64_t rows[8])
{
    static const uint64_t masks[3] = {0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};
    for (unsigned step = 0; step < 3; step++)
        for (unsigned i = 0; i < 8; i++)
            if (!(i >> step & 1)) {
                uint64_t *low = &rows[i], *high = &rows[i + (1u << step)];
                uint64_t moved = (*low >> (8u << step) ^ *high) & masks[step];
                *high ^= moved;
                *low ^= moved << (8u << step);
            }
}

/* From a row of bytes for each lane to a vector for each byte. */
static void gather(vec *to, const int8_t *const *from, size_t count)
{
    uint64_t rows[8];
    for (size_t i = 0; i < count; i += 8) {
        size_t here = count - i < 8 ? count - i : 8;
        for (unsigned lane = 0; lane < LANES; lane += 8) {
            for (unsigned k = 0; k < 8; k++) {
                rows[k] = 0;
                memcpy(&rows[k], from[lane + k] + i, here);
            }
            turn(rows);
            for (size_t k = 0; k < here; k++)
                memcpy((char *)&to[i + k] + lane, &rows[k], 8);
        }
    }
}

/* And back, for the first `lanes` lanes. */
static void scatter(uint8_t *const *to, unsigned lanes, const vec *from, size_t count)
{
    uint64_t rows[8];
    for (size_t i = 0; i < count; i += 8) {
        size_t here = count - i < 8 ? count - i : 8;
        for (unsigned lane = 0; lane < lanes; lane += 8) {
            for (size_t k = 0; k < 8; k++) {
                rows[k] = 0;
                if (k < here)
                    memcpy(&rows[k], (const char *)&from[i + k] + lane, 8);
            }
            turn(rows);
            for (unsigned k = 0; k < 8 && lane + k < lanes; k++)
                memcpy(to[lane + k] + i, &rows[k], here);
        }
    }
}

/* Results of all lanes: bits, eight a byte, and values, if wanted. */
struct kept {
    vec *packed, *values;
};

/* Keeps what the lanes in `which` have. */
static void keep(struct kept *kept, const struct penstock_ldpc_problem *p, const vec *word, vec which)
{
    const size_t bits = penstock__ldpc_bits(p);
    for (size_t i = 0; i < bits; i += 8) {
        vec byte = {0};
        for (size_t k = 0; k < 8 && i + k < bits; k++)
            byte |= (vec)(word[i + k] < 0) & (int8_t)(1u << k);
        kept->packed[i / 8] ^= (kept->packed[i / 8] ^ byte) & which;
    }
    for (size_t i = 0; kept->values && i < bits; i++)
        kept->values[i] ^= (kept->values[i] ^ word[i]) & which;
}

static void note(struct penstock__ldpc_block *blocks, unsigned count, vec which, unsigned iterations, vec wrong)
{
    int8_t chosen[LANES], bad[LANES];
    memcpy(chosen, &which, sizeof which);
    memcpy(bad, &wrong, sizeof wrong);
    for (unsigned lane = 0; lane < count; lane++)
        if (chosen[lane])
            blocks[lane].report = (penstock_ldpc_report){(uint16_t)iterations, !bad[lane]};
}

/* Messages, the word, and what is kept of it. */
static size_t workspace(const struct penstock_ldpc_problem *p)
{
    const size_t bits = penstock__ldpc_bits(p);
    size_t vectors = (size_t)p->first[p->rows] * p->lifting + penstock__ldpc_word(p) + (bits + 7) / 8;
    return (vectors + (p->soft_result ? bits : 0)) * sizeof(vec);
}

static void hand_out(struct penstock__ldpc_block *blocks, unsigned count, const struct penstock_ldpc_problem *p,
                     const struct kept *kept)
{
    const size_t bits = penstock__ldpc_bits(p);
    uint8_t *rows[LANES] = {0};
    for (unsigned lane = 0; lane < count; lane++)
        rows[lane] = blocks[lane].packed;
    scatter(rows, count, kept->packed, (bits + 7) / 8);
    if (!kept->values)
        return;
    for (unsigned lane = 0; lane < count; lane++)
        rows[lane] = (uint8_t *)blocks[lane].values;
    scatter(rows, count, kept->values, bits);
}

static void decode(const struct penstock_ldpc_problem *p, struct penstock__ldpc_block *blocks, unsigned count,
                   void *memory)
{
    const size_t message_count = (size_t)p->first[p->rows] * p->lifting;
    vec *messages = memory, *word = messages + message_count, done = {0}, wrong = {0};
    struct kept kept = {.packed = word + penstock__ldpc_word(p)};
    const int8_t *rows[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) /* spare lanes do what the first one does */
        rows[lane] = blocks[lane < count ? lane : 0].word;
    kept.values = p->soft_result ? kept.packed + (penstock__ldpc_bits(p) + 7) / 8 : NULL;
    gather(word, rows, penstock__ldpc_word(p));
    memset(messages, 0, message_count * sizeof(vec));
    for (unsigned i = 1; i <= p->iterations && any_zero(done); i++) {
        const bool last = i == p->iterations;
        vec ended;
        iterate(p, word, messages);
        if (!last && !p->stop_early)
            continue;
        wrong = failing(p, word, last ? (vec){0} : done);
        ended = (last ? (vec){0} - 1 : ~wrong) & ~done;
        if (!any_zero(~ended))
            continue;
        keep(&kept, p, word, ended);
        note(blocks, count, ended, i, wrong);
        done |= ended;
    }
    hand_out(blocks, count, p, &kept);
}

/* ---------------------------------------------------------------- alone ----------------------- */

static size_t pitch_of(const struct penstock_ldpc_problem *p)
{
    return (p->lifting + LANES - 1) / LANES;
}

static unsigned most_degree(const struct penstock_ldpc_problem *p)
{
    unsigned most = 0;
    for (unsigned row = 0; row < p->rows; row++) {
        unsigned degree = (unsigned)p->first[row + 1] - p->first[row];
        most = degree > most ? degree : most;
    }
    return most;
}

/* Messages, the columns, and those of one row turned. */
static size_t workspace_one(const struct penstock_ldpc_problem *p)
{
    return ((size_t)p->first[p->rows] + p->columns + most_degree(p)) * pitch_of(p) * sizeof(vec);
}

static void turn_column(vec *to, const vec *from, size_t shift, size_t lifting)
{
    memcpy(to, (const int8_t *)from + shift, lifting - shift);
    memcpy((int8_t *)to + lifting - shift, from, shift);
}

static void iterate_one(const struct penstock_ldpc_problem *p, vec *columns, vec *messages, vec *turned)
{
    const size_t pitch = pitch_of(p);
    const struct rule rule = rule_of(p);
    vec *bits[PENSTOCK_MAX_LDPC_DEGREE];
    for (unsigned row = 0; row < p->rows; row++) {
        const struct penstock_ldpc_edge *edges = p->edges + p->first[row];
        const unsigned degree = p->first[row + 1] - p->first[row];
        for (unsigned e = 0; e < degree; e++) {
            bits[e] = turned + e * pitch;
            turn_column(bits[e], columns + edges[e].column * pitch, edges[e].shift, p->lifting);
        }
        update_checks(bits, messages, degree, pitch, &rule);
        messages += degree * pitch;
        for (unsigned e = 0; e < degree; e++)
            turn_column(columns + edges[e].column * pitch, bits[e], (p->lifting - edges[e].shift) % p->lifting,
                        p->lifting);
    }
}

static bool holds(const struct penstock_ldpc_problem *p, const vec *columns, vec *turned)
{
    const size_t pitch = pitch_of(p);
    vec *sum = turned, *bits = turned + pitch;
    for (unsigned row = 0; row < p->rows; row++) {
        const int8_t *signs = (const int8_t *)sum;
        int8_t all = 0;
        memset(sum, 0, pitch * sizeof(vec));
        for (unsigned e = p->first[row]; e < p->first[row + 1]; e++) {
            turn_column(bits, columns + p->edges[e].column * pitch, p->edges[e].shift, p->lifting);
            for (size_t i = 0; i < pitch; i++)
                sum[i] ^= bits[i];
        }
        for (size_t i = 0; i < p->lifting; i++)
            all |= signs[i];
        if (all < 0)
            return false;
    }
    return true;
}

static void decode_one(const struct penstock_ldpc_problem *p, struct penstock__ldpc_block *block, void *memory)
{
    const size_t pitch = pitch_of(p), bits = penstock__ldpc_bits(p);
    vec *messages = memory, *columns = messages + p->first[p->rows] * pitch, *turned = columns + p->columns * pitch;
    unsigned i = 0;
    bool parity;
    memset(memory, 0, workspace_one(p));
    for (unsigned c = 0; c < p->columns; c++)
        memcpy(columns + c * pitch, block->word + (size_t)c * p->lifting, p->lifting);
    do {
        iterate_one(p, columns, messages, turned);
        i++;
        parity = (p->stop_early || i == p->iterations) && holds(p, columns, turned);
    } while (!parity && i < p->iterations);
    block->report = (penstock_ldpc_report){(uint16_t)i, parity};
    memset(block->packed, 0, (bits + 7) / 8);
    for (size_t v = 0; v < bits; v++) {
        int8_t value = ((const int8_t *)(columns + v / p->lifting * pitch))[v % p->lifting];
        block->packed[v / 8] |= (uint8_t)((value < 0) << v % 8);
        if (block->values)
            block->values[v] = value;
    }
}

#endif
