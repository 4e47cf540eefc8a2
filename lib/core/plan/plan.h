/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans as the operators see them. */
#ifndef PENSTOCK_CORE_PLAN_H
#define PENSTOCK_CORE_PLAN_H

#include "core/plan/executor.h"

/* What a device text asked for. */
enum penstock_preference { PENSTOCK_DEVICE_AUTO, PENSTOCK_DEVICE_NAMED, PENSTOCK_DEVICE_PREFERRED };

/* Where a maker of plans begins: `*plan` is NULL then. An error that begins with `kind` where one of the two is NULL.
 */
int penstock__plan_begin(penstock_plan **plan, const penstock_context *context, const char *kind);

/*
 * Plan `problem` (copied, the window too) on the device that `device` names: choice by measurement for "auto",
 * self-check, ladder of variants. `slots` 0 means 3. With "prefer:" and "auto" a failure of the device, now or in
 * a later run, moves the plan to the CPU with one log line, and the batch is done again there. `cpu_while_compiling`:
 * then the CPU also serves, from the start, until kernels that take long to compile are there; who asks for that must
 * bear that the plan's device changes with any batch.
 */
int penstock__plan_new(penstock_plan **plan, penstock_context *context, const struct penstock_problem *problem,
                       const char *device, unsigned slots, bool cpu_while_compiling);

/* The same for what penstock__make() makes: with "prefer:" a failure now is an error, and one in a later run is not. */
int penstock__plan_new_there(penstock_plan **plan, penstock_context *context, const struct penstock_problem *problem,
                             const char *device, unsigned slots);

/* As penstock_plan_submit(), of a folded plan: `turn` is the first frame's. */
int penstock__plan_submit_turned(penstock_plan *plan, const void *in, size_t turn, void *out, size_t frames,
                                 uint64_t *ticket);

/* As penstock_plan_enqueue(), likewise. */
int penstock__plan_enqueue_turned(penstock_plan *plan, const penstock_buffer *in, size_t turn, penstock_buffer *out,
                                  size_t frames, penstock_queue *queue);

/* Gathered plans: `sample_count` samples at `in`, one gather a frame. Waits. Other plans: penstock_plan_run(). */
int penstock__plan_run_gathered(penstock_plan *plan, const void *in, size_t sample_count,
                                const struct penstock_gather *gather, void *out, size_t frames);

/* Viterbi plans: `count` blocks of `sample_count` soft bits at `in`, all within them. Waits. */
int penstock__plan_run_blocks(penstock_plan *plan, const void *in, size_t sample_count,
                              const penstock_viterbi_block *blocks, void *out, size_t count);

/*
 * Single frames on the calling thread, where the plan's device works there, for operators that keep a frame in the
 * cache between their stages, or take them one after the other. `*bytes` of scratch memory, aligned to 64; false where
 * the device cannot do that, or the plan waits for another one.
 */
bool penstock__plan_runs_frames(const penstock_plan *plan, size_t *bytes);

/* As the backend's run_frames: the frames from `first` on of the `average` that make an output. Nothing needs to be
 * aligned but `scratch`; threads may call it at once. */
void penstock__plan_run_frames(const penstock_plan *plan, const void *in, size_t first, size_t count, void *out,
                               void *scratch);

/* Around such frames of a plan that is run in no other way: as penstock__serve() and penstock__served(). */
void penstock__plan_serve(penstock_plan *plan);
void penstock__plan_served(penstock_plan *plan, size_t frames);

/* Both for gathered plans: as the backend's run_gathered. */
bool penstock__plan_runs_gathered(const penstock_plan *plan, size_t *bytes);
void penstock__plan_run_gathered_here(const penstock_plan *plan, const void *in, size_t samples,
                                      const struct penstock_gather *gather, size_t count, void *out, void *scratch);

/* What a thread makes for it. `plan` may be NULL. */
void penstock__plan_cancel(penstock_plan *plan);

/* As penstock_plan_free(), and waits for all that it has to wait for. */
void penstock__plan_free(penstock_plan *plan);

const struct penstock_problem *penstock__plan_problem(const penstock_plan *plan);

/* The device's part, which changes when the CPU takes over. */
struct penstock__executor *penstock__plan_executor(const penstock_plan *plan);

/* The same, after the CPU has handed over to what it stood in for, if that is ready. */
struct penstock__executor *penstock__plan_executor_now(penstock_plan *plan);

/* Whether a batch costs no more than its work: the device is a processor that works on the caller's memory. */
bool penstock__plan_is_direct(const penstock_plan *plan);

/* As penstock__executor_has_clock(); and what batches from now on cost by that clock is added to `*times`, which
 * outlives them. */
bool penstock__plan_has_clock(const penstock_plan *plan);
void penstock__plan_set_event_times(penstock_plan *plan, struct penstock__event_times *event_times);

/* Batches that the CPU did because the device failed. */
uint64_t penstock__plan_fallbacks(const penstock_plan *plan);

/* Batches that it did because the device was not ready yet. */
uint64_t penstock__plan_cpu_while_compiling(const penstock_plan *plan);

#endif
