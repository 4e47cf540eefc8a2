/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Modules: from the cache if the driver still takes the image, else compiled, and then kept. */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"

static CUresult load(CUmodule *module, const struct penstock_device *device, const void *image)
{
    CUresult code = penstock__cuda_opened(device)->api->ModuleLoadData(module, image);
    if (code)
        *module = NULL;
    return code;
}

static bool from_cache(CUmodule *module, const struct penstock_device *device, const char *name)
{
    size_t bytes;
    void *image = penstock__cache_read(device->context, name, &bytes);
    CUresult code;
    if (!image)
        return false;
    code = load(module, device, image);
    penstock__free(image);
    if (code)
        penstock__log(device->context, PENSTOCK_LOG_INFO, "%s: the driver refuses the cached kernel %s; compiling it",
                      device->name, name);
    return !code;
}

int penstock__cuda_program(CUmodule *module, const struct penstock_device *device, const char *source)
{
    char option[40], name[64];
    size_t bytes;
    void *image;
    int status = penstock__cuda_architecture(option, device);
    if (status)
        return status;
    penstock__gpu_cache_name(name, "cuda", source, option, penstock__cuda_opened(device)->identity);
    if (from_cache(module, device, name))
        return PENSTOCK_OK;
    if ((status = penstock__cuda_compile(&image, &bytes, device, source, option)))
        return status;
    if (!(status = penstock__cuda_check(device, "cuModuleLoadData", load(module, device, image))))
        penstock__cache_write(device->context, name, image, bytes);
    penstock__free(image);
    return status;
}
