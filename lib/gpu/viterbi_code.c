/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The text of kernels/viterbi.cl that depends on the code, and why its metrics stay within 16 bits.
 *
 * A state is the last six inputs, the newest in the highest bit; with the input as bit 6 a generator leaves of the
 * register what it has in common with it. A label has bit g set where generator g gives 1. A step adds to a metric
 * 128 a generator, and the soft bits, negated where they are sent inverted, of those generators that the label has as
 * 0: 0 to 256 a generator. Two branches of a step differ by at most 128 for each bit in which their labels differ.
 *
 * From the sixth step on every state is reached by six inputs behind those that the way to state 0 has, so that it
 * differs from that by at most 128 times their weight, E being the largest weight of six inputs from state 0 on. From a
 * known start, states that are not reached begin FLOOR below state 0. Where their ways meet one that is reached their
 * inputs were the same, so that they differ by what zeros flush out of the wrong start, L coded bits at most, and a
 * floor of 128 max(E, L) + 1 lets them always lose. With state 0 at BASE = FLOOR when a group begins nothing is below
 * 0, since a step takes nothing off, and nothing comes above BASE + 128 E + 6 * 256 count, which is to be less than
 * 2^(16 - HISTORY).
 */
#include "gpu/viterbi_code.h"

#include <string.h>

#define REGISTERS 32
#define MEMORY    6

static unsigned parity(unsigned x)
{
    unsigned odd = 0;
    for (; x; x >>= 1)
        odd ^= x & 1;
    return odd;
}

static unsigned label(const struct penstock_viterbi_problem *viterbi, unsigned state, unsigned input)
{
    unsigned value = 0;
    for (unsigned g = 0; g < viterbi->count; g++)
        value |= parity((state | input << MEMORY) & viterbi->generators[g]) << g;
    return value;
}

static unsigned weight_of(const struct penstock_viterbi_problem *viterbi, unsigned state, unsigned inputs)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < MEMORY; i++) {
        unsigned input = inputs >> i & 1;
        for (unsigned bits = label(viterbi, state, input); bits; bits >>= 1)
            sum += bits & 1;
        state = state >> 1 | input << (MEMORY - 1);
    }
    return sum;
}

bool penstock__gpu_viterbi_range(struct gpu_viterbi *self, const struct penstock_viterbi_problem *viterbi)
{
    unsigned entering = 0, leaving = 0, top;
    for (unsigned s = 0; s < 1u << MEMORY; s++) {
        unsigned in = weight_of(viterbi, 0, s), out = weight_of(viterbi, s, 0);
        entering = in > entering ? in : entering;
        leaving = out > leaving ? out : leaving;
    }
    self->floor = 128 * (entering > leaving ? entering : leaving) + 1;
    self->base = self->floor;
    top = self->base + 128 * entering + MEMORY * 256 * viterbi->count;
    self->history = top < 1u << 13 ? 3 : 2;
    return top < 1u << (16 - self->history);
}

/* ---------------------------------------------------------------- text ------------------------ */

/* The state at position p when `step` steps of the group are done. */
static unsigned state_at(unsigned p, unsigned step)
{
    return (p >> step | p << (MEMORY - step)) & 63;
}

static unsigned taps(const struct penstock_viterbi_problem *viterbi, unsigned bit)
{
    unsigned value = 0;
    for (unsigned g = 0; g < viterbi->count; g++)
        value |= (viterbi->generators[g] >> bit & 1) << g;
    return value;
}

/* By what the upper half's label differs from the lower half's in a step's words: that of positions 2 w + 1 and 2 w. */
static unsigned apart(const struct penstock_viterbi_problem *viterbi, unsigned step)
{
    return step ? taps(viterbi, MEMORY - step) : taps(viterbi, 0) ^ taps(viterbi, MEMORY);
}

static void add_words(struct gpu_text *text, const struct gpu_viterbi *self,
                      const struct penstock_viterbi_problem *viterbi, unsigned step)
{
    const unsigned upper = apart(viterbi, step), labels = 1u << viterbi->count;
    penstock__text_add(text, "#define WORDS_%u {", step);
    for (unsigned g = 0; g < viterbi->count; g++) {
        unsigned byte = step * self->stride + g;
        penstock__text_add(text, " const k_u32 s%u = (k_u32)(%sSOFT(q[%u], %u));", g,
                           viterbi->inverted >> g & 1 ? "-" : "", byte / 4, byte % 4);
    }
    for (unsigned l = 0; l < labels; l++) {
        penstock__text_add(text, " n%u = %uu", l, (128 * viterbi->count << self->history) * 0x10001u);
        for (unsigned g = 0; g < viterbi->count; g++) {
            bool low = !(l >> g & 1), high = !((l ^ upper) >> g & 1);
            if (low || high)
                penstock__text_add(text, low && high ? " + s%u * 0x10001u" : low ? " + s%u" : " + (s%u << 16)", g);
        }
        if (step)
            penstock__text_add(text, "; m%u = n%u;", l, l);
        else
            penstock__text_add(text, "; m%u = LOWERED(n%u, off_); n%u -= off_ * 0x10001u;", l, l, l);
    }
    penstock__text_add(text, " }\n");
}

static void add_step(struct gpu_text *text, const struct penstock_viterbi_problem *viterbi, unsigned step)
{
    penstock__text_add(text, "#define STEP_%u", step);
    for (unsigned w = 0; w < REGISTERS; w++) {
        unsigned state = state_at(2 * w, step);
        if (!step)
            penstock__text_add(text, " ACROSS(x%u, %u, %u)", w, label(viterbi, state, 0), label(viterbi, state | 1, 0));
        else if (!(w >> (step - 1) & 1))
            penstock__text_add(text, " BUTTERFLY(x%u, x%u, %u, %u, %u, %u)", w, w | 1u << (step - 1),
                               label(viterbi, state, 0), label(viterbi, state | 1, 0), label(viterbi, state, 1),
                               label(viterbi, state | 1, 1));
    }
    penstock__text_add(text, "\n");
}

/* The history of positions 2 w and 2 w + 1 before the steps from `first` on. */
static unsigned own(const struct gpu_viterbi *self, unsigned w, unsigned first)
{
    unsigned mask = (1u << self->history) - 1;
    return (~(2 * w) >> first & mask) | (~(2 * w + 1) >> first & mask) << 16;
}

/* Keeps the history of the steps up to `step`, and begins anew. */
static void add_after(struct gpu_text *text, const struct gpu_viterbi *self, unsigned step)
{
    penstock__text_add(text, "#define AFTER_%u", step);
    if ((step + 1) % self->history == 0) {
        for (unsigned k = 0; k < REGISTERS / 2; k++)
            penstock__text_add(text, " KEEP_FOUR(h%u, x%u, x%u, %u)", k, 2 * k, 2 * k + 1, step + 1 - self->history);
        for (unsigned w = 0; w < REGISTERS; w++)
            penstock__text_add(text, " x%u = (x%u & metric_) | 0x%xu;", w, w, own(self, w, (step + 1) % MEMORY));
    }
    penstock__text_add(text, "\n");
}

static void add_beginning(struct gpu_text *text, const struct gpu_viterbi *self)
{
    penstock__text_add(text, "#define BEGIN_REGISTERS k_u32");
    for (unsigned w = 0; w < REGISTERS; w++)
        penstock__text_add(text, "%s x%u = 0x%xu", w ? "," : "", w,
                           (self->base << self->history) * 0x10001u + own(self, w, 0));
    penstock__text_add(text, ";\n#define BEGIN_KNOWN");
    for (unsigned w = 0; w < REGISTERS; w++)
        penstock__text_add(text, " x%u -= 0x%xu;", w, (self->floor << self->history) * (w ? 0x10001u : 0x10000u));
    penstock__text_add(text, "\n#define EACH_REGISTER(DO)");
    for (unsigned w = 0; w < REGISTERS; w++)
        penstock__text_add(text, " DO(%uu, x%u)", w, w);
    penstock__text_add(text, "\n");
}

void penstock__gpu_viterbi_steps(struct gpu_text *text, const struct gpu_viterbi *self,
                                 const struct penstock_viterbi_problem *viterbi)
{
    for (unsigned step = 0; step < MEMORY; step++) {
        add_words(text, self, viterbi, step);
        add_step(text, viterbi, step);
        add_after(text, self, step);
    }
    penstock__text_add(text, "#define DECLARE_WORDS k_u32");
    for (unsigned l = 0; l < 1u << viterbi->count; l++)
        penstock__text_add(text, "%s n%u, m%u", l ? "," : "", l, l);
    penstock__text_add(text, ";\n");
    add_beginning(text, self);
}
