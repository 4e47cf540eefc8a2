/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A plan between an application's own work in its CUDA stream, on its own memory: the application copies in, the plan
 * transforms, the application copies out, and only then does anybody wait. An application that has CUDA's headers calls
 * the driver as usual; this one opens it at run time, so that it builds everywhere.
 *
 *     cc cuda_stream.c $(pkg-config --cflags --libs penstock) -lm -ldl -o cuda_stream && ./cuda_stream
 */
#include <penstock/penstock.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 512, FRAMES = 16, BYTES = FRAMES * LENGTH * sizeof(penstock_cf32), STREAM_NON_BLOCKING = 1 };

typedef unsigned long long device_memory; /* CUdeviceptr */

static struct {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*stream_new)(void **stream, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*stream_free)(void *stream);
    int (*alloc)(device_memory *memory, size_t bytes);
    int (*free)(device_memory memory);
    int (*alloc_host)(void **memory, size_t bytes);
    int (*free_host)(void *memory);
    int (*copy_in)(device_memory to, const void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, device_memory from, size_t bytes, void *stream);
} cuda;

static bool open_driver(void)
{
    static const struct {
        const char *name;
        void *place;
    } functions[] = {{"cuInit", &cuda.init},
                     {"cuDevicePrimaryCtxRetain", &cuda.retain},
                     {"cuDevicePrimaryCtxRelease_v2", &cuda.release},
                     {"cuCtxPushCurrent_v2", &cuda.push},
                     {"cuStreamCreate", &cuda.stream_new},
                     {"cuStreamSynchronize", &cuda.stream_wait},
                     {"cuStreamDestroy_v2", &cuda.stream_free},
                     {"cuMemAlloc_v2", &cuda.alloc},
                     {"cuMemFree_v2", &cuda.free},
                     {"cuMemAllocHost_v2", &cuda.alloc_host},
                     {"cuMemFreeHost", &cuda.free_host},
                     {"cuMemcpyHtoDAsync_v2", &cuda.copy_in},
                     {"cuMemcpyDtoHAsync_v2", &cuda.copy_out}};
    const char *name = getenv("PENSTOCK_CUDA_LIBRARY"); /* the library's choice, too */
    void *library = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW), *symbol;
    for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
        if (!(symbol = dlsym(library, functions[i].name)))
            return false;
        memcpy(functions[i].place, &symbol, sizeof symbol);
    }
    return library;
}

/* What the application has. */
struct application {
    void *context, *stream;
    device_memory in, out;
    penstock_cf32 *host;
};

static bool open_application(struct application *app)
{
    void *host = NULL;
    bool good = open_driver() && !cuda.init(0) && !cuda.retain(&app->context, 0) && !cuda.push(app->context) &&
                !cuda.stream_new(&app->stream, STREAM_NON_BLOCKING) && !cuda.alloc(&app->in, BYTES) &&
                !cuda.alloc(&app->out, BYTES) && !cuda.alloc_host(&host, BYTES);
    app->host = host;
    return good;
}

/* What the library makes of it: names for memory and stream, and a plan. */
struct library {
    penstock_context *context;
    penstock_plan *plan;
    penstock_queue *queue;
    penstock_buffer *in, *out;
};

static int open_library(struct library *library, const struct application *app)
{
    int status;
    if ((status = penstock_context_new(&library->context, NULL)) ||
        (status = penstock_fft_plan(&library->plan, library->context, &PENSTOCK_FFT_DESC(.n = LENGTH), "cuda:0")) ||
        (status = penstock_queue_wrap(&library->queue, library->context, "cuda:0", (uintptr_t)app->stream)) ||
        (status = penstock_buffer_wrap(&library->in, library->context, "cuda:0", app->in, BYTES)))
        return status;
    return penstock_buffer_wrap(&library->out, library->context, "cuda:0", app->out, BYTES);
}

/* Before what it wraps is freed. */
static void close_library(struct library *library)
{
    penstock_queue_free(library->queue);
    penstock_buffer_free(library->in);
    penstock_buffer_free(library->out);
    penstock_plan_free(library->plan);
    penstock_context_free(library->context);
}

static void close_application(const struct application *app)
{
    cuda.stream_free(app->stream);
    cuda.free(app->in);
    cuda.free(app->out);
    cuda.free_host(app->host);
    cuda.release(0);
}

/* Frame f has a tone in bin f, which is what comes out. */
static double error_of(const penstock_cf32 *values)
{
    double worst = 0;
    for (int i = 0; i < FRAMES * LENGTH; i++)
        worst =
            fmax(worst, hypot((double)values[i].re - (i % LENGTH == i / LENGTH ? LENGTH : 0), (double)values[i].im));
    return worst / LENGTH;
}

static int run(struct library *library, const struct application *app)
{
    for (int i = 0; i < FRAMES * LENGTH; i++) {
        double angle = 2 * 3.14159265358979 * (i / LENGTH) * (i % LENGTH) / LENGTH;
        app->host[i] = (penstock_cf32){(float)cos(angle), (float)sin(angle)};
    }
    if (cuda.copy_in(app->in, app->host, BYTES, app->stream)) /* here the application's kernels would write */
        return 1;
    if (penstock_plan_enqueue(library->plan, library->in, library->out, FRAMES, library->queue)) {
        fprintf(stderr, "%s\n", penstock_error_text());
        return 1;
    }
    if (cuda.copy_out(app->host, app->out, BYTES, app->stream) || cuda.stream_wait(app->stream))
        return 1;
    double error = error_of(app->host);
    printf("%d transforms in the application's stream, off by %.1e of the tone at most\n", FRAMES, error);
    return !(error < 1e-5);
}

int main(void)
{
    struct application app = {0};
    struct library library = {0};
    if (!open_application(&app)) {
        fprintf(stderr, "no NVIDIA GPU, or no driver for it\n");
        return 77;
    }
    int status = open_library(&library, &app);
    if (status)
        fprintf(stderr, "%s\n", penstock_error_text());
    else
        status = run(&library, &app);
    close_library(&library);
    close_application(&app);
    return status != 0;
}
