/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An NVIDIA GPU for peers: memory, kernels from source, and the clock, by libraries opened at run time. */
#ifndef PENSTOCK_APPS_CUDA_MACHINE_H
#define PENSTOCK_APPS_CUDA_MACHINE_H

#include "shared/command.h"

#include <stddef.h>

typedef unsigned long long cuda_memory;

struct cuda_machine;

/* Names of the driver and of NVRTC, the newest first, for library_load(). */
extern const char *const cuda_driver_names[], *const cuda_compiler_names[];

/* The index of "cuda:INDEX"; 0 of "cuda". */
int cuda_machine_index(const char *device);

/* The device "cuda" or "cuda:INDEX". NULL, having told why. Its context is current in this thread until it is freed. */
struct cuda_machine *cuda_machine_new(const char *device);
void cuda_machine_free(struct cuda_machine *machine);

/* Memory that lives as long as the machine; 0, having told why. */
cuda_memory cuda_machine_alloc(struct cuda_machine *machine, size_t bytes);

/* `block_bytes` from the host, repeated until there are `bytes`; functions below return exit codes. */
int cuda_machine_fill(struct cuda_machine *machine, cuda_memory to, const void *block, size_t block_bytes,
                      size_t bytes);
int cuda_machine_read(struct cuda_machine *machine, void *to, cuda_memory from, size_t bytes);

/* The kernels that are launched from now on. */
int cuda_machine_compile(struct cuda_machine *machine, const char *source);
int cuda_machine_launch(struct cuda_machine *machine, const char *kernel, size_t groups, unsigned group,
                        void **arguments);

/* Seconds that one of `repeats` calls of `launch` takes on the device, all of them launched before the first is over.
 */
int cuda_machine_time(struct cuda_machine *machine, int (*launch)(void *state), void *state, unsigned repeats,
                      double *seconds);

#endif
