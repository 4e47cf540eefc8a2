/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Applications of CUDA and OpenCL beside the library, by the drivers that it has loaded. */
#include "foreign.h"

#include "backends/cuda/cuda.h"
#include "core/device/devices.h"
#ifdef PENSTOCK_HAVE_OPENCL
#include "backends/opencl/opencl.h"
#endif

/* ---------------------------------------------------------------- CUDA ------------------------ */

static CUcontext primary;

static const struct cuda_api *cuda(void)
{
    char reason[256] = "";
    const struct cuda_api *api = penstock__cuda_api(reason);
    CHECK(api, "%s", reason);
    return api;
}

static void open_cuda(struct foreign *foreign)
{
    CUstream stream = NULL;
    CUdevice id = 0;
    CUdeviceptr memory[3] = {0};
    foreign->cuda = true;
    CHECK_EQ(cuda()->DeviceGet(&id, 0), 0);
    CHECK_EQ(cuda()->DevicePrimaryCtxRetain(&primary, id), 0);
    CHECK_EQ(cuda()->CtxPushCurrent(primary), 0);
    CHECK_EQ(cuda()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(cuda()->MemAlloc(&memory[i], foreign->bytes), 0);
    cuda()->CtxPopCurrent(&primary);
    foreign->queue = (uintptr_t)stream;
    foreign->in = memory[0];
    foreign->out = memory[1];
    foreign->staging = memory[2];
}

static void close_cuda(const struct foreign *foreign)
{
    cuda()->CtxPushCurrent(primary);
    cuda()->StreamSynchronize((CUstream)(uintptr_t)foreign->queue);
    cuda()->StreamDestroy((CUstream)(uintptr_t)foreign->queue);
    cuda()->MemFree(foreign->in);
    cuda()->MemFree(foreign->out);
    cuda()->MemFree(foreign->staging);
    cuda()->CtxPopCurrent(&primary);
    cuda()->DevicePrimaryCtxRelease(0);
}

/* By page-locked memory, as an asynchronous copy wants it. */
static void read_cuda(const struct foreign *foreign, void *to)
{
    CUstream stream = (CUstream)(uintptr_t)foreign->queue;
    void *locked = NULL;
    cuda()->CtxPushCurrent(primary);
    CHECK_EQ(cuda()->MemAllocHost(&locked, foreign->bytes), 0);
    CHECK_EQ(cuda()->MemcpyDtoHAsync(locked, foreign->staging, foreign->bytes, stream), 0);
    CHECK_EQ(cuda()->StreamSynchronize(stream), 0);
    memcpy(to, locked, foreign->bytes);
    cuda()->MemFreeHost(locked);
    cuda()->CtxPopCurrent(&primary);
}

/* ---------------------------------------------------------------- OpenCL ---------------------- */

#ifdef PENSTOCK_HAVE_OPENCL
static const struct opencl_api *opencl(void)
{
    char reason[256] = "";
    const struct opencl_api *api = penstock__opencl_api(reason);
    CHECK(api, "%s", reason);
    return api;
}

static cl_device_id first_device(void)
{
    cl_platform_id platforms[8];
    cl_device_id id = NULL;
    cl_uint count = 0;
    CHECK_EQ(opencl()->GetPlatformIDs(8, platforms, &count), 0);
    for (cl_uint i = 0; i < count && !id; i++)
        opencl()->GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &id, NULL);
    return id;
}

/* `staging` is a part of an application's buffer, as any of its objects may be. */
static void open_opencl(struct foreign *foreign)
{
    const cl_buffer_region second_half = {.origin = foreign->bytes, .size = foreign->bytes};
    cl_device_id id = first_device();
    cl_int code = 0;
    cl_context context = opencl()->CreateContext(NULL, 1, &id, NULL, NULL, &code);
    uint64_t *memory[] = {&foreign->in, &foreign->out};
    cl_mem whole;
    CHECK_EQ(code, 0);
    foreign->context = (uintptr_t)context;
    foreign->queue = (uintptr_t)opencl()->CreateCommandQueue(context, id, 0, &code);
    CHECK_EQ(code, 0);
    for (int i = 0; i < 2; i++) {
        *memory[i] = (uintptr_t)opencl()->CreateBuffer(context, CL_MEM_READ_WRITE, foreign->bytes, NULL, &code);
        CHECK_EQ(code, 0);
    }
    whole = opencl()->CreateBuffer(context, CL_MEM_READ_WRITE, 2 * foreign->bytes, NULL, &code);
    CHECK_EQ(code, 0);
    foreign->staging =
        (uintptr_t)opencl()->CreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &second_half, &code);
    CHECK_EQ(code, 0);
    CHECK_EQ(opencl()->ReleaseMemObject(whole), 0); /* its part keeps it */
}

static void close_opencl(const struct foreign *foreign)
{
    opencl()->Finish((cl_command_queue)(uintptr_t)foreign->queue);
    opencl()->ReleaseMemObject((cl_mem)(uintptr_t)foreign->in);
    opencl()->ReleaseMemObject((cl_mem)(uintptr_t)foreign->out);
    opencl()->ReleaseMemObject((cl_mem)(uintptr_t)foreign->staging);
    opencl()->ReleaseCommandQueue((cl_command_queue)(uintptr_t)foreign->queue);
    opencl()->ReleaseContext((cl_context)(uintptr_t)foreign->context);
}
#endif

/* ---------------------------------------------------------------- either ---------------------- */

bool foreign_open(struct foreign *foreign, penstock_context *context, const char *device, size_t bytes)
{
    struct penstock_device *found;
    *foreign = (struct foreign){.bytes = bytes};
    if (penstock__device_find(context, device, &found))
        return false;
    if (!strcmp(found->backend->name, "cuda")) {
        open_cuda(foreign);
        return true;
    }
#ifdef PENSTOCK_HAVE_OPENCL
    if (!strcmp(found->backend->name, "opencl")) {
        open_opencl(foreign);
        return true;
    }
#endif
    return false;
}

void foreign_close(struct foreign *foreign)
{
    if (foreign->cuda) {
        close_cuda(foreign);
        return;
    }
#ifdef PENSTOCK_HAVE_OPENCL
    close_opencl(foreign);
#endif
}

void foreign_enter(const struct foreign *foreign)
{
    if (foreign->cuda)
        CHECK_EQ(cuda()->CtxPushCurrent(primary), 0);
}

void foreign_leave(const struct foreign *foreign)
{
    CUcontext popped = NULL;
    if (foreign->cuda)
        CHECK(!cuda()->CtxPopCurrent(&popped) && popped == primary, "the library has left another context current");
}

void foreign_write(struct foreign *foreign, const void *from)
{
    if (foreign->cuda) {
        cuda()->CtxPushCurrent(primary);
        CHECK_EQ(cuda()->MemcpyHtoD(foreign->staging, from, foreign->bytes), 0);
        CHECK_EQ(cuda()->StreamSynchronize(NULL), 0); /* from pageable memory: it may still be on its way */
        cuda()->CtxPopCurrent(&primary);
        return;
    }
#ifdef PENSTOCK_HAVE_OPENCL
    CHECK_EQ(opencl()->EnqueueWriteBuffer((cl_command_queue)(uintptr_t)foreign->queue,
                                          (cl_mem)(uintptr_t)foreign->staging, CL_TRUE, 0, foreign->bytes, from, 0,
                                          NULL, NULL),
             0);
#endif
}

void foreign_copy(struct foreign *foreign, uint64_t to, uint64_t from)
{
    if (foreign->cuda) {
        cuda()->CtxPushCurrent(primary);
        CHECK_EQ(cuda()->MemcpyDtoDAsync(to, from, foreign->bytes, (CUstream)(uintptr_t)foreign->queue), 0);
        cuda()->CtxPopCurrent(&primary);
        return;
    }
#ifdef PENSTOCK_HAVE_OPENCL
    CHECK_EQ(opencl()->EnqueueCopyBuffer((cl_command_queue)(uintptr_t)foreign->queue, (cl_mem)(uintptr_t)from,
                                         (cl_mem)(uintptr_t)to, 0, 0, foreign->bytes, 0, NULL, NULL),
             0);
#endif
}

void foreign_read(struct foreign *foreign, void *to)
{
    if (foreign->cuda) {
        read_cuda(foreign, to);
        return;
    }
#ifdef PENSTOCK_HAVE_OPENCL
    CHECK_EQ(opencl()->EnqueueReadBuffer((cl_command_queue)(uintptr_t)foreign->queue,
                                         (cl_mem)(uintptr_t)foreign->staging, CL_TRUE, 0, foreign->bytes, to, 0, NULL,
                                         NULL),
             0);
#endif
}
