/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What plan.c, which lays out the block of memory, and jobs.c, which says what QPUs do with it, share. */
#ifndef PENSTOCK_QPU_FFT_PLAN_H
#define PENSTOCK_QPU_FFT_PLAN_H

#include "fft.h"
#include "geometry.h"
#include "program.h"
#include "tables.h"

enum qpu_fft__data { DATA_INPUT, DATA_OUTPUT, DATA_SCRATCH, DATA_COUNT };

/* Of a pass: bytes from the block's beginning. */
struct pass_place {
    uint32_t lane_offsets, inner, outer;
    enum qpu_fft__data from, to;
    uint32_t skip;                   /* bytes before the first transform's input */
    uint32_t from_stride, to_stride; /* from transform to transform */
};

struct qpu_fft_plan {
    struct qpu_fft_description what;
    struct qpu_fft__geometry geometry;
    enum qpu_fft__kind kind; /* of the input */
    uint32_t sample_bytes;
    float *weights; /* parts of them for each sample; NULL for plain points */
    unsigned parts;
    uint32_t constants, sequences, data[DATA_COUNT];
    uint64_t input_bytes;
    struct pass_place pass[PASSES];
    uint32_t lists[PASSES][QPU_FFT_QPUS];
    uint32_t bytes;
};

/* Addresses in a run. */
struct qpu_fft__places {
    uint32_t block, data[DATA_COUNT];
};

/* jobs.c */
unsigned qpu_fft__launch_count(const struct qpu_fft_plan *plan);
uint32_t qpu_fft__sequence_bytes(const struct qpu_fft_plan *plan);

/* A QPU's list for the first `count` transforms: its words; they are written unless `words` is NULL. */
uint32_t qpu_fft__list(const struct qpu_fft_plan *plan, uint32_t *words, const struct qpu_fft__places *places,
                       unsigned launch, unsigned qpu, uint32_t count);

#endif
