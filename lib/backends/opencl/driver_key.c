/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A text that changes when an OpenCL driver is installed, removed or updated, without loading any: sizes and times
 * of the loader, of the vendors' files that tell it of drivers, of drivers that these or OCL_ICD_FILENAMES name by a
 * path, and of the linker's list of installed libraries, where the others are found; and PoCL's variables.
 */
#include "backends/opencl/opencl.h"
#include "gpu/kernel.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *vendors_folder(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS");
    return folder && *folder ? folder : "/etc/OpenCL/vendors";
}

/* A vendor's file and the driver in its first line. */
static void add_vendor(uint64_t *sum, const char *path)
{
    char driver[PATH_MAX] = "";
    FILE *file;
    penstock__gpu_sum_file(sum, path);
    if (!(file = fopen(path, "re")))
        return;
    if (fgets(driver, sizeof driver, file)) {
        driver[strcspn(driver, "\r\n")] = 0;
        if (strchr(driver, '/'))
            penstock__gpu_sum_file(sum, driver);
    }
    fclose(file);
}

/* Drivers themselves, with ':' between. */
static void add_drivers(uint64_t *sum, const char *names)
{
    for (size_t length; *names; names += length + (names[length] == ':')) {
        char path[PATH_MAX];
        length = strcspn(names, ":");
        if (memchr(names, '/', length) && snprintf(path, sizeof path, "%.*s", (int)length, names) < (int)sizeof path)
            penstock__gpu_sum_file(sum, path);
    }
}

/* PoCL reads its limits, devices and compiler's flags from the environment, and ends the process if it dislikes them.
 * Where it keeps kernels makes no such difference. */
static void add_variables(uint64_t *sum)
{
    for (char **variable = environ; variable && *variable; variable++)
        if (!strncmp(*variable, "POCL_", 5) && strncmp(*variable, "POCL_CACHE_DIR=", 15)) {
            struct gpu_hash hash = penstock__hash_start();
            penstock__hash_add(&hash, *variable);
            *sum += hash.low; /* in any order */
        }
}

void penstock__opencl_driver_key(char *text, size_t capacity)
{
    uint64_t sum = 0;
    const char *paths = getenv("LD_LIBRARY_PATH"), *names = getenv("OCL_ICD_FILENAMES");
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder = opendir(vendors_folder());
    penstock__gpu_sum_file(&sum, "/etc/ld.so.cache");
    penstock__gpu_sum_file(&sum, penstock__opencl_library());
    penstock__gpu_sum_file(&sum, vendors_folder());
    while (folder && (entry = readdir(folder)))
        if (snprintf(path, sizeof path, "%s/%s", vendors_folder(), entry->d_name) < (int)sizeof path &&
            strstr(entry->d_name, ".icd"))
            add_vendor(&sum, path);
    if (folder)
        closedir(folder);
    if (names)
        add_drivers(&sum, names);
    add_variables(&sum);
    snprintf(text, capacity, "%016llx %s %s %s %s", (unsigned long long)sum, penstock__opencl_library(),
             vendors_folder(), names ? names : "", paths ? paths : "");
}
