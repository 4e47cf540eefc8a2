/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The OpenCL loader, opened at run time so that one binary serves machines with and without it; its errors in words. */
#include "backends/opencl/opencl.h"
#include "gpu/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const struct gpu_function functions[] = {
#define FUNCTION(name) {"cl" #name, offsetof(struct opencl_api, name)},
    OPENCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static struct opencl_api api;
static struct gpu_once once = GPU_ONCE;

const char *penstock__opencl_library(void)
{
    const char *name = getenv("PENSTOCK_OPENCL_LIBRARY");
    return name && *name ? name : "libOpenCL.so.1";
}

static bool load(char reason[256])
{
    const char *name = penstock__opencl_library(), *missing;
    void *library = penstock__gpu_library_open((const char *const[]){name, NULL}, reason);
    if (!library) {
        penstock__gpu_library_advise(reason, " (install ocl-icd-libopencl1)");
        return false;
    }
    missing = penstock__gpu_library_find(&api, library, functions, sizeof functions / sizeof *functions);
    if (!missing)
        return true;
    snprintf(reason, 256, "%s has no %s: it is older than OpenCL 1.2", name, missing);
    dlclose(library);
    return false;
}

const struct opencl_api *penstock__opencl_api(char reason[256])
{
    return penstock__gpu_once(&once, load, reason) ? &api : NULL;
}

const char *penstock__opencl_code_name(cl_int code)
{
    static _Thread_local char number[24];
    switch (code) {
#define CASE(name) \
    case name:     \
        return #name;
        CASE(CL_DEVICE_NOT_FOUND)
        CASE(CL_DEVICE_NOT_AVAILABLE)
        CASE(CL_COMPILER_NOT_AVAILABLE)
        CASE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        CASE(CL_OUT_OF_RESOURCES)
        CASE(CL_OUT_OF_HOST_MEMORY)
        CASE(CL_MAP_FAILURE)
        CASE(CL_BUILD_PROGRAM_FAILURE)
        CASE(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        CASE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        CASE(CL_LINK_PROGRAM_FAILURE)
        CASE(CL_INVALID_VALUE)
        CASE(CL_INVALID_DEVICE_TYPE)
        CASE(CL_INVALID_PLATFORM)
        CASE(CL_INVALID_DEVICE)
        CASE(CL_INVALID_CONTEXT)
        CASE(CL_INVALID_QUEUE_PROPERTIES)
        CASE(CL_INVALID_COMMAND_QUEUE)
        CASE(CL_INVALID_HOST_PTR)
        CASE(CL_INVALID_MEM_OBJECT)
        CASE(CL_INVALID_BINARY)
        CASE(CL_INVALID_BUILD_OPTIONS)
        CASE(CL_INVALID_PROGRAM)
        CASE(CL_INVALID_PROGRAM_EXECUTABLE)
        CASE(CL_INVALID_KERNEL_NAME)
        CASE(CL_INVALID_KERNEL_DEFINITION)
        CASE(CL_INVALID_KERNEL)
        CASE(CL_INVALID_ARG_INDEX)
        CASE(CL_INVALID_ARG_VALUE)
        CASE(CL_INVALID_ARG_SIZE)
        CASE(CL_INVALID_KERNEL_ARGS)
        CASE(CL_INVALID_WORK_DIMENSION)
        CASE(CL_INVALID_WORK_GROUP_SIZE)
        CASE(CL_INVALID_WORK_ITEM_SIZE)
        CASE(CL_INVALID_GLOBAL_OFFSET)
        CASE(CL_INVALID_EVENT_WAIT_LIST)
        CASE(CL_INVALID_EVENT)
        CASE(CL_INVALID_OPERATION)
        CASE(CL_INVALID_BUFFER_SIZE)
        CASE(CL_INVALID_GLOBAL_WORK_SIZE)
#undef CASE
    default:
        snprintf(number, sizeof number, "error %d", (int)code);
        return number;
    }
}

int penstock__opencl_error(const struct penstock_device *device, const char *call, cl_int code)
{
    return penstock__error(code == CL_OUT_OF_HOST_MEMORY ? PENSTOCK_ERR_MEMORY : PENSTOCK_ERR_DEVICE, "%s: %s: %s",
                           device->name, call, penstock__opencl_code_name(code));
}
