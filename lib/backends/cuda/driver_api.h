/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The CUDA driver API and NVRTC, as far as we call them, declared here so that building needs no CUDA toolkit. Types,
 * names and values are those of NVIDIA's cuda.h and nvrtc.h; enumerations are int, as in their binary interface.
 */
#ifndef PENSTOCK_CUDA_DRIVER_API_H
#define PENSTOCK_CUDA_DRIVER_API_H

#include <stddef.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_NO_DEVICE = 100,
};

enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum { CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

typedef struct {
    int id;
    union {
        int programmaticStreamSerializationAllowed;
        unsigned long long pad[8];
    } value;
} CUlaunchAttribute;

typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

enum {
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
};

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTREGISTER_PORTABLE = 1 };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 };

/* Member of struct cuda_api, symbol in libcuda, parameters. */
#define CUDA_FUNCTIONS(X)                                                                                          \
    X(CtxGetCurrent, cuCtxGetCurrent, (CUcontext * context))                                                       \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * context))                                                    \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                                                    \
    X(DeviceGet, cuDeviceGet, (CUdevice * device, int index))                                                      \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                      \
    X(DeviceGetCount, cuDeviceGetCount, (int *count))                                                              \
    X(DeviceGetName, cuDeviceGetName, (char *name, int capacity, CUdevice device))                                 \
    X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                    \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                    \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                      \
    X(DriverGetVersion, cuDriverGetVersion, (int *version))                                                        \
    X(EventCreate, cuEventCreate, (CUevent * event, unsigned flags))                                               \
    X(EventDestroy, cuEventDestroy_v2, (CUevent event))                                                            \
    X(EventElapsedTime, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))                     \
    X(EventRecord, cuEventRecord, (CUevent event, CUstream stream))                                                \
    X(EventSynchronize, cuEventSynchronize, (CUevent event))                                                       \
    X(FuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, CUfunction function))                      \
    X(FuncSetAttribute, cuFuncSetAttribute, (CUfunction function, int attribute, int value))                       \
    X(GetErrorName, cuGetErrorName, (CUresult code, const char **name))                                            \
    X(Init, cuInit, (unsigned flags))                                                                              \
    X(LaunchKernel, cuLaunchKernel,                                                                                \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra))                  \
    X(MemAlloc, cuMemAlloc_v2, (CUdeviceptr * memory, size_t bytes))                                               \
    X(MemAllocHost, cuMemAllocHost_v2, (void **memory, size_t bytes))                                              \
    X(MemFree, cuMemFree_v2, (CUdeviceptr memory))                                                                 \
    X(MemFreeHost, cuMemFreeHost, (void *memory))                                                                  \
    X(MemHostAlloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                 \
    X(MemHostRegister, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))                         \
    X(MemHostUnregister, cuMemHostUnregister, (void *memory))                                                      \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))    \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))          \
    X(MemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                               \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))    \
    X(ModuleGetFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))          \
    X(ModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))                                    \
    X(ModuleUnload, cuModuleUnload, (CUmodule module))                                                             \
    X(PointerGetAttributes, cuPointerGetAttributes,                                                                \
      (unsigned count, int *attributes, void **values, CUdeviceptr pointer))                                       \
    X(StreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                                           \
    X(StreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                                        \
    X(StreamGetCtx, cuStreamGetCtx, (CUstream stream, CUcontext * context))                                        \
    X(StreamSynchronize, cuStreamSynchronize, (CUstream stream))                                                   \
    X(StreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))

/* The same in libnvrtc, of CUDA 11.2 or later. */
#define NVRTC_FUNCTIONS(X)                                                                                         \
    X(CompileProgram, nvrtcCompileProgram, (nvrtcProgram program, int option_count, const char *const *options))   \
    X(CreateProgram, nvrtcCreateProgram,                                                                           \
      (nvrtcProgram * program, const char *source, const char *name, int header_count, const char *const *headers, \
       const char *const *header_names))                                                                           \
    X(DestroyProgram, nvrtcDestroyProgram, (nvrtcProgram * program))                                               \
    X(GetCUBIN, nvrtcGetCUBIN, (nvrtcProgram program, char *content))                                              \
    X(GetCUBINSize, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                                     \
    X(GetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int *count))                                               \
    X(GetPTX, nvrtcGetPTX, (nvrtcProgram program, char *content))                                                  \
    X(GetPTXSize, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                                         \
    X(GetProgramLog, nvrtcGetProgramLog, (nvrtcProgram program, char *text))                                       \
    X(GetProgramLogSize, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                           \
    X(GetSupportedArchs, nvrtcGetSupportedArchs, (int *architectures))                                             \
    X(Version, nvrtcVersion, (int *major, int *minor))

#endif
