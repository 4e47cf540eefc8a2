/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL device for peers: memory and the clock, by the loader opened at run time. */
#ifndef PENSTOCK_APPS_OPENCL_MACHINE_H
#define PENSTOCK_APPS_OPENCL_MACHINE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "library.h"
#include "shared/command.h"

#include <stddef.h>

struct opencl_machine {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem in, out;
    cl_event stamps[2];
};

/* The device "opencl" or "opencl:INDEX", as the library counts them, with memories for input and output: the first
 * filled with `block_bytes` from `block`, repeated. False, having told why. To be freed in both cases. */
bool opencl_machine_open(struct opencl_machine *machine, const char *device, size_t in_bytes, size_t out_bytes,
                         const void *block, size_t block_bytes);
void opencl_machine_close(struct opencl_machine *machine);

/* Functions of the loader into a table. False, having told which one is missing. */
bool opencl_machine_functions(const struct library_function *functions, void *table);

/* Tells that `what` failed with `code` unless that is 0; returns an exit code, as those below. */
int opencl_machine_check(const char *what, int code);

int opencl_machine_read(struct opencl_machine *machine, void *to, size_t bytes);

/* Seconds that one of `repeats` calls of `enqueue` takes on the device, all of them enqueued before the first is over.
 */
int opencl_machine_time(struct opencl_machine *machine, int (*enqueue)(void *state), void *state, unsigned repeats,
                        double *seconds);

#endif
