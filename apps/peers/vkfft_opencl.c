/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* VkFFT on OpenCL: its header, with the calls that it makes sent to the loader that was opened at run time. */
#include "library.h"
#include "opencl_machine.h"
#include "vkfft.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)             \
    X(clBuildProgram)            \
    X(clCreateBuffer)            \
    X(clCreateCommandQueue)      \
    X(clCreateKernel)            \
    X(clCreateProgramWithBinary) \
    X(clCreateProgramWithSource) \
    X(clEnqueueNDRangeKernel)    \
    X(clEnqueueWriteBuffer)      \
    X(clFinish)                  \
    X(clGetDeviceInfo)           \
    X(clGetProgramBuildInfo)     \
    X(clGetProgramInfo)          \
    X(clReleaseCommandQueue)     \
    X(clReleaseKernel)           \
    X(clReleaseMemObject)        \
    X(clReleaseProgram)          \
    X(clSetKernelArg)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} vkfft;

static const struct library_function functions[] = {
#define ROW(name) {#name, offsetof(__typeof__(vkfft), name)},
    FUNCTIONS(ROW){NULL, 0}
#undef ROW
};

#define clBuildProgram            vkfft.clBuildProgram
#define clCreateBuffer            vkfft.clCreateBuffer
#define clCreateCommandQueue      vkfft.clCreateCommandQueue
#define clCreateKernel            vkfft.clCreateKernel
#define clCreateProgramWithBinary vkfft.clCreateProgramWithBinary
#define clCreateProgramWithSource vkfft.clCreateProgramWithSource
#define clEnqueueNDRangeKernel    vkfft.clEnqueueNDRangeKernel
#define clEnqueueWriteBuffer      vkfft.clEnqueueWriteBuffer
#define clFinish                  vkfft.clFinish
#define clGetDeviceInfo           vkfft.clGetDeviceInfo
#define clGetProgramBuildInfo     vkfft.clGetProgramBuildInfo
#define clGetProgramInfo          vkfft.clGetProgramInfo
#define clReleaseCommandQueue     vkfft.clReleaseCommandQueue
#define clReleaseKernel           vkfft.clReleaseKernel
#define clReleaseMemObject        vkfft.clReleaseMemObject
#define clReleaseProgram          vkfft.clReleaseProgram
#define clSetKernelArg            vkfft.clSetKernelArg

#define VKFFT_BACKEND 3
#include <vkFFT.h>

const char *vkfft_version(void)
{
    static char text[32];
    int number = VkFFTGetVersion();
    snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    return text;
}

struct run {
    struct opencl_machine machine;
    uint64_t in_bytes, out_bytes;
    VkFFTApplication application;
    bool planned;
};

static int check(const char *what, VkFFTResult code)
{
    return opencl_machine_check(what, (int)code);
}

static void free_run(void *state)
{
    struct run *run = state;
    if (!run)
        return;
    if (run->planned)
        deleteVkFFT(&run->application);
    opencl_machine_close(&run->machine);
    free(run);
}

static int plan(struct run *run, const struct device_work *work)
{
    VkFFTConfiguration configuration = {.FFTdim = 1,
                                        .size = {work->n, 1, 1},
                                        .numberBatches = work->frames,
                                        .device = &run->machine.device,
                                        .context = &run->machine.context,
                                        .isInputFormatted = 1,
                                        .makeForwardPlanOnly = 1,
                                        .inputBufferSize = &run->in_bytes,
                                        .inputBuffer = &run->machine.in,
                                        .bufferSize = &run->out_bytes,
                                        .buffer = &run->machine.out};
    int code = check("initializeVkFFT", initializeVkFFT(&run->application, configuration));
    run->planned = !code;
    return code;
}

static void *new_run(const struct device_work *work)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->in_bytes = work->in_bytes;
    run->out_bytes = work->frames * work->n * sizeof(penstock_cf32);
    if (opencl_machine_open(&run->machine, work->device, run->in_bytes, run->out_bytes, work->in, work->block_bytes) &&
        opencl_machine_functions(functions, &vkfft) && !plan(run, work))
        return run;
    free_run(run);
    return NULL;
}

static int enqueue(void *state)
{
    struct run *run = state;
    VkFFTLaunchParams launch = {
        .commandQueue = &run->machine.queue, .buffer = &run->machine.out, .inputBuffer = &run->machine.in};
    return check("VkFFTAppend", VkFFTAppend(&run->application, -1, &launch));
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    struct run *run = state;
    return opencl_machine_time(&run->machine, enqueue, run, repeats, seconds);
}

static int read_out(void *state, void *out, size_t bytes)
{
    struct run *run = state;
    return opencl_machine_read(&run->machine, out, bytes);
}

const struct peer vkfft_opencl = {
    .device_new = new_run, .device_run = run_timed, .device_read = read_out, .device_free = free_run};
