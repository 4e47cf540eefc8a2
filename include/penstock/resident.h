/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A plan's work with its samples on the device already: what the device's kernels cost by the device's own clock,
 * without the way there and back. For measurements; devices that compute in the host's memory have no such work.
 */
#ifndef PENSTOCK_RESIDENT_H
#define PENSTOCK_RESIDENT_H

#include <penstock/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_resident penstock_resident;

/*
 * Memory on the plan's device for `frames` frames (a multiple of the plan's average). The input is `in_bytes` bytes of
 * samples at `in`, a multiple of 16, repeated as often as they must be. The plan must outlive the object and may be
 * used meanwhile. PENSTOCK_ERR_UNSUPPORTED on a device that has no clock or shares the host's memory, and for planar
 * samples; PENSTOCK_ERR_DEVICE where its memory does not suffice.
 */
PENSTOCK_API int penstock_resident_new(penstock_resident **resident, const penstock_plan *plan, const void *in,
                                       size_t in_bytes, size_t frames);

/* The work `repeats` times, one after the other; *seconds: of one, by the device's clock. Waits. */
PENSTOCK_API int penstock_resident_run(penstock_resident *resident, unsigned repeats, double *seconds);

/*
 * Copies the input's bytes over the output's place, by the device's own copy or by the library's kernel, `*bytes` being
 * how many. What penstock_resident_read() gives is undefined until the next run.
 */
PENSTOCK_API int penstock_resident_copy(penstock_resident *resident, bool by_kernel, size_t *bytes, double *seconds);

/*
 * What the bus takes for the work's samples to the device and its output back, both at once, in pieces from and to
 * page-locked memory where the device has such; by the host's clock. The output's place is as after a copy.
 */
PENSTOCK_API int penstock_resident_transfer(penstock_resident *resident, double *seconds);

/* The first bytes of the output. */
PENSTOCK_API int penstock_resident_read(penstock_resident *resident, void *out, size_t bytes);

/* Bytes that the work must move: of all samples once, and of all output. */
PENSTOCK_API size_t penstock_resident_bytes(const penstock_resident *resident);
PENSTOCK_API void penstock_resident_free(penstock_resident *resident);

#ifdef __cplusplus
}
#endif

#endif
