/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The doctor on OpenCL's loader and the drivers that are registered with it. */
#include "doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An .icd file: its first line names the driver, with a path or for the loader to find. */
static void check_vendor(const char *path)
{
    char state[2 * PATH_MAX + 64], driver[PATH_MAX] = "";
    FILE *file = fopen(path, "r");
    bool named = file && fgets(driver, sizeof driver, file) && *driver != '\n';
    if (file)
        fclose(file);
    driver[strcspn(driver, "\r\n")] = '\0';
    bool missing = !named || (strchr(driver, '/') ? access(driver, R_OK) != 0 : !doctor_loader_finds(driver, NULL));
    snprintf(state, sizeof state, "%s names %s%s", path, named ? driver : "nothing",
             missing && named ? ", which is not there" : "");
    doctor_tell(missing ? MINOR : FINE, "opencl", state, "reinstall the driver's package, or remove the file");
}

static void check_vendors(const char *folder)
{
    char state[PATH_MAX + 64], path[PATH_MAX + 260];
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".icd"))
            continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check_vendor(path);
    }
    if (entries)
        closedir(entries);
    snprintf(state, sizeof state, "no driver: %.*s has no .icd file", PATH_MAX, folder);
    if (!count)
        doctor_tell(MINOR, "opencl", state,
                    "install a driver: pocl-opencl-icd for the CPU, or that of the GPU's maker");
}

void doctor_opencl(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS"), *name = getenv("PENSTOCK_OPENCL_LIBRARY");
    char state[PATH_MAX + 64];
    if (!name || !*name)
        name = "libOpenCL.so.1";
    void *loader = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    snprintf(state, sizeof state, "loader %.*s %s", PATH_MAX, name, loader ? "found" : "not found");
    doctor_tell(loader ? FINE : MINOR, "opencl", state, "install the loader: ocl-icd-libopencl1");
    if (!loader)
        return;
    dlclose(loader);
    check_vendors(folder && *folder ? folder : "/etc/OpenCL/vendors");
}
