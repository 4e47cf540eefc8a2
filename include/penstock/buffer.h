/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Memory of a device as a value, and queues of work there: for samples that are on the device already, or are to stay.
 *
 *     penstock_queue_wrap(&queue, context, "cuda:0", (uintptr_t)stream);
 *     penstock_buffer_wrap(&in, context, "cuda:0", samples, in_bytes);
 *     penstock_buffer_wrap(&out, context, "cuda:0", values, out_bytes);
 *     ... a kernel of the caller's writes the samples, in `stream` ...
 *     penstock_plan_enqueue(plan, in, out, frames, queue);
 *     ... a kernel of the caller's reads the values, in `stream`: nothing has waited ...
 *
 * docs/device.md has the whole of it. On every device: where one works in the host's memory (cpu, reference), that is
 * the device's memory, and what is enqueued is done at once.
 *
 * Nothing here copies unless it says so. Lifetimes: the context outlives buffers and queues; memory, streams and queues
 * that were wrapped outlive what wraps them; a buffer is freed when no work that uses it is under way any more, and a
 * slice keeps the memory of the buffer that it was cut from. Threads: one at a time for each queue; buffers are only
 * read by work and calls, so that several may use one at once, but not while it is freed.
 */
#ifndef PENSTOCK_BUFFER_H
#define PENSTOCK_BUFFER_H

#include <penstock/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penstock_buffer penstock_buffer;
typedef struct penstock_queue penstock_queue;

/* ---------------------------------------------------------------- buffers --------------------- */

/* `bytes` > 0 of the device's memory, which is named as for a plan, without "auto" and "prefer:". What it holds is
 * undefined. PENSTOCK_ERR_DEVICE where the device has not so much. */
PENSTOCK_API int penstock_buffer_new(penstock_buffer **buffer, penstock_context *context, const char *device,
                                     size_t bytes);

/*
 * Memory that the caller has, `bytes` > 0 of it. `native` is what the device's driver calls it: a CUdeviceptr (also
 * from the CUDA runtime, CuPy or PyTorch, whose contexts are the primary one), a cl_mem of the device's cl_context, or
 * the address, for devices that work in the host's memory. Addresses are multiples of 16. PENSTOCK_ERR_ARGUMENT says
 * what does not fit: another device's memory or none, fewer bytes, another cl_context, no multiple.
 */
PENSTOCK_API int penstock_buffer_wrap(penstock_buffer **buffer, penstock_context *context, const char *device,
                                      uint64_t native, size_t bytes);

/* `bytes` > 0 of another buffer, from byte `at` on, a multiple of penstock_buffer_info.alignment. */
PENSTOCK_API int penstock_buffer_slice(penstock_buffer **buffer, const penstock_buffer *of, size_t at, size_t bytes);

typedef struct penstock_buffer_info {
    size_t size;
    const char *device; /* its name; lives as long as the context */
    size_t bytes;
    size_t alignment; /* slices begin at multiples of so many bytes */
    uint64_t native;  /* what the driver calls it, as for penstock_buffer_wrap(); a slice's own; 0: it has no name */
} penstock_buffer_info;

#define PENSTOCK_BUFFER_INFO PENSTOCK_DESCRIPTION(penstock_buffer_info, )

PENSTOCK_API int penstock_buffer_get_info(const penstock_buffer *buffer, penstock_buffer_info *info);

/*
 * The first `bytes` of a buffer from the host's memory, or to it, after all that was enqueued in `queue` before.
 * Returns when they are there. From page-locked memory (host_memory.h) at the bus's rate, else by way of such memory of
 * the library's. Other parts: by a slice.
 */
PENSTOCK_API int penstock_buffer_upload(penstock_buffer *buffer, const void *from, size_t bytes, penstock_queue *queue);
PENSTOCK_API int penstock_buffer_download(const penstock_buffer *buffer, void *to, size_t bytes, penstock_queue *queue);

/* The memory is freed with the last buffer that is a part of it, and where it was wrapped stays the caller's. A buffer
 * that was freed is an error in each call that it is given to, until 64 more were freed. NULL is fine. */
PENSTOCK_API void penstock_buffer_free(penstock_buffer *buffer);

/* ---------------------------------------------------------------- queues ---------------------- */

/* A queue of the library's own on the device, which waits for no other. */
PENSTOCK_API int penstock_queue_new(penstock_queue **queue, penstock_context *context, const char *device);

/*
 * The caller's: work goes in between the caller's own, in order. `native` is a CUstream of the primary context (0: the
 * default stream) or an in-order cl_command_queue of the device's cl_context; else PENSTOCK_ERR_ARGUMENT.
 * PENSTOCK_ERR_UNSUPPORTED on devices without queues: cpu, reference.
 */
PENSTOCK_API int penstock_queue_wrap(penstock_queue **queue, penstock_context *context, const char *device,
                                     uint64_t native);

/* The CUstream or cl_command_queue; 0 where there is none. */
PENSTOCK_API uint64_t penstock_queue_native(const penstock_queue *queue);

/* What is enqueued in `queue` from now on begins when all that was enqueued in `before`, on the same device, until now
 * is done. Does not wait. So two streams of the caller's are ordered, too, whatever is in them. */
PENSTOCK_API int penstock_queue_follow(penstock_queue *queue, penstock_queue *before);

/* Waits until all in the queue is done, and tells of its failure. After a failure of any call that
 * is none of its arguments the queue is of no use any more: all later ones give it again. */
PENSTOCK_API int penstock_queue_wait(penstock_queue *queue);

/* Waits for what is in it. NULL is fine. */
PENSTOCK_API void penstock_queue_free(penstock_queue *queue);

/* ---------------------------------------------------------------- devices --------------------- */

/*
 * Has a device work in an object of the caller's: `native` is a cl_context that has the device, so that its memory
 * and queues are those of plans, too. To be called before anything else of the context uses the device;
 * PENSTOCK_ERR_STATE afterwards, PENSTOCK_ERR_UNSUPPORTED on devices that need no such thing: cuda takes what is of the
 * primary context.
 */
PENSTOCK_API int penstock_device_share(penstock_context *context, const char *device, uint64_t native);

#ifdef __cplusplus
}
#endif

#endif
