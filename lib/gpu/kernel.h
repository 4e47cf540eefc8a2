/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What happens around a kernel's compiler: its whole source, the name of its result in the cache, its messages. */
#ifndef PENSTOCK_GPU_KERNEL_H
#define PENSTOCK_GPU_KERNEL_H

#include "gpu/table.h"
#include "gpu/text.h"

/* Of pass `index`: generated constants, then the kernel's files. */
int penstock__gpu_kernel_source(struct gpu_text *text, const penstock_context *context,
                                const struct gpu_decomposition *decomposition, unsigned index,
                                const struct gpu_table *table, const struct penstock_fft_problem *fft);

/*
 * "opencl-" and a hash of all that the compiled kernel depends on: source, options, and `identity`, the versions of
 * device, driver and compiler: a driver's update that keeps the file format would otherwise run yesterday's code.
 */
void penstock__gpu_cache_name(char name[64], const char *backend, const char *source, const char *options,
                              const char *identity);

/* The first line of a compiler's messages that tells an error, or the first line at all. */
void penstock__gpu_first_message(char line[200], const char *log);

/* Adds to *sum what changes when the file does: its path, size and time. Nothing where there is none. A sum, as a
 * folder lists its files in any order. */
void penstock__gpu_sum_file(uint64_t *sum, const char *path);

#endif
