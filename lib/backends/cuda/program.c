/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Modules: from the cache if the driver still takes the image, else compiled, and then kept. Their kernels, and the
 * tables that these read.
 */
#include "backends/cuda/cuda.h"
#include "gpu/kernel.h"

#include <string.h>

/* Dynamic shared memory that a kernel may have without asking for more. */
#define USUAL_SHARED_BYTES ((size_t)48 << 10)

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

/* The module of an image that was compiled; the image is kept in the cache. */
static int from_image(CUmodule *module, const struct penstock_device *device, const struct cuda_image *image,
                      const char *name)
{
    int status = penstock__cuda_check(device, "cuModuleLoadData", load(module, device, image->image));
    if (!status)
        penstock__cache_write(device->context, name, image->image, image->bytes);
    return status;
}

int penstock__cuda_programs(CUmodule *modules, const struct penstock_device *device, const char *const *sources,
                            unsigned count)
{
    struct cuda_image images[GPU_MAX_PASSES];
    char option[40], names[GPU_MAX_PASSES][64];
    unsigned missing[GPU_MAX_PASSES], left = 0;
    int status = penstock__cuda_architecture(option, device);
    memset(modules, 0, count * sizeof *modules);
    if (status)
        return status;
    for (unsigned i = 0; i < count; i++) {
        penstock__gpu_cache_name(names[i], "cuda", sources[i], option, penstock__cuda_opened(device)->identity);
        if (from_cache(&modules[i], device, names[i]))
            continue;
        images[left] = (struct cuda_image){.source = sources[i]};
        missing[left++] = i;
    }
    if ((status = penstock__cuda_compile_all(images, left, device, option)))
        return status;
    for (unsigned i = 0; i < left; i++) {
        if (!status)
            status = from_image(&modules[missing[i]], device, &images[i], names[missing[i]]);
        penstock__free(images[i].image);
    }
    return status;
}

int penstock__cuda_program(CUmodule *module, const struct penstock_device *device, const char *source)
{
    return penstock__cuda_programs(module, device, &source, 1);
}

int penstock__cuda_function(CUfunction *function, const struct penstock_device *device, CUmodule module,
                            const char *name, size_t shared_bytes)
{
    const struct cuda_api *cuda = penstock__cuda_opened(device)->api;
    int status = penstock__cuda_check(device, "cuModuleGetFunction", cuda->ModuleGetFunction(function, module, name));
    if (!status && shared_bytes > USUAL_SHARED_BYTES)
        status = penstock__cuda_check(
            device, "cuFuncSetAttribute",
            cuda->FuncSetAttribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared_bytes));
    return status;
}

/* From pageable memory the copy may still be under way when cuMemcpyHtoD returns, and slots' streams do not wait for
 * it.
 */
int penstock__cuda_table(CUdeviceptr *table, const struct penstock_device *device, const float *values, size_t count)
{
    const struct cuda_api *cuda = penstock__cuda_opened(device)->api;
    size_t bytes = count * sizeof *values;
    int status = penstock__cuda_check(device, "cuMemAlloc", cuda->MemAlloc(table, bytes));
    if (status) {
        *table = 0;
        return status;
    }
    if (!(status = penstock__cuda_check(device, "cuMemcpyHtoD", cuda->MemcpyHtoD(*table, values, bytes))))
        status = penstock__cuda_check(device, "cuStreamSynchronize", cuda->StreamSynchronize(NULL));
    return status;
}
