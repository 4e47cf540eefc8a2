/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* VkFFT on CUDA: its header, with the calls that it makes sent to libraries that are opened at run time. */
#include "cuda_machine.h"
#include "library.h"
#include "vkfft.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER(X)           \
    X(cuDeviceGetAttribute) \
    X(cuFuncSetAttribute)   \
    X(cuLaunchKernel)       \
    X(cuMemcpyHtoD_v2)      \
    X(cuModuleGetFunction)  \
    X(cuModuleGetGlobal_v2) \
    X(cuModuleLoadDataEx)   \
    X(cuModuleUnload)
#define RUNTIME(X)           \
    X(cudaDeviceSynchronize) \
    X(cudaEventCreate)       \
    X(cudaEventDestroy)      \
    X(cudaEventRecord)       \
    X(cudaEventSynchronize)  \
    X(cudaFree)              \
    X(cudaMalloc)            \
    X(cudaMemcpy)
#define COMPILER(X)        \
    X(nvrtcCompileProgram) \
    X(nvrtcCreateProgram)  \
    X(nvrtcDestroyProgram) \
    X(nvrtcGetErrorString) \
    X(nvrtcGetPTX)         \
    X(nvrtcGetPTXSize)     \
    X(nvrtcGetProgramLog)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    DRIVER(MEMBER) RUNTIME(MEMBER) COMPILER(MEMBER)
#undef MEMBER
} vkfft;

#define ROW(name) {#name, offsetof(__typeof__(vkfft), name)},
static const struct library_function driver_rows[] = {DRIVER(ROW){NULL, 0}};
static const struct library_function runtime_rows[] = {RUNTIME(ROW){NULL, 0}};
static const struct library_function compiler_rows[] = {COMPILER(ROW){NULL, 0}};

#undef cuMemcpyHtoD /* cuda.h names the versions of functions by macros */
#undef cuModuleGetGlobal
#define cuDeviceGetAttribute  vkfft.cuDeviceGetAttribute
#define cuFuncSetAttribute    vkfft.cuFuncSetAttribute
#define cuLaunchKernel        vkfft.cuLaunchKernel
#define cuMemcpyHtoD          vkfft.cuMemcpyHtoD_v2
#define cuModuleGetFunction   vkfft.cuModuleGetFunction
#define cuModuleGetGlobal     vkfft.cuModuleGetGlobal_v2
#define cuModuleLoadDataEx    vkfft.cuModuleLoadDataEx
#define cuModuleUnload        vkfft.cuModuleUnload
#define cudaDeviceSynchronize vkfft.cudaDeviceSynchronize
#define cudaEventCreate       vkfft.cudaEventCreate
#define cudaEventDestroy      vkfft.cudaEventDestroy
#define cudaEventRecord       vkfft.cudaEventRecord
#define cudaEventSynchronize  vkfft.cudaEventSynchronize
#define cudaFree              vkfft.cudaFree
#define cudaMalloc            vkfft.cudaMalloc
#define cudaMemcpy            vkfft.cudaMemcpy
#define nvrtcCompileProgram   vkfft.nvrtcCompileProgram
#define nvrtcCreateProgram    vkfft.nvrtcCreateProgram
#define nvrtcDestroyProgram   vkfft.nvrtcDestroyProgram
#define nvrtcGetErrorString   vkfft.nvrtcGetErrorString
#define nvrtcGetPTX           vkfft.nvrtcGetPTX
#define nvrtcGetPTXSize       vkfft.nvrtcGetPTXSize
#define nvrtcGetProgramLog    vkfft.nvrtcGetProgramLog

#define VKFFT_BACKEND 1
#include <vkFFT.h>

struct run {
    struct cuda_machine *machine;
    CUdevice device;
    void *in, *out;
    uint64_t in_bytes, out_bytes;
    VkFFTApplication application;
    bool planned;
};

static int check(const char *what, VkFFTResult code)
{
    return code ? fail(EXIT_DATA, "%s failed with error %d", what, (int)code) : EXIT_DONE;
}

static bool open_libraries(void)
{
    static const char *const runtime[] = {"libcudart.so.13",
                                          "libcudart.so.12",
                                          "libcudart.so",
                                          "/usr/local/cuda/lib64/libcudart.so",
                                          "/usr/local/cuda/lib/libcudart.so",
                                          NULL};
    static const char advice[] = "VkFFT needs the CUDA toolkit";
    return library_load(cuda_driver_names, "VkFFT needs NVIDIA's driver", driver_rows, &vkfft) &&
           library_load(runtime, advice, runtime_rows, &vkfft) &&
           library_load(cuda_compiler_names, advice, compiler_rows, &vkfft);
}

static void free_run(void *state)
{
    struct run *run = state;
    if (!run)
        return;
    if (run->planned)
        deleteVkFFT(&run->application);
    cuda_machine_free(run->machine);
    free(run);
}

static int plan(struct run *run, const struct device_work *work)
{
    VkFFTConfiguration configuration = {.FFTdim = 1,
                                        .size = {work->n, 1, 1},
                                        .numberBatches = work->frames,
                                        .device = &run->device,
                                        .isInputFormatted = 1,
                                        .makeForwardPlanOnly = 1,
                                        .inputBufferSize = &run->in_bytes,
                                        .inputBuffer = &run->in,
                                        .bufferSize = &run->out_bytes,
                                        .buffer = &run->out};
    int code = check("initializeVkFFT", initializeVkFFT(&run->application, configuration));
    run->planned = !code;
    return code;
}

static int allocate(struct run *run, const struct device_work *work)
{
    cuda_memory in = cuda_machine_alloc(run->machine, run->in_bytes),
                out = in ? cuda_machine_alloc(run->machine, run->out_bytes) : 0;
    run->in = (void *)(uintptr_t)in;
    run->out = (void *)(uintptr_t)out;
    return out ? cuda_machine_fill(run->machine, in, work->in, work->block_bytes, run->in_bytes) : EXIT_DATA;
}

static void *new_run(const struct device_work *work)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->in_bytes = work->in_bytes;
    run->out_bytes = work->frames * work->n * sizeof(penstock_cf32);
    run->device = cuda_machine_index(work->device);
    if ((run->machine = cuda_machine_new(work->device)) && open_libraries() && !allocate(run, work) && !plan(run, work))
        return run;
    free_run(run);
    return NULL;
}

static int launch(void *state)
{
    struct run *run = state;
    VkFFTLaunchParams buffers = {.buffer = &run->out, .inputBuffer = &run->in};
    return check("VkFFTAppend", VkFFTAppend(&run->application, -1, &buffers));
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    struct run *run = state;
    return cuda_machine_time(run->machine, launch, run, repeats, seconds);
}

static int read_out(void *state, void *out, size_t bytes)
{
    const struct run *run = state;
    return cuda_machine_read(run->machine, out, (cuda_memory)(uintptr_t)run->out, bytes);
}

const struct peer vkfft_cuda = {
    .device_new = new_run, .device_run = run_timed, .device_read = read_out, .device_free = free_run};
