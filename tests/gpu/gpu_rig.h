/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Drives a GPU backend by its contract, without the core's plans in between: every variant by number, buffers
 * with guard words behind them, the error against double precision.
 */
#ifndef PENSTOCK_TEST_GPU_RIG_H
#define PENSTOCK_TEST_GPU_RIG_H

#include "core/check/expected.h"
#include "core/device/devices.h"
#include "test.h"

#define GUARD_BYTES 256
#define GUARD_BYTE  0xa5

struct rig {
    penstock_context *context;
    struct penstock_device *device;
    const struct penstock_backend *backend;
};

/* Opens `device` ("opencl", "cuda:1") and prints what it is. 77 with the reason printed where there is none, else 0. */
int rig_open(struct rig *rig, const char *device, const penstock_context_desc *desc);

/* The device that a test's command line names, "opencl" by itself. */
const char *rig_device(int count, char **arguments);
void rig_close(struct rig *rig);

/* A test's end: closes, checks that rig_check() ran `least` cases or more, and tells how many and their worst error. */
int rig_finish(struct rig *rig, unsigned least);

/* A window of up to 2^14 factors between 0.2 and 1, the same in every run; rig_open() fills it. */
extern float rig_window[1 << 14];

/* A problem from its transform: sizes and defaults filled in. */
struct penstock_problem rig_problem(struct penstock_fft_problem fft);

/*
 * Plans variant `variant`, runs batches around the size of a work-group (1, W - 1, W, W + 1 transforms) and checks the
 * relative L2 error against double precision (decibels as powers) and that nothing was written behind the output.
 * `what` stands in messages. A variant that does not exist is left out. Lengths over rig_max_n() are left out.
 */
void rig_check(struct rig *rig, struct penstock_fft_problem fft, unsigned variant, const char *what);

/* A slot with its buffers, for batches without checks; true where all calls succeeded. */
struct rig_batch {
    struct rig *rig;
    struct penstock_slot slot;
    struct penstock_buffer in, out;
};

bool rig_batch_open(struct rig_batch *batch, struct rig *rig, size_t in_bytes, size_t out_bytes);
bool rig_batch_run(struct rig_batch *batch, struct penstock_plan_state *plan, const void *in, void *out, size_t frames);
void rig_batch_close(struct rig_batch *batch);

/* PENSTOCK_TEST_MOST, where it is set. PoCL's method "repl" copies the kernel for each work-item: long transforms take
 * it minutes to compile, unless PoCL or the driver for tests keeps work-groups small. */
size_t rig_max_n(void);

/*
 * Whether a case is run, of those that a test asks about: where a compiler of CPUs is behind the device, which takes a
 * second for a kernel, one of each `every` (test_drawn()); else each.
 */
bool rig_draws(const struct rig *rig, unsigned every);

/* Cases that ran, and the largest error so far over what is allowed: 1.0e-7 sqrt(log2 n) for complex output, twice that
 * for power, and the rounding of a decibel besides; 2^-11 more for halfs. */
extern unsigned rig_cases;
extern double rig_worst;

#endif
