/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * libcuda and libnvrtc for tests, named by PENSTOCK_CUDA_LIBRARY and PENSTOCK_NVRTC_LIBRARY: as many GPUs as
 * PENSTOCK_SHIM_GPUS says, one without it, in the host's memory. What is put into a stream happens when the stream is
 * waited for and not before, as late as a real one could. It lets a call fail, counts objects that were made and not
 * released, and notes rules of the driver that were broken. This file: device, contexts and memory.
 */
#include "cuda_shim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long countdown = -1; /* calls until one fails; < 0: none does */
static long live;
static const char *broken;
#define MOST_GPUS  16
#define MOST_DEPTH 16

static bool lost[MOST_GPUS];
static long launches[MOST_GPUS], copies[MOST_GPUS];
static _Thread_local int stack[MOST_DEPTH], depth; /* of contexts, by their GPUs */
static _Thread_local long pushes;                  /* onto it */

void shim_fail_at(long k)
{
    countdown = k;
}

long shim_left(void)
{
    return countdown;
}

long shim_live(void)
{
    return live;
}

long shim_pushes(void)
{
    return pushes;
}

const char *shim_broken_rule(void)
{
    return broken ? broken : depth ? "a context was left on the stack" : NULL;
}

bool shim_fails(void)
{
    bool result;
    pthread_mutex_lock(&lock);
    result = (countdown >= 0 && countdown-- == 0) || (depth && lost[stack[depth - 1]]);
    pthread_mutex_unlock(&lock);
    return result;
}

void shim_count(int change)
{
    pthread_mutex_lock(&lock);
    live += change;
    pthread_mutex_unlock(&lock);
}

void shim_rule(bool holds, const char *rule)
{
    pthread_mutex_lock(&lock);
    if (!holds && !broken)
        broken = rule;
    pthread_mutex_unlock(&lock);
}

void shim_lose_gpu(int gpu)
{
    pthread_mutex_lock(&lock);
    lost[gpu] = true;
    pthread_mutex_unlock(&lock);
}

bool shim_is_lost(int gpu)
{
    pthread_mutex_lock(&lock);
    bool result = lost[gpu];
    pthread_mutex_unlock(&lock);
    return result;
}

static void note(long *counters, int gpu)
{
    pthread_mutex_lock(&lock);
    counters[gpu]++;
    pthread_mutex_unlock(&lock);
}

void shim_note_launch(int gpu)
{
    note(launches, gpu);
}

void shim_note_copy(int gpu)
{
    note(copies, gpu);
}

long shim_launches(int gpu)
{
    return launches[gpu];
}

long shim_copies(int gpu)
{
    return copies[gpu];
}

/* ---------------------------------------------------------------- device and context ---------- */

static int contexts[MOST_GPUS]; /* their addresses are the primary contexts */

/* Of PENSTOCK_SHIM_GPUS: "none" finds none, "0" lists none. */
static int gpu_count(void)
{
    const char *gpus = getenv("PENSTOCK_SHIM_GPUS");
    int count = gpus ? atoi(gpus) : 1;
    return count < MOST_GPUS ? count : MOST_GPUS;
}

int shim_current(void)
{
    return depth ? stack[depth - 1] : 0;
}

void shim_needs_context(void)
{
    shim_rule(depth > 0, "a call without a current context");
}

CUresult cuInit(unsigned flags)
{
    const char *gpus = getenv("PENSTOCK_SHIM_GPUS");
    shim_rule(!flags, "cuInit takes no flags");
    return shim_fails() || (gpus && !strcmp(gpus, "none")) ? 100 : 0;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = gpu_count();
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuDeviceGet(CUdevice *device, int index)
{
    shim_rule(index >= 0 && index < gpu_count(), "a device that was not listed");
    *device = index;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuDeviceGetName(char *name, int capacity, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)capacity, "GPU for tests");
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    const char *capability = getenv("PENSTOCK_SHIM_CAPABILITY"); /* "90" */
    int architecture = capability ? atoi(capability) : 90;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = 48 << 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        *value = device;
        break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = architecture / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = architecture % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 << 10;
        break;
    default:
        shim_rule(false, "an attribute of the device that the test does not know");
    }
    return 0;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *made, CUdevice device)
{
    shim_takes("context");
    if (shim_fails() || shim_is_lost(device))
        return SHIM_OUT_OF_MEMORY;
    *made = (CUcontext)(void *)&contexts[device];
    shim_count(1);
    return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    (void)device;
    shim_count(-1);
    return 0;
}

CUresult cuCtxPushCurrent_v2(CUcontext pushed)
{
    const int *known = (const int *)(const void *)pushed;
    bool is_one = known >= contexts && known < contexts + gpu_count() && depth < MOST_DEPTH;
    shim_rule(is_one, "a context that is none");
    if (!is_one || shim_fails())
        return SHIM_LAUNCH_FAILED;
    stack[depth++] = (int)(known - contexts);
    pushes++;
    return 0;
}

CUresult cuCtxGetCurrent(CUcontext *current)
{
    *current = depth ? (CUcontext)(void *)&contexts[shim_current()] : NULL;
    return 0;
}

CUresult cuCtxPopCurrent_v2(CUcontext *popped)
{
    shim_rule(depth > 0, "more contexts popped than pushed");
    *popped = (CUcontext)(void *)&contexts[shim_current()];
    depth--;
    return 0;
}

/* ---------------------------------------------------------------- memory ---------------------- */

/* Chunks of the device's memory, and page-locked ones, so that asynchronous copies from elsewhere are noticed. */
static struct chunk {
    struct chunk *next;
    char *memory;
    size_t bytes;
    bool on_device, portable; /* the latter: page-locked for all GPUs */
    int gpu;
} * chunks;

static void note_chunk(void *memory, size_t bytes, bool on_device, bool portable)
{
    struct chunk *chunk = malloc(sizeof *chunk);
    if (!chunk)
        return;
    pthread_mutex_lock(&lock);
    *chunk = (struct chunk){chunks, memory, bytes, on_device, portable, shim_current()};
    chunks = chunk;
    pthread_mutex_unlock(&lock);
}

static void forget_chunk(void *memory, bool on_device)
{
    struct chunk **link = &chunks, *chunk;
    pthread_mutex_lock(&lock);
    while (*link && ((*link)->memory != memory || (*link)->on_device != on_device))
        link = &(*link)->next;
    if ((chunk = *link))
        *link = chunk->next;
    pthread_mutex_unlock(&lock);
    shim_rule(chunk, "memory freed that is none, or of the other kind");
    free(chunk);
}

/* With the lock. */
static const struct chunk *find_chunk(const char *at)
{
    const struct chunk *chunk = chunks;
    while (chunk && (at < chunk->memory || at >= chunk->memory + chunk->bytes))
        chunk = chunk->next;
    return chunk;
}

static CUresult allocate(void **memory, size_t bytes)
{
    shim_needs_context();
    shim_rule(bytes > 0, "memory of no bytes");
    shim_takes("alloc");
    if (shim_fails() || !(*memory = aligned_alloc(256, (bytes + 255) / 256 * 256)))
        return SHIM_OUT_OF_MEMORY;
    shim_count(1);
    return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes)
{
    const char *most = getenv("PENSTOCK_SHIM_MOST_BYTES"); /* that one allocation may have */
    void *made = NULL;
    CUresult code = most && bytes > strtoull(most, NULL, 10) ? SHIM_OUT_OF_MEMORY : allocate(&made, bytes);
    if (!code)
        note_chunk(made, bytes, true, false);
    *memory = (CUdeviceptr)(size_t)made;
    return code;
}

CUresult cuMemFree_v2(CUdeviceptr memory)
{
    shim_takes("free");
    forget_chunk((void *)(size_t)memory, true);
    free((void *)(size_t)memory);
    shim_count(-1);
    return 0;
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes)
{
    CUresult code = allocate(memory, bytes);
    if (!code)
        note_chunk(*memory, bytes, false, false);
    return code;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    CUresult code = allocate(memory, bytes);
    shim_rule(flags == CU_MEMHOSTALLOC_PORTABLE, "flags of page-locked memory that the test does not know");
    if (!code)
        note_chunk(*memory, bytes, false, true);
    return code;
}

CUresult cuMemFreeHost(void *memory)
{
    shim_takes("free");
    forget_chunk(memory, false);
    free(memory);
    shim_count(-1);
    return 0;
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    shim_needs_context();
    shim_rule(flags == CU_MEMHOSTREGISTER_PORTABLE && bytes > 0, "memory is registered with other flags, or none");
    pthread_mutex_lock(&lock);
    const struct chunk *chunk = find_chunk(memory);
    pthread_mutex_unlock(&lock);
    if (shim_fails() || chunk)
        return SHIM_LAUNCH_FAILED;
    note_chunk(memory, bytes, false, true);
    shim_count(1);
    return 0;
}

CUresult cuMemHostUnregister(void *memory)
{
    shim_needs_context();
    forget_chunk(memory, false);
    shim_count(-1);
    return 0;
}

/* PENSTOCK_SHIM_ORDINAL: the GPU that all memory is said to be of. */
static int ordinal(const struct chunk *chunk)
{
    const char *text = getenv("PENSTOCK_SHIM_ORDINAL");
    return text ? atoi(text) : chunk ? chunk->gpu : 0;
}

/* As the driver: what it does not know is no error, and has zeros. */
CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CUdeviceptr pointer)
{
    const struct chunk *chunk;
    bool unknown = false;
    shim_needs_context();
    if (shim_fails())
        return SHIM_LAUNCH_FAILED;
    pthread_mutex_lock(&lock);
    chunk = find_chunk((const char *)(size_t)pointer);
    for (unsigned i = 0; i < count; i++)
        if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            *(unsigned *)values[i] = !chunk ? 0 : chunk->on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
            *(CUdeviceptr *)values[i] = chunk ? (CUdeviceptr)(size_t)chunk->memory : 0;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
            *(size_t *)values[i] = chunk ? chunk->bytes : 0;
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)values[i] = ordinal(chunk);
        else
            unknown = true;
    pthread_mutex_unlock(&lock);
    shim_rule(!unknown, "an attribute of a pointer that is not known here");
    return 0;
}

void shim_needs_pinned(const char *memory, size_t bytes, int gpu)
{
    const struct chunk *chunk;
    bool whole, reached;
    pthread_mutex_lock(&lock);
    chunk = find_chunk(memory);
    whole = chunk && !chunk->on_device && memory + bytes <= chunk->memory + chunk->bytes;
    reached = whole && (chunk->portable || chunk->gpu == gpu);
    pthread_mutex_unlock(&lock);
    shim_rule(whole, "an asynchronous copy from or to memory that is not page-locked");
    shim_rule(!whole || reached, "an asynchronous copy from or to memory that is page-locked for another GPU");
}

void shim_needs_own(const void *memory, int gpu)
{
    pthread_mutex_lock(&lock);
    const struct chunk *chunk = find_chunk(memory);
    bool own = !chunk || !chunk->on_device || chunk->gpu == gpu;
    pthread_mutex_unlock(&lock);
    shim_rule(own, "a GPU works on the memory of another one");
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    shim_needs_context();
    if (shim_fails())
        return SHIM_LAUNCH_FAILED;
    memcpy((void *)(size_t)to, from, bytes);
    return 0;
}
