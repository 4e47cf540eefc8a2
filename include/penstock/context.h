/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Contexts, and the devices that they know. */
#ifndef PENSTOCK_CONTEXT_H
#define PENSTOCK_CONTEXT_H

#include <penstock/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- contexts -------------------- */

typedef struct penstock_context penstock_context;

typedef enum penstock_log_level { PENSTOCK_LOG_DEBUG, PENSTOCK_LOG_INFO, PENSTOCK_LOG_WARNING } penstock_log_level;

/* May be called from any thread, one call at a time for a context. `line` has no newline. What it calls of the library
 * itself logs nothing, and gets PENSTOCK_ERR_STATE where it would wait for a driver, or for "auto" to measure. It must
 * not wait for another thread's call either. */
typedef void penstock_log_fn(void *user, penstock_log_level level, const char *line);

typedef struct penstock_context_desc {
    size_t size;
    unsigned threads;        /* CPU threads a plan may use; 0: as many as the process may run on, or as its control
                                group gives it the time of; at most 1024 */
    penstock_log_fn *log;    /* NULL: silence */
    void *log_user;          /* handed to `log` */
    const char *cache_dir;   /* where measurements and compiled kernels are kept; NULL: PENSTOCK_CACHE_DIR, or
                                penstock/ in XDG_CACHE_HOME or ~/.cache; "": nowhere. Need not be writable. */
    const char *kernel_path; /* a folder whose kernel sources are used instead of the built-in ones;
                                NULL: PENSTOCK_KERNEL_PATH, or none */
    /* Where "auto" or "prefer:" is asked for and the device has kernels to compile first, plans, streams, filters,
     * filter banks, OFDM demodulators and receivers begin on the CPU and go over to the device, between two batches,
     * when it is ready. Without it they wait. Freeing such a one ends what is tried for it in another process, and
     * waits neither for a driver that is being opened nor for a compiler. */
    bool cpu_while_compiling;
    /* The same for "auto" alone. With either, such a one begins on the CPU at once; no driver is asked for anything in
     * the first 0.1 s, nor where another device cannot win, and all that is timed is timed beside the work. It looks
     * again later: where batches have come to cost more than they would on the other device, it goes over, too. */
    bool auto_cpu_while_compiling;
    double driver_patience_s; /* 0 to 1e6: how long what names no device waits for a driver that was not seen to hold;
                                 0: until it answers, 20 s at most. One that has not answered then is asked beside, and
                                 is absent until the next such call finds it. */
} penstock_context_desc;

#define PENSTOCK_CONTEXT_DESC(...) PENSTOCK_DESCRIPTION(penstock_context_desc, __VA_ARGS__)

/* `desc` may be NULL. Drivers are probed on the first call that needs them. A process may end by exit() of its main
 * thread without freeing anything: where a driver is at work, exit() waits for it, 20 s at most. */
PENSTOCK_API int penstock_context_new(penstock_context **context, const penstock_context_desc *desc);

/* Waits 2 s at most for a driver that is being opened, and 20 s for a compiler or driver that is still at work for
 * plans and streams that were freed; what takes longer is left to a thread of its own. */
PENSTOCK_API void penstock_context_free(penstock_context *context);

/*
 * What this thread does from now on is told with `log_user` instead of the context's; NULL: with the context's. Returns
 * what it was before. So is what the library's own threads do for a stream or plan that is made meanwhile, until it is
 * freed: an application with many on one context knows which one a line is about. Lines on the context's behalf, as
 * those about drivers, may come with its own.
 */
PENSTOCK_API void *penstock_log_as(void *log_user);

/* ---------------------------------------------------------------- devices --------------------- */

/* Texts live as long as the context. */
typedef struct penstock_device_info {
    size_t size;
    const char *name;       /* "cpu", "reference", "opencl:0", ...; the bare kind where it is absent */
    const char *product;    /* what the maker calls it, "" where absent */
    const char *driver;     /* library or driver and its version */
    const char *reason;     /* why it is absent, one line; NULL where it is present */
    const char *licence;    /* what its libraries ask of a binary linked with them: "MIT", "GPL-2.0-or-later", ... */
    bool automatic;         /* may "auto" pick it? */
    unsigned compute_units; /* cores or multiprocessors */
    uint64_t memory_bytes;  /* 0: unknown, or the machine's own */
    bool awaited;           /* absent, as the kind's driver has not answered yet */
    const char *profile;    /* what a GPU's kernels are shaped by: its kind, wave and local memory; "" of others */
} penstock_device_info;

#define PENSTOCK_DEVICE_INFO PENSTOCK_DESCRIPTION(penstock_device_info, )

/* Rows of the device table, absent kinds included; probes drivers on its first call. */
PENSTOCK_API int penstock_device_count(penstock_context *context, size_t *count);

/* Row `index` < count; `info` made with PENSTOCK_DEVICE_INFO. */
PENSTOCK_API int penstock_device_get(penstock_context *context, size_t index, penstock_device_info *info);

/* The row of the device that `name` means, without "prefer:"; an error says why there is none. */
PENSTOCK_API int penstock_device_find(penstock_context *context, const char *name, size_t *index);

#ifdef __cplusplus
}
#endif

#endif
