/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A resampler without a stream around it: samples gather in one piece of memory, along which the outputs' taps move;
 * what is left of them goes back to its front when the end is reached. It needs no context: then one thread works.
 */
#ifndef PENSTOCK_OPS_RESAMPLER_ENGINE_H
#define PENSTOCK_OPS_RESAMPLER_ENGINE_H

#include "ops/resampler/resampler_cycle.h"

/* Another ratio or other arms from the first output at or behind a sample on. */
struct resampler_change {
    struct resampler_change *next;
    uint64_t at;
    struct resampler_ratio ratio;
    struct resampler_arms *arms;
    struct resampler_cycle cycle;
};

struct resampler {
    penstock_context *context; /* or NULL */
    const struct resampler_kernels *kernels;
    bool real;                            /* samples, of one float; else of two */
    penstock_format format;               /* as they come */
    size_t value_bytes;                   /* of an output */
    struct resampler_prototype prototype; /* no values: the taps are the caller's */

    struct resampler_ratio ratio;
    struct resampler_clock clock;
    struct resampler_arms *arms;
    struct resampler_cycle cycle;     /* of that ratio and those arms; none where samples lie apart */
    struct resampler_change *changes; /* to come, in order */
    struct resampler_ratio first_ratio;
    struct resampler_arms *first_arms;
    double first_phase;

    float *line;        /* samples, from number `first` on; sample 0 is at place `history` at first. NULL: apart */
    size_t room, count; /* samples: that there is memory for, and that are there */
    size_t history;     /* before an output's own that may be needed, of any arms to come */
    size_t behind;      /* and behind it */
    size_t at;          /* place of the sample at or before the next output; perhaps behind all that came */
    uint64_t part;      /* of the clock's units from there to the output */
    uint64_t first;     /* number of the sample at place 0, `history` for sample 0 */
    bool finished;
};

/* Checked, with all defaults filled in. */
struct resampler_order {
    penstock_resampler_desc desc;
    struct resampler_ratio ratio;
    bool apart; /* samples lie in memory of the caller's, who puts them there and takes them away */
};

/* Fills in defaults, and the ratio. */
int penstock__resampler_check(struct resampler_order *order, const penstock_resampler_desc *desc);

int penstock__resampler_init(struct resampler *resampler, penstock_context *context,
                             const struct resampler_order *order);
void penstock__resampler_clear(struct resampler *resampler); /* frees what it holds */

/* Back to the first sample, with the ratio and taps that were set last. */
void penstock__resampler_rewind(struct resampler *resampler);

/* Takes samples as far as there is room; how many. */
size_t penstock__resampler_take(struct resampler *resampler, const void *samples, size_t count);

/* No more come: zeros follow. */
void penstock__resampler_end(struct resampler *resampler);

/* Makes up to `capacity` outputs; how many. */
size_t penstock__resampler_make(struct resampler *resampler, void *out, size_t capacity);

/* Whether it would make one. */
bool penstock__resampler_ready(const struct resampler *resampler);

/* Number of the sample that the next output stands at or behind. */
uint64_t penstock__resampler_sample(const struct resampler *resampler);

/* Samples behind that one that its taps reach to. */
size_t penstock__resampler_ahead(const struct resampler_arms *arms);

/* The last ratio and arms that were set. */
struct resampler_ratio penstock__resampler_last_ratio(const struct resampler *resampler);
struct resampler_arms *penstock__resampler_last_arms(const struct resampler *resampler);

/* Those that hold for the next output are so. */
void penstock__resampler_apply_changes(struct resampler *resampler);

/* Places before which the next outputs stand, up to the next change. */
size_t penstock__resampler_outputs_end(const struct resampler *resampler);

/* What no output needs any more is no longer counted: how many samples, from the first one on. */
size_t penstock__resampler_forget(struct resampler *resampler);

/* Adds a change; takes over the reference to `arms`, after an error too. */
int penstock__resampler_change(struct resampler *resampler, struct resampler_ratio ratio, struct resampler_arms *arms,
                               uint64_t at);

#endif
