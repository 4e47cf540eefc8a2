/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The CUDA driver API and NVRTC as far as peers need them; names and types are those of NVIDIA's cuda.h and nvrtc.h. */
#include "cuda_machine.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES = 8 };

#define DRIVER(X)                                                                                               \
    X(init, "cuInit", (unsigned))                                                                               \
    X(device_get, "cuDeviceGet", (int *, int))                                                                  \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                                       \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int))                                                           \
    X(push, "cuCtxPushCurrent_v2", (void *))                                                                    \
    X(pop, "cuCtxPopCurrent_v2", (void **))                                                                     \
    X(attribute, "cuDeviceGetAttribute", (int *, int, int))                                                     \
    X(alloc, "cuMemAlloc_v2", (cuda_memory *, size_t))                                                          \
    X(free, "cuMemFree_v2", (cuda_memory))                                                                      \
    X(upload, "cuMemcpyHtoD_v2", (cuda_memory, const void *, size_t))                                           \
    X(download, "cuMemcpyDtoH_v2", (void *, cuda_memory, size_t))                                               \
    X(copy, "cuMemcpyDtoD_v2", (cuda_memory, cuda_memory, size_t))                                              \
    X(load, "cuModuleLoadData", (void **, const void *))                                                        \
    X(unload, "cuModuleUnload", (void *))                                                                       \
    X(function, "cuModuleGetFunction", (void **, void *, const char *))                                         \
    X(launch, "cuLaunchKernel",                                                                                 \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
    X(event, "cuEventCreate", (void **, unsigned))                                                              \
    X(event_free, "cuEventDestroy_v2", (void *))                                                                \
    X(record, "cuEventRecord", (void *, void *))                                                                \
    X(wait, "cuEventSynchronize", (void *))                                                                     \
    X(elapsed, "cuEventElapsedTime", (float *, void *, void *))

#define COMPILER(X)                                                                         \
    X(create, "nvrtcCreateProgram",                                                         \
      (void **, const char *, const char *, int, const char *const *, const char *const *)) \
    X(compile, "nvrtcCompileProgram", (void *, int, const char *const *))                   \
    X(log, "nvrtcGetProgramLog", (void *, char *))                                          \
    X(log_size, "nvrtcGetProgramLogSize", (void *, size_t *))                               \
    X(ptx_size, "nvrtcGetPTXSize", (void *, size_t *))                                      \
    X(ptx, "nvrtcGetPTX", (void *, char *))                                                 \
    X(destroy, "nvrtcDestroyProgram", (void **))

#define MEMBER(name, symbol, parameters) int(*name) parameters;
struct cuda_machine {
    struct {
        DRIVER(MEMBER)
    } cu;
    struct {
        COMPILER(MEMBER)
    } rtc;
    int device;
    void *context, *module, *events[2];
    cuda_memory memory[MEMORIES];
    size_t memories;
};

#define DRIVER_ROW(name, symbol, parameters)   {symbol, offsetof(struct cuda_machine, cu.name)},
#define COMPILER_ROW(name, symbol, parameters) {symbol, offsetof(struct cuda_machine, rtc.name)},
static const struct library_function functions_of_driver[] = {DRIVER(DRIVER_ROW){NULL, 0}};
static const struct library_function functions_of_compiler[] = {COMPILER(COMPILER_ROW){NULL, 0}};

static int check(const char *what, int code)
{
    return code ? fail(EXIT_DATA, "%s of the peer failed with error %d", what, code) : EXIT_DONE;
}

const char *const cuda_driver_names[] = {"libcuda.so.1", NULL};
const char *const cuda_compiler_names[] = {"libnvrtc.so.13",
                                           "libnvrtc.so.12",
                                           "libnvrtc.so.11.2",
                                           "libnvrtc.so",
                                           "/usr/local/cuda/lib64/libnvrtc.so",
                                           "/usr/local/cuda/lib/libnvrtc.so",
                                           NULL};

static bool open_libraries(struct cuda_machine *machine)
{
    return library_load(cuda_driver_names, "the peer needs NVIDIA's driver", functions_of_driver, machine) &&
           library_load(cuda_compiler_names, "the peer needs the CUDA toolkit", functions_of_compiler, machine);
}

static int start(struct cuda_machine *machine, int index)
{
    int code;
    if ((code = check("cuInit", machine->cu.init(0))) ||
        (code = check("cuDeviceGet", machine->cu.device_get(&machine->device, index))) ||
        (code = check("cuDevicePrimaryCtxRetain", machine->cu.retain(&machine->context, machine->device))))
        return code;
    if ((code = check("cuCtxPushCurrent", machine->cu.push(machine->context)))) {
        machine->cu.release(machine->device);
        machine->context = NULL;
        return code;
    }
    for (int i = 0; i < 2 && !code; i++)
        code = check("cuEventCreate", machine->cu.event(&machine->events[i], 0));
    return code;
}

int cuda_machine_index(const char *device)
{
    const char *colon = strchr(device, ':');
    return colon ? atoi(colon + 1) : 0;
}

struct cuda_machine *cuda_machine_new(const char *device)
{
    struct cuda_machine *machine;
    if (strncmp(device, "cuda", 4)) {
        fail(EXIT_USAGE, "the peer computes on cuda devices, not on %s", device);
        return NULL;
    }
    if (!(machine = calloc(1, sizeof *machine))) {
        fail(EXIT_DATA, "out of memory");
        return NULL;
    }
    if (open_libraries(machine) && !start(machine, cuda_machine_index(device)))
        return machine;
    cuda_machine_free(machine);
    return NULL;
}

void cuda_machine_free(struct cuda_machine *machine)
{
    void *popped;
    if (!machine)
        return;
    for (size_t i = 0; i < machine->memories; i++)
        machine->cu.free(machine->memory[i]);
    for (int i = 0; i < 2; i++)
        if (machine->events[i])
            machine->cu.event_free(machine->events[i]);
    if (machine->module)
        machine->cu.unload(machine->module);
    if (machine->context) {
        machine->cu.pop(&popped);
        machine->cu.release(machine->device);
    }
    free(machine);
}

cuda_memory cuda_machine_alloc(struct cuda_machine *machine, size_t bytes)
{
    cuda_memory memory = 0;
    if (machine->memories == MEMORIES || check("cuMemAlloc", machine->cu.alloc(&memory, bytes)))
        return 0;
    machine->memory[machine->memories++] = memory;
    return memory;
}

int cuda_machine_fill(struct cuda_machine *machine, cuda_memory to, const void *block, size_t block_bytes, size_t bytes)
{
    size_t have = block_bytes < bytes ? block_bytes : bytes;
    int code = check("cuMemcpyHtoD", machine->cu.upload(to, block, have));
    while (!code && have < bytes) {
        size_t more = have < bytes - have ? have : bytes - have;
        code = check("cuMemcpyDtoD", machine->cu.copy(to + have, to, more));
        have += more;
    }
    return code;
}

int cuda_machine_read(struct cuda_machine *machine, void *to, cuda_memory from, size_t bytes)
{
    return check("cuMemcpyDtoH", machine->cu.download(to, from, bytes));
}

/* ---------------------------------------------------------------- kernels --------------------- */

static int compile(struct cuda_machine *machine, void *program, char **ptx)
{
    enum { MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_... */
    int major = 0, minor = 0, code;
    char option[40], *log;
    size_t bytes = 0;
    machine->cu.attribute(&major, MAJOR, machine->device);
    machine->cu.attribute(&minor, MINOR, machine->device);
    snprintf(option, sizeof option, "--gpu-architecture=compute_%d%d", major, minor);
    if ((code = machine->rtc.compile(program, 1, (const char *const[]){option}))) {
        machine->rtc.log_size(program, &bytes);
        if ((log = calloc(1, bytes + 1)))
            machine->rtc.log(program, log);
        fail(EXIT_DATA, "the peer's kernels do not compile: %s", log ? log : "");
        free(log);
        return EXIT_DATA;
    }
    if ((code = check("nvrtcGetPTXSize", machine->rtc.ptx_size(program, &bytes))))
        return code;
    if (!(*ptx = malloc(bytes)))
        return fail(EXIT_DATA, "out of memory");
    return check("nvrtcGetPTX", machine->rtc.ptx(program, *ptx));
}

int cuda_machine_compile(struct cuda_machine *machine, const char *source)
{
    void *program;
    char *ptx = NULL;
    int code = check("nvrtcCreateProgram", machine->rtc.create(&program, source, "separate.cu", 0, NULL, NULL));
    if (code)
        return code;
    code = compile(machine, program, &ptx);
    machine->rtc.destroy(&program);
    if (!code && (code = check("cuModuleLoadData", machine->cu.load(&machine->module, ptx))))
        machine->module = NULL;
    free(ptx);
    return code;
}

int cuda_machine_launch(struct cuda_machine *machine, const char *kernel, size_t groups, unsigned group,
                        void **arguments)
{
    void *function;
    int code = check("cuModuleGetFunction", machine->cu.function(&function, machine->module, kernel));
    return code ? code
                : check("cuLaunchKernel",
                        machine->cu.launch(function, (unsigned)groups, 1, 1, group, 1, 1, 0, NULL, arguments, NULL));
}

/* ---------------------------------------------------------------- the clock ------------------- */

/* Notes the device's time as number 0 or 1. */
static int stamp(struct cuda_machine *machine, unsigned which)
{
    return check("cuEventRecord", machine->cu.record(machine->events[which], NULL));
}

/* Between the two, once all is done. */
static int elapsed(struct cuda_machine *machine, double *seconds)
{
    float milliseconds = 0;
    int code = check("cuEventSynchronize", machine->cu.wait(machine->events[1]));
    if (!code)
        code = check("cuEventElapsedTime", machine->cu.elapsed(&milliseconds, machine->events[0], machine->events[1]));
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

int cuda_machine_time(struct cuda_machine *machine, int (*launch)(void *state), void *state, unsigned repeats,
                      double *seconds)
{
    int code = stamp(machine, 0);
    for (unsigned i = 0; i < repeats && !code; i++)
        code = launch(state);
    if (!code && !(code = stamp(machine, 1)))
        code = elapsed(machine, seconds);
    *seconds /= repeats;
    return code;
}
