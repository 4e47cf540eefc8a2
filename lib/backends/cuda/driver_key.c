/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A text that changes when the NVIDIA driver or NVRTC is installed, removed or updated, without loading any: sizes and
 * times of the linker's list of installed libraries and of what the environment names, and what the kernel's driver
 * says of itself.
 */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06 ..."; "" without the driver. */
static void kernel_driver(char *line, int capacity)
{
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (!file || !fgets(line, capacity, file))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
}

void penstock__cuda_driver_key(char *text, size_t capacity)
{
    const char *nvrtc = penstock__cuda_nvrtc_library(), *paths = getenv("LD_LIBRARY_PATH");
    uint64_t sum = 0;
    char line[256] = "";
    penstock__gpu_sum_file(&sum, "/etc/ld.so.cache");
    penstock__gpu_sum_file(&sum, "/usr/local/cuda");
    penstock__gpu_sum_file(&sum, penstock__cuda_library());
    if (nvrtc)
        penstock__gpu_sum_file(&sum, nvrtc);
    kernel_driver(line, sizeof line);
    /* Paths last: what there is no room for is cut off. */
    snprintf(text, capacity, "%016llx %s %s %s %s", (unsigned long long)sum, line, penstock__cuda_library(),
             nvrtc ? nvrtc : "", paths ? paths : "");
}
