/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * One transform of one length: what the processor's own vectors do, or FFTW, or the core's double-precision DFT. Every
 * frame of a plan runs through the same transform at the same alignment, so that its bits depend on nothing else.
 */
#ifndef PENSTOCK_CPU_TRANSFORM_H
#define PENSTOCK_CPU_TRANSFORM_H

#include "backends/backend.h"

struct cpu_transform;

struct cpu_transform_kind {
    const char *name;                                    /* in words, for penstock_plan_info */
    bool windows;                                        /* forward transforms multiply their samples by `window` */
    bool (*fits)(const struct cpu_transform *transform); /* whether it does such a one; NULL: it does all */
    int (*init)(struct cpu_transform *transform);
    void (*free)(struct cpu_transform *transform);

    /*
     * `count` transforms: the i-th one from `in` + i * `in_step` to `out` + i * `out_step`, in bytes. All addresses are
     * multiples of `alignment`, in and out are apart, scratch has `scratch_bytes`. Complex values (re, im), or floats
     * on the real side of PENSTOCK_REAL. A reverse transform of PENSTOCK_REAL may destroy its input.
     */
    void (*run)(const struct cpu_transform *transform, const void *in, size_t in_step, void *out, size_t out_step,
                size_t count, void *scratch);

    /* In place of `run`, where power_only: adds transform `k` of `average` to `sums`, which the first one does not
     * mind. `next`: the samples of the one that follows, or NULL. */
    void (*add_power)(const struct cpu_transform *transform, void *sums, unsigned k, unsigned average, const void *in,
                      const void *next, void *scratch);

    /* The mean of all of them; bin 0 goes to `first`, the last bin before it or to the end. */
    void (*mean_power)(const struct cpu_transform *transform, float *out, const void *sums, unsigned average,
                       size_t first);
};

struct cpu_transform {
    const struct cpu_transform_kind *kind;
    size_t n;
    penstock_direction direction;
    penstock_domain domain;
    bool power_only;      /* the mean power of several transforms is all that is wanted of them; forward and complex */
    const float *window;  /* of a kind that windows, or NULL; read by init alone */
    size_t alignment;     /* init sets it: a power of two, at most 64 */
    size_t scratch_bytes; /* likewise */
    size_t sum_bytes;     /* likewise, of add_power; `sums` is aligned to 64 bytes */
    size_t together;      /* transforms that cost as much as one; init sets it where they are more than that */
    void *priv;
};

/* The ladder: the fastest first, each next one simpler; ends with NULL. */
extern const struct cpu_transform_kind *const penstock__cpu_transforms[];

extern const struct cpu_transform_kind penstock__cpu_transform_power, penstock__cpu_transform_natural_order,
    penstock__cpu_transform_interleaved, penstock__cpu_transform_plain;

/* The kind that is `variant` rungs down the ladder of those that fit; NULL below its end. */
const struct cpu_transform_kind *penstock__cpu_transform_kind(const struct cpu_transform *transform, unsigned variant);

/* Frames with rows or columns, line by line with transforms of that rung: sets all members of `transform` but n,
 * direction and domain. The kind is not for the ladder. Puts a centred output in its place. */
int penstock__cpu_2d_init(struct cpu_transform *transform, unsigned variant, const struct penstock_fft_problem *fft);
extern const struct cpu_transform_kind penstock__cpu_transform_2d;

/* Name and version of the library that transforms, "" for none. */
void penstock__cpu_transform_library(char text[32]);

#endif
