/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A text that changes when an OpenCL driver is installed, removed or updated, without loading any: sizes and times
 * of the loader, of the vendors' files that tell it of drivers, and of the linker's list of installed libraries.
 */
#include "backends/opencl/opencl.h"
#include "gpu/kernel.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char *vendors_folder(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS");
    return folder && *folder ? folder : "/etc/OpenCL/vendors";
}

void penstock__opencl_driver_key(char *text, size_t capacity)
{
    uint64_t sum = 0;
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder = opendir(vendors_folder());
    penstock__gpu_sum_file(&sum, "/etc/ld.so.cache");
    penstock__gpu_sum_file(&sum, penstock__opencl_library());
    penstock__gpu_sum_file(&sum, vendors_folder());
    while (folder && (entry = readdir(folder)))
        if (snprintf(path, sizeof path, "%s/%s", vendors_folder(), entry->d_name) < (int)sizeof path)
            penstock__gpu_sum_file(&sum, path);
    if (folder)
        closedir(folder);
    snprintf(text, capacity, "%s %s %016llx", penstock__opencl_library(), vendors_folder(), (unsigned long long)sum);
}
