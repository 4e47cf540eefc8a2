/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The sums of a resampler in vectors of the compiler's, which become those of the instruction set. Several outputs are
 * made at a time, as many as keep the processor's multiply-add busy. Between two arms both are summed up, so that their
 * samples are loaded once and no third table is in the cache. FUSED is that instruction, where there is one: compilers
 * left to choose take it for some of the loops below and not for others.
 */
#include "ops/resampler/resampler_kernels.h"

#ifndef RESAMPLER_KERNELS
#define RESAMPLER_KERNELS penstock__resampler_kernels_plain
#define VECTOR_FLOATS     4
#define TOGETHER          1
#define ALIKE             2
#define NAME              "vectors of 4"
#endif

#include "vector/fused.h"

#define PARTS  (RESAMPLER_STEP / VECTOR_FLOATS) /* vectors of a step */
#define INLINE static inline __attribute__((always_inline))

typedef float vector __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(4), may_alias));
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

/* Sixteen sums to two. */
INLINE void fold(float out[2], const vector sums[PARTS])
{
    float all[RESAMPLER_STEP] __attribute__((aligned(64)));
    for (unsigned p = 0; p < PARTS; p++)
        *(vector *)(all + p * VECTOR_FLOATS) = sums[p];
    const four *fours = (const four *)all;
    four sum = (fours[0] + fours[1]) + (fours[2] + fours[3]);
    out[0] = sum[0] + sum[2];
    out[1] = sum[1] + sum[3];
}

/* `count` and `exact` are constants where this is called. */
INLINE void sum_places(float *out, const float *in, const struct resampler_table *table,
                       const struct resampler_place *places, unsigned count, bool exact)
{
    const size_t length = table->length;
    const float *samples[TOGETHER], *taps[TOGETHER];
    vector sums[TOGETHER][PARTS] = {{{0}}}, next[TOGETHER][PARTS] = {{{0}}};
    for (unsigned i = 0; i < count; i++) {
        samples[i] = in + places[i].at;
        taps[i] = table->values + places[i].arm * length;
    }
    for (size_t t = 0; t < length; t += RESAMPLER_STEP)
        for (unsigned i = 0; i < count; i++)
            for (unsigned p = 0; p < PARTS; p++) {
                const size_t at = t + p * VECTOR_FLOATS;
                vector x = *(const vector *)(samples[i] + at);
                sums[i][p] = FUSED(x, *(const vector *)(taps[i] + at), sums[i][p]);
                if (!exact)
                    next[i][p] = FUSED(x, *(const vector *)(taps[i] + length + at), next[i][p]);
            }
    for (unsigned i = 0; i < count; i++) {
        if (!exact) {
            const vector between = places[i].between - (vector){0};
            for (unsigned p = 0; p < PARTS; p++)
                sums[i][p] = FUSED(between, next[i][p] - sums[i][p], sums[i][p]);
        }
        fold(out + 2 * i, sums[i]);
    }
}

INLINE void sum_all(float *out, const float *in, const struct resampler_table *table,
                    const struct resampler_place *places, size_t count, bool exact)
{
    size_t i = 0;
    for (; i + TOGETHER <= count; i += TOGETHER)
        sum_places(out + 2 * i, in, table, places + i, TOGETHER, exact);
    for (; i < count; i++)
        sum_places(out + 2 * i, in, table, places + i, 1, exact);
}

static void sum(float *out, const float *in, const struct resampler_table *table, const struct resampler_place *places,
                size_t count, bool exact)
{
    if (exact)
        sum_all(out, in, table, places, count, true);
    else
        sum_all(out, in, table, places, count, false);
}

/* Places `period` apart, `count` of them, which is a constant where this is called: their arm is loaded once. */
INLINE void sum_alike(float *out, const float *in, const struct resampler_table *table,
                      const struct resampler_place *places, size_t period, unsigned count)
{
    const float *samples[ALIKE], *taps = table->values + places->arm * table->length;
    vector sums[ALIKE][PARTS] = {{{0}}};
    for (unsigned i = 0; i < count; i++)
        samples[i] = in + places[i * period].at;
    for (size_t t = 0; t < table->length; t += RESAMPLER_STEP)
        for (unsigned p = 0; p < PARTS; p++) {
            const size_t at = t + p * VECTOR_FLOATS;
            const vector tap = *(const vector *)(taps + at);
            for (unsigned i = 0; i < count; i++)
                sums[i][p] = FUSED(*(const vector *)(samples[i] + at), tap, sums[i][p]);
        }
    for (unsigned i = 0; i < count; i++)
        fold(out + 2 * i * period, sums[i]);
}

/* Of `count` places the first ones, as many as make whole groups of `alike` each; how many. */
INLINE size_t sum_groups(float *out, const float *in, const struct resampler_table *table,
                         const struct resampler_place *places, size_t count, size_t period, unsigned alike)
{
    const size_t whole = count / (alike * period) * (alike * period);
    for (size_t first = 0; first < whole; first += alike * period)
        for (size_t i = first; i < first + period; i++)
            sum_alike(out + 2 * i, in, table, places + i, period, alike);
    return whole;
}

static void sum_cycle(float *out, const float *in, const struct resampler_table *table,
                      const struct resampler_place *places, size_t count, size_t period)
{
    size_t done = sum_groups(out, in, table, places, count, period, ALIKE);
    if (ALIKE > 4)
        done += sum_groups(out + 2 * done, in, table, places + done, count - done, period, 4);
    if (ALIKE > 2)
        done += sum_groups(out + 2 * done, in, table, places + done, count - done, period, 2);
    sum_all(out + 2 * done, in, table, places + done, count - done, true);
}

const struct resampler_kernels RESAMPLER_KERNELS = {.name = NAME, .sum = sum, .sum_cycle = sum_cycle};
