/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The arms of a ratio whose outputs stand at few parts of a sample: these recur every `up` outputs. Where they lie
 * between two arms the line between these is drawn once, tap by tap, and not for each output: half as many products.
 */
#ifndef PENSTOCK_OPS_RESAMPLER_CYCLE_H
#define PENSTOCK_OPS_RESAMPLER_CYCLE_H

#include "ops/resampler/resampler_arms.h"

struct resampler_cycle {
    float *values;                    /* of the tables; NULL: there is none */
    struct resampler_table tables[2]; /* with an arm for each part, */
    uint64_t first, step;             /* which is `first` + i `step` of the clock's units */
    size_t count;                     /* of them; 0: outputs are made by the resampler's own arms */
};

/* Memory for one, where its arms stay near the processor; else there is none, and PENSTOCK_OK. */
int penstock__resampler_cycle_new(struct resampler_cycle *cycle, struct resampler_ratio ratio,
                                  const struct resampler_arms *arms);
void penstock__resampler_cycle_free(struct resampler_cycle *cycle);

/* What was made for this ratio and these arms is for an output at `part`, and those after it. */
void penstock__resampler_cycle_fill(struct resampler_cycle *cycle, struct resampler_ratio ratio,
                                    struct resampler_clock clock, uint64_t part, const struct resampler_arms *arms);

/* Where `count` outputs are made, the first one `part` behind the sample at float `place`, `each` floats being a
 * sample; whether each output is made by one arm alone. */
bool penstock__resampler_places(struct resampler_place *places, size_t count, const struct resampler_clock *clock,
                                const struct resampler_arms *arms, const struct resampler_cycle *cycle, size_t place,
                                uint64_t part, size_t each);

#endif
