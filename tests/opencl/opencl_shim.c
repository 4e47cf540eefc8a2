/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A loader for tests, named by PENSTOCK_OPENCL_LIBRARY: the real one, which it is linked with, but for the functions
 * here. They make the device look like a GPU (PENSTOCK_SHIM_GPU=LOCAL_BYTES:MAX_GROUP[:WAVE]; with ":cpu" behind, like
 * a CPU with these limits; with PENSTOCK_SHIM_UNIFIED one that shares the host's memory) of the name
 * PENSTOCK_SHIM_NAME, put the sources of kernels into the folder PENSTOCK_SHIM_SOURCES instead of running them (with
 * PENSTOCK_SHIM_RUNS: and run them), let a call fail, and count objects that were made and not released, and copies.
 * PENSTOCK_SHIM_FAULT=FAULT makes a broken driver of it, for the helper program that tries it too: context-crash,
 * build-crash, build-exit, build-hang (which makes the file PENSTOCK_SHIM_HANGS), build-error, run-crash, run-wrong
 * (nothing is done), wait-crash, unmap-early (what is not mapped yet is not taken back, as by rusticl of Mesa 22),
 * image-refused; the first five for devices alone that have PENSTOCK_SHIM_FAULTY in their name, where that is set. With
 * "plan-" before it, build-crash, build-exit, build-hang, run-crash or wait-crash is of other kernels than the first,
 * small one alone. first-refused, first-wrong: build-error, run-wrong of a process's first other kernel alone;
 * build-slow: that one takes PENSTOCK_SHIM_SECONDS. PENSTOCK_SHIM_TAKES="compile=MILLISECONDS" is of all builds.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "driver_shim.h"

#include <CL/cl.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAVE_OF_OPENCL_3 0x1067 /* CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, which older headers lack */

static atomic_long countdown = -1; /* calls until one fails; < 0: none does */
static atomic_int for_good;        /* all fail from that one on, once `countdown` is 0 */
static atomic_int reached;         /* that one */
static atomic_long live;

void shim_fail_at(long k)
{
    countdown = k;
    for_good = reached = 0;
}

void shim_fail_from(long k)
{
    shim_fail_at(k);
    for_good = 1;
}

long shim_live(void)
{
    return live;
}

long shim_left(void)
{
    return reached ? -1 : countdown;
}

static atomic_long more_ms; /* of each call */

void shim_slow_down(long ms)
{
    more_ms = ms;
}

static int fails(void)
{
    if (more_ms > 0)
        nanosleep(&(struct timespec){.tv_nsec = more_ms * 1000000}, NULL);
    long left = countdown;
    while (left > 0 || (!left && !for_good))
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1))
            break;
    reached |= !left;
    return !left;
}

/* ---------------------------------------------------------------- a slow compiler ------------- */

#define GATHER_S 20

static atomic_long building, most_building, gathered; /* builds under way, the most of them, those waited for */
static atomic_long builds;

void shim_gather_builds(long count)
{
    most_building = builds = 0;
    gathered = count;
}

long shim_most_builds(void)
{
    return most_building;
}

long shim_builds(void)
{
    return builds;
}

static void begin_build(void)
{
    const char *takes = getenv("PENSTOCK_SHIM_TAKES"), *at = takes ? strstr(takes, "compile=") : NULL;
    const long now = atomic_fetch_add(&building, 1) + 1;
    builds++;
    for (long most = most_building; now > most && !atomic_compare_exchange_weak(&most_building, &most, now);)
        ;
    if (at)
        usleep(1000 * (unsigned)atoi(at + strlen("compile=")));
    for (int ms = 0; ms < 1000 * GATHER_S && most_building < gathered; ms++)
        usleep(1000);
}

/* ---------------------------------------------------------------- a broken driver ------------- */

static int has_fault(const char *fault)
{
    const char *wanted = getenv("PENSTOCK_SHIM_FAULT");
    return wanted && !strcmp(wanted, fault);
}

/* LLVM, if the real driver has it, catches signals once and returns. */
static void crash_if(const char *fault)
{
    if (!has_fault(fault))
        return;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* ---------------------------------------------------------------- a device that is lost ------- */

static cl_context newest; /* made */
static cl_device_id its_device;

/* A kernel of the application's, which writes where there is no memory. */
int shim_lose(void)
{
    const char *text = "kernel void stray(ulong to) { *(volatile global int *)to = 1; }";
    const cl_ulong to = 16;
    const size_t one = 1;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(newest, its_device, 0, &code);
    cl_program program = clCreateProgramWithSource(newest, 1, &text, NULL, &code);
    cl_kernel kernel = NULL;
    if (!clBuildProgram(program, 1, &its_device, "", NULL, NULL))
        kernel = clCreateKernel(program, "stray", &code);
    if (!kernel || clSetKernelArg(kernel, 0, sizeof to, &to))
        return 0;
    code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    return code || clFinish(queue);
}

static int is_faulty(cl_device_id device)
{
    const char *chunk = getenv("PENSTOCK_SHIM_FAULTY");
    char name[256] = "";
    return !chunk || (!clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) && strstr(name, chunk));
}

static void hang(void)
{
    const char *path = getenv("PENSTOCK_SHIM_HANGS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    for (;;)
        pause();
}

/* Returns where the driver goes on. `plan`: not for the first kernel. */
static void compile_badly(int plan)
{
    crash_if("build-crash");
    if (has_fault("build-exit") || (plan && has_fault("plan-build-exit")))
        exit(127);
    if (has_fault("build-hang") || (plan && has_fault("plan-build-hang")))
        hang();
    if (plan)
        crash_if("plan-build-crash");
}

/* Whether it is made of a source, and not that of kernels/trial.cl. */
static int is_plans(cl_program program)
{
    char source[1 << 17] = "";
    return !clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof source, source, NULL) && *source &&
           !strstr(source, "TRIAL_FACTOR");
}

static _Atomic(cl_program) first; /* of other kernels than the first, small one */

static int is_first(cl_program program)
{
    cl_program none = NULL;
    if (!first && is_plans(program))
        atomic_compare_exchange_strong(&first, &none, program);
    return first == program;
}

static atomic_int plans_kernel_ran;

static int is_of_first(cl_kernel kernel)
{
    cl_program program = NULL;
    return !clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) && program && program == first;
}

static void note_run(cl_kernel kernel)
{
    char name[64] = "";
    if (!clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) && strcmp(name, "trial"))
        plans_kernel_ran = 1;
}

/* ---------------------------------------------------------------- sources --------------------- */

static const char *sources(void)
{
    return getenv("PENSTOCK_SHIM_SOURCES");
}

/* Whether nothing runs. */
static int collects(void)
{
    return sources() && !getenv("PENSTOCK_SHIM_RUNS");
}

/* As FOLDER/000.cl and so on, in their order. */
static int put_source(const char *text)
{
    static unsigned count;
    char path[4096];
    FILE *file;
    snprintf(path, sizeof path, "%s/%03u.cl", sources(), count++);
    if (!(file = fopen(path, "w")))
        return 0;
    fputs(text, file);
    return !fclose(file);
}

/* ---------------------------------------------------------------- its calls ------------------- */

/* A pointer to the next function of this name, which is the real one. */
#define REAL(name)                           \
    __typeof__(&name) real;                  \
    void *symbol_ = dlsym(RTLD_NEXT, #name); \
    memcpy(&real, &symbol_, sizeof real)

/* A function that makes an object and reports in *code. */
#define MAKER(type, name, parameters, arguments) \
    type name parameters                         \
    {                                            \
        type made = NULL;                        \
        REAL(name);                              \
        if (fails())                             \
            *code = CL_OUT_OF_RESOURCES;         \
        else                                     \
            made = real arguments;               \
        live += made != NULL;                    \
        return made;                             \
    }

/* A function that returns its code. */
#define CALL(name, parameters, arguments)                      \
    cl_int name parameters                                     \
    {                                                          \
        REAL(name);                                            \
        return fails() ? CL_OUT_OF_RESOURCES : real arguments; \
    }

#define RELEASE(name, type)  \
    cl_int name(type object) \
    {                        \
        REAL(name);          \
        live--;              \
        return real(object); \
    }

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                           cl_int *code)
{
    cl_context made = NULL;
    REAL(clCreateContext);
    if (is_faulty(devices[0]))
        crash_if("context-crash");
    if (fails())
        *code = CL_OUT_OF_RESOURCES;
    else
        made = real(properties, count, devices, notify, user, code);
    live += made != NULL;
    newest = made;
    its_device = devices[0];
    return made;
}

MAKER(cl_command_queue, clCreateCommandQueue,
      (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *code),
      (context, device, properties, code))
MAKER(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *code),
      (context, flags, bytes, host, code))

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *description, void *host, cl_int *code)
{
    cl_mem made = NULL;
    REAL(clCreateImage);
    if (has_fault("image-refused"))
        *code = CL_INVALID_OPERATION;
    else if (fails())
        *code = CL_OUT_OF_RESOURCES;
    else
        made = real(context, flags, format, description, host, code);
    live += made != NULL;
    return made;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                     cl_int *code)
{
    static const char *const nothing = "kernel void nothing(global int *memory) { }";
    cl_program made = NULL;
    REAL(clCreateProgramWithSource);
    if (fails())
        *code = CL_OUT_OF_RESOURCES;
    else if (sources() && !strstr(texts[0], "TRIAL_FACTOR") && !put_source(texts[0]))
        *code = CL_OUT_OF_HOST_MEMORY;
    else if (collects())
        made = real(context, 1, (const char *[]){nothing}, NULL, code);
    else
        made = real(context, count, texts, lengths, code);
    live += made != NULL;
    return made;
}

MAKER(cl_program, clCreateProgramWithBinary,
      (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
       const unsigned char **binaries, cl_int *states, cl_int *code),
      (context, count, devices, lengths, binaries, states, code))
MAKER(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *code),
      (program, collects() ? "nothing" : name, code))

MAKER(cl_mem, clCreateSubBuffer,
      (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *code),
      (buffer, flags, type, region, code))

cl_int clRetainMemObject(cl_mem object)
{
    REAL(clRetainMemObject);
    live++;
    return real(object);
}

cl_int clRetainCommandQueue(cl_command_queue object)
{
    REAL(clRetainCommandQueue);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    live++;
    return real(object);
}

cl_int clRetainContext(cl_context object)
{
    REAL(clRetainContext);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    live++;
    return real(object);
}

cl_int clRetainProgram(cl_program object)
{
    REAL(clRetainProgram);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    live++;
    return real(object);
}

RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseEvent, cl_event)

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    REAL(clBuildProgram);
    if (is_faulty(devices[0])) {
        compile_badly(is_plans(program));
        if (has_fault("build-error") || (is_first(program) && has_fault("first-refused")))
            return CL_BUILD_PROGRAM_FAILURE;
        if (is_first(program) && has_fault("build-slow"))
            sleep((unsigned)atoi(getenv("PENSTOCK_SHIM_SECONDS")));
    }
    begin_build();
    cl_int code = fails() ? CL_OUT_OF_RESOURCES : real(program, count, devices, options, notify, user);
    building--;
    return code;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t bytes,
                             void *value, size_t *used)
{
    static const char log[] = "trial.cl: warning\ntrial.cl:9: error: this compiler is \033[1mbroken\n1 error\n";
    REAL(clGetProgramBuildInfo);
    if (!(has_fault("build-error") || has_fault("first-refused")) || what != CL_PROGRAM_BUILD_LOG)
        return real(program, device, what, bytes, value, used);
    if (used)
        *used = sizeof log;
    if (value && bytes >= sizeof log)
        memcpy(value, log, sizeof log);
    return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    REAL(clSetKernelArg);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    return collects() ? CL_SUCCESS : real(kernel, index, bytes, value);
}

CALL(clGetKernelWorkGroupInfo,
     (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t bytes, void *value, size_t *used),
     (kernel, device, what, bytes, value, used))
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *events,
                              cl_event *event)
{
    REAL(clEnqueueNDRangeKernel);
    note_run(kernel);
    crash_if("run-crash");
    if (plans_kernel_ran)
        crash_if("plan-run-crash");
    if (fails())
        return CL_OUT_OF_RESOURCES;
    return has_fault("run-wrong") || (has_fault("first-wrong") && is_of_first(kernel)) || collects()
               ? CL_SUCCESS
               : real(queue, kernel, dimensions, offset, global, local, count, events, event);
}

static atomic_long copies;

long shim_copies(int gpu)
{
    (void)gpu; /* all of them */
    return atomic_load(&copies);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                            const void *host, cl_uint count, const cl_event *events, cl_event *event)
{
    REAL(clEnqueueWriteBuffer);
    atomic_fetch_add(&copies, 1);
    return fails() ? CL_OUT_OF_RESOURCES : real(queue, buffer, blocking, offset, bytes, host, count, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
                           void *host, cl_uint count, const cl_event *events, cl_event *event)
{
    REAL(clEnqueueReadBuffer);
    atomic_fetch_add(&copies, 1);
    return fails() ? CL_OUT_OF_RESOURCES : real(queue, buffer, blocking, offset, bytes, host, count, events, event);
}

CALL(clFlush, (cl_command_queue queue), (queue))

static _Thread_local int early;        /* nobody waited for the last mapping yet */
static _Thread_local cl_event mapping; /* its event, if it has one */

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint count, const cl_event *events, cl_event *event, cl_int *code)
{
    void *host = NULL;
    REAL(clEnqueueMapBuffer);
    if (fails())
        *code = CL_OUT_OF_RESOURCES;
    else
        host = real(queue, buffer, blocking, flags, offset, bytes, count, events, event, code);
    live += event && host;
    early = host && !blocking;
    mapping = event && host ? *event : NULL;
    return host;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void *host, cl_uint count, const cl_event *events,
                               cl_event *event)
{
    REAL(clEnqueueUnmapMemObject);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    if (early && has_fault("unmap-early"))
        return CL_INVALID_VALUE;
    return real(queue, object, host, count, events, event);
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    REAL(clWaitForEvents);
    crash_if("wait-crash");
    if (plans_kernel_ran)
        crash_if("plan-wait-crash");
    for (cl_uint i = 0; i < count; i++)
        early = early && events[i] != mapping;
    return fails() ? CL_OUT_OF_RESOURCES : real(count, events);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event)
{
    cl_int code;
    REAL(clEnqueueMarkerWithWaitList);
    if (fails())
        return CL_OUT_OF_RESOURCES;
    code = real(queue, count, events, event);
    live += event && !code;
    return code;
}

static void answer(size_t bytes, void *value, const void *fake, size_t fake_bytes)
{
    if (value && bytes >= fake_bytes)
        memcpy(value, fake, fake_bytes);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *value, size_t *used)
{
    const char *gpu = getenv("PENSTOCK_SHIM_GPU");
    unsigned long local = 0, group = 0, wave = 32;
    cl_int code;
    REAL(clGetDeviceInfo);
    code = real(device, what, bytes, value, used);
    if (code || !gpu || sscanf(gpu, "%lu:%lu:%lu", &local, &group, &wave) < 2)
        return code;
    if (what == CL_DEVICE_NAME && getenv("PENSTOCK_SHIM_NAME"))
        answer(bytes, value, getenv("PENSTOCK_SHIM_NAME"), strlen(getenv("PENSTOCK_SHIM_NAME")) + 1);
    if (what == CL_DEVICE_TYPE && !strstr(gpu, ":cpu"))
        answer(bytes, value, &(cl_device_type){CL_DEVICE_TYPE_GPU}, sizeof(cl_device_type));
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && !strstr(gpu, ":cpu"))
        answer(bytes, value, &(cl_bool){getenv("PENSTOCK_SHIM_UNIFIED") ? CL_TRUE : CL_FALSE}, sizeof(cl_bool));
    if (what == CL_DEVICE_LOCAL_MEM_SIZE)
        answer(bytes, value, &(cl_ulong){local}, sizeof(cl_ulong));
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE)
        answer(bytes, value, &(size_t){group}, sizeof(size_t));
    if (what == WAVE_OF_OPENCL_3)
        answer(bytes, value, &(size_t){wave}, sizeof(size_t));
    if (what == CL_DEVICE_EXTENSIONS && value) { /* of fp16 kernels/numbers.h takes floats where there is none */
        const char *all = strstr(value, "cl_khr_fp64") ? "cl_khr_fp16 cl_khr_fp64" : "cl_khr_fp16";
        answer(bytes, value, all, strlen(all) + 1);
    }
    return code;
}
