/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * How the vectors of a stream differ from what its plan takes and gives: in reverse with zero frequency in the middle
 * they are rotated on the way in; a real one goes through the real transform, of half the work, and the other half of
 * its bins is the mirror image, written on the way out.
 */
#ifndef PENSTOCK_OPS_FFT_LAYOUT_H
#define PENSTOCK_OPS_FFT_LAYOUT_H

#include <penstock/penstock.h>

struct penstock__fft_layout {
    penstock_context *context;
    size_t n, in_bytes; /* values of a vector; bytes of one value in */
    bool real, reverse;
    size_t rotation; /* the input's value at this index is the transform's first */
    size_t middle;   /* place of bin 0 in what a real vector gives */
    void *rotated;   /* of run(): vectors on their way into the plan, */
    void *halves;    /* and half spectra on their way out */
};

void penstock__fft_layout_init(struct penstock__fft_layout *layout, penstock_context *context,
                               const penstock_fft_stream_desc *desc);
void penstock__fft_layout_free(struct penstock__fft_layout *layout);

/* `n` values from `from` in the order in which the transform takes them. */
void penstock__fft_layout_rotate(const struct penstock__fft_layout *layout, void *to, const void *from,
                                 size_t value_bytes);

/* `count` vectors for the plan, and from what it gave. */
void penstock__fft_layout_in(const struct penstock__fft_layout *layout, void *to, const void *from, size_t count);
void penstock__fft_layout_out(const struct penstock__fft_layout *layout, penstock_cf32 *to, const void *from,
                              size_t count);

/* `count` vectors from `in` to `out` through a plan that works in the host's memory, without copies that are not
 * needed. */
int penstock__fft_layout_run(struct penstock__fft_layout *layout, penstock_plan *plan, const void *in, size_t count,
                             penstock_cf32 *out);

#endif
