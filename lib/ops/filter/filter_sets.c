/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sets of taps from the spectrum of all of them, in double precision. */
#include "ops/filter/filter_sets.h"

int penstock__filter_sets_init(struct filter_sets *sets, const struct filter_shape *shape)
{
    int status;
    *sets = (struct filter_sets){0};
    if ((status = penstock__dft_plan_new(&sets->back, shape->high, PENSTOCK_REVERSE)) ||
        (status = penstock__dft_plan_new(&sets->forward, shape->n, PENSTOCK_FORWARD)))
        return status;
    const size_t back = penstock__dft_plan_scratch_bytes(sets->back),
                 forward = penstock__dft_plan_scratch_bytes(sets->forward);
    sets->taps = penstock__alloc(2 * shape->high * sizeof *sets->taps);
    sets->set = penstock__alloc(2 * shape->n * sizeof *sets->set);
    sets->scratch = penstock__alloc(back > forward ? back : forward);
    return sets->taps && sets->set && sets->scratch ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__filter_sets_free(struct filter_sets *sets)
{
    penstock__dft_plan_free(sets->back);
    penstock__dft_plan_free(sets->forward);
    penstock__free(sets->taps);
    penstock__free(sets->set);
    penstock__free(sets->scratch);
    *sets = (struct filter_sets){0};
}

void penstock__filter_sets_take(struct filter_sets *sets, const struct filter_shape *shape,
                                const penstock_cf32 *spectrum)
{
    const size_t high = shape->high;
    for (size_t k = 0; k < high; k++) {
        const bool mirrored = shape->real && k > high / 2;
        const penstock_cf32 value = spectrum[mirrored ? high - k : k];
        sets->taps[2 * k] = (double)value.re;
        sets->taps[2 * k + 1] = mirrored ? -(double)value.im : (double)value.im;
    }
    penstock__dft_plan_run(sets->back, sets->taps, sets->scratch);
}

void penstock__filter_sets_make(struct filter_sets *sets, const struct filter_shape *shape, size_t index)
{
    const size_t n = shape->n;
    for (size_t m = 0; m < n; m++)
        for (size_t part = 0; part < 2; part++)
            sets->set[2 * m + part] = sets->taps[2 * (m * shape->interpolation + index) + part] / (double)n;
    penstock__dft_plan_run(sets->forward, sets->set, sets->scratch);
}
