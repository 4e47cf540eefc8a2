/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * For benchmarks, and not part of penstock.h: what work costs with its samples on the device already, by the device's
 * own clock. The work is what an application enqueues (penstock_plan_enqueue(), penstock_filter_enqueue() and their
 * like), again and again, in memory and a queue that are wrapped as an application's (penstock_buffer_wrap(),
 * penstock_queue_wrap()). Devices that compute in the host's memory have no such work. On several devices ("cuda:*")
 * each does the same at once, by the host's clock; seconds are then those of all of it divided by their number.
 */
#ifndef PENSTOCK_BENCH_H
#define PENSTOCK_BENCH_H

#include <penstock/buffer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_bench penstock_bench;

/* Enqueues the work once, on whichever device of several the queue is. Returns what it was given. */
typedef int penstock_bench_work(void *user, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue);

typedef struct penstock_bench_desc {
    size_t size;
    const char *device; /* as for a buffer, or several */
    penstock_bench_work *work;
    void *user;                 /* for `work`; lives as long as the object */
    size_t in_bytes, out_bytes; /* that it reads and writes */
    const void *block;          /* samples that its input repeats, as often as they must be */
    size_t block_bytes;         /* a multiple of 16 */
} penstock_bench_desc;

#define PENSTOCK_BENCH_DESC(...) PENSTOCK_DESCRIPTION(penstock_bench_desc, __VA_ARGS__)

/* Makes buffers, and has the work done once. PENSTOCK_ERR_UNSUPPORTED on a device that has no clock or shares the
 * host's memory; PENSTOCK_ERR_DEVICE where its memory does not suffice. */
PENSTOCK_API int penstock_bench_new(penstock_bench **bench, penstock_context *context, const penstock_bench_desc *desc);

/* The work `repeats` times, 1 .. 2^20, one after the other; *seconds: of one, by the device's clock. Waits. */
PENSTOCK_API int penstock_bench_run(penstock_bench *bench, unsigned repeats, double *seconds);

/*
 * Copies the input's bytes over the output's place, by the device's own copy or by the library's kernel, `*bytes` being
 * how many. What penstock_bench_read() gives is undefined until the next run.
 */
PENSTOCK_API int penstock_bench_copy(penstock_bench *bench, bool by_kernel, size_t *bytes, double *seconds);

/*
 * What the bus takes for the work's samples to the device and its output back, both at once, in chunks from and to
 * page-locked memory where the device has such; by the host's clock. The output's place is as after a copy.
 */
PENSTOCK_API int penstock_bench_transfer(penstock_bench *bench, double *seconds);

/* The first bytes of the output. */
PENSTOCK_API int penstock_bench_read(penstock_bench *bench, void *out, size_t bytes);
PENSTOCK_API void penstock_bench_free(penstock_bench *bench);

#ifdef __cplusplus
}
#endif

#endif
