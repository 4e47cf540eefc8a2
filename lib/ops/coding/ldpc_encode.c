/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Encoders of any low-density parity-check code whose data bits determine the others. Parity bits are found one after
 * the other from checks in which no other is left. Where there is no such check, the next bit is taken for known, as a
 * symbol; those few, the gap, are found at last from the checks that are left over, whose dependence on them is a dense
 * matrix of the gap's size.
 */
#include "core/stream/rest.h"
#include "ops/coding/ldpc.h"

#include <string.h>

#define NONE UINT32_MAX

struct encoder {
    const struct penstock_ldpc_problem *ldpc;
    size_t data, word, checks;
    uint32_t *steps;  /* pairs: check, and the bit that it gives; in order */
    uint32_t *gap;    /* bits that are taken for known */
    uint32_t *spare;  /* checks that are left over */
    uint64_t *matrix; /* gap rows of `words`: from sums of spare checks to the gap's bits */
    size_t step_count, gap_count, spare_count, words;
};

/* ---------------------------------------------------------------- order ----------------------- */

/* Calls `each` for the bits of a check. */
#define FOR_BITS(bit, ldpc, check)                                                                                 \
    for (unsigned row_ = (check) / (ldpc)->lifting, place_ = (check) % (ldpc)->lifting, e_ = (ldpc)->first[row_],  \
                  bit = 0;                                                                                         \
         e_ < (ldpc)->first[row_ + 1] &&                                                                           \
         (bit = (ldpc)->edges[e_].column * (ldpc)->lifting + (place_ + (ldpc)->edges[e_].shift) % (ldpc)->lifting, \
         true);                                                                                                    \
         e_++)

/* Checks of each parity bit, in lists by bit, and how many unknown bits a check has. */
struct order {
    uint32_t *at, *checks; /* of parity bit p: checks[at[p]] .. checks[at[p + 1] - 1] */
    uint32_t *left;        /* unknown bits of a check */
    uint32_t *ready;       /* checks with one, as a stack */
    size_t ready_count;
    bool *known; /* by parity bit */
};

static int order_new(struct order *order, const struct encoder *self)
{
    const struct penstock_ldpc_problem *ldpc = self->ldpc;
    const size_t parity = self->word - self->data, edges = (size_t)ldpc->first[ldpc->rows] * ldpc->lifting;
    if (!(order->at = penstock__calloc(parity + 2, sizeof *order->at)) ||
        !(order->checks = penstock__calloc(edges, sizeof *order->checks)) ||
        !(order->left = penstock__calloc(self->checks, sizeof *order->left)) ||
        !(order->ready = penstock__calloc(self->checks, sizeof *order->ready)) ||
        !(order->known = penstock__calloc(parity, sizeof *order->known)))
        return PENSTOCK_ERR_MEMORY;
    for (uint32_t check = 0; check < self->checks; check++)
        FOR_BITS(bit, ldpc, check)
    if (bit >= self->data) {
        order->at[bit - self->data + 2]++;
        order->left[check]++;
    }
    for (size_t p = 0; p < parity; p++)
        order->at[p + 2] += order->at[p + 1];
    for (uint32_t check = 0; check < self->checks; check++) {
        FOR_BITS(bit, ldpc, check)
        if (bit >= self->data)
            order->checks[order->at[bit - self->data + 1]++] = check;
        if (order->left[check] == 1)
            order->ready[order->ready_count++] = check;
    }
    return PENSTOCK_OK;
}

static void order_free(struct order *order)
{
    penstock__free(order->at);
    penstock__free(order->checks);
    penstock__free(order->left);
    penstock__free(order->ready);
    penstock__free(order->known);
}

static void learn(struct order *order, size_t parity_bit)
{
    order->known[parity_bit] = true;
    for (uint32_t i = order->at[parity_bit]; i < order->at[parity_bit + 1]; i++)
        if (--order->left[order->checks[i]] == 1)
            order->ready[order->ready_count++] = order->checks[i];
}

/* The unknown parity bit of a check, or NONE. */
static uint32_t unknown_of(const struct order *order, const struct encoder *self, uint32_t check)
{
    FOR_BITS(bit, self->ldpc, check)
    if (bit >= self->data && !order->known[bit - self->data])
        return (uint32_t)(bit - self->data);
    return NONE;
}

static void find_order(struct encoder *self, struct order *order)
{
    const size_t parity = self->word - self->data;
    size_t next = 0;
    for (;;) {
        while (order->ready_count) {
            uint32_t check = order->ready[--order->ready_count], bit = unknown_of(order, self, check);
            if (bit == NONE) {
                self->spare[self->spare_count++] = check;
                continue;
            }
            self->steps[2 * self->step_count] = check;
            self->steps[2 * self->step_count++ + 1] = (uint32_t)(self->data + bit);
            learn(order, bit);
        }
        while (next < parity && order->known[next])
            next++;
        if (next == parity)
            return;
        self->gap[self->gap_count++] = (uint32_t)(self->data + next);
        learn(order, next);
    }
}

/* ---------------------------------------------------------------- the gap --------------------- */

static uint8_t sum_of(const struct encoder *self, uint32_t check, const uint8_t *word)
{
    uint8_t sum = 0;
    FOR_BITS(bit, self->ldpc, check)
    sum ^= word[bit];
    return sum;
}

/* The bits of the steps, from all that is known before. */
static void follow(const struct encoder *self, uint8_t *word)
{
    for (size_t i = 0; i < self->step_count; i++) {
        uint32_t bit = self->steps[2 * i + 1];
        word[bit] = 0;
        word[bit] = sum_of(self, self->steps[2 * i], word);
    }
}

/* Row i: what the sum of spare check i depends on among the gap's bits, and behind that the unit matrix. Eight gap bits
 * at a time go through the steps in the bits of a byte. */
static void fill_rows(const struct encoder *self, uint64_t *rows, uint8_t *word)
{
    const size_t wide = 2 * self->words;
    memset(rows, 0, self->gap_count * wide * sizeof *rows);
    for (size_t g = 0; g < self->gap_count; g += 8) {
        memset(word, 0, self->word);
        for (size_t k = 0; k < 8 && g + k < self->gap_count; k++)
            word[self->gap[g + k]] = (uint8_t)(1u << k);
        follow(self, word);
        for (size_t i = 0; i < self->gap_count; i++)
            rows[i * wide + g / 64] |= (uint64_t)sum_of(self, self->spare[i], word) << g % 64;
    }
    for (size_t i = 0; i < self->gap_count; i++)
        rows[i * wide + self->words + i / 64] |= (uint64_t)1 << i % 64;
}

/* Gauss-Jordan; false where the rows are dependent. */
static bool invert(uint64_t *rows, size_t count, size_t words)
{
    const size_t wide = 2 * words;
    for (size_t c = 0; c < count; c++) {
        size_t pivot = c;
        while (pivot < count && !(rows[pivot * wide + c / 64] >> c % 64 & 1))
            pivot++;
        if (pivot == count)
            return false;
        for (size_t w = 0; pivot != c && w < wide; w++) {
            uint64_t moved = rows[pivot * wide + w];
            rows[pivot * wide + w] = rows[c * wide + w];
            rows[c * wide + w] = moved;
        }
        for (size_t i = 0; i < count; i++)
            if (i != c && rows[i * wide + c / 64] >> c % 64 & 1)
                for (size_t w = c / 64; w < wide; w++)
                    rows[i * wide + w] ^= rows[c * wide + w];
    }
    return true;
}

static int close_gap(struct encoder *self)
{
    const size_t count = self->gap_count;
    uint64_t *rows;
    uint8_t *word;
    int status = PENSTOCK_ERR_MEMORY;
    if (!count)
        return PENSTOCK_OK;
    self->words = (count + 63) / 64;
    rows = penstock__calloc(count * 2 * self->words, sizeof *rows);
    word = penstock__calloc(1, self->word);
    self->matrix = penstock__calloc(count * self->words, sizeof *self->matrix);
    if (rows && word && self->matrix) {
        fill_rows(self, rows, word);
        status =
            invert(rows, count, self->words)
                ? PENSTOCK_OK
                : penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                  "ldpc: no encoder: the last %u base columns have not full rank, the data bits do "
                                  "not determine them",
                                  self->ldpc->rows);
        for (size_t i = 0; i < count; i++)
            memcpy(self->matrix + i * self->words, rows + (2 * i + 1) * self->words, self->words * sizeof *rows);
    }
    penstock__free(word);
    penstock__free(rows);
    return status;
}

/* ---------------------------------------------------------------- encoder --------------------- */

static void encoder_free(struct encoder *self)
{
    penstock__free(self->steps);
    penstock__free(self->gap);
    penstock__free(self->spare);
    penstock__free(self->matrix);
}

static int encoder_new(struct encoder *self, const struct penstock_ldpc_problem *ldpc)
{
    struct order order = {0};
    int status = PENSTOCK_ERR_MEMORY;
    *self = (struct encoder){.ldpc = ldpc,
                             .data = penstock__ldpc_data(ldpc),
                             .word = penstock__ldpc_word(ldpc),
                             .checks = (size_t)ldpc->rows * ldpc->lifting};
    if ((self->steps = penstock__calloc(2 * self->checks, sizeof *self->steps)) &&
        (self->gap = penstock__calloc(self->checks, sizeof *self->gap)) &&
        (self->spare = penstock__calloc(self->checks, sizeof *self->spare)) && !(status = order_new(&order, self))) {
        find_order(self, &order);
        status = close_gap(self);
    }
    order_free(&order);
    if (status)
        encoder_free(self);
    return status;
}

static void solve_gap(const struct encoder *self, uint8_t *word, uint64_t *sums)
{
    memset(sums, 0, self->words * sizeof *sums);
    for (size_t i = 0; i < self->gap_count; i++)
        sums[i / 64] |= (uint64_t)sum_of(self, self->spare[i], word) << i % 64;
    for (size_t g = 0; g < self->gap_count; g++) {
        uint64_t sum = 0;
        for (size_t w = 0; w < self->words; w++)
            sum ^= self->matrix[g * self->words + w] & sums[w];
        word[self->gap[g]] = (uint8_t)__builtin_parityll(sum);
    }
}

static void read_bits(uint8_t *word, const struct penstock_ldpc_problem *ldpc, const uint8_t *bits)
{
    for (size_t i = 0; i < penstock__ldpc_bits(ldpc); i++)
        word[i] = ldpc->result == PENSTOCK_BITS_UNPACKED    ? bits[i] != 0
                  : ldpc->result == PENSTOCK_BITS_LSB_FIRST ? bits[i / 8] >> i % 8 & 1
                                                            : bits[i / 8] >> (7 - i % 8) & 1;
}

static uint8_t *encode(const struct encoder *self, uint8_t *coded, const uint8_t *bits, uint8_t *word, uint64_t *sums)
{
    struct penstock_ldpc_part parts[2];
    memset(word, 0, self->word);
    read_bits(word, self->ldpc, bits);
    follow(self, word);
    if (self->gap_count) {
        solve_gap(self, word, sums);
        follow(self, word);
    }
    penstock__ldpc_parts(parts, self->ldpc);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(coded, word + parts[i].at, parts[i].end - parts[i].at);
        coded += parts[i].end - parts[i].at;
    }
    return coded;
}

int penstock_ldpc_encode(const penstock_ldpc_desc *desc, uint8_t *coded, const uint8_t *bits, size_t blocks)
{
    struct penstock_problem problem;
    struct encoder self;
    uint64_t *sums;
    uint8_t *word;
    size_t pitch;
    int status = penstock__ldpc_problem(&problem, NULL, desc);
    if (status)
        return status;
    if (blocks && (!coded || !bits))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ldpc_encode: bits or coded bits are NULL");
    if ((status = penstock__check_count("penstock_ldpc_encode", blocks, penstock__ldpc_bits(&problem.ldpc))) ||
        (status = encoder_new(&self, &problem.ldpc)))
        return status;
    pitch = problem.ldpc.result == PENSTOCK_BITS_UNPACKED ? penstock__ldpc_bits(&problem.ldpc)
                                                          : (penstock__ldpc_bits(&problem.ldpc) + 7) / 8;
    word = penstock__alloc(self.word);
    sums = penstock__alloc((self.words + 1) * sizeof *sums);
    status = word && sums ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; !status && i < blocks; i++)
        coded = encode(&self, coded, bits + i * pitch, word, sums);
    penstock__free(sums);
    penstock__free(word);
    encoder_free(&self);
    return status;
}
