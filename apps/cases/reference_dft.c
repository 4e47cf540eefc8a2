/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The sum as it stands in the textbook. */
#include "reference_dft.h"

#include <math.h>
#include <stdlib.h>

bool reference_dft_init(struct reference_dft *dft, size_t n)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    dft->n = n;
    dft->roots = malloc(2 * n * sizeof *dft->roots);
    for (size_t j = 0; dft->roots && j < n; j++) {
        long double angle = turn * (long double)j / (long double)n;
        dft->roots[2 * j] = (double)cosl(angle);
        dft->roots[2 * j + 1] = (double)-sinl(angle);
    }
    return dft->roots != NULL;
}

void reference_dft_free(struct reference_dft *dft)
{
    free(dft->roots);
    dft->roots = NULL;
}

void reference_dft_bin(const struct reference_dft *dft, const double *in, bool reverse, size_t bin, double out[2])
{
    double re = 0, im = 0;
    for (size_t j = 0, root = 0; j < dft->n; j++) {
        double cosine = dft->roots[2 * root], sine = reverse ? -dft->roots[2 * root + 1] : dft->roots[2 * root + 1];
        re += in[2 * j] * cosine - in[2 * j + 1] * sine;
        im += in[2 * j] * sine + in[2 * j + 1] * cosine;
        root += bin; /* j * bin modulo n */
        if (root >= dft->n)
            root -= dft->n;
    }
    out[0] = re;
    out[1] = im;
}
