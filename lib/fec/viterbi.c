/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The decoder around the variants: choice by processor, trace back. */
#include "fec/viterbi.h"
#include "fec/viterbi_kernel.h"
#include "fec/viterbi_lanes.h"

#include <pthread.h>
#include <stdatomic.h>

#define LONG_STEPS(lanes) (240 * (size_t)(lanes)) /* from here on windows side by side are faster */

const struct penstock__viterbi_variant *const penstock__viterbi_variants[] = {
#ifdef PENSTOCK_VITERBI_X86
    &penstock__viterbi_avx2,
    &penstock__viterbi_ssse3,
#elif defined PENSTOCK_VITERBI_NEON
    &penstock__viterbi_neon,
#endif
    &penstock__viterbi_generic,
};
const size_t penstock__viterbi_variant_count = sizeof penstock__viterbi_variants / sizeof *penstock__viterbi_variants;

static const struct penstock__viterbi_variant *fastest(void)
{
    static _Atomic(const struct penstock__viterbi_variant *) chosen;
    const struct penstock__viterbi_variant *variant = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!variant) {
        size_t i = 0;
        while (!penstock__viterbi_variants[i]->usable())
            i++;
        variant = penstock__viterbi_variants[i];
        atomic_store_explicit(&chosen, variant, memory_order_relaxed);
    }
    return variant;
}

/* The place of state zero, or of the state with the best metric (of equal ones, that with the lowest number). */
static unsigned end_place(const int16_t metrics[64], size_t steps, enum penstock__trellis_end end)
{
    unsigned phase = steps % VITERBI_PHASES, best = 0; /* state zero is at place 0 in all phases */
    for (unsigned place = 1; place < 64 && end == PENSTOCK__TRELLIS_OPEN; place++)
        if (metrics[place] > metrics[best] ||
            (metrics[place] == metrics[best] && viterbi_state(phase, place) < viterbi_state(phase, best)))
            best = place;
    return best;
}

/* A place after a butterfly: its bits b and a, its lane, and its bit r, which is the decoded bit, as bit 5 of `half`
 * (those above do not matter, those below are 0). */
struct place {
    unsigned half, outer, lane;
};

/*
 * To the place after the butterfly before. Which predecessor won (`upper`) is bit r of a place whose order is that
 * after phase `before`, which is undone. From one step to the next leads a shift, a mask and an addition; what the
 * other two shifts need was known before.
 */
static inline void undo_order(struct place *p, unsigned before, unsigned upper)
{
    if (before == 0) {
        p->half = p->outer << 2;
        p->outer = (p->outer & 16) + 8 * upper;
    } else if (before == 1) {
        p->half = (p->outer & 16) << 1;
        p->outer = (p->outer & 8) + 16 * upper;
    } else {
        p->half = p->lane << 5;
        p->lane = (p->lane >> 1) + 4 * upper;
    }
}

static inline void step_back(struct place *p, unsigned phase, uint64_t decisions)
{
    unsigned half = p->half & 63;
    uint64_t word = phase < 2 ? decisions >> p->lane >> half >> p->outer : decisions >> p->outer >> half >> p->lane;
    undo_order(p, phase ? phase - 1 : VITERBI_PHASES - 1, word & 1);
}

/* Forty steps, eight periods, which are five bytes. */
static void trace_forty(uint8_t packed[5], const uint64_t decisions[40], struct place *p)
{
    struct place place = *p;
    uint64_t bits = 0;
    for (int t = 35; t >= 0; t -= 5)
        for (int phase = 4; phase >= 0; phase--) {
            bits = bits << 1 | (place.half >> 5 & 1);
            step_back(&place, (unsigned)phase, decisions[t + phase]);
        }
    for (int i = 0; i < 5; i++)
        packed[i] = (uint8_t)(bits >> 8 * i);
    *p = place;
}

/* From place `end` after the last step to the start. */
static void trace_back(uint8_t *packed, const uint64_t *decisions, size_t steps, unsigned end)
{
    struct place p = {.outer = end & 24, .lane = end & 7};
    undo_order(&p, (steps - 1) % VITERBI_PHASES, end >> 5);
    for (size_t byte = steps / 40 * 5; byte < (steps + 7) / 8; byte++)
        packed[byte] = 0;
    for (; steps % 40; steps--) {
        size_t t = steps - 1;
        packed[t / 8] |= (uint8_t)((p.half >> 5 & 1) << t % 8);
        step_back(&p, t % VITERBI_PHASES, decisions[t]);
    }
    for (; steps; steps -= 40)
        trace_forty(packed + (steps - 40) / 8, decisions + steps - 40, &p);
}

/* For long blocks: windows side by side. */
static struct long_decoder {
    struct penstock__trellis trellis;
    const struct penstock__viterbi_kernel *kernel;
} long_decoder;

static void make_long_decoder(void)
{
    static const unsigned generators[] = {0133, 0171};
    size_t i = 0;
    penstock__trellis_init(&long_decoder.trellis, generators, 2, 7, 0);
    while (!penstock__viterbi_kernels[i]->usable())
        i++;
    long_decoder.kernel = penstock__viterbi_kernels[i];
}

/* NULL if a block is not so long. */
static const struct long_decoder *long_decoder_for(size_t steps)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_long_decoder);
    return steps >= LONG_STEPS(long_decoder.kernel->lanes) ? &long_decoder : NULL;
}

size_t penstock__viterbi_workspace(size_t steps)
{
    const struct long_decoder *decoder = long_decoder_for(steps);
    size_t bytes = steps * sizeof(uint64_t), windows = 0;
    if (decoder)
        windows = decoder->kernel->workspace_long(&decoder->trellis, steps);
    return bytes > windows ? bytes : windows;
}

void penstock__viterbi_decode_with(const struct penstock__viterbi_variant *variant, uint8_t *packed, const int8_t *soft,
                                   size_t steps, enum penstock__trellis_end end, void *workspace)
{
    int16_t metrics[64];
    variant->forward(workspace, metrics, soft, steps);
    trace_back(packed, workspace, steps, end_place(metrics, steps, end));
}

void penstock__viterbi_decode(uint8_t *packed, const int8_t *soft, size_t steps, enum penstock__trellis_end end,
                              void *workspace)
{
    const struct long_decoder *decoder = long_decoder_for(steps);
    const struct penstock__viterbi_block block = {.soft = soft, .steps = steps, .packed = packed};
    const struct penstock__viterbi_ends ends = {.start_zero = true, .end_zero = end == PENSTOCK__TRELLIS_ZERO};
    if (!decoder || !decoder->kernel->decode_long(&decoder->trellis, &block, ends, workspace))
        penstock__viterbi_decode_with(fastest(), packed, soft, steps, end, workspace);
}
