/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Samples that are no good signal, counted as they pass. */
#ifndef PENSTOCK_RADIO_TROUBLES_H
#define PENSTOCK_RADIO_TROUBLES_H

#include "backends/backend.h"

struct penstock__troubles {
    uint64_t clipped, not_finite; /* samples: one counts once, whichever of its parts it is */
};

/*
 * Adds to `troubles` what `look` finds among `count` samples, of which it is given a step, from number `first` on, at a
 * time. Many are looked at by all threads of the context; NULL: by the caller's.
 */
void penstock__troubles_among(struct penstock__troubles *troubles, penstock_context *context, size_t count,
                              void (*look)(const void *owner, size_t first, size_t count,
                                           struct penstock__troubles *troubles),
                              const void *owner);

/*
 * Adds to `troubles` those among `count` samples as a source gives them: with a part at the least or the largest value
 * of an integer format, or NaN or infinite in the others. Any format but PENSTOCK_PLANAR. By all threads of
 * the context, as above.
 */
void penstock__count_received(struct penstock__troubles *troubles, penstock_context *context, const void *samples,
                              penstock_format format, size_t count);

/*
 * Likewise of one step those that are to be written in `format` (CF32, CS16, CS8 or CU8): beyond the range of an
 * integer format by more than half a step, which rounding alone would not lose; or NaN or infinite, which are counted
 * as that alone.
 */
void penstock__count_written(struct penstock__troubles *troubles, const penstock_cf32 *samples, penstock_format format,
                             size_t count);

#endif
