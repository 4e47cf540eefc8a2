/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Runs the constants that lib/gpu generates for a plan, as kernels/fft.cl would, on the host in double precision: it
 * reads the text of the macros, so what is tested is what compilers get. It knows complex transforms and real ones of
 * packed samples, forward, without stages of load and store.
 */
#ifndef PENSTOCK_TEST_GPU_MODEL_H
#define PENSTOCK_TEST_GPU_MODEL_H

#include "gpu/decomposition.h"

struct gpu_model {
    unsigned loads_missed;  /* samples of the first pass that were not loaded exactly once */
    unsigned stores_missed; /* values of the last pass that were not stored exactly once */
    unsigned points_missed; /* the same, of what goes between passes */
    unsigned overruns;      /* accesses outside local memory */
    unsigned conflicts;     /* of an access by 32 neighbouring work-items: most of them on one bank of local memory */
};

/* `data`: decomposition->length pairs, replaced by their transform. With `values` false only addresses are followed. 0
 * or an error; text that the model does not understand is one too. */
int gpu_model_run(struct gpu_model *model, double *data, const struct gpu_decomposition *decomposition, bool values);

#endif
