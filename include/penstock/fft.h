/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The batched FFT, and windows. */
#ifndef PENSTOCK_FFT_H
#define PENSTOCK_FFT_H

#include <penstock/fft_options.h>
#include <penstock/plan.h>
#include <penstock/samples.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- the batched FFT ------------- */

typedef enum penstock_direction {
    PENSTOCK_FORWARD, /* X[k] = sum x[j] exp(-2 pi i j k / n) */
    PENSTOCK_REVERSE  /* x[j] = sum X[k] exp(+2 pi i j k / n), not divided by n */
} penstock_direction;

typedef enum penstock_domain {
    PENSTOCK_COMPLEX,
    PENSTOCK_REAL /* forward: n floats (PENSTOCK_F32, the only format) to n/2+1 complex; reverse: n/2+1 complex to n
                     floats, the imaginary parts of bins 0 and (n even) n/2 being ignored. Forward neither shift nor
                     centered; reverse no window, no power or decibel either. */
} penstock_domain;

/* What happens to samples on their way into a transform, in the kernel that transforms. */
typedef struct penstock_load {
    penstock_format format; /* PENSTOCK_CF32 if not said; PENSTOCK_F32 with PENSTOCK_REAL forward, and only there */
    const float *window;    /* n factors; NULL: all one */
    size_t spacing;         /* samples from one frame's start to the next one's; 0: skip + n */
    size_t skip;            /* samples at a frame's start that are left out (a guard interval) */
    double shift; /* frequency shift in turns per sample, phase 0 at a transform's first sample; |shift| <= 0.5 */
} penstock_load;

typedef enum penstock_output {
    PENSTOCK_OUTPUT_COMPLEX, /* penstock_cf32 */
    PENSTOCK_OUTPUT_POWER,   /* float, |X|^2 */
    PENSTOCK_OUTPUT_DECIBEL  /* float, 10 log10 |X|^2, -300 at the least */
} penstock_output;

/* What happens to a transform's values on their way out, in the same kernel. */
typedef struct penstock_store {
    penstock_output output;
    bool centered; /* zero frequency in the middle (fftshift): bin 0 lands at index n/2 */
    bool half;   /* values leave as halfs, rounded once: penstock_cf16, or one half where they are real. What is beyond
                    65504 becomes infinity: scale. */
    float scale; /* factor on X, finite; 0: 1. PENSTOCK_ERR_ARGUMENT where, with the window, integers of some 1/256 of
                    full scale (floats: any) overflow a float. */
    unsigned
        average; /* mean power over this many consecutive frames makes one output; 0: 1. Not with complex output. */
} penstock_store;

typedef struct penstock_fft_desc {
    size_t size;
    size_t n; /* transform length, 1 .. 2^23; values of a frame in all, where there are rows or columns */
    penstock_direction direction;
    penstock_domain domain;
    penstock_load load;
    penstock_store store;
    size_t batch;   /* frames that one call usually brings; 0: the library's choice. A hint, no limit. */
    unsigned slots; /* batches in flight, of several devices on each, 1 .. 16; 0: 3 */

    /* More than one dimension; with PENSTOCK_COMPLEX, without shift. 0 is 1 for both. */
    size_t rows;    /* 2-D: a frame is `rows` rows of n / rows values, row after row, and so is its transform. A centred
                       one has zero frequency in the middle of both. With average 1 only. */
    size_t columns; /* strided: a frame is `columns` transforms of n / columns values, whose values lie side by side:
                       value j of transform c is j * columns + c, before and after. Not with `rows`. */
    penstock_fft_options options; /* how a GPU is to do it: fft_options.h */

    /*
     * Tuning: a GPU's plan times the launch configurations that its kernels can have, at most nine of them, with
     * `batch` frames in the device's memory, when it is made, and keeps the fastest; one that fails is left out. Timing
     * takes 20 ms, and each round of a slow device more; kernels are compiled first where the cache does not have them.
     * The answer stays in the cache folder, as kernels do, until library, kernel sources, device or driver change: the
     * next plan of the kind takes it without timing. False: the library's own choice, by measurements that its makers
     * took. Without effect on devices and for transforms with nothing to choose: with rows or columns, planar samples
     * or `options`.
     */
    bool tune;
} penstock_fft_desc;

#define PENSTOCK_FFT_DESC(...) PENSTOCK_DESCRIPTION(penstock_fft_desc, __VA_ARGS__)

/*
 * Plan a batch of transforms. Frame i of a call reads n samples from sample i * spacing + skip on (so
 * a call's input holds (frames - 1) * spacing + skip + n samples) and writes n values from i * n on. Read
 * n/2+1 for n where PENSTOCK_REAL has half a spectrum: written forward, read in reverse. With `average` K a call's
 * frames are a multiple of K. Relative L2 error against exact arithmetic: at most 1.0e-7 sqrt(log2 n), 6 times that on
 * "reference", 4.4 times on the QPUs. With `half` 2^-11 = 4.9e-4 of each value besides, and 2^-25 below 2^-14.
 */
PENSTOCK_API int penstock_fft_plan(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc,
                                   const char *device);

/* ---------------------------------------------------------------- windows --------------------- */

/*
 * Fill n factors of a window by name: "rectangular", "hann", "hamming", "blackman", "blackman-harris",
 * "nuttall", "flat-top", "bartlett", "kaiser:BETA", "gaussian:SIGMA". Periodic (DFT-even) form, as
 * spectrum analysis wants it; n >= 1, where n = 1 gives 1. SIGMA is the standard deviation in half lengths (n/2).
 * Formulas: F. Harris, Proc. IEEE 66(1), 1978; A. Nuttall, IEEE Trans. ASSP 29(1), 1981.
 */
PENSTOCK_API int penstock_window_fill(float *window, size_t n, const char *name);

#ifdef __cplusplus
}
#endif

#endif
