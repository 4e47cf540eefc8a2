/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the core offers to everything in lib/: errors, memory, threads, fork, helpers, cache files, transforms in
 * double precision. */
#ifndef PENSTOCK_SERVICES_H
#define PENSTOCK_SERVICES_H

#include <penstock/penstock.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct penstock_device;
struct penstock_buffer;
struct penstock_slot;
struct penstock_resample_head;

/* Sets this thread's error text and returns `status`. `format` makes one line without newline. */
int penstock__error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A failure with its text until it can be told, maybe by another thread; zeroed: none. */
struct penstock__failure {
    int status;
    char text[512];
};

/* Keeps `status` with this thread's error text; returns it. */
int penstock__failure_keep(struct penstock__failure *failure, int status);

/* Is the error again; PENSTOCK_OK where there is none. */
int penstock__failure_tell(const struct penstock__failure *failure);

/* Memory: aligned to 64 bytes; NULL and an error text when there is none. Free with penstock__free (NULL is fine). */
void *penstock__alloc(size_t bytes);
void *penstock__calloc(size_t count, size_t bytes);
void *penstock__realloc(void *memory, size_t old_bytes, size_t bytes);
char *penstock__strdup(const char *text);
void penstock__free(void *memory);

static inline size_t penstock__round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Up to where the next piece of such memory may begin. */
static inline size_t penstock__aligned(size_t bytes)
{
    return penstock__round_up(bytes, 64);
}

/* The greatest one; that of a and 0 is a. */
static inline size_t penstock__common_divisor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void penstock__log(penstock_context *context, penstock_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A buffer of the contract in the device's memory or, where `host` is given, around the caller's; `buffer` is zeroed
 * before, after an error and once it is freed, which may come again. */
int penstock__device_buffer_make(struct penstock_buffer *buffer, struct penstock_device *device, void *host,
                                 size_t bytes);
void penstock__device_buffer_free(struct penstock_buffer *buffer);

/* Threads that penstock__parallel() may use, the caller's included; >= 1. */
unsigned penstock__threads(const penstock_context *context);

/* Calls work(argument, i, worker) for 0 <= i < count, spread over the context's threads, and returns when all are done.
 * `worker` < penstock__threads() tells the threads apart, within this call. May be called by several threads at once;
 * from `work` too, where the calling thread does it all, as worker 0, so that no other call at that time may share what
 * the inner work has for each worker. */
void penstock__parallel(penstock_context *context, size_t count,
                        void (*work)(void *argument, size_t i, unsigned worker), void *argument);

/* The same for work so short that waking a thread costs as much as it brings: at most `most` sleeping ones are woken,
 * and those that are awake, from a loop before, help without. */
void penstock__parallel_waking(penstock_context *context, size_t count, size_t most,
                               void (*work)(void *argument, size_t i, unsigned worker), void *argument);

/* How many of `count` things an iteration of such a loop takes, one at least: as many as make the threads' shares
 * alike, each in a few turns, so that a thread that is late costs a part of its share. At most `most`, what suits a
 * cache; and `least`, what is worth handing out, as far as `most` allows. Each may be 0 and is 1 then. */
size_t penstock__fair_share(const penstock_context *context, size_t count, size_t least, size_t most);

/* Changes in a child after fork(): what was begun under another number was begun by another process. */
unsigned penstock__forks(void);

/* PENSTOCK_OK, or PENSTOCK_ERR_STATE with text where `what` was opened under another number. */
int penstock__forked(unsigned number, const char *what);

/*
 * A lock over state of a library that we call. fork() waits for who has it where it is `awaited`. Else, where another
 * thread has it while this process is forked, that state is lost in the child, and taking it gives false there, for
 * ever.
 */
struct penstock_guard {
    pthread_mutex_t lock;
    bool awaited, lost;
    atomic_bool listed;
    struct penstock_guard *following;
};
#define PENSTOCK_GUARD                    \
    {                                     \
        .lock = PTHREAD_MUTEX_INITIALIZER \
    }
#define PENSTOCK_GUARD_AWAITED                              \
    {                                                       \
        .lock = PTHREAD_MUTEX_INITIALIZER, .awaited = true, \
    }
bool penstock__guard(struct penstock_guard *guard);
void penstock__unguard(struct penstock_guard *guard);

/* Processors that this process may use: a container or taskset may leave it few of the machine's, or of their time. */
unsigned penstock__processors(void);

/* Seconds of a clock that only goes forward. */
double penstock__now_s(void);

/* Whether what this thread makes is for nobody any more: it is to end soon, and how does not matter. */
bool penstock__cancelled(void);

/* The same on any thread, of the work of the one that was given `flag`, which may be NULL. It lives as long as that
 * work. */
const atomic_bool *penstock__cancel_flag(void);
bool penstock__cancelled_by(const atomic_bool *flag);

/* A program of ours in a process of its own: what crashes there does not take this one along. */
struct penstock_helper {
    pid_t process;
    int answer; /* what it writes, for the caller to read */
};

/* A file in memory, for a helper to read from its start; -1 where there can be none. */
int penstock__helper_input(const void *content, size_t bytes);

/*
 * Starts libexec/penstock/NAME, or what the environment variable `variable` names, with `arguments`, which NULL ends,
 * of up to 8. It reads `input`, which stays the caller's, or nothing where that is -1; what it writes about errors is
 * thrown away. 0, or an errno: ENOENT where there is none.
 */
int penstock__helper_start(struct penstock_helper *helper, const char *name, const char *variable,
                           const char *const *arguments, int input);

/* The same, and leaves it to itself: what it writes is thrown away. */
void penstock__helper_leave(const char *name, const char *variable, const char *const *arguments);

/* Whether it ends by itself before `end_s` of penstock__now_s(), unless the calling thread's work is cancelled. One
 * that has closed its output may live on. */
bool penstock__helper_ends(const struct penstock_helper *helper, double end_s);

/* Kills it, where it is to be `killed`, and waits for its end. The wait status, or -1 where the application has taken
 * that (SIGCHLD ignored, say). */
int penstock__helper_end(struct penstock_helper *helper, bool killed);

/*
 * To be asked in plan_init before it compiles a kernel that is not compiled yet: a driver that crashes then, or when
 * the kernel is run, does so in a process of its own, where the whole plan is made and checked first. `name` tells the
 * kernel from others, and the device's driver from others. PENSTOCK_OK: it is to be compiled here now.
 */
int penstock__probe_plan(struct penstock_device *device, const char *name);

/* Buffer functions and copies of a backend with HOST_MEMORY. */
int penstock__host_buffer_alloc(struct penstock_buffer *buffer, size_t bytes);
int penstock__host_buffer_wrap(struct penstock_buffer *buffer, void *host, size_t bytes);
void penstock__host_buffer_free(struct penstock_buffer *buffer);
int penstock__host_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes);
int penstock__host_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes);

/* Slots of one that computes within enqueue: `slot_bytes` are this or begin with it, and a mark is a mere count. */
struct penstock_host_slot {
    uint64_t marks;
};
int penstock__host_slot_init(struct penstock_slot *slot);
void penstock__host_slot_free(struct penstock_slot *slot);
int penstock__host_mark(struct penstock_slot *slot, uint64_t *number);
int penstock__host_wait(struct penstock_slot *slot, uint64_t number);

/* Whether these bytes lie in memory that the device's host_alloc gave. */
bool penstock__host_reached(const struct penstock_device *device, const void *host, size_t bytes);

/* Folder for compiled kernels, or NULL; folder that overrides the built-in kernel sources, or NULL. */
const char *penstock__cache_dir(const penstock_context *context);
const char *penstock__kernel_path(const penstock_context *context);

/* Files in the cache folder, by a plain name without '/'. What read gives is what write was given, whole, or NULL where
 * it is absent, damaged or unreadable; free it with penstock__free(). Write replaces at once or not at all; false,
 * without an error text, where the folder cannot be written. */
void *penstock__cache_read(penstock_context *context, const char *name, size_t *bytes);
bool penstock__cache_write(penstock_context *context, const char *name, const void *content, size_t bytes);

/* 64 bits that tell contents apart, for names of cache files. */
uint64_t penstock__hash(const void *content, size_t bytes);

/* Sets a head's shift, scale and inverse, from its arms and unit. */
void penstock__resample_scale(struct penstock_resample_head *head);

/* exp(2 pi i k / n), k < n, rounded from an angle of at most an eighth of a turn: exact at the axes and diagonals. */
void penstock__unit_root(double *re, double *im, uint64_t k, uint64_t n);

/* All n of them, as pairs, to the same bits. */
void penstock__unit_roots(double *pairs, size_t n);

/* Plain double-precision DFT of any length, O(n log n); slow, simple and exact: what others are checked against.
 * `data` holds n complex values (re, im), transformed in place. */
int penstock__dft(double *data, size_t n, penstock_direction direction);

/* The same with its tables kept. A plan is read-only, so threads may share it; each brings its own scratch memory. */
struct penstock_dft_plan;
int penstock__dft_plan_new(struct penstock_dft_plan **plan, size_t n, penstock_direction direction);
size_t penstock__dft_plan_scratch_bytes(const struct penstock_dft_plan *plan);
void penstock__dft_plan_run(const struct penstock_dft_plan *plan, double *data, void *scratch);
void penstock__dft_plan_free(struct penstock_dft_plan *plan);

/* Of results: more does not stay in the processor's caches until the caller reads it. */
#define PENSTOCK__GIVEN_BYTES ((size_t)1 << 20)

/* As memcpy and as penstock__convert(), which follows, by all threads of the context where there is much; not from the
 * work of penstock__parallel(). `past_caches`: to memory that a device reads next, or more than the caches hold. */
void penstock__copy(penstock_context *context, void *to, const void *from, size_t bytes);
void penstock__copy_past_caches(penstock_context *context, void *to, const void *from, size_t bytes);
void penstock__convert_all(penstock_context *context, penstock_cf32 *to, const void *from, penstock_format format,
                           size_t first, size_t count, size_t total);

/* Samples `first` .. `first + count` of `in` to float, NaN and infinity left as they are. `total` is the number of
 * samples of the whole input (PLANAR needs it). F32 gives im = 0. */
void penstock__convert(penstock_cf32 *out, const void *in, penstock_format format, size_t first, size_t count,
                       size_t total);

#endif
