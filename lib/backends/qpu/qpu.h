/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The QPUs of a Raspberry Pi 0 to 3 as two backends with one set of functions: `qpu`, the board's, and `qpu:emulator`,
 * which executes the same programs instruction by instruction. Transforms run on the QPUs, with conversion, window and
 * guard-interval skip where the kernels have them; the other stages, on the CPU. Filters of whole blocks too: forward
 * transform, product and reverse transform without a way to the host.
 */
#ifndef PENSTOCK_BACKENDS_QPU_H
#define PENSTOCK_BACKENDS_QPU_H

#include "backends/backend.h"
#include "fft/fft.h"
#include "host/device.h"
#include "host/emulated.h"

#include <pthread.h>

/* Where the QPUs of device `qpu` are; tests put an emulated board in its place. */
extern struct qpu_platform (*penstock__qpu_platform)(void);

struct qpu_state {
    struct qpu_device *device;
    pthread_mutex_t lock;              /* of the device and of every plan's memory */
    struct qpu_emulated_report report; /* of `qpu:emulator`; zeros on a board */
};

struct qpu_plan {
    struct qpu_fft_plan *transforms;
    struct qpu_memory memory; /* programs, tables, and room for a batch of input and output */
    size_t batch;
    struct qpu_fft_plan *reverse; /* of a filter: multiplies by `response`; its block lies at `reverse_at` */
    size_t reverse_at;
    penstock_cf32 *response;
    bool loads;             /* the kernels take the samples as they are */
    penstock_cf32 *frame;   /* one transform, between the stages and the GPU's memory */
    penstock_cf32 *factors; /* window and shift, or NULL */
    uint64_t instructions, critical_path;
    double *sums;                     /* powers, for the mean over frames, or NULL */
    struct penstock_fft_problem rows; /* of overlapped transforms, that of a row, */
    penstock_cf32 *kept;              /* and rows that sums are made of; else NULL */
};

/* Whether the kernels load samples of that format. */
bool penstock__qpu_format(enum qpu_fft_format *format, penstock_format from);

int penstock__qpu_supports(const struct penstock_device *device, const struct penstock_problem *problem);
/* `bus` is where the plan's block is. */
int penstock__qpu_launch(struct qpu_plan *p, struct qpu_state *state, const struct qpu_fft_plan *transforms,
                         uint32_t bus);

/* filter.c: problems of kind FILTER, with the device's lock held. */
int penstock__qpu_filter_init(struct qpu_plan *p, struct qpu_device *device, const struct penstock_problem *problem);
void penstock__qpu_filter_free(struct qpu_plan *p);
int penstock__qpu_filter_run(const struct penstock_plan_state *plan, const struct penstock_job *job, size_t first,
                             size_t count);

/* overlap.c: sums over rows that are transformed, with the device's lock held. */
int penstock__qpu_overlap_init(struct qpu_plan *p, const struct penstock_fft_problem *fft);
int penstock__qpu_overlap_run(const struct penstock_plan_state *plan, const struct penstock_job *job);

/* transform.c: frames `first` .. `first + count` - 1 of a job's samples, count <= batch, through the stages of `fft`.
 */
int penstock__qpu_transform(const struct penstock_plan_state *plan, const struct penstock_fft_problem *fft,
                            const struct penstock_job *job, size_t first, size_t count, void *to);

int penstock__qpu_plan_init(struct penstock_plan_state *plan, unsigned variant);
void penstock__qpu_plan_free(struct penstock_plan_state *plan);
void penstock__qpu_work(const struct penstock_plan_state *plan, uint64_t *instructions, uint64_t *critical_path);
int penstock__qpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);

/* The stages on the CPU. load fills p->frame from the frame that starts at sample `first`; store takes it from there,
 * as number `k` of those that are averaged. */
int penstock__qpu_stages_init(struct qpu_plan *p, const struct penstock_fft_problem *fft);
void penstock__qpu_stages_free(struct qpu_plan *p);
void penstock__qpu_load(const struct qpu_plan *p, const struct penstock_fft_problem *fft,
                        const struct penstock_job *job, size_t frame);
void penstock__qpu_store(const struct qpu_plan *p, const struct penstock_fft_problem *fft, void *out, unsigned k);

#endif
