/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the OpenCL backend share. */
#ifndef PENSTOCK_OPENCL_H
#define PENSTOCK_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "backends/backend.h"
#include "gpu/fused_kernel.h"
#include "gpu/route.h"
#include "gpu/viterbi.h"

#include <pthread.h>

/* ---------------------------------------------------------------- loader.c -------------------- */

/* Every function that we call, without "cl". */
#define OPENCL_FUNCTIONS(X)      \
    X(BuildProgram)              \
    X(CreateBuffer)              \
    X(CreateCommandQueue)        \
    X(CreateContext)             \
    X(CreateImage)               \
    X(CreateKernel)              \
    X(CreateProgramWithBinary)   \
    X(CreateProgramWithSource)   \
    X(CreateSubBuffer)           \
    X(EnqueueCopyBuffer)         \
    X(EnqueueMapBuffer)          \
    X(EnqueueMarkerWithWaitList) \
    X(EnqueueNDRangeKernel)      \
    X(EnqueueReadBuffer)         \
    X(EnqueueUnmapMemObject)     \
    X(EnqueueWriteBuffer)        \
    X(Finish)                    \
    X(Flush)                     \
    X(GetCommandQueueInfo)       \
    X(GetContextInfo)            \
    X(GetDeviceIDs)              \
    X(GetDeviceInfo)             \
    X(GetEventProfilingInfo)     \
    X(GetKernelWorkGroupInfo)    \
    X(GetMemObjectInfo)          \
    X(GetPlatformIDs)            \
    X(GetPlatformInfo)           \
    X(GetProgramBuildInfo)       \
    X(GetProgramInfo)            \
    X(GetSupportedImageFormats)  \
    X(ReleaseCommandQueue)       \
    X(ReleaseContext)            \
    X(ReleaseEvent)              \
    X(ReleaseKernel)             \
    X(ReleaseMemObject)          \
    X(ReleaseProgram)            \
    X(RetainCommandQueue)        \
    X(RetainContext)             \
    X(RetainMemObject)           \
    X(RetainProgram)             \
    X(SetKernelArg)              \
    X(WaitForEvents)

struct opencl_api {
#define OPENCL_MEMBER(name) __typeof__(&cl##name) name;
    OPENCL_FUNCTIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
};

/*
 * The loader's functions, or NULL and a line in `reason`. The library is opened once and stays: drivers do not bear
 * being unloaded. It is libOpenCL.so.1, or what the environment variable PENSTOCK_OPENCL_LIBRARY names.
 */
const struct opencl_api *penstock__opencl_api(char reason[256]);

/* The name that it has or would have. */
const char *penstock__opencl_library(void);

/* "CL_OUT_OF_RESOURCES", or "error -9999". */
const char *penstock__opencl_code_name(cl_int code);

/* Sets the error text "opencl:0: clFlush: CL_OUT_OF_RESOURCES" and returns the status that goes with the code. */
int penstock__opencl_error(const struct penstock_device *device, const char *call, cl_int code);

/* ---------------------------------------------------------------- devices.c ------------------- */

#define OPENCL_KEPT 8

/* A program that plans had. */
struct opencl_kept {
    cl_program program;
    char name[64]; /* of its binary in the cache folder */
    bool unsaved;  /* which is not there yet */
};

struct opencl_device {
    const struct opencl_api *api;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    struct gpu_limits limits;
    cl_ulong max_buffer_bytes;
    size_t max_texels; /* of an image made of a buffer */
    bool is_gpu;
    bool shares_memory;  /* a GPU in the host's memory */
    bool nvidia;         /* the driver tells a group of 256 of kernels that run with more */
    bool one_wave;       /* of any kernel the driver says that a group may have as many work-items as a wave */
    bool keeps_kernels;  /* by itself, in a cache of its driver's */
    const char *options; /* of its compiler */
    char identity[768];  /* device, driver and platform with versions: what compiled kernels depend on */
    pthread_mutex_t kept_lock;
    struct opencl_kept kept[OPENCL_KEPT]; /* the last ones, the one asked for last behind them */
    unsigned kept_count;
};

int penstock__opencl_probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                           char reason[256]);
int penstock__opencl_open(struct penstock_device *device);
void penstock__opencl_close(struct penstock_device *device);

/* ---------------------------------------------------------------- image.c --------------------- */

/* Points of floats in a texel of an image that is made of a buffer, read and written: 1 where the device has RG, 2 of
 * RGBA; 0 where it has neither. */
unsigned penstock__opencl_texel(const struct opencl_device *device);

/*
 * An image of such texels over all of a buffer. It belongs to the slot, which keeps the last ones: they must outlive
 * the kernels that use them, and PoCL does not see to that. May wait where there are many buffers.
 */
int penstock__opencl_image(cl_mem *image, struct penstock_slot *slot, const struct penstock_buffer *buffer,
                           unsigned texel, cl_mem_flags access);

/* When nothing in the slot is under way any more. */
void penstock__opencl_images_free(struct penstock_slot *slot);

/* ---------------------------------------------------------------- driver_key.c ---------------- */

void penstock__opencl_driver_key(char *text, size_t capacity);

/* ---------------------------------------------------------------- program.c ------------------- */

/* Compiles `source` or takes it from the cache; a cached binary that the driver refuses is compiled and written anew.
 */
int penstock__opencl_program(cl_program *program, struct penstock_device *device, const char *source);

/* Work-items that a kernel can have in a group: fewer than the device's limit where it needs many registers. */
int penstock__opencl_group_limit(size_t *limit, const struct penstock_device *device, cl_kernel kernel);

/* Whether it can have a group of so many, or an error with text. NVIDIA's driver is not asked: it tells 256 where the
 * kernel, which names its work-group, was built for more and runs with them. */
int penstock__opencl_check_group(const struct penstock_device *device, cl_kernel kernel, unsigned group);

struct opencl_argument {
    size_t bytes;
    const void *value;
};

/* Sets a kernel's arguments, the first `count`. */
cl_int penstock__opencl_arguments(const struct opencl_api *cl, cl_kernel kernel,
                                  const struct opencl_argument *arguments, cl_uint count);

/* Writes the binaries that are not in the cache folder yet: when the device is closed. */
void penstock__opencl_programs_free(struct penstock_device *device);

/* ---------------------------------------------------------------- plan.c ---------------------- */

struct opencl_pass {
    cl_program program;
    cl_kernel kernel;
    cl_mem table;
};

/* A kernel that does more than a transform. */
struct opencl_fused {
    cl_program program;
    cl_mem table;
    cl_kernel kernels[FUSED_KERNELS];
    struct fused_kernel kernel;
};

/* Kernels for blocks of a convolutional code. */
struct opencl_viterbi {
    cl_program program;
    cl_kernel kernels[GPU_VITERBI_KERNELS];
    struct gpu_viterbi config;
};

struct opencl_plan {
    struct gpu_plan plan; /* comes first: gpu/route.h */
    struct gpu_decomposition decomposition;
    struct opencl_pass passes[GPU_MAX_PASSES];
    struct opencl_fused fused;     /* of such a plan, which has no passes */
    struct opencl_viterbi viterbi; /* likewise */
    pthread_mutex_t arguments;     /* a kernel's arguments are set and taken under it: slots may be in two threads */
};

int penstock__opencl_plan_init(struct penstock_plan_state *plan, unsigned variant);

/* ---------------------------------------------------------------- fused.c --------------------- */

int penstock__opencl_fused_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant);
void penstock__opencl_fused_free(struct penstock_plan_state *plan);
int penstock__opencl_fused_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                   const struct penstock_job *job);

/* ---------------------------------------------------------------- viterbi.c ------------------- */

int penstock__opencl_viterbi_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant);
void penstock__opencl_viterbi_free(struct penstock_plan_state *plan);
int penstock__opencl_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                     const struct penstock_job *job);

/* ---------------------------------------------------------------- slot.c ---------------------- */

#define OPENCL_SCRATCHES 3
#define OPENCL_MARKS     16
#define OPENCL_IMAGES    8

struct opencl_image {
    cl_mem image, buffer; /* the buffer is kept as long, so that no other has its name */
    cl_mem_flags access;
    unsigned texel;
};

struct opencl_slot {
    struct gpu_plane_memory planes; /* comes first: gpu/route.h */
    cl_command_queue queue;
    uint64_t marked;               /* number of the last mark */
    cl_event events[OPENCL_MARKS]; /* of the last marks, by number modulo their count; NULL: done */
    struct opencl_image images[OPENCL_IMAGES];
    unsigned next_image;
    bool adopted; /* the queue is the application's */
    bool timed;   /* the queue notes times */
    cl_event stamps[PENSTOCK_STAMPS];
    cl_program copier; /* made when it is first asked for */
    cl_kernel copy;
    cl_mem scratch[OPENCL_SCRATCHES]; /* between passes, or kernels */
    size_t scratch_bytes[OPENCL_SCRATCHES];
};

int penstock__opencl_slot_init(struct penstock_slot *slot);
int penstock__opencl_slot_adopt(struct penstock_slot *slot, uint64_t native);
uint64_t penstock__opencl_slot_native(const struct penstock_slot *slot);
int penstock__opencl_follow(struct penstock_slot *slot, struct penstock_slot *before);
int penstock__opencl_flush(struct penstock_slot *slot);
void penstock__opencl_slot_free(struct penstock_slot *slot);
int penstock__opencl_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
int penstock__opencl_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);
/* Makes scratch memory `index` at least so large. */
int penstock__opencl_reserve(struct penstock_slot *slot, unsigned index, size_t bytes);
int penstock__opencl_mark(struct penstock_slot *slot, uint64_t *number);
int penstock__opencl_wait(struct penstock_slot *slot, uint64_t number);

/* ---------------------------------------------------------------- timing.c -------------------- */

int penstock__opencl_device_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy);
int penstock__opencl_stamp(struct penstock_slot *slot, unsigned which);
int penstock__opencl_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds);

/* What these made of a slot. */
void penstock__opencl_timing_free(struct penstock_slot *slot);

/* ---------------------------------------------------------------- trial.c --------------------- */

int penstock__opencl_trial(struct penstock_device *device, void (*tell)(const char *doing));

/* ---------------------------------------------------------------- buffer.c -------------------- */

struct opencl_buffer {
    cl_mem memory, whole; /* `whole`: of which the application's is a part, since parts have none; else NULL */
    size_t at;            /* there */
};

int penstock__opencl_buffer_alloc(struct penstock_buffer *buffer, size_t bytes);
int penstock__opencl_buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes);
int penstock__opencl_buffer_adopt(struct penstock_buffer *buffer, uint64_t native);
uint64_t penstock__opencl_buffer_native(const struct penstock_buffer *buffer);
int penstock__opencl_buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at);
/* Memory of the host that a kernel has written is only sure to show it when it is mapped. */
int penstock__opencl_show(struct penstock_slot *slot, const struct penstock_buffer *buffer);
void penstock__opencl_buffer_free(struct penstock_buffer *buffer);

#endif
