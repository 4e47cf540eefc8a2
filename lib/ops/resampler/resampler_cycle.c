/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Where outputs stand among the arms, and the arms of parts that recur. */
#include "ops/resampler/resampler_cycle.h"
#include "backends/backend.h"

#define MOST_BYTES ((size_t)1 << 18) /* what stays near the processor, and is soon drawn when the ratio changes */

/* ---------------------------------------------------------------- arms ------------------------ */

int penstock__resampler_cycle_new(struct resampler_cycle *cycle, struct resampler_ratio ratio,
                                  const struct resampler_arms *arms)
{
    const size_t length = arms->tables[0].length, tables = arms->complex ? 2 : 1;
    *cycle = (struct resampler_cycle){0};
    if (ratio.up > MOST_BYTES / (tables * length * sizeof(float)))
        return PENSTOCK_OK;
    const size_t values = (size_t)ratio.up * length;
    if (!(cycle->values = penstock__alloc(tables * values * sizeof(float))))
        return PENSTOCK_ERR_MEMORY;
    for (size_t t = 0; t < tables; t++)
        cycle->tables[t] = (struct resampler_table){cycle->values + t * values, length};
    return PENSTOCK_OK;
}

void penstock__resampler_cycle_free(struct resampler_cycle *cycle)
{
    penstock__free(cycle->values);
    *cycle = (struct resampler_cycle){0};
}

/* From float `at` on, by the arm at or before a part of a sample, and how far behind that arm it is. */
static inline struct resampler_place place_of(size_t at, uint64_t part, double scale)
{
    const double arm = (double)part * scale;
    const uint32_t number = (uint32_t)arm;
    return (struct resampler_place){(uint32_t)at, number, (float)(arm - number)};
}

static double arms_a_unit(const struct resampler_arms *arms, const struct resampler_clock *clock)
{
    return (double)arms->count / (double)clock->unit;
}

void penstock__resampler_cycle_fill(struct resampler_cycle *cycle, struct resampler_ratio ratio,
                                    struct resampler_clock clock, uint64_t part, const struct resampler_arms *arms)
{
    const double scale = arms_a_unit(arms, &clock);
    cycle->count = 0;
    if (!cycle->values || arms->count == clock.unit)
        return;
    cycle->count = (size_t)ratio.up;
    cycle->step = clock.unit / ratio.up;
    cycle->first = part % cycle->step;
    for (size_t i = 0; i < cycle->count; i++) {
        const struct resampler_place place = place_of(0, cycle->first + i * cycle->step, scale);
        for (size_t t = 0; t <= arms->complex; t++) {
            const size_t length = cycle->tables[t].length;
            const float *arm = arms->tables[t].values + place.arm * length, *next = arm + length;
            for (size_t k = 0; k < length; k++)
                cycle->tables[t].values[i * length + k] = arm[k] + place.between * (next[k] - arm[k]);
        }
    }
}

/* ---------------------------------------------------------------- places ---------------------- */

/* By arms that are drawn, or those of which each part has one; `index` of them, and so many on from each output. */
static void places_of_arms(struct resampler_place *places, size_t count, size_t place, size_t whole, size_t each,
                           size_t index, size_t on, size_t arms)
{
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct resampler_place){.at = (uint32_t)place, .arm = (uint32_t)index};
        place += whole;
        index += on;
        if (index >= arms)
            index -= arms, place += each;
    }
}

bool penstock__resampler_places(struct resampler_place *places, size_t count, const struct resampler_clock *clock,
                                const struct resampler_arms *arms, const struct resampler_cycle *cycle, size_t place,
                                uint64_t part, size_t each)
{
    const size_t whole = (size_t)clock->whole * each;
    const double scale = arms_a_unit(arms, clock);
    if (cycle->count || arms->count == clock->unit) {
        const uint64_t step = cycle->count ? cycle->step : 1, first = cycle->count ? cycle->first : 0;
        places_of_arms(places, count, place, whole, each, (size_t)((part - first) / step), (size_t)(clock->part / step),
                       cycle->count ? cycle->count : arms->count);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        places[i] = place_of(place, part, scale);
        place += whole;
        part += clock->part;
        if (part >= clock->unit)
            part -= clock->unit, place += each;
    }
    return false;
}
