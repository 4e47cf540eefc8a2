/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Complex transforms of powers of two by the processor's vectors, W values each: the tables, and the order of values.
 *
 * Vector v holds samples v W .. v W + W - 1. n / W-point transforms in radices 8 and 4 run down the lanes, then W-point
 * ones across them (J. Cooley, J. Tukey 1965; decimation in frequency). The first ones leave their bins in the order of
 * reversed digits, a vector each; W vectors are then transposed, so that the transforms across run down the lanes, too.
 * vector_passes.h has the arithmetic; which vectors meet in the middle, and where bins go, is up to who includes it.
 */
#ifndef PENSTOCK_VECTOR_FFT_H
#define PENSTOCK_VECTOR_FFT_H

#include "backends/backend.h"

#define VECTOR_FFT_SHORTEST 256
#define VECTOR_FFT_LONGEST  ((size_t)1 << 23)
#define VECTOR_FFT_PASSES   8

/* Of n / W-point transforms, from the longest span to the shortest. */
struct vector_pass {
    unsigned radix;     /* 8 or 4 */
    size_t span;        /* vectors from one leg to the next */
    const float *roots; /* radix - 1 complex ones for each of `span`; NULL in the last pass: all one */
};

/* The order of the factors between the two transforms: of the first one's bins, or of the places where they lie. */
enum vector_order { VECTOR_BY_BIN, VECTOR_BY_PLACE };

/* Arrays are aligned to 64 bytes. */
struct vector_fft {
    size_t n, width, vectors; /* n = W vectors */
    struct vector_pass passes[VECTOR_FFT_PASSES];
    size_t pass_count;
    float *roots;  /* of the passes */
    float *middle; /* the factors between the two transforms, for each vector: W real parts, then W imaginary ones */
    float *coarse; /* of long transforms, else NULL: `middle` has W vectors' factors, this one those of every W-th one;
                      vector v's are the products of their (v mod W)-th and (v / W)-th */
};

/* Whether n is a power of two between the two above. */
bool penstock__vector_fft_fits(size_t n);

/* Tables for a length that fits. After an error too, free is to be called. */
int penstock__vector_fft_init(struct vector_fft *fft, size_t n, size_t width, enum vector_order order);
void penstock__vector_fft_free(struct vector_fft *fft);

/* The bin of the first transform that lies at a place, the number of a vector. */
size_t penstock__vector_fft_bin(const struct vector_fft *fft, size_t place);

/* Loading de-interleaves a vector's samples as is cheap: a group of four lanes has two samples of the vector's first
 * half, then two of its second. Transposing leaves rows in the order of lanes. */
static inline size_t vector_sample_in(size_t lane, size_t width)
{
    return lane / 4 * 2 + lane % 2 + lane % 4 / 2 * (width / 2);
}

static inline size_t vector_lane_of(size_t sample, size_t width)
{
    return sample % (width / 2) / 2 * 4 + sample / (width / 2) * 2 + sample % 2;
}

/* The bin of the transform across that is left at a place: of 16 = 4 4, digits reversed; of 8, in order. The bin's
 * place is the same function of it. */
static inline size_t vector_bin_at(size_t place, size_t width)
{
    return width == 16 ? place / 4 + 4 * (place % 4) : place;
}

#endif
