/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* libcuda and libnvrtc, opened at run time so that one binary serves machines with and without them. */
#include "backends/cuda/cuda.h"
#include "gpu/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gpu_function driver_entries[] = {
#define ENTRY(name, symbol, parameters) {#symbol, offsetof(struct cuda_api, name)},
    CUDA_FUNCTIONS(ENTRY)
#undef ENTRY
};

static const struct gpu_function nvrtc_entries[] = {
#define ENTRY(name, symbol, parameters) {#symbol, offsetof(struct cuda_api, nvrtc.name)},
    NVRTC_FUNCTIONS(ENTRY)
#undef ENTRY
        {"nvrtcGetErrorString", offsetof(struct cuda_api, nvrtc.GetErrorString)},
};

/* The newest first; then where the toolkit lies when the linker's list does not have it. */
static const char *const nvrtc_names[] = {"libnvrtc.so.13",
                                          "libnvrtc.so.12",
                                          "libnvrtc.so.11.2",
                                          "libnvrtc.so",
                                          "/usr/local/cuda/lib64/libnvrtc.so",
                                          "/usr/local/cuda/lib/libnvrtc.so",
                                          NULL};

static struct cuda_api api;
static struct gpu_once once = GPU_ONCE;

const char *penstock__cuda_library(void)
{
    const char *name = getenv("PENSTOCK_CUDA_LIBRARY");
    return name && *name ? name : "libcuda.so.1";
}

const char *penstock__cuda_nvrtc_library(void)
{
    const char *name = getenv("PENSTOCK_NVRTC_LIBRARY");
    return name && *name ? name : NULL;
}

void *penstock__cuda_nvrtc_open(char reason[256])
{
    const char *const named[] = {penstock__cuda_nvrtc_library(), NULL};
    return penstock__gpu_library_open(*named ? named : nvrtc_names, reason);
}

/* NULL, with the library closed, where it lacks a function. */
static void *find_all(void *library, const struct gpu_function *entries, size_t count, const char *name,
                      const char *least, char reason[256])
{
    const char *missing = penstock__gpu_library_find(&api, library, entries, count);
    if (!missing)
        return library;
    snprintf(reason, 256, "%.100s has no %s: it is older than CUDA %s", name, missing, least);
    dlclose(library);
    return NULL;
}

/* What a library may lack. */
static void find_optional(void *function, void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (symbol)
        memcpy(function, &symbol, sizeof symbol);
}

static void *open_driver(char reason[256])
{
    const char *name = penstock__cuda_library();
    void *library = penstock__gpu_library_open((const char *const[]){name, NULL}, reason);
    if (!library)
        penstock__gpu_library_advise(reason, " (no NVIDIA driver)");
    else
        library =
            find_all(library, driver_entries, sizeof driver_entries / sizeof *driver_entries, name, "7.0", reason);
    find_optional((void *)&api.LaunchKernelEx, library, "cuLaunchKernelEx");
    return library;
}

static void *open_nvrtc(char reason[256])
{
    const char *name = penstock__cuda_nvrtc_library() ? penstock__cuda_nvrtc_library() : "libnvrtc";
    void *library = penstock__cuda_nvrtc_open(reason);
    if (!library)
        penstock__gpu_library_advise(reason, ": the same GPU serves through its OpenCL driver");
    else
        library = find_all(library, nvrtc_entries, sizeof nvrtc_entries / sizeof *nvrtc_entries, name, "11.2", reason);
    find_optional((void *)&api.nvrtc.SetFlowCallback, library, "nvrtcSetFlowCallback");
    return library;
}

static const char *error_name(CUresult code)
{
    const char *name = NULL;
    return api.GetErrorName(code, &name) || !name ? "an unknown error" : name;
}

/* Initialises the driver; no harm where others in the process did so before. */
static bool start(char reason[256])
{
    CUresult code = api.Init(0);
    if (code == CUDA_ERROR_NO_DEVICE)
        snprintf(reason, 256, "the NVIDIA driver is there but no GPU that it may use (cuInit: %s)", error_name(code));
    else if (code)
        snprintf(reason, 256, "cuInit: %s", error_name(code));
    else if ((code = api.DriverGetVersion(&api.driver_version)))
        snprintf(reason, 256, "cuDriverGetVersion: %s", error_name(code));
    else if (api.nvrtc.Version(&api.nvrtc_major, &api.nvrtc_minor))
        snprintf(reason, 256, "nvrtcVersion failed");
    else
        return true;
    return false;
}

static bool load(char reason[256])
{
    void *driver = open_driver(reason), *nvrtc = driver ? open_nvrtc(reason) : NULL;
    if (nvrtc && start(reason))
        return true;
    if (nvrtc)
        dlclose(nvrtc);
    if (driver)
        dlclose(driver);
    return false;
}

const struct cuda_api *penstock__cuda_api(char reason[256])
{
    return penstock__gpu_once(&once, load, reason) ? &api : NULL;
}

int penstock__cuda_check(const struct penstock_device *device, const char *call, CUresult code)
{
    if (!code)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_DEVICE, "%s: %s: %s (%d)", device->name, call, error_name(code), code);
}
