/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the CUDA driver for tests share. */
#ifndef PENSTOCK_TEST_CUDA_SHIM_H
#define PENSTOCK_TEST_CUDA_SHIM_H

#include "backends/cuda/driver_api.h"
#include "driver_shim.h"

#include <stdbool.h>

#define PROTOTYPE(name, symbol, parameters) SHIM_EXPORT CUresult symbol parameters;
CUDA_FUNCTIONS(PROTOTYPE)
NVRTC_FUNCTIONS(PROTOTYPE)
SHIM_EXPORT const char *nvrtcGetErrorString(nvrtcResult code);
SHIM_EXPORT nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program, int (*callback)(void *payload, void *reserved),
                                             void *payload);

enum {
    SHIM_OUT_OF_MEMORY = 2,
    SHIM_INVALID_IMAGE = 200,
    SHIM_LAUNCH_FAILED = 719,
};

/* What may take its time, as PENSTOCK_SHIM_TAKES says in milliseconds, "compile=150 load=30 context=150 alloc=1
 * free=5": the driver's with its lock held, for which all of these wait. */
void shim_takes(const char *step);
double shim_ms(const char *step); /* 0: none */
void shim_sleep(double ms);

/* Whether this is the call that is to fail. */
bool shim_fails(void);

/* An object more or fewer. */
void shim_count(int change);

/* Remembers the first rule that does not hold. */
void shim_rule(bool holds, const char *rule);

/* A context is current in this thread. */
void shim_needs_context(void);

/* The GPU whose context that is. */
int shim_current(void);

/* Whether it was lost. */
bool shim_is_lost(int gpu);

/* The memory of an asynchronous copy is page-locked, and for that GPU. */
void shim_needs_pinned(const char *memory, size_t bytes, int gpu);

/* The memory is that GPU's. */
void shim_needs_own(const void *memory, int gpu);

/* A launch, or a copy between the host and the GPU. */
void shim_note_launch(int gpu);
void shim_note_copy(int gpu);

/* Enough of the source's constants to do a plain transform and to check its launch. */
struct shim_kernel {
    unsigned n, per_group, group_x, group_y, local_floats;
    unsigned blocks; /* work-groups of one row, where it has columns */
    bool reverse, plain;
    double scale, milliseconds;
    int shared_limit;
    int gpu;     /* it was loaded into the context of */
    bool copies; /* kernels/copy.cl, and nothing of the above */
};

struct shim_launch {
    struct shim_kernel kernel;
    const float *in;
    float *out;
    int rows;
};

void shim_transform(const struct shim_launch *launch);

/* To the end of the stream. */
CUresult shim_enqueue_launch(CUstream stream, const struct shim_launch *launch);

#endif
