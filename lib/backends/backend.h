/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The contract between the core and a backend. What can be asked for stands in problem_*.h, a header a kind; the
 * services that the core offers in services.h. A backend includes this header, its own files and (OpenCL, CUDA)
 * lib/gpu, and nothing else of ours.
 *
 * To write one: copy null/, fill in `struct penstock_backend`, add a line to core/device/backends.c. The FFT
 * is all that it must compute: filter and OFDM plans fall back on a child FFT plan and a CPU part.
 *
 * Rules
 * - The core allocates each object's private part (`priv`), zeroed and aligned to 64 bytes, of the
 *   size that the backend names, before the backend's init function, and frees it after the backend's
 *   free function. A free function is called once after its init function returned 0, and never
 *   otherwise: init cleans up after itself when it fails.
 * - Functions return 0 or a negative penstock_status and say why with penstock__error().
 * - The core calls any function of one device from one thread at a time per slot; two slots of one
 *   plan may be driven by two threads. A plan is read-only after plan_init.
 * - After a failure of upload, enqueue, download, mark or wait the core frees the slot and, if it goes
 *   on with the device, makes another. When slot_free has returned, nothing that was asked of the slot
 *   touches host memory any more.
 * - No printing, no exit, no signal handlers, no change of locale or floating-point mode.
 */
#ifndef PENSTOCK_BACKEND_H
#define PENSTOCK_BACKEND_H

#include "backends/problem_coded.h"
#include "backends/problem_fft.h"
#include "backends/problem_filter.h"
#include "backends/problem_ldpc.h"
#include "backends/problem_ofdm.h"
#include "backends/problem_resample.h"
#include "backends/problem_viterbi.h"
#include "backends/services.h"

#include <penstock/penstock.h>

#define PENSTOCK_BACKEND_ABI 1

/* ---------------------------------------------------------------- objects --------------------- */

struct penstock_backend;

/* A row of the device table; the core owns it. */
struct penstock_device {
    const struct penstock_backend *backend;
    penstock_context *context;
    unsigned index; /* among the backend's devices */
    unsigned twins; /* devices of the same product and driver before it */
    char name[56];
    char product[128];
    char driver[128];
    char reason[256]; /* "" where present */
    unsigned compute_units;
    uint64_t memory_bytes;
    char profile[128]; /* probe sets it: what a GPU's kernels are shaped by, in words; "" of others */
    bool on_cpu;       /* probe sets it: works on the processor's own cores, as "cpu" does */
    char address[24];  /* probe sets it where it is known: on the PCI bus, "0000:17:00"; else "" */
    bool opened;
    bool host_memory; /* open may set it: buffer_wrap works; where not on_cpu, for what is aligned to 64 bytes alone */
    size_t alignment; /* open may set it: parts of its memory begin at multiples of so many bytes; 0: 16 */
    /* Of several devices under one name (core/device/device_group.h) they, and how many; of others NULL and 0. A
     * backend never meets such. */
    struct penstock_device *const *members;
    size_t member_count;
    uint64_t shared; /* 0, or before open: an object of the driver's in which the device is to work; of backends with
                        SHARES alone */
    void (*tell)(const char *doing); /* in the process that tries plans (penstock__probe_plan), else NULL: as of
                                        `trial`. Where it is set no kernel goes to the cache folder */
    void *priv;
};

struct penstock_buffer {
    struct penstock_device *device;
    size_t bytes;
    void *host; /* address in host memory where the device shares it, else NULL */
    bool wrapped;
    void *priv;
};

struct penstock_slot {
    struct penstock_device *device;
    void *priv;
};

/* ---------------------------------------------------------------- problems -------------------- */

enum penstock_problem_kind {
    PENSTOCK_PROBLEM_FFT,
    PENSTOCK_PROBLEM_OFDM, /* optional for a backend, as is */
    PENSTOCK_PROBLEM_FILTER,
    PENSTOCK_PROBLEM_VITERBI,  /* given only to backends with PENSTOCK_BACKEND_FEC */
    PENSTOCK_PROBLEM_LDPC,     /* likewise, with PENSTOCK_BACKEND_LDPC */
    PENSTOCK_PROBLEM_RESAMPLE, /* likewise, with PENSTOCK_BACKEND_RESAMPLE */
    PENSTOCK_PROBLEM_CODED     /* likewise, with PENSTOCK_BACKEND_CODED */
};

/* What a plan is for: checked, with every default filled in. */
struct penstock_problem {
    enum penstock_problem_kind kind;
    size_t in_bytes;  /* from one frame's start to the next one's; gathered, and of OFDM: of one sample */
    size_t out_bytes; /* of one output frame (with average K: one for K frames), or of one symbol */
    size_t batch;     /* frames that a call usually brings, >= 1 */
    union {
        struct penstock_fft_problem fft;
        struct penstock_ofdm_problem ofdm;
        struct penstock_filter_problem filter;
        struct penstock_viterbi_problem viterbi;
        struct penstock_ldpc_problem ldpc;
        struct penstock_resample_problem resample;
        struct penstock_coded_problem coded;
    };
};

/* How variant 0 of a plan can be made beside the library's choice: lines of text that mean something to the backend. */
#define PENSTOCK_MAX_LAUNCH_CONFIGS  8
#define PENSTOCK_LAUNCH_CONFIG_BYTES 160
struct penstock_launch_configs {
    size_t count;
    char text[PENSTOCK_MAX_LAUNCH_CONFIGS][PENSTOCK_LAUNCH_CONFIG_BYTES];
    char identity[64]; /* another one where kernel sources, device, driver or compiler are others */
};

struct penstock_plan_state {
    struct penstock_device *device;
    const struct penstock_problem *problem; /* lives as long as the plan */
    const char *launch_config; /* one that `launch_configs` lists, with variant 0; NULL: the library's choice */
    char variant[64];          /* for penstock_plan_info; plan_init fills it in */
    unsigned kernels, passes;
    size_t best_batch;
    size_t frame_scratch; /* bytes of scratch memory that run_frames takes */
    void *priv;
};

/* One batch. `gather` is NULL unless the problem is gathered, has a list of blocks or symbols, or resamples. Buffers
 * may be larger than what is in them. Wrapped ones `in` and `out` may be the same memory where each frame's output has
 * the room of the frame's own input. */
struct penstock_job {
    struct penstock_buffer *in;
    struct penstock_buffer *gather;
    struct penstock_buffer *out;
    size_t frames;
    size_t samples; /* at `in`: where PLANAR's Q values start, and what gathered frames may not go beyond */
    /* OFDM: of all frames, descriptors, if any, being at `gather`; FILTER: the response; RESAMPLE: head and taps;
     * CODED: decoded bits. */
    struct penstock_buffer *coefficients;
    uint32_t start, spacing; /* OFDM without descriptors; FILTER: the first frame's phase, upper and lower half;
                                RESAMPLE: samples between them are no zeros */
    bool narrow;
};

/* ---------------------------------------------------------------- the contract ---------------- */

/* How memory of the device is copied: by what the device has for that, or by a kernel of ours. */
enum penstock_copy_way { PENSTOCK_COPY_OWN, PENSTOCK_COPY_KERNEL };

/* A copy within the device's memory; by the kernel, places and bytes are multiples of 16. */
struct penstock_device_copy {
    struct penstock_buffer *to, *from;
    size_t to_at, from_at, bytes;
    enum penstock_copy_way way;
};

#define PENSTOCK_STAMPS 4 /* before a batch's copies to the device, its kernels, its copies back, and behind them */

enum penstock_backend_flag {
    PENSTOCK_BACKEND_HOST_MEMORY = 1,    /* buffers are ordinary memory: buffer_wrap exists, nothing is copied */
    PENSTOCK_BACKEND_NOT_AUTOMATIC = 2,  /* "auto" never picks it */
    PENSTOCK_BACKEND_FRAGILE_DRIVER = 4, /* probe in a helper process first: the driver may crash */
    PENSTOCK_BACKEND_FUSED = 8,    /* may support problems of kinds OFDM and FILTER: none are given to it otherwise */
    PENSTOCK_BACKEND_PLANES = 16,  /* knows `rows` and `columns`: no such problems are given to it otherwise */
    PENSTOCK_BACKEND_OPTIONS = 32, /* may know a penstock_fft_options */
    PENSTOCK_BACKEND_FEC = 64,     /* may support problems of kind VITERBI: none are given to it otherwise */
    PENSTOCK_BACKEND_NATIVE = 128, /* the maker's own way to a device: "auto" takes it rather than another backend's */
    PENSTOCK_BACKEND_FORKS = 256,  /* what it has made works in a child after fork(), too; no call into any other one
                                      comes there about what was made before */
    PENSTOCK_BACKEND_LDPC = 512,   /* may support problems of kind LDPC: none are given to it otherwise */
    PENSTOCK_BACKEND_UNROUNDED = 1024,  /* decodes LDPC without the rounding that others share */
    PENSTOCK_BACKEND_DEVELOPERS = 2048, /* not named where users are told what there is */
    PENSTOCK_BACKEND_ADDRESSES = 4096,  /* what buffer_native gives are addresses, so that overlaps can be told */
    PENSTOCK_BACKEND_SHARES = 8192,     /* open takes the device's `shared` */
    PENSTOCK_BACKEND_PORTABLE = 16384, /* memory of host_alloc and host_lock is reached by all devices of the backend */
    PENSTOCK_BACKEND_RESAMPLE = 32768, /* may support problems of kind RESAMPLE: none are given to it otherwise */
    PENSTOCK_BACKEND_CODED = 65536     /* may support problems of kind CODED: none are given to it otherwise */
};

struct penstock_backend {
    uint32_t abi;        /* PENSTOCK_BACKEND_ABI */
    const char *name;    /* "cpu", "opencl", ...; a device is "name" where `single` says so, else "name:index" */
    const char *licence; /* SPDX expression that the linked libraries impose; "MIT" if none does */
    unsigned flags;
    bool folds;  /* knows `fold` of transforms, and with it `hop`: none has them otherwise */
    bool single; /* one device alone is named without an index */
    size_t device_bytes, buffer_bytes, slot_bytes, plan_bytes; /* private parts; 0: none */
    double error_factor; /* a plan's self-check allows this times 1.0e-7 sqrt(log2 n), relative L2; 0: 1 */

    /*
     * How many devices there are: `*count` <= capacity rows are filled in (product, driver, compute_units,
     * memory_bytes). With none, `reason` says why in one line ("libOpenCL.so.1 not found"). Returns 0 in
     * both cases; an error only for want of memory.
     */
    int (*probe)(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256]);

    /* (optional, for FRAGILE_DRIVER) text that changes when the driver does (files, their sizes and times): a result
     * of the probing helper is remembered under it. Loads no driver. Without it the helper runs once for every context.
     */
    void (*driver_key)(char *text, size_t capacity);

    int (*open)(struct penstock_device *device);
    void (*close)(struct penstock_device *device);

    /* (optional, for FRAGILE_DRIVER) A first small kernel on an open device, compiled anew, and its values checked, as
     * the probing helper asks for before the device is offered. `tell` is called before what a driver may crash in,
     * with what it does then ("compiled a first kernel"). */
    int (*trial)(struct penstock_device *device, void (*tell)(const char *doing));

    int (*buffer_alloc)(struct penstock_buffer *buffer, size_t bytes);
    /* (optional, required with HOST_MEMORY) use the caller's memory, which outlives the buffer */
    int (*buffer_wrap)(struct penstock_buffer *buffer, void *host, size_t bytes);
    void (*buffer_free)(struct penstock_buffer *buffer);

    /* (optional, both or none; with HOST_MEMORY the core wraps instead) A buffer of memory that the application has
     * from the driver, of at least `bytes`, and what the driver calls a buffer's memory. ERR_ARGUMENT where it is no
     * such memory, of another device, or too small. Freeing leaves it to the application. */
    int (*buffer_adopt)(struct penstock_buffer *buffer, uint64_t native);
    uint64_t (*buffer_native)(const struct penstock_buffer *buffer);

    /* (optional, likewise) A buffer that is buffer->bytes of another one, from `at` on, a multiple of the device's
     * alignment. The other one was alloc'd or adopted and outlives it. */
    int (*buffer_part)(struct penstock_buffer *buffer, const struct penstock_buffer *of, size_t at);

    /* Of an opened device. Pure. > 0: yes, and how well (a higher rank is tried first when nothing was measured); an
     * error whose text names what cannot be done otherwise. */
    int (*supports)(const struct penstock_device *device, const struct penstock_problem *problem);

    /* Variant 0 is the fastest; each next one is simpler. PENSTOCK_ERR_UNSUPPORTED past the last one. */
    int (*plan_init)(struct penstock_plan_state *plan, unsigned variant);
    void (*plan_free)(struct penstock_plan_state *plan);

    /* (optional, with stamp) The configurations that are worth timing for a problem; none where there is nothing to
     * choose. */
    int (*launch_configs)(struct penstock_launch_configs *list, const struct penstock_device *device,
                          const struct penstock_problem *problem);

    int (*slot_init)(struct penstock_slot *slot);
    void (*slot_free)(struct penstock_slot *slot);

    /* (optional, both or none) In the place of slot_init: a slot whose work goes into a queue that the application has
     * from the driver, in order with the application's own, and which outlives it; and what the driver calls a slot's
     * queue. */
    int (*slot_adopt)(struct penstock_slot *slot, uint64_t native);
    uint64_t (*slot_native)(const struct penstock_slot *slot);

    /* (optional; without it the core waits for a mark of `before`) What is asked of `slot` from now on begins when all
     * that was asked of `before`, a slot of the same device, is done. Does not wait. */
    int (*follow)(struct penstock_slot *slot, struct penstock_slot *before);

    /* (optional; where the driver may keep what was enqueued until a mark) It is to begin now. */
    int (*flush)(struct penstock_slot *slot);

    /* In order within a slot; none waits for the device (a CPU may compute within enqueue). `host` stays valid until
     * a wait for a later mark. Not called on wrapped buffers, except enqueue. */
    int (*upload)(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
    int (*enqueue)(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);
    int (*download)(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);

    /* (optional, with HOST_MEMORY) frames `first` .. `first` + `count` - 1 of the `average` that make one output, on
     * the calling thread; the plan is not gathered. `in` is the first sample of frame `first`, `out` is apart from the
     * samples and written by the last frame, `scratch` has frame_scratch bytes, aligned to 64, and keeps the mean from
     * one call to the next one. Bits as those of enqueue. Threads with scratch memory and outputs of their own may call
     * it at once.
     */
    void (*run_frames)(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count, void *out,
                       void *scratch);

    /* (optional, with run_frames) The same of a gathered plan: `count` frames of `samples` samples at `in`, each with
     * its gather; outputs one behind the other. */
    void (*run_gathered)(const struct penstock_plan_state *plan, const void *in, size_t samples,
                         const struct penstock_gather *gather, size_t count, void *out, void *scratch);

    /* (optional) instructions of all processors and of the busiest one, added up over what the plan has run. */
    void (*work)(const struct penstock_plan_state *plan, uint64_t *instructions, uint64_t *critical_path);

    /* A number for all that was enqueued so far; wait blocks until the slot has come that far. */
    int (*mark)(struct penstock_slot *slot, uint64_t *number);
    int (*wait)(struct penstock_slot *slot, uint64_t number);

    /*
     * (optional, both or none) The device's clock. stamp: the device notes its time when all that was enqueued so far
     * is done, as number `which` < PENSTOCK_STAMPS; elapsed, which is called once a later mark was waited for, gives
     * the seconds from one to another, or an error where either was not set. A failure of these leaves the slot as it
     * was.
     */
    int (*stamp)(struct penstock_slot *slot, unsigned which);
    int (*elapsed)(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds);

    /* (optional, with the clock) Within the device's memory, for timing with the samples there. */
    int (*copy)(struct penstock_slot *slot, const struct penstock_device_copy *copy);

    /* (optional, both or none) memory of the host that upload and download reach without a copy in between; aligned to
     * 64 bytes. penstock__host_reached() tells whether something lies in it. */
    int (*host_alloc)(struct penstock_device *device, void **memory, size_t bytes);
    void (*host_free)(struct penstock_device *device, void *memory);

    /* (optional, both or none, with the two) The same of memory that the application has. */
    int (*host_lock)(struct penstock_device *device, void *memory, size_t bytes);
    void (*host_unlock)(struct penstock_device *device, void *memory);
};

#endif
