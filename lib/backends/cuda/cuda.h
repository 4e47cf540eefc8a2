/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the CUDA backend share. */
#ifndef PENSTOCK_CUDA_H
#define PENSTOCK_CUDA_H

#include "backends/backend.h"
#include "backends/cuda/driver_api.h"
#include "gpu/fused_kernel.h"
#include "gpu/route.h"
#include "gpu/viterbi.h"

/* ---------------------------------------------------------------- loader.c -------------------- */

struct cuda_api {
#define CUDA_MEMBER(name, symbol, parameters) CUresult(*name) parameters;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
    /* of CUDA 11.8 or later, else NULL */
    CUresult (*LaunchKernelEx)(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra);
    struct {
#define NVRTC_MEMBER(name, symbol, parameters) nvrtcResult(*name) parameters;
        NVRTC_FUNCTIONS(NVRTC_MEMBER)
#undef NVRTC_MEMBER
        const char *(*GetErrorString)(nvrtcResult code);
        /* of CUDA 12.8 or later, else NULL */
        nvrtcResult (*SetFlowCallback)(nvrtcProgram program, int (*callback)(void *payload, void *reserved),
                                       void *payload);
    } nvrtc;
    int driver_version; /* 1000 major + 10 minor of the CUDA that the driver serves */
    int nvrtc_major, nvrtc_minor;
};

/*
 * The functions of libcuda and libnvrtc, the driver initialised, or NULL and a line in `reason`. Both are opened once
 * and stay. They are libcuda.so.1 and the newest libnvrtc that is found, or what the environment variables
 * PENSTOCK_CUDA_LIBRARY and PENSTOCK_NVRTC_LIBRARY name.
 */
const struct cuda_api *penstock__cuda_api(char reason[256]);

/* The name that libcuda has or would have; what libnvrtc is called by the environment, or NULL. */
const char *penstock__cuda_library(void);
const char *penstock__cuda_nvrtc_library(void);

/* libnvrtc as it is found without a driver, to be closed with dlclose(); NULL and a reason where there is none. */
void *penstock__cuda_nvrtc_open(char reason[256]);

/* Sets the error text "cuda:0: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"; returns PENSTOCK_ERR_DEVICE, or 0 for success. */
int penstock__cuda_check(const struct penstock_device *device, const char *call, CUresult code);

/* ---------------------------------------------------------------- devices.c ------------------- */

struct cuda_device {
    const struct cuda_api *api;
    CUdevice id;
    CUcontext context; /* the primary one, which other users of CUDA in the process share */
    int architecture;  /* 90 for compute capability 9.0 */
    struct gpu_limits limits;
    bool early;         /* kernels wait themselves for the one before: see penstock__cuda_launch() */
    char identity[256]; /* device, driver and compiler with versions: what compiled kernels depend on */
};

int penstock__cuda_probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                         char reason[256]);
int penstock__cuda_open(struct penstock_device *device);
void penstock__cuda_close(struct penstock_device *device);

static inline const struct cuda_device *penstock__cuda_opened(const struct penstock_device *device)
{
    return device->priv;
}

/* Every other call stands between these two: the calling thread may have a context of its own. Where it has the
 * device's, as threads of CUDA's runtime do, nothing is pushed. */
int penstock__cuda_enter(const struct penstock_device *device);
void penstock__cuda_leave(const struct penstock_device *device);

/* ---------------------------------------------------------------- driver_key.c ---------------- */

void penstock__cuda_driver_key(char *text, size_t capacity);

/* ---------------------------------------------------------------- compile.c ------------------- */

/*
 * `source` as an image for cuModuleLoadData: machine code where NVRTC knows the device, else PTX for the newest
 * architecture before it. `option` is what penstock__cuda_architecture() gave. Free *image with penstock__free().
 */
int penstock__cuda_compile(void **image, size_t *bytes, const struct penstock_device *device, const char *source,
                           const char *option);

/* "--gpu-architecture=sm_90" or "...compute_90"; PENSTOCK_ERR_DEVICE where NVRTC is too new for the device. */
int penstock__cuda_architecture(char option[40], const struct penstock_device *device);

/* ---------------------------------------------------------------- apart.c --------------------- */

struct cuda_image {
    const char *source;
    void *image; /* as from penstock__cuda_compile() */
    size_t bytes;
    bool begun; /* false before */
};

/* The same for several, side by side as far as there are processors and threads of the context; each image is NULL
 * after an error. */
int penstock__cuda_compile_all(struct cuda_image *images, unsigned count, const struct penstock_device *device,
                               const char *option);

/* ---------------------------------------------------------------- program.c ------------------- */

/* Compiles `sources` or takes them from the cache; a cached image that the driver refuses is compiled and written anew.
 * At most GPU_MAX_PASSES; after an error some modules may be there, the others are NULL. */
int penstock__cuda_programs(CUmodule *modules, const struct penstock_device *device, const char *const *sources,
                            unsigned count);

/* One of them. */
int penstock__cuda_program(CUmodule *module, const struct penstock_device *device, const char *source);

/* A module's kernel, which may then have so much dynamic shared memory. Within enter, leave, as is the next. */
int penstock__cuda_function(CUfunction *function, const struct penstock_device *device, CUmodule module,
                            const char *name, size_t shared_bytes);

/* Values in the device's memory, there when it returns; also after an error *table is to be freed, where it is not 0.
 */
int penstock__cuda_table(CUdeviceptr *table, const struct penstock_device *device, const float *values, size_t count);

/* ---------------------------------------------------------------- launch.c -------------------- */

struct cuda_grid {
    size_t groups;
    unsigned x, y; /* of a group */
    size_t shared_bytes;
};

/* The legacy default stream is 0 or 1 to the driver. It orders itself with other streams, so nothing starts early
 * there. */
#define CUDA_DEFAULT_STREAMS 1

/* Our kernel at the end of a stream. Where all of them wait themselves, by K_EARLY() of kernels/portability.h, its
 * groups come to multiprocessors while the one before still runs. Within enter, leave. */
int penstock__cuda_launch(const struct penstock_device *device, CUfunction function, const struct cuda_grid *grid,
                          CUstream stream, void **arguments);

/* ---------------------------------------------------------------- plan.c ---------------------- */

struct cuda_pass {
    CUmodule module;
    CUfunction function;
    CUdeviceptr table;
};

/* A kernel that does more than a transform. */
struct cuda_fused {
    CUmodule module;
    CUdeviceptr table;
    CUfunction kernels[FUSED_KERNELS];
    struct fused_kernel kernel;
};

/* Kernels for blocks of a convolutional code. */
struct cuda_viterbi {
    CUmodule modules[2]; /* the rest's and, of plans that have it, that of metrics in registers */
    CUfunction kernels[GPU_VITERBI_KERNELS];
    struct gpu_viterbi config;
};

struct cuda_plan {
    struct gpu_plan plan; /* comes first: gpu/route.h */
    struct gpu_decomposition decomposition;
    struct cuda_pass passes[GPU_MAX_PASSES];
    struct cuda_fused fused;     /* of such a plan, which has no passes */
    struct cuda_viterbi viterbi; /* likewise */
};

int penstock__cuda_plan_init(struct penstock_plan_state *plan, unsigned variant);

/* ---------------------------------------------------------------- staging.c ------------------- */

/* A piece of page-locked memory: what is copied from and to the device while host and device do other work. */
struct cuda_block {
    struct cuda_block *next;
    void *memory;
    size_t capacity;
    uint64_t mark; /* that says when the device is done with it */
    void *host;    /* of a download that waits for that mark: where its bytes belong; else NULL */
    size_t bytes;
};

/* A slot's blocks, in the order in which they were last used. */
struct cuda_staging {
    struct cuda_block *first;
    uint64_t done; /* the last mark that was waited for */
};

/* A block of at least `bytes` that belongs to `mark`. Within enter, leave. */
int penstock__cuda_stage(struct cuda_block **block, struct cuda_staging *staging, const struct penstock_device *device,
                         size_t bytes, uint64_t mark);

/* The device has come to `mark`: downloads up to there go to where they belong, their blocks are free again. */
void penstock__cuda_unstage(struct cuda_staging *staging, const struct penstock_device *device, uint64_t mark);

void penstock__cuda_staging_free(struct cuda_staging *staging, const struct penstock_device *device);

/* ---------------------------------------------------------------- fused.c --------------------- */

int penstock__cuda_fused_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant);
void penstock__cuda_fused_free(struct penstock_plan_state *plan);
int penstock__cuda_fused_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                 const struct penstock_job *job);

/* ---------------------------------------------------------------- viterbi.c ------------------- */

int penstock__cuda_viterbi_init(struct penstock_plan_state *plan, const struct gpu_limits *limits, unsigned variant);
void penstock__cuda_viterbi_free(struct penstock_plan_state *plan);
int penstock__cuda_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                   const struct penstock_job *job);

/* ---------------------------------------------------------------- slot.c ---------------------- */

#define CUDA_SCRATCHES 3
#define CUDA_MARKS     16

struct cuda_slot {
    struct gpu_plane_memory planes; /* comes first: gpu/route.h */
    CUstream stream;
    bool adopted;               /* the stream is the application's */
    uint64_t marked;            /* number of the last mark */
    CUevent events[CUDA_MARKS]; /* of the last marks, by number modulo their count */
    struct cuda_staging staging;
    CUevent stamps[PENSTOCK_STAMPS]; /* made when they are first asked for, as are the following */
    bool stamped[PENSTOCK_STAMPS];
    CUmodule copier;
    CUfunction copy;
    CUdeviceptr scratch[CUDA_SCRATCHES]; /* between passes, or kernels */
    size_t scratch_bytes[CUDA_SCRATCHES];
};

int penstock__cuda_slot_init(struct penstock_slot *slot);
int penstock__cuda_slot_adopt(struct penstock_slot *slot, uint64_t native);
uint64_t penstock__cuda_slot_native(const struct penstock_slot *slot);
int penstock__cuda_follow(struct penstock_slot *slot, struct penstock_slot *before);
void penstock__cuda_slot_free(struct penstock_slot *slot);
int penstock__cuda_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
int penstock__cuda_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);
/* Makes scratch memory `index` at least so large. Within enter, leave. */
int penstock__cuda_reserve(struct penstock_slot *slot, unsigned index, size_t bytes);
int penstock__cuda_mark(struct penstock_slot *slot, uint64_t *number);
int penstock__cuda_wait(struct penstock_slot *slot, uint64_t number);

/* ---------------------------------------------------------------- timing.c -------------------- */

int penstock__cuda_device_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy);
int penstock__cuda_stamp(struct penstock_slot *slot, unsigned which);
int penstock__cuda_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds);

/* What these made of a slot. Within enter, leave. */
void penstock__cuda_timing_free(struct penstock_slot *slot);

/* ---------------------------------------------------------------- buffer.c -------------------- */

struct cuda_buffer {
    CUdeviceptr memory;
    bool kept; /* by the application, or by the buffer that it is a part of */
};

int penstock__cuda_buffer_alloc(struct penstock_buffer *buffer, size_t bytes);
int penstock__cuda_buffer_adopt(struct penstock_buffer *buffer, uint64_t native);
uint64_t penstock__cuda_buffer_native(const struct penstock_buffer *buffer);
int penstock__cuda_buffer_part(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at);
void penstock__cuda_buffer_free(struct penstock_buffer *buffer);

static inline CUdeviceptr penstock__cuda_memory(const struct penstock_buffer *buffer)
{
    return ((const struct cuda_buffer *)buffer->priv)->memory;
}

#endif
