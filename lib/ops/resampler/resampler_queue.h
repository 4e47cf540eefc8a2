/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A resampler's samples in memory that a device reaches, and its outputs by that device: batches in a ring, of which
 * each begins with what its first output's taps reach of the batch before. Where the device fails and was only
 * preferred, the CPU makes the batches that were on their way, and those that come. The resampler counts samples and
 * times; its own `line` is not there.
 */
#ifndef PENSTOCK_OPS_RESAMPLER_QUEUE_H
#define PENSTOCK_OPS_RESAMPLER_QUEUE_H

#include "core/plan/executor.h"
#include "core/stream/meter.h"
#include "core/stream/ring.h"
#include "ops/resampler/resampler_engine.h"

/* What a batch was made with, once it is sent. */
struct resampler_batch {
    struct resampler_arms *arms; /* a reference; NULL: it is not sent */
    struct resampler_ratio ratio;
    struct resampler_clock clock;
    size_t at; /* place and part of the first output, */
    uint64_t part;
    uint64_t sample; /* number of the sample that it stands at or behind */
    struct penstock_resample_start *starts;
    struct penstock_resample_tables tables;
};

/* The taps of a batch as a device wants them. */
struct resampler_head {
    struct penstock_resample_head *values;
    size_t bytes, room;
    uint64_t id;                 /* no other content has it */
    struct resampler_arms *arms; /* a reference */
    struct resampler_clock clock;
};

struct resampler_queue {
    struct resampler *resampler;
    struct penstock__meter *meter;
    struct penstock_problem problem;
    struct penstock__executor *executor; /* NULL: the CPU */
    bool preferred;                      /* the CPU goes on when the device fails */
    struct penstock__ring ring;
    struct resampler_batch batches[PENSTOCK__RING_MOST];
    struct resampler_head head;
    float *scratch;  /* a batch's samples as floats, made when the CPU needs it */
    size_t capacity; /* outputs of a batch */
    double max_latency_s;
    bool flushing;           /* what is complete is sent */
    uint64_t flush_to, sent; /* outputs: that a flush asked for, and that were sent */
    uint64_t fallbacks;
    struct penstock__failure failure;
};

/* `resampler` is apart, and lives as long as the queue. PENSTOCK_ERR_UNSUPPORTED where the device does not resample.
 * After an error too, the queue is to be freed. */
int penstock__resampler_queue_init(struct resampler_queue *queue, struct resampler *resampler,
                                   struct penstock__meter *meter, struct penstock_device *device, bool preferred,
                                   double least_ratio);
void penstock__resampler_queue_free(struct resampler_queue *queue);

/* Back to the first sample, with the resampler. */
void penstock__resampler_queue_reset(struct resampler_queue *queue);

/* "cuda:0" */
const char *penstock__resampler_queue_device(const struct resampler_queue *queue);

/* Where samples go, and for how many there is room; `count` were written there. */
int penstock__resampler_queue_room(struct resampler_queue *queue, void **to, size_t *room);
int penstock__resampler_queue_commit(struct resampler_queue *queue, size_t count);

/* What is complete is to be ready; the same for the end, which the resampler knows. */
int penstock__resampler_queue_flush(struct resampler_queue *queue);

/* Outputs in order; `count` of them were read. */
int penstock__resampler_queue_ready(struct resampler_queue *queue, bool wait, const void **from, size_t *count);
void penstock__resampler_queue_release(struct resampler_queue *queue, size_t count);

double penstock__resampler_queue_due_s(const struct resampler_queue *queue);

/* ---- resampler_batch.c */

/* Where the output stands that is read `further` outputs from now, all of one batch: the sample at or before it, its
 * part, and what it was made with, or will be. */
struct resampler_batch penstock__resampler_queue_next(const struct resampler_queue *queue, size_t further);

/* Plans the filling batch's outputs, as many as there are and have room; how many. The resampler stays as it is but for
 * its changes; `*at` and `*part` are where it goes on. */
size_t penstock__resampler_batch_plan(struct resampler_queue *queue, struct resampler_batch *batch, size_t *at,
                                      uint64_t *part);

/* Taps for a planned batch, in the queue's head; no batch may be on its way unless it holds them. */
bool penstock__resampler_batch_holds(const struct resampler_queue *queue, const struct resampler_batch *batch);
int penstock__resampler_batch_head(struct resampler_queue *queue, const struct resampler_batch *batch);

/* Makes a planned batch's outputs here. */
int penstock__resampler_batch_make(struct resampler_queue *queue, const struct resampler_batch *batch, const void *in,
                                   void *out, size_t outputs);

#endif
