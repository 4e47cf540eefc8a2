/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OpenCL as far as peers need it. */
#include "opencl_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16
#define MAX_DEVICES   64 /* of one platform */

#define FUNCTIONS(X)             \
    X(CreateBuffer)              \
    X(CreateCommandQueue)        \
    X(CreateContext)             \
    X(EnqueueCopyBuffer)         \
    X(EnqueueMarkerWithWaitList) \
    X(EnqueueReadBuffer)         \
    X(EnqueueWriteBuffer)        \
    X(Finish)                    \
    X(GetDeviceIDs)              \
    X(GetDeviceInfo)             \
    X(GetEventProfilingInfo)     \
    X(GetPlatformIDs)            \
    X(ReleaseCommandQueue)       \
    X(ReleaseContext)            \
    X(ReleaseEvent)              \
    X(ReleaseMemObject)          \
    X(WaitForEvents)

static struct {
#define MEMBER(name) __typeof__(cl##name) *name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cl;

static const struct library_function own_functions[] = {
#define ROW(name) {"cl" #name, offsetof(__typeof__(cl), name)},
    FUNCTIONS(ROW){NULL, 0}
#undef ROW
};

static void *loader;

bool opencl_machine_functions(const struct library_function *functions, void *table)
{
    return library_look_up(loader, "the OpenCL loader", functions, table);
}

int opencl_machine_check(const char *what, int code)
{
    return code ? fail(EXIT_DATA, "%s of the peer failed with error %d", what, code) : EXIT_DONE;
}

static bool open_loader(void)
{
    const char *library = getenv("PENSTOCK_OPENCL_LIBRARY");
    const char *const names[] = {library && *library ? library : "libOpenCL.so.1", NULL};
    if (!loader)
        loader = library_load(names, "the peer needs OpenCL's loader", own_functions, &cl);
    return loader;
}

/* Those that the library's opencl backend counts. */
static bool usable(cl_device_id id)
{
    char version[128] = "";
    unsigned major = 0, minor = 0;
    cl_bool available = false, compiler = false;
    cl.GetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version, version, NULL);
    cl.GetDeviceInfo(id, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    cl.GetDeviceInfo(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler, NULL);
    return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 && (major > 1 || minor >= 2) && available && compiler;
}

static bool find(struct opencl_machine *machine, unsigned index)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id ids[MAX_DEVICES];
    cl_uint platform_count = 0, count = 0;
    if (cl.GetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count))
        return false;
    for (cl_uint p = 0; p < platform_count && p < MAX_PLATFORMS; p++) {
        if (cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count))
            continue;
        for (cl_uint d = 0; d < count && d < MAX_DEVICES; d++) {
            if (!usable(ids[d]) || index-- > 0)
                continue;
            machine->platform = platforms[p];
            machine->device = ids[d];
            return true;
        }
    }
    return false;
}

static int make_memory(struct opencl_machine *machine, cl_mem *memory, size_t bytes)
{
    cl_int code;
    *memory = cl.CreateBuffer(machine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    return opencl_machine_check("clCreateBuffer", code);
}

static int fill(struct opencl_machine *machine, const void *block, size_t block_bytes, size_t bytes)
{
    size_t have = block_bytes < bytes ? block_bytes : bytes;
    cl_int code = cl.EnqueueWriteBuffer(machine->queue, machine->in, CL_TRUE, 0, have, block, 0, NULL, NULL);
    while (!code && have < bytes) {
        size_t more = have < bytes - have ? have : bytes - have;
        code = cl.EnqueueCopyBuffer(machine->queue, machine->in, machine->in, 0, have, more, 0, NULL, NULL);
        have += more;
    }
    return opencl_machine_check("filling the input", code ? code : cl.Finish(machine->queue));
}

bool opencl_machine_open(struct opencl_machine *machine, const char *device, size_t in_bytes, size_t out_bytes,
                         const void *block, size_t block_bytes)
{
    const char *index = strchr(device, ':');
    cl_int code;
    *machine = (struct opencl_machine){0};
    if (strncmp(device, "opencl", 6))
        return !fail(EXIT_USAGE, "the peer computes on opencl devices, not on %s", device);
    if (!open_loader())
        return false;
    if (!find(machine, index ? (unsigned)atoi(index + 1) : 0))
        return !fail(EXIT_DATA, "%s is not there for the peer", device);
    machine->context = cl.CreateContext(
        (const cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)machine->platform, 0}, 1,
        &machine->device, NULL, NULL, &code);
    if (opencl_machine_check("clCreateContext", code))
        return false;
    machine->queue = cl.CreateCommandQueue(machine->context, machine->device, CL_QUEUE_PROFILING_ENABLE, &code);
    return !opencl_machine_check("clCreateCommandQueue", code) && !make_memory(machine, &machine->in, in_bytes) &&
           !make_memory(machine, &machine->out, out_bytes) && !fill(machine, block, block_bytes, in_bytes);
}

void opencl_machine_close(struct opencl_machine *machine)
{
    for (int i = 0; i < 2; i++)
        if (machine->stamps[i])
            cl.ReleaseEvent(machine->stamps[i]);
    if (machine->in)
        cl.ReleaseMemObject(machine->in);
    if (machine->out)
        cl.ReleaseMemObject(machine->out);
    if (machine->queue)
        cl.ReleaseCommandQueue(machine->queue);
    if (machine->context)
        cl.ReleaseContext(machine->context);
    *machine = (struct opencl_machine){0};
}

int opencl_machine_read(struct opencl_machine *machine, void *to, size_t bytes)
{
    return opencl_machine_check("clEnqueueReadBuffer", cl.EnqueueReadBuffer(machine->queue, machine->out, CL_TRUE, 0,
                                                                            bytes, to, 0, NULL, NULL));
}

/* Notes the device's time as number 0 or 1. */
static int stamp(struct opencl_machine *machine, unsigned which)
{
    if (machine->stamps[which])
        cl.ReleaseEvent(machine->stamps[which]);
    machine->stamps[which] = NULL;
    return opencl_machine_check("clEnqueueMarkerWithWaitList",
                                cl.EnqueueMarkerWithWaitList(machine->queue, 0, NULL, &machine->stamps[which]));
}

/* Between the two, once all is done. */
static int elapsed(struct opencl_machine *machine, double *seconds)
{
    cl_ulong times[2] = {0, 0};
    cl_int code = cl.WaitForEvents(2, machine->stamps);
    for (int i = 0; i < 2 && !code; i++)
        code = cl.GetEventProfilingInfo(machine->stamps[i], CL_PROFILING_COMMAND_END, sizeof times[i], &times[i], NULL);
    *seconds = 1e-9 * (double)(times[1] - times[0]);
    return opencl_machine_check("the device's clock", code);
}

int opencl_machine_time(struct opencl_machine *machine, int (*enqueue)(void *state), void *state, unsigned repeats,
                        double *seconds)
{
    int code = stamp(machine, 0);
    for (unsigned i = 0; i < repeats && !code; i++)
        code = enqueue(state);
    if (!code && !(code = stamp(machine, 1)))
        code = elapsed(machine, seconds);
    *seconds /= repeats;
    return code;
}
