/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Sources, names and messages of compiled kernels, and what tells one driver from another. */
#include "gpu/kernel.h"
#include "gpu/prologue.h"
#include "gpu/source.h"
#include "gpu/transpose.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The transform's files; `ptx`: with points.h. */
static int add_files(struct gpu_text *text, const penstock_context *context, const struct gpu_launch_config *config,
                     bool ptx)
{
    const char *const names[] = {"portability.h",
                                 "load.h",
                                 "store.h",
                                 "numbers.h",
                                 "dft.h",
                                 "stages.h",
                                 "fold.h",
                                 config->swizzled ? "swizzle.h" : "",
                                 "real.h",
                                 "convolve.h",
                                 ptx ? "points.h" : "fft.cl",
                                 ptx ? "fft.cl" : NULL,
                                 NULL};
    return penstock__gpu_source_files(text, context, names);
}

int penstock__gpu_kernel_source(struct gpu_text *text, const penstock_context *context,
                                const struct gpu_decomposition *decomposition, unsigned index,
                                const struct gpu_table *table, const struct penstock_fft_problem *fft)
{
    if (decomposition->method == GPU_TRANSPOSE)
        return penstock__gpu_transpose_source(text, context, decomposition, table, fft);
    const bool ptx = penstock__gpu_in_ptx(decomposition, index);
    penstock__gpu_prologue(text, decomposition, index, table, fft, ptx);
    return add_files(text, context, &decomposition->pass[index].config, ptx);
}

void penstock__gpu_cache_name(char name[64], const char *backend, const char *source, const char *options,
                              const char *identity)
{
    struct gpu_hash hash = penstock__hash_start();
    char digits[33];
    penstock__hash_add(&hash, source);
    penstock__hash_add(&hash, options);
    penstock__hash_add(&hash, identity);
    penstock__hash_print(&hash, digits);
    snprintf(name, 64, "%s-%s", backend, digits);
}

void penstock__gpu_first_message(char line[200], const char *log)
{
    const char *start = strstr(log, "error");
    while (start && start > log && start[-1] != '\n')
        start--;
    if (!start)
        start = log + strspn(log, "\r\n ");
    snprintf(line, 200, "%.*s", (int)strcspn(start, "\r\n"), start);
}

void penstock__gpu_sum_file(uint64_t *sum, const char *path)
{
    struct gpu_hash hash = penstock__hash_start();
    struct stat status;
    char text[PATH_MAX + 64];
    if (stat(path, &status))
        return;
    snprintf(text, sizeof text, "%s %lld %lld %ld", path, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
             status.st_mtim.tv_nsec);
    penstock__hash_add(&hash, text);
    *sum += hash.low;
}
