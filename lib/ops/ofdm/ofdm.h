/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation as receivers see it, beyond penstock/ofdm.h. */
#ifndef PENSTOCK_OPS_OFDM_H
#define PENSTOCK_OPS_OFDM_H

#include "core/plan/problem.h"

#include <penstock/ofdm.h>

/* Whether the device's own kernel is used, if it has one: where it pays, in any case, or not; or, where it pays, by
 * who enqueues it (ofdm_listed.c), and not by batches from the host. */
enum ofdm_way { OFDM_WHERE_IT_PAYS, OFDM_ONE_KERNEL, OFDM_TRANSFORMS, OFDM_LISTED };

/* Of "auto": "prefer:" one of the devices that do the problem. */
typedef int penstock__ofdm_chooser(char device[64], penstock_context *context, const struct penstock_problem *problem);

/* penstock_ofdm_new() in one of these ways; its own is the first. `choose`: of one who knows what comes behind the soft
 * bits and has it timed, a symbol, with them; or NULL. */
int penstock__ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                       const char *device, enum ofdm_way way, penstock__ofdm_chooser *choose);

/*
 * Where the device is a processor that works on the calling thread (ofdm_here.c), a batch's parts need not wait for
 * each other: between two batches, penstock__ofdm_here() tells whether that is so now, and how much memory of its own,
 * aligned to 64, each thread needs. Then threads may demodulate at once, each its own symbols with its own memory and
 * `worker` < penstock__threads(): at most PENSTOCK__OFDM_HERE of one frame, batch->frames[0], whose samples are as the
 * description's format says, which is one that the device reads. Nothing is checked.
 */
#define PENSTOCK__OFDM_HERE 64

bool penstock__ofdm_here(penstock_ofdm *ofdm, size_t *bytes);
void penstock__ofdm_run_here(penstock_ofdm *ofdm, unsigned worker, void *memory, const penstock_ofdm_batch *batch,
                             const penstock_ofdm_result *result);

/* What a thread makes for it. `ofdm` may be NULL. */
void penstock__ofdm_cancel(penstock_ofdm *ofdm);

/* As penstock_ofdm_free(), and waits for all that it has to wait for. */
void penstock__ofdm_free(penstock_ofdm *ofdm);

/* Around all that its owner does by the processor's threads while a device is waited for, so that neither disturbs the
 * other: penstock_ofdm_run() does it by itself. */
void penstock__ofdm_serve(penstock_ofdm *ofdm);
void penstock__ofdm_served(penstock_ofdm *ofdm);

/* Batches that were demodulated so: for penstock__ofdm_cpu_while_compiling(). */
void penstock__ofdm_ran_here(penstock_ofdm *ofdm);

/*
 * A device may have batches on their way while others are made ready: penstock__ofdm_chunk() is how many symbols such a
 * batch has at most, or 0. Soft bits and points go to `made`, memory that the device reaches, with room for `complete`
 * output of problem_ofdm.h, of which they are the first parts. `slot` < penstock__ofdm_slots() is idle, and busy until
 * the wait; all that `batch` points to stays as it is so long. `frames_id`, if not 0: the batch has as many frames as
 * others with that number, alike but for offset and origin. *started: false where it must go through
 * penstock_ofdm_run(), for which all slots must be idle. After an error of either, all slots waited for,
 * penstock__ofdm_give_up() and penstock_ofdm_run() do it. Nothing is checked.
 */
size_t penstock__ofdm_chunk(const penstock_ofdm *ofdm);
unsigned penstock__ofdm_slots(const penstock_ofdm *ofdm); /* 1 before the first batch */
int penstock__ofdm_start(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, uint64_t frames_id, char *made,
                         unsigned slot, bool *started);
int penstock__ofdm_wait(penstock_ofdm *ofdm, unsigned slot);
void penstock__ofdm_give_up(penstock_ofdm *ofdm);

/*
 * Symbols of many frames in one kernel on the device, by whoever puts work into a queue of it: NULL where the way is
 * another or the device has no such kernel. Its output is `complete`; the job's `gather` are descriptors, and its
 * `coefficients` a row of so many pairs for each frame. Nothing is checked.
 */
struct penstock__executor;
struct penstock__executor *penstock__ofdm_listed(penstock_ofdm *ofdm);

/* Whether a device may have such a kernel: that of a grid whose pilots are alike. */
bool penstock__ofdm_lists(const struct penstock_device *device);

/* A frame's row; false where a number does not fit. And descriptors of symbols, whose starts count from the first
 * sample of the job. May be called by several threads. */
bool penstock__ofdm_list_frame(const penstock_ofdm *ofdm, penstock_cf32 *row, const penstock_ofdm_frame *frame);
struct penstock_ofdm_descriptor;
void penstock__ofdm_list_symbols(const penstock_ofdm *ofdm, struct penstock_ofdm_descriptor *descriptors,
                                 const penstock_ofdm_symbol *symbols, size_t count, const penstock_ofdm_frame *frames);

/* Blocks that went through one kernel so far. */
uint64_t penstock__ofdm_fused_blocks(const penstock_ofdm *ofdm);

/* Batches that the CPU did because the device failed. */
uint64_t penstock__ofdm_fallbacks(const penstock_ofdm *ofdm);

/* Batches that it did because the device was not ready yet. */
uint64_t penstock__ofdm_cpu_while_compiling(const penstock_ofdm *ofdm);

/* As penstock__plan_has_clock() and penstock__plan_set_event_times(). */
struct penstock__event_times;
bool penstock__ofdm_has_clock(const penstock_ofdm *ofdm);
void penstock__ofdm_set_event_times(penstock_ofdm *ofdm, struct penstock__event_times *event_times);

#endif
