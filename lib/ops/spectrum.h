/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the streaming spectrum share. */
#ifndef PENSTOCK_OPS_SPECTRUM_H
#define PENSTOCK_OPS_SPECTRUM_H

#include "core/batcher.h"

struct penstock_spectrum {
    penstock_spectrum_desc desc; /* defaults filled in; pointers are not kept */
    penstock_context *context;
    char *device; /* as it was asked for */
    penstock_plan *plan;
    struct penstock__batcher *batcher;
    penstock_format format; /* of the plan; another one than desc.format where samples are converted here */
    size_t length, value_bytes;

    uint64_t samples, vectors; /* pushed, pulled */
    size_t in_frame;           /* hop > n: samples of the present transform that were taken */
    size_t to_skip;            /* hop > n: samples to leave out next */
    bool finished;
    size_t zeros; /* still to be pushed after the end */

    double *sum; /* of powers, where the average is made here; else NULL */
    unsigned summed;

    unsigned prepared;  /* transforms of the next vector, whose samples were not taken yet */
    double prepare_s;   /* what they took */
    void *prepare_sums; /* scratch memory of the plan with their sums, or NULL */
    size_t prepare_bytes;

    uint64_t fallbacks, meanwhile; /* of plans that are gone */
    struct penstock__meter meter;
};

/* The plan with a window by name or by factors. */
int penstock__spectrum_plan(const penstock_spectrum *spectrum, penstock_plan **plan, const char *name,
                            const float *taps);

/* penstock_spectrum_pull() without its checks and without counting. */
int penstock__spectrum_pull(penstock_spectrum *spectrum, void *vectors, size_t capacity, bool wait, size_t *count);

/* Counts vectors that were handed out. */
void penstock__spectrum_gave(penstock_spectrum *spectrum, size_t vectors);

#endif
