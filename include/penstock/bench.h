/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * For benchmarks, and not part of penstock.h: what work costs with its samples on the device already, by the device's
 * own clock. The work is that of penstock_plan_enqueue(), again and again, in memory and a queue that are wrapped as an
 * application's (penstock_buffer_wrap(), penstock_queue_wrap()). Devices that compute in the host's memory have no such
 * work. Of several devices ("cuda:*") each does the same at once, by the host's clock; seconds are then those of all of
 * it divided by the number of devices.
 */
#ifndef PENSTOCK_BENCH_H
#define PENSTOCK_BENCH_H

#include <penstock/filter.h>
#include <penstock/ofdm.h>
#include <penstock/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_bench penstock_bench;

/*
 * Buffers on the plan's device for `frames` frames (a multiple of the plan's average). The input is `in_bytes` bytes of
 * samples at `in`, a multiple of 16, repeated as often as they must be. The plan must outlive the object and may be
 * used meanwhile. PENSTOCK_ERR_UNSUPPORTED on a device that has no clock or shares the host's memory, and for planar
 * samples; PENSTOCK_ERR_DEVICE where its memory does not suffice.
 */
PENSTOCK_API int penstock_bench_new(penstock_bench **bench, penstock_plan *plan, const void *in, size_t in_bytes,
                                    size_t frames);

/* The same of a filter: `blocks` blocks with the newest taps of channel 0. PENSTOCK_ERR_UNSUPPORTED where the device
 * has no kernel that does all of it: with interpolation, and for transforms of other lengths than powers of two from 16
 * to 8192. */
PENSTOCK_API int penstock_bench_new_filter(penstock_bench **bench, penstock_stream *filter, const void *in,
                                           size_t in_bytes, size_t blocks);

/* The same of demodulation to soft bits alone: `symbols` symbols of `frame` one after the other, without offset, phase
 * and slope. PENSTOCK_ERR_UNSUPPORTED where the device has no kernel that does it all. */
PENSTOCK_API int penstock_bench_new_ofdm(penstock_bench **bench, penstock_ofdm *ofdm, const void *in, size_t in_bytes,
                                         const penstock_ofdm_frame *frame, size_t symbols);

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

/* Bytes that the work must move: of all samples once, and of all output. */
PENSTOCK_API size_t penstock_bench_bytes(const penstock_bench *bench);
PENSTOCK_API void penstock_bench_free(penstock_bench *bench);

#ifdef __cplusplus
}
#endif

#endif
