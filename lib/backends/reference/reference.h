/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The reference backend: liquid-dsp's FFT, and stages written to be read, not to be fast. Other backends are
 * compared with it, since it shares nothing with them but the contract.
 */
#ifndef PENSTOCK_REFERENCE_H
#define PENSTOCK_REFERENCE_H

#include "backends/backend.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <pthread.h>

/* liquid's plan works on the arrays that it was made with, so a plan runs one batch at a time. */
struct reference_plan {
    const struct penstock_fft_problem *fft;
    fftplan fft_plan;                  /* of a frame; where it is a plane, of a row, or NULL */
    fftplan column_plan;               /* of a plane, else NULL */
    float complex *in, *out;           /* n values each */
    float complex *line_in, *line_out; /* of a plane */
    double *sums;                      /* n powers, for the mean over frames */
    float *floats;                     /* one output, where it leaves as halfs */
    pthread_mutex_t lock;
};

/* An error where liquid-dsp takes minutes for a length. */
int penstock__reference_supports(const struct penstock_fft_problem *fft);

int penstock__reference_plan_init(struct penstock_plan_state *plan, unsigned variant);
void penstock__reference_plan_free(struct penstock_plan_state *plan);
int penstock__reference_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                const struct penstock_job *job);

/* Blocks of convolutional codes, one after the other. */
int penstock__reference_ldpc_init(struct penstock_plan_state *plan, unsigned variant);
int penstock__reference_ldpc_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job);
int penstock__reference_resample_init(struct penstock_plan_state *plan, unsigned variant);
int penstock__reference_resample_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job);
int penstock__reference_viterbi_init(struct penstock_plan_state *plan, unsigned variant);
int penstock__reference_viterbi_enqueue(struct penstock_plan_state *plan, const struct penstock_job *job);

#endif
