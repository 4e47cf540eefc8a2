/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Penstock: a radio's samples on whatever processor the machine has.
 *
 *     #include <penstock/penstock.h>
 *
 *     penstock_context *context = NULL;
 *     penstock_plan *plan = NULL;
 *     penstock_cf32 in[64 * 1024], out[64 * 1024];
 *     ... fill in ...
 *     if (penstock_context_new(&context, NULL) ||
 *         penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 1024), "auto") ||
 *         penstock_plan_run(plan, in, out, 64))
 *         fprintf(stderr, "%s\n", penstock_error_text());
 *     penstock_plan_free(plan);
 *     penstock_context_free(context);
 *
 * Reading order: this file (contexts, devices, the batched FFT), then the one that you need:
 *     fft_options.h how a GPU is to transform, for comparisons
 *     half.h       numbers of 16 bits
 *     spectrum.h   streaming windowed FFT
 *     fft_stream.h transforms of a stream of vectors
 *     filter.h     streaming FIR filter by FFT
 *     channelizer.h polyphase filter bank: samples to channels and back
 *     ofdm.h       OFDM symbol demodulation
 *     ofdm_stream.h the same for frames of a stream
 *     wifi.h       IEEE 802.11 receiver and transmitter
 *     channel.h    noise, offsets and multipath for test signals
 *     source.h     where samples come from and go to: files, SigMF, SoapySDR
 *     host_memory.h  memory that devices copy from and to by themselves
 *     resident.h   plans timed with the samples in their device's memory
 *
 * Said once, true everywhere
 * - A function that can fail returns 0 (PENSTOCK_OK) or a negative penstock_status. After a failure
 *   penstock_error_text() gives one line about it, kept per thread until that thread's next failure.
 * - `*_new`, `*_plan` and `*_open` store a new object in their first argument, or NULL and an error.
 *   `*_free` takes NULL. Free what was made from a context before the context.
 * - Descriptions are structs in which zero means the default. Make them with their macro
 *   (PENSTOCK_FFT_DESC(.n = 1024)), which also sets `size`; a later library then reads an earlier
 *   caller's struct rightly. What a description points to is copied.
 * - A context may be used by several threads at once; any other object by one thread at a time.
 * - The library never prints, never exits, and keeps the caller's locale and signal handlers alone.
 *
 * Devices are named by text: "auto" is the fastest by measurement and always runs, at worst on the
 * CPU; "NAME" ("cpu", "opencl:1", or a piece of a product name) is that device or an error;
 * "prefer:NAME" is that device or, with one log line, the CPU. NULL means "auto".
 */
#ifndef PENSTOCK_PENSTOCK_H
#define PENSTOCK_PENSTOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <penstock/fft_options.h>

#define PENSTOCK_VERSION_MAJOR 0
#define PENSTOCK_VERSION_MINOR 1
#define PENSTOCK_VERSION_PATCH 0

#if defined(_WIN32)
#define PENSTOCK_API
#else
#define PENSTOCK_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- errors ---------------------- */

/* Name, value, what it means. */
#define PENSTOCK_STATUS_MAP(X)                                                        \
    X(OK, 0, "success")                                                               \
    X(ERR_ARGUMENT, -1, "an argument is outside its range")                           \
    X(ERR_MEMORY, -2, "out of memory")                                                \
    X(ERR_NO_DEVICE, -3, "no such device, or it is absent")                           \
    X(ERR_UNSUPPORTED, -4, "the device or this build cannot do that")                 \
    X(ERR_DEVICE, -5, "the device or its driver failed")                              \
    X(ERR_CHECK, -6, "a plan gave wrong results when it was tested")                  \
    X(ERR_FILE, -7, "a file cannot be opened, read or written")                       \
    X(ERR_FORMAT, -8, "a file or description is not of the form that it should have") \
    X(ERR_RADIO, -9, "a radio failed or disappeared")                                 \
    X(ERR_TIMEOUT, -10, "nothing came in time")                                       \
    X(ERR_STATE, -11, "the call does not fit the object's state")

typedef enum penstock_status {
#define PENSTOCK_STATUS_ENUM(name, value, text) PENSTOCK_##name = (value),
    PENSTOCK_STATUS_MAP(PENSTOCK_STATUS_ENUM)
#undef PENSTOCK_STATUS_ENUM
} penstock_status;

/* One line, without newline, about this thread's last failure; "" before the first. */
PENSTOCK_API const char *penstock_error_text(void);

/* The general meaning of a status, in English; never NULL. */
PENSTOCK_API const char *penstock_status_text(int status);

/* "0.1.0" */
PENSTOCK_API const char *penstock_version(void);

/* ---------------------------------------------------------------- contexts -------------------- */

typedef struct penstock_context penstock_context;

typedef enum penstock_log_level { PENSTOCK_LOG_DEBUG, PENSTOCK_LOG_INFO, PENSTOCK_LOG_WARNING } penstock_log_level;

/* May be called from any thread, one call at a time for a context. `line` has no newline. */
typedef void penstock_log_fn(void *user, penstock_log_level level, const char *line);

typedef struct penstock_context_desc {
    size_t size;
    unsigned threads;        /* CPU threads a plan may use; 0: as many as the process may run on, at most 1024 */
    penstock_log_fn *log;    /* NULL: silence */
    void *log_user;          /* handed to `log` */
    const char *cache_dir;   /* where measurements and compiled kernels are kept; NULL: PENSTOCK_CACHE_DIR, or
                                penstock/ in XDG_CACHE_HOME or ~/.cache; "": nowhere. Need not be writable. */
    const char *kernel_path; /* a folder whose kernel sources are used instead of the built-in ones;
                                NULL: PENSTOCK_KERNEL_PATH, or none */
    bool meanwhile; /* where "auto" or "prefer:" is asked for and the device has kernels to compile first, plans,
                       streams, filters, filter banks, OFDM demodulators and receivers begin on the CPU and go over to
                       the device, between two batches, when it is ready. Without it they wait. Freeing such a one waits
                       for the compiler. */
} penstock_context_desc;

#define PENSTOCK_CONTEXT_DESC(...)                         \
    (penstock_context_desc)                                \
    {                                                      \
        .size = sizeof(penstock_context_desc), __VA_ARGS__ \
    }

/* `desc` may be NULL. Drivers are probed on the first call that needs them. */
PENSTOCK_API int penstock_context_new(penstock_context **context, const penstock_context_desc *desc);
PENSTOCK_API void penstock_context_free(penstock_context *context);

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
} penstock_device_info;

#define PENSTOCK_DEVICE_INFO                 \
    (penstock_device_info)                   \
    {                                        \
        .size = sizeof(penstock_device_info) \
    }

/* Rows of the device table, absent kinds included; probes drivers on its first call. */
PENSTOCK_API int penstock_device_count(penstock_context *context, size_t *count);

/* Row `index` < count; `info` made with PENSTOCK_DEVICE_INFO. */
PENSTOCK_API int penstock_device_get(penstock_context *context, size_t index, penstock_device_info *info);

/* The row of the device that `name` means, without "prefer:"; an error says why there is none. */
PENSTOCK_API int penstock_device_find(penstock_context *context, const char *name, size_t *index);

/* ---------------------------------------------------------------- samples --------------------- */

/* Layout of `float _Complex`, std::complex<float> and gr_complex. */
typedef struct penstock_cf32 {
    float re, im;
} penstock_cf32;

/* How samples lie in memory. Integers are full scale at 1.0. */
typedef enum penstock_format {
    PENSTOCK_CF32,   /* float I, Q */
    PENSTOCK_CS16,   /* int16 I, Q; value / 32768 */
    PENSTOCK_CS8,    /* int8 I, Q; value / 128 */
    PENSTOCK_CU8,    /* uint8 I, Q; (value - 127.5) / 128 */
    PENSTOCK_PLANAR, /* float: all I of the call, then all Q of the call */
    PENSTOCK_F32,    /* float, real samples */
    PENSTOCK_CF16    /* half I, Q: half.h */
} penstock_format;

/* Bytes of one sample (I and Q together); 0 for a value that is no format. */
PENSTOCK_API size_t penstock_format_bytes(penstock_format format);

/* "cf32", "cs16", "cs8", "cu8", "planar", "f32", "cf16" to a format and back; NULL for no format. */
PENSTOCK_API int penstock_format_parse(penstock_format *format, const char *text);
PENSTOCK_API const char *penstock_format_name(penstock_format format);

/* ---------------------------------------------------------------- plans ----------------------- */

/*
 * A plan is a problem bound to a device: it works on batches of frames and has no history. It tests
 * itself when it is made, against a double-precision transform on the CPU; a variant that fails is
 * replaced by the next simpler one.
 */
typedef struct penstock_plan penstock_plan;

/*
 * `frames` frames from `in` to `out`, both in host memory and not overlapping (or the same address
 * where input and output have the same size); returns when they are done. Frames do not influence
 * each other: any grouping of frames into calls gives the same bits.
 */
PENSTOCK_API int penstock_plan_run(penstock_plan *plan, const void *in, void *out, size_t frames);

/*
 * The same without waiting: several batches travel at once. `in` and `out` belong to the plan until
 * penstock_plan_wait() returns for `ticket` or a later one. Blocks while all slots are in use. A wait tells of the
 * failure of any batch up to its ticket, once; after an error of submit nothing of that batch is on its way.
 */
PENSTOCK_API int penstock_plan_submit(penstock_plan *plan, const void *in, void *out, size_t frames, uint64_t *ticket);
PENSTOCK_API int penstock_plan_wait(penstock_plan *plan, uint64_t ticket);

typedef struct penstock_plan_info {
    size_t size;
    const char *device;  /* name of the device that runs it; lives as long as the plan */
    const char *variant; /* which kernel or library, in words */
    unsigned kernels;    /* kernels started for one batch; 0 on the CPU */
    unsigned passes;     /* times that the data goes through memory */
    size_t in_bytes;     /* of one frame in host memory */
    size_t out_bytes;
    size_t best_batch; /* frames from which on a larger batch gains little */
    /* Where the device counts them (QPUs under emulation), of all batches so far, else 0: instructions of all
     * processors, and of the busiest one. */
    uint64_t instructions, critical_path;
    const char *awaited; /* what the CPU stands in for while kernels are compiled, "cuda" or "auto"; NULL: nothing */
    uint64_t meanwhile;  /* batches that it did so */
    unsigned timed;      /* shapes of its kernels that were timed when it was made (penstock_fft_desc.tune); 0: none */
    double tuning_s;     /* seconds that timing them took, without compiling */
} penstock_plan_info;

#define PENSTOCK_PLAN_INFO                 \
    (penstock_plan_info)                   \
    {                                      \
        .size = sizeof(penstock_plan_info) \
    }

PENSTOCK_API int penstock_plan_get_info(const penstock_plan *plan, penstock_plan_info *info);
PENSTOCK_API void penstock_plan_free(penstock_plan *plan);

/* ---------------------------------------------------------------- the batched FFT ------------- */

typedef enum penstock_direction {
    PENSTOCK_FORWARD, /* X[k] = sum x[j] exp(-2 pi i j k / n) */
    PENSTOCK_REVERSE  /* x[j] = sum X[k] exp(+2 pi i j k / n), not divided by n */
} penstock_direction;

typedef enum penstock_domain {
    PENSTOCK_COMPLEX,
    PENSTOCK_REAL /* forward: n floats (PENSTOCK_F32, the only format) to n/2+1 complex; reverse: n/2+1 complex to n
                     floats, the imaginary parts of bins 0 and (n even) n/2 being ignored. Forward neither shift nor
                     centered; reverse no window, no power or decibel either. */
} penstock_domain;

/* What happens to samples on their way into a transform, in the kernel that transforms. */
typedef struct penstock_load {
    penstock_format format; /* PENSTOCK_CF32 if not said; PENSTOCK_F32 with PENSTOCK_REAL forward, and only there */
    const float *window;    /* n factors; NULL: all one */
    size_t spacing;         /* samples from one frame's start to the next one's; 0: skip + n */
    size_t skip;            /* samples at a frame's start that are left out (a guard interval) */
    double shift; /* frequency shift in turns per sample, phase 0 at a transform's first sample; |shift| <= 0.5 */
} penstock_load;

typedef enum penstock_output {
    PENSTOCK_OUTPUT_COMPLEX, /* penstock_cf32 */
    PENSTOCK_OUTPUT_POWER,   /* float, |X|^2 */
    PENSTOCK_OUTPUT_DECIBEL  /* float, 10 log10 |X|^2, -300 at the least */
} penstock_output;

/* What happens to a transform's values on their way out, in the same kernel. */
typedef struct penstock_store {
    penstock_output output;
    bool centered; /* zero frequency in the middle (fftshift): bin 0 lands at index n/2 */
    bool half;   /* values leave as halfs, rounded once: penstock_cf16, or one half where they are real. What is beyond
                    65504 becomes infinity: scale. */
    float scale; /* factor on X; 0: 1 */
    unsigned
        average; /* mean power over this many consecutive frames makes one output; 0: 1. Not with complex output. */
} penstock_store;

typedef struct penstock_fft_desc {
    size_t size;
    size_t n; /* transform length, 1 .. 2^23; values of a frame in all, where there are rows or columns */
    penstock_direction direction;
    penstock_domain domain;
    penstock_load load;
    penstock_store store;
    size_t batch;   /* frames that one call usually brings; 0: the library's choice. A hint, no limit. */
    unsigned slots; /* batches in flight, 1 .. 16; 0: 3 */

    /* More than one dimension; with PENSTOCK_COMPLEX, without shift. 0 is 1 for both. */
    size_t rows;    /* 2-D: a frame is `rows` rows of n / rows values, row after row, and so is its transform. A centred
                       one has zero frequency in the middle of both. With average 1 only. */
    size_t columns; /* strided: a frame is `columns` transforms of n / columns values, whose values lie side by side:
                       value j of transform c is j * columns + c, before and after. Not with `rows`. */
    penstock_fft_options options; /* how a GPU is to do it: fft_options.h */

    /*
     * Tuning: a GPU's plan times the shapes that its kernels can have, at most nine of them, with `batch` frames in the
     * device's memory, when it is made, and keeps the fastest; one that fails is left out. Timing takes 20 ms, and each
     * round of a slow device more; kernels are compiled first where the cache does not have them. The answer stays in
     * the cache folder, as kernels do, until library, kernel sources, device or driver change: the next plan of the
     * kind takes it without timing. False: the library's own choice, by measurements that its makers took. Without
     * effect on devices and for transforms with nothing to choose: with rows or columns, planar samples or `options`.
     */
    bool tune;
} penstock_fft_desc;

#define PENSTOCK_FFT_DESC(...)                         \
    (penstock_fft_desc)                                \
    {                                                  \
        .size = sizeof(penstock_fft_desc), __VA_ARGS__ \
    }

/*
 * Plan a batch of transforms. Frame i of a call reads n samples from sample i * spacing + skip on (so
 * a call's input holds (frames - 1) * spacing + skip + n samples) and writes n values from i * n on. Read
 * n/2+1 for n where PENSTOCK_REAL has half a spectrum: written forward, read in reverse. With `average` K a call's
 * frames are a multiple of K. Relative L2 error against exact arithmetic: at most 1.0e-7 sqrt(log2 n), 6 times that on
 * "reference", 4.4 times on the QPUs. With `half` 2^-11 = 4.9e-4 of each value besides, and 2^-25 below 2^-14.
 */
PENSTOCK_API int penstock_fft_plan(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc,
                                   const char *device);

/* ---------------------------------------------------------------- windows --------------------- */

/*
 * Fill n factors of a window by name: "rectangular", "hann", "hamming", "blackman", "blackman-harris",
 * "nuttall", "flat-top", "bartlett", "kaiser:BETA", "gaussian:SIGMA". Periodic (DFT-even) form, as
 * spectrum analysis wants it; n >= 1, where n = 1 gives 1. SIGMA is the standard deviation in half lengths (n/2).
 * Formulas: F. Harris, Proc. IEEE 66(1), 1978; A. Nuttall, IEEE Trans. ASSP 29(1), 1981.
 */
PENSTOCK_API int penstock_window_fill(float *window, size_t n, const char *name);

#ifdef __cplusplus
}
#endif

#include <penstock/channel.h>
#include <penstock/channelizer.h>
#include <penstock/fft_stream.h>
#include <penstock/filter.h>
#include <penstock/half.h>
#include <penstock/host_memory.h>
#include <penstock/ofdm.h>
#include <penstock/resident.h>
#include <penstock/source.h>
#include <penstock/spectrum.h>
#include <penstock/stream_stats.h>
#include <penstock/wifi.h>

#endif
