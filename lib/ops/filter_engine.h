/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of a stream through overlap-save: a forward transform of each frame, the product with the taps' spectrum, a
 * reverse transform, and what is left after wrapping around. A frame is `history` old samples and `block` new ones.
 *
 * Decimation by D: with F the greatest common divisor of D and the length, the spectrum is folded F times, so that the
 * reverse transform is F times shorter, and of its values each (D / F)-th is kept.
 */
#ifndef PENSTOCK_OPS_FILTER_ENGINE_H
#define PENSTOCK_OPS_FILTER_ENGINE_H

#include "core/plan.h"
#include "ops/filter_kernels.h"

struct filter_shape {
    penstock_format format; /* of the samples that the forward transform reads: no planar one, no CU8 */
    bool real;              /* real transforms: format F32, values are float */
    bool real_values;       /* of complex transforms the real part is kept: values are float */
    size_t taps, decimation, advance;
    double shift;       /* turns per sample */
    double phase;       /* turns at sample 0 */
    size_t max_latency; /* 0: any */

    /* Set by penstock__filter_shape_set(). */
    size_t n, fold, m;     /* transform lengths: forward, and reverse m = n / fold */
    size_t history, block; /* samples of a frame: n >= history + block, block a multiple of the decimation */
    size_t values, step;   /* values that a block makes; one of `step` of the reverse transform's */
    size_t sample_bytes, value_bytes;
};

/* For transforms of length n; false where the taps do not fit into it. */
bool penstock__filter_shape_set(struct filter_shape *shape, size_t n);

/* A set of taps, and the sample of the output from which on it holds; the next one follows in time. */
struct filter_taps {
    size_t count;
    uint64_t from;
    struct filter_taps *next;
    penstock_cf32 spectrum[]; /* n values, real: n / 2 + 1; 1 / n and the rotation by `shift` are in it */
};

/* One of `complex` and `real` is given. */
int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count);

struct filter_engine {
    penstock_context *context;
    struct filter_shape shape;
    const struct filter_kernels *kernels;
    penstock_plan *forward, *reverse;
    size_t rows;            /* blocks of a batch */
    size_t bins, row_bytes; /* of a row in `spectra`, and in `made` */
    penstock_cf32 *spectra; /* rows + 1 of them: the last one for a change of taps */
    char *made;             /* likewise */
    penstock_cf32 *table;   /* rotation from a block's first value to each; NULL without a shift */
};

/* `shape` has been set. */
int penstock__filter_engine_new(struct filter_engine **engine, penstock_context *context,
                                const struct filter_shape *shape, const char *device);
void penstock__filter_engine_free(struct filter_engine *engine);

/* Phase of the shift at a sample, in units of 2^-64 turns. */
uint64_t penstock__filter_phase(const struct filter_shape *shape, uint64_t sample);

/* Samples that `rows` >= 1 blocks read. */
size_t penstock__filter_engine_samples(const struct filter_engine *engine, size_t rows);

/*
 * Blocks `first` .. `first` + `rows` - 1 of the stream; `in` is the first one's frame. `taps` are those that hold at
 * the first block's start, `next` the later ones. Row r's values are then at penstock__filter_engine_row().
 */
int penstock__filter_engine_run(struct filter_engine *engine, const void *in, uint64_t first, size_t rows,
                                const struct filter_taps *taps);
const void *penstock__filter_engine_row(const struct filter_engine *engine, size_t row);

/* The length that takes the least time for a sample, by measurement or from memory; `*device` is then the text that
 * names the device that was measured. */
int penstock__filter_choose(size_t *n, char device[64], penstock_context *context, const struct filter_shape *shape,
                            const char *asked);

#endif
