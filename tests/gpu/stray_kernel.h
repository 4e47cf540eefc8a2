/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Another user of CUDA in the process, whose kernel writes where there is no memory: the device's primary context,
 * which the library shares, then fails every call for good. Nothing else of the GPU is touched. */
#ifndef PENSTOCK_TEST_STRAY_KERNEL_H
#define PENSTOCK_TEST_STRAY_KERNEL_H

#include "backends/cuda/driver_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char stray_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry stray() {\n.reg .u64 %to; .reg .u32 %value;\n"
                                "mov.u64 %to, 16; mov.u32 %value, 1; st.global.u32 [%to], %value; ret;\n}\n";

#define STRAY_MEMBER(member, symbol, parameters) CUresult(*member) parameters;
#define STRAY_FIND(member, symbol, parameters) \
    if (!(address = dlsym(library, #symbol)))  \
        return false;                          \
    memcpy(&api.member, &address, sizeof api.member);

/* Whether the driver noticed. */
static inline bool lose_cuda(int index)
{
    struct {
        CUDA_FUNCTIONS(STRAY_MEMBER)
    } api;
    const char *name = getenv("PENSTOCK_CUDA_LIBRARY");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW), *address;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUresult result;
    if (!library)
        return false;
    CUDA_FUNCTIONS(STRAY_FIND)
    if (api.Init(0) || api.DeviceGet(&device, index) || api.DevicePrimaryCtxRetain(&context, device) ||
        api.CtxPushCurrent(context))
        return false;
    if (api.ModuleLoadData(&module, stray_ptx) || api.ModuleGetFunction(&function, module, "stray") ||
        api.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL))
        return false;
    result = api.StreamSynchronize(NULL);
    api.CtxPopCurrent(&context);
    api.DevicePrimaryCtxRelease(device);
    return result != CUDA_SUCCESS;
}

#endif
