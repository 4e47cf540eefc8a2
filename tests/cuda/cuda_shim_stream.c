/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams and events of the CUDA driver for tests: what is put into a stream happens when it is waited for. */
#include "cuda_shim.h"

#include <stdlib.h>
#include <string.h>

struct work {
    struct work *next;
    void *to; /* a copy, or */
    const void *from;
    size_t bytes;
    struct shim_launch launch; /* a launch where neither is there */
    bool to_host;              /* a copy's other side is the host's */
    CUstream awaited;          /* or: until so much of another stream is done */
    unsigned long until;
};

struct CUstream_st {
    struct work *first, **end;
    unsigned long added, done;
    double clock; /* milliseconds that what was added takes */
    int gpu;
};

struct CUevent_st {
    CUstream stream; /* NULL: never recorded */
    unsigned long after;
    bool timed;
    double clock;
};

static CUresult append(CUstream stream, const struct work *content)
{
    struct work *work = shim_fails() ? NULL : malloc(sizeof *work);
    shim_needs_context();
    shim_rule(shim_current() == stream->gpu, "work for a stream of another GPU than the current context's");
    if (!work)
        return SHIM_LAUNCH_FAILED;
    *work = *content;
    work->next = NULL;
    *stream->end = work;
    stream->end = &work->next;
    stream->added++;
    stream->clock += work->to ? 1 : work->awaited ? 0 : work->launch.kernel.milliseconds;
    return 0;
}

static void run(CUstream stream, unsigned long until)
{
    while (stream->done < until) {
        struct work *work = stream->first;
        if (!(stream->first = work->next))
            stream->end = &stream->first;
        if (work->to_host && shim_is_lost(stream->gpu))
            memset(work->to, 0xff, work->bytes);
        else if (work->to)
            memcpy(work->to, work->from, work->bytes);
        else if (work->awaited)
            run(work->awaited, work->until);
        else
            shim_transform(&work->launch);
        free(work);
        stream->done++;
    }
}

CUresult shim_enqueue_launch(CUstream stream, const struct shim_launch *launch)
{
    shim_rule(launch->kernel.gpu == stream->gpu, "a kernel of another GPU");
    if (launch->rows) {
        shim_needs_own(launch->in, stream->gpu);
        shim_needs_own(launch->out, stream->gpu);
    }
    shim_note_launch(stream->gpu);
    return append(stream, &(struct work){.launch = *launch});
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    shim_needs_pinned(from, bytes, stream->gpu);
    shim_needs_own((const void *)(size_t)to, stream->gpu);
    shim_note_copy(stream->gpu);
    return append(stream, &(struct work){.to = (void *)(size_t)to, .from = from, .bytes = bytes});
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    shim_needs_pinned(to, bytes, stream->gpu);
    shim_needs_own((const void *)(size_t)from, stream->gpu);
    shim_note_copy(stream->gpu);
    return append(stream, &(struct work){.to = to, .from = (void *)(size_t)from, .bytes = bytes, .to_host = true});
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return append(stream, &(struct work){.to = (void *)(size_t)to, .from = (void *)(size_t)from, .bytes = bytes});
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    shim_needs_context();
    shim_rule(flags == CU_STREAM_NON_BLOCKING, "a stream that waits for the default one");
    if (shim_fails() || !(*stream = calloc(1, sizeof **stream)))
        return SHIM_OUT_OF_MEMORY;
    (*stream)->end = &(*stream)->first;
    (*stream)->gpu = shim_current();
    shim_count(1);
    return 0;
}

/* The stream of another context has an address that is none of a stream's. */
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    shim_needs_context();
    if (shim_fails())
        return SHIM_LAUNCH_FAILED;
    if ((size_t)stream == SHIM_FOREIGN_STREAM) {
        *context = NULL;
        return 0;
    }
    return cuCtxGetCurrent(context);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    shim_rule(!flags && event->stream, "a stream waits for an event that was never recorded, or with flags");
    return append(stream, &(struct work){.awaited = event->stream, .until = event->after});
}

CUresult cuStreamSynchronize(CUstream stream)
{
    if (stream)
        run(stream, stream->added);
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    shim_takes("free");
    shim_rule(!stream->first, "a stream destroyed with work in it");
    free(stream);
    shim_count(-1);
    return 0;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    shim_needs_context();
    shim_rule(flags == CU_EVENT_DISABLE_TIMING || flags == CU_EVENT_DEFAULT, "an unknown flag of an event");
    if (shim_fails() || !(*event = calloc(1, sizeof **event)))
        return SHIM_OUT_OF_MEMORY;
    (*event)->timed = flags == CU_EVENT_DEFAULT;
    shim_count(1);
    return 0;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    free(event);
    shim_count(-1);
    return 0;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    shim_needs_context();
    if (shim_fails())
        return SHIM_LAUNCH_FAILED;
    *event = (struct CUevent_st){stream, stream->added, event->timed, stream->clock};
    return 0;
}

CUresult cuEventSynchronize(CUevent event)
{
    shim_needs_context();
    shim_rule(event->stream, "a wait for an event that was never recorded");
    if (shim_fails())
        return SHIM_LAUNCH_FAILED;
    if (event->stream)
        run(event->stream, event->after);
    return 0;
}

/* A millisecond for each piece of work between the two, but for kernels that are faster. */
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    shim_needs_context();
    shim_rule(start->timed && end->timed, "the time of an event that measures none");
    shim_rule(start->stream && start->stream == end->stream && end->stream->done >= end->after,
              "the time of an event that is not there yet");
    *milliseconds = (float)(end->clock - start->clock);
    return shim_fails() ? SHIM_LAUNCH_FAILED : 0;
}
