/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The doctor on OpenCL's loader and the drivers that are registered with it. */
#include "doctor.h"
#include "shared/loading.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double LOADING_S = 0.1; /* of a loader, which loads no driver yet */

/* A driver is named with its path, or for the dynamic loader to find. */
static bool is_there(const char *driver)
{
    return strchr(driver, '/') ? !access(driver, R_OK) : doctor_loader_finds(driver, NULL);
}

/* An .icd file: its first line names the driver. */
static void check_vendor(const char *path)
{
    char state[3 * PATH_MAX], driver[PATH_MAX] = "";
    FILE *file = fopen(path, "r");
    bool named = file && fgets(driver, sizeof driver, file) && *driver != '\n';
    if (file)
        fclose(file);
    driver[strcspn(driver, "\r\n")] = '\0';
    bool missing = !named || !is_there(driver);
    snprintf(state, sizeof state, "%s names %s%s", path, named ? driver : "nothing",
             missing && named ? ", which is not there" : "");
    doctor_tell(missing ? MINOR : FINE, "opencl", state, "reinstall the driver's package, or remove the file");
}

/* Of OCL_ICD_FILENAMES, with ':' between. How many there are. */
static size_t check_named(const char *names)
{
    size_t count = 0;
    for (size_t length; names && *names; names += length + (names[length] == ':')) {
        char state[PATH_MAX + 64], driver[PATH_MAX];
        length = strcspn(names, ":");
        if (!length || snprintf(driver, sizeof driver, "%.*s", (int)length, names) >= (int)sizeof driver)
            continue;
        bool found = is_there(driver);
        count += found;
        snprintf(state, sizeof state, "OCL_ICD_FILENAMES names %s%s", driver, found ? "" : ", which is not there");
        doctor_tell(found ? FINE : MINOR, "opencl", state,
                    "reinstall the driver's package, or take it out of OCL_ICD_FILENAMES");
    }
    return count;
}

/* `named`: a driver is known without these files. */
static void check_vendors(const char *folder, bool named)
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
    if (!count && !named)
        doctor_tell(MINOR, "opencl", state,
                    "install a driver: pocl-opencl-icd for the CPU, or that of the GPU's maker");
}

void doctor_load(const char *name)
{
    char reason[256];
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL))
        puts("loaded");
    else
        puts(loading_tell(reason, name) ? "missing" : reason);
}

/* In a process of its own: a loader may crash or hang when it is loaded. */
static bool check_loader(const char *name)
{
    char answer[300], state[PATH_MAX + 400];
    enum doctor_answer got = doctor_ask_within((const char *const[]){"/proc/self/exe", "doctor", "--load", name, NULL},
                                               answer, sizeof answer, LOADING_S);
    const char *cure = "update or remove it, or let PENSTOCK_OPENCL_LIBRARY name another one";
    answer[strcspn(answer, "\n")] = '\0';
    if (got == LATE_ANSWER)
        snprintf(state, sizeof state, "loader %.*s is not loaded within %g s", PATH_MAX, name, LOADING_S);
    else if (got == NO_ANSWER)
        snprintf(state, sizeof state, "loader %.*s crashes when it is loaded", PATH_MAX, name);
    else if (!strcmp(answer, "missing"))
        snprintf(state, sizeof state, "loader %.*s not found", PATH_MAX, name);
    else
        snprintf(state, sizeof state, "loader %s", answer);
    if (got == ANSWERED)
        cure = !strcmp(answer, "missing") ? "install the loader: ocl-icd-libopencl1" : CURE_OF_LOADING;
    if (got == ANSWERED && !strcmp(answer, "loaded"))
        return true;
    doctor_tell(MINOR, "opencl", state, cure);
    return false;
}

void doctor_opencl(void)
{
    const char *folder = getenv("OCL_ICD_VENDORS"), *name = getenv("PENSTOCK_OPENCL_LIBRARY");
    char state[PATH_MAX + 64];
    if (!name || !*name)
        name = "libOpenCL.so.1";
    if (!check_loader(name))
        return;
    snprintf(state, sizeof state, "loader %.*s found", PATH_MAX, name);
    doctor_tell(FINE, "opencl", state, NULL);
    check_vendors(folder && *folder ? folder : "/etc/OpenCL/vendors", check_named(getenv("OCL_ICD_FILENAMES")));
}
