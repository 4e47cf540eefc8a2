/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The cpu backend: its device is the machine's own processor, its buffers are ordinary memory. */
#ifndef PENSTOCK_CPU_H
#define PENSTOCK_CPU_H

#include "backends/backend.h"
#include "backends/cpu/load.h"
#include "backends/cpu/store.h"
#include "backends/cpu/transform.h"

extern const struct penstock_backend penstock__cpu_backend;

/* A slot's scratch memory grows with the plans that use it. */
struct cpu_slot {
    struct penstock_host_slot host; /* first */
    void *scratch;
    size_t scratch_bytes;
};

struct cpu_plan {
    const struct penstock_fft_problem *fft;
    struct cpu_load load;
    struct cpu_transform transform;
    struct cpu_store store;
    bool adds_power; /* the transform does, in place of the store stage */
    size_t chunk;    /* outputs that a thread does at a time */
    size_t together; /* frames that go through the stages at a time */

    /* Scratch memory of one thread: bytes from a frame to the next one, offsets in bytes, and the whole. */
    size_t frame_step, values_at, sums_at, transform_at, floats_at, scratch_bytes;
};

/* At least so many bytes of scratch memory; what they held is lost. */
int penstock__cpu_grow_scratch(struct cpu_slot *slot, size_t bytes);

int penstock__cpu_plan_init(struct penstock_plan_state *plan, unsigned variant);
void penstock__cpu_plan_free(struct penstock_plan_state *plan);
int penstock__cpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);
void penstock__cpu_run_frames(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count,
                              void *out, void *scratch);
/* Transforms and their stages, of a plan or of a part of one; `fft` lives as long. */
int penstock__cpu_rows_init(struct cpu_plan *p, const struct penstock_fft_problem *fft, unsigned variant);
void penstock__cpu_rows_free(struct cpu_plan *p);

/* `count` transforms of a plan without means, each `out_step` bytes behind the one before; `scratch` is a thread's. */
void penstock__cpu_run_rows(const struct cpu_plan *plan, const void *in, size_t count, void *out, size_t out_step,
                            void *scratch);
void penstock__cpu_run_gathered(const struct penstock_plan_state *plan, const void *in, size_t samples,
                                const struct penstock_gather *gather, size_t count, void *out, void *scratch);

#endif
