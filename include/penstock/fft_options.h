/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How a GPU computes a transform, for those who compare. Nobody needs this for right results: zero everywhere is the
 * library's choice, by measurement. Each option holds for "opencl" and "cuda"; one that a device cannot do, or that
 * does not go with the others, is an error with text. Other devices take none. penstock_plan_get_info() tells what came
 * of it.
 */
#ifndef PENSTOCK_FFT_OPTIONS_H
#define PENSTOCK_FFT_OPTIONS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the points of a transform change hands between its stages. */
typedef enum penstock_scratch {
    PENSTOCK_SCRATCH_ANY,   /* in local memory, and through global memory where a transform does not fit */
    PENSTOCK_SCRATCH_LOCAL, /* in local memory alone, in one kernel; an error for lengths that do not fit */
    PENSTOCK_SCRATCH_GLOBAL /* in global memory alone: each stage is a kernel of its own and a pass over memory */
} penstock_scratch;

/* How a 2-D transform reaches its columns. */
typedef enum penstock_column_way {
    PENSTOCK_COLUMNS_ANY,       /* in place where their length is a product of primes to 13, else transposed */
    PENSTOCK_COLUMNS_STRIDED,   /* in place: neighbouring columns are transformed side by side */
    PENSTOCK_COLUMNS_TRANSPOSED /* two transpositions make rows of them and columns again */
} penstock_column_way;

/* What a transform computes in, between its load and its store stage, which are in float. */
typedef enum penstock_arithmetic {
    PENSTOCK_ARITHMETIC_FLOAT,
    /* In numbers of 16 bits, two transforms at a time: on OpenCL devices with cl_khr_fp16 and on CUDA from compute
     * capability 5.3 on. Complex transforms of one kernel (2-D: of one each way, with numbers of 16 bits between
     * them), without average. The error may be 8192 times that of floats, 8.2e-4 sqrt(log2 n), and no sum on the
     * way, of up to n samples, may be above 65504. */
    PENSTOCK_ARITHMETIC_HALF
} penstock_arithmetic;

typedef struct penstock_fft_options {
    unsigned radix; /* 2, 4, 8 or 16: the largest power of two that a stage is of; 0: the library's choice */
    penstock_scratch scratch;
    penstock_column_way column_way;
    unsigned items; /* work-items that share a transform, 1 .. 1024; 0: the library's choice */
    unsigned group; /* transforms that share a work-group, 1 .. 1024; 0: the library's choice */
    penstock_arithmetic arithmetic;
    bool images; /* OpenCL: samples are read from, and values written to, an image made of their buffer, a point a texel
                    (RG) where the device has such of floats, else two (RGBA), which then must not share texels with
                    another frame: n, skip, spacing and columns are even, and frames are not gathered. Of PENSTOCK_CF32
                    to complex floats. */
} penstock_fft_options;

#ifdef __cplusplus
}
#endif

#endif
