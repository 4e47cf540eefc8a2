/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complex transforms of short powers of two, several at a time: each has four lanes of every vector to itself, and goes
 * through vector/vector_fft.h with vectors of four. A transform's values depend on its samples alone, not on those that
 * go beside it, nor on how many do.
 */
#ifndef PENSTOCK_CPU_INTERLEAVED_H
#define PENSTOCK_CPU_INTERLEAVED_H

#include "backends/backend.h"
#include "vector/vector_fft.h"

#define INTERLEAVED_SHORTEST 16
#define INTERLEAVED_LONGEST  128
#define INTERLEAVED_LANES    4 /* of one transform in a vector */

struct interleaved_kernels;

struct interleaved_fft {
    struct vector_fft fft; /* of width INTERLEAVED_LANES, VECTOR_BY_BIN */
    const struct interleaved_kernels *kernels;
    float *window; /* n factors of the samples of a forward transform, or NULL */
};

/* `count` transforms: the i-th one from `in` + i * `in_step` to `out` + i * `out_step`, in bytes, at addresses of
 * floats, in and out apart. `spare` has n values that are written at will. */
typedef void interleaved_run(const struct interleaved_fft *interleaved, const void *in, size_t in_step, void *out,
                             size_t out_step, size_t count, penstock_cf32 *spare);

/* One instruction set's. */
struct interleaved_kernels {
    const char *name;
    size_t together;   /* transforms that cost as much as one */
    size_t worthwhile; /* the length from which on they are faster than FFTW */
    interleaved_run *forward, *reverse;
};

extern const struct interleaved_kernels penstock__interleaved_kernels_avx2, penstock__interleaved_kernels_avx512;

/* Those that this processor can run, the fastest first; NULL from `index` = their number on. */
const struct interleaved_kernels *penstock__interleaved_build(size_t index);

/* The fastest for n points; NULL where FFTW is as fast, and where n does not fit. */
const struct interleaved_kernels *penstock__interleaved_kernels(size_t n);

/* Tables for a length that fits; `window` has n factors, which are copied, or is NULL. */
int penstock__interleaved_fft_new(struct interleaved_fft **interleaved, size_t n, const float *window,
                                  const struct interleaved_kernels *kernels);
void penstock__interleaved_fft_free(struct interleaved_fft *interleaved);

#endif
