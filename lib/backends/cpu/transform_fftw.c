/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms by FFTW in single precision.
 *
 * FFTW's planner is state of the whole process, which GNU Radio and liquid-dsp share: it is made thread-safe before
 * the first plan; wisdom and the planner's time limit are left alone. Planning stays short by choice: lengths up to
 * MEASURED_LENGTH that FFTW has direct code for are measured (0.1 s for 4096 points, 0.8 s for 65536 the
 * first time in a process, afterwards nothing), all others estimated (1 ms).
 *
 * Plans are made for aligned memory: unaligned ones cannot use SIMD and are four times slower, much slower than copying
 * a frame.
 */
#include "backends/cpu/arrays.h"
#include "backends/cpu/transform.h"

#include <fftw3.h>
#include <stdio.h>
#include <string.h>

/* FFTW ends the process where its planner gets no memory. It took at most 2.0 MB and 41 bytes a point, of lengths from
 * 7 to 2^23, composite and prime: so much is asked for first, and given back to it. */
#define PLANNER_BYTES       ((size_t)4 << 20)
#define PLANNER_POINT_BYTES 64

#define MEASURED_LENGTH 65536
#define MEASURED_FACTOR 13

/* Short transforms are over before the processor sees which samples come next, and those may have to come from another
 * core: they are fetched so many samples ahead. */
#define FETCHED_LENGTH 128
#define FETCHED_AHEAD  256

/* Makes a plan under FFTW's lock too, since FFTW makes its planner on the first call, and not all calls are locked. */
static void make_planner_safe(void)
{
    static bool safe;
    if (safe)
        return;
    safe = true;
    fftwf_complex in = {0}, out = {0};
    void (*functions[])(void) = {fftwf_cleanup, fftwf_make_planner_thread_safe}; /* of its two libraries */
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const void *function;
        memcpy(&function, &functions[i], sizeof function);
        penstock__cpu_keep_library(function);
    }
    fftwf_make_planner_thread_safe();
    fftwf_destroy_plan(fftwf_plan_dft_1d(1, &in, &out, FFTW_FORWARD, FFTW_ESTIMATE));
}

static size_t largest_factor(size_t n)
{
    size_t largest = 1;
    for (size_t p = 2; n > 1; p++) {
        if (p * p > n)
            p = n;
        for (; n % p == 0; n /= p)
            largest = p;
    }
    return largest;
}

static fftwf_plan make_plan(const struct cpu_transform *t, void *in, void *out, unsigned effort)
{
    bool forward = t->direction == PENSTOCK_FORWARD;
    int n = (int)t->n;
    if (t->domain == PENSTOCK_COMPLEX)
        return fftwf_plan_dft_1d(n, in, out, forward ? FFTW_FORWARD : FFTW_BACKWARD, effort);
    return forward ? fftwf_plan_dft_r2c_1d(n, in, out, effort)
                   : fftwf_plan_dft_c2r_1d(n, in, out, effort | FFTW_DESTROY_INPUT);
}

/* Over all our calls of the planner: FFTW's own lock leaves out the number of threads, and does not outlive a fork()
 * that comes while it is held. */
static struct penstock_guard planner = PENSTOCK_GUARD_AWAITED;

/* The number of threads may have been raised by others; a transform of ours is one thread's work. */
static fftwf_plan make_plan_for_one_thread(const struct cpu_transform *t, void *in, void *out, unsigned effort)
{
    fftwf_plan plan;
    int threads;
    threads = fftwf_planner_nthreads();
    if (threads != 1)
        fftwf_plan_with_nthreads(1);
    plan = make_plan(t, in, out, effort);
    if (threads != 1)
        fftwf_plan_with_nthreads(threads);
    return plan;
}

/* Whether there is memory for the planner. */
static bool reserve(size_t n)
{
    void *memory = penstock__alloc(PLANNER_BYTES + n * PLANNER_POINT_BYTES);
    penstock__free(memory);
    return memory != NULL;
}

/* The coarsest alignment that FFTW tells apart. */
static size_t alignment_class(char *aligned)
{
    size_t alignment = 64;
    while (alignment > sizeof(float) && !fftwf_alignment_of((float *)(void *)(aligned + alignment / 2)))
        alignment /= 2;
    return alignment;
}

static int init(struct cpu_transform *t, unsigned effort)
{
    size_t bytes = (t->n + 2) * sizeof(penstock_cf32);
    char *in = penstock__alloc(bytes), *out = penstock__alloc(bytes);
    int status = PENSTOCK_ERR_MEMORY;
    if (!in || !out)
        goto done;
    t->alignment = alignment_class(in);
    penstock__guard(&planner);
    if (!reserve(t->n)) {
        penstock__unguard(&planner);
        goto done;
    }
    make_planner_safe();
    t->priv = make_plan_for_one_thread(t, in, out, effort);
    penstock__unguard(&planner);
    status = t->priv ? PENSTOCK_OK : penstock__error(PENSTOCK_ERR_DEVICE, "FFTW made no plan for %zu points", t->n);
done:
    penstock__free(in);
    penstock__free(out);
    return status;
}

static int init_measured(struct cpu_transform *t)
{
    bool measure = t->n <= MEASURED_LENGTH && largest_factor(t->n) <= MEASURED_FACTOR;
    return init(t, measure ? FFTW_MEASURE : FFTW_ESTIMATE);
}

static int init_estimated(struct cpu_transform *t)
{
    return init(t, FFTW_ESTIMATE);
}

static void destroy(struct cpu_transform *t)
{
    penstock__guard(&planner);
    fftwf_destroy_plan(t->priv);
    penstock__unguard(&planner);
}

/* FFTW's interface is not const, though only the reverse real transform writes to its input. */
static void *writable(const char *in)
{
    void *pointer;
    memcpy(&pointer, &in, sizeof pointer);
    return pointer;
}

static void run_complex(const struct cpu_transform *t, char *from, size_t in_step, char *to, size_t out_step,
                        size_t count)
{
    fftwf_plan plan = t->priv;
    const size_t bytes = t->n * sizeof(penstock_cf32), ahead = t->n <= FETCHED_LENGTH ? FETCHED_AHEAD / t->n : count;
    for (size_t i = 0; i < count; i++, from += in_step, to += out_step) {
        if (ahead < count - i)
            for (size_t at = 0; at < bytes; at += 64)
                __builtin_prefetch(from + ahead * in_step + at);
        fftwf_execute_dft(plan, (fftwf_complex *)(void *)from, (fftwf_complex *)(void *)to);
    }
}

static void run(const struct cpu_transform *t, const void *in, size_t in_step, void *out, size_t out_step, size_t count,
                void *scratch)
{
    fftwf_plan plan = t->priv;
    char *from = writable(in), *to = out;
    (void)scratch;
    if (t->domain == PENSTOCK_COMPLEX)
        run_complex(t, from, in_step, to, out_step, count);
    else if (t->direction == PENSTOCK_FORWARD)
        for (size_t i = 0; i < count; i++, from += in_step, to += out_step)
            fftwf_execute_dft_r2c(plan, (float *)(void *)from, (fftwf_complex *)(void *)to);
    else
        for (size_t i = 0; i < count; i++, from += in_step, to += out_step)
            fftwf_execute_dft_c2r(plan, (fftwf_complex *)(void *)from, (float *)(void *)to);
}

static const struct cpu_transform_kind measured = {
    .name = "FFTW, measured", .init = init_measured, .free = destroy, .run = run};

static const struct cpu_transform_kind estimated = {
    .name = "FFTW, estimated", .init = init_estimated, .free = destroy, .run = run};

const struct cpu_transform_kind *const penstock__cpu_transforms[] = {&penstock__cpu_transform_power,
                                                                     &penstock__cpu_transform_natural_order,
                                                                     &penstock__cpu_transform_interleaved,
                                                                     &measured,
                                                                     &estimated,
                                                                     &penstock__cpu_transform_plain,
                                                                     NULL};

/* fftwf_version is like "fftw-3.3.10-sse2-avx". */
void penstock__cpu_transform_library(char text[32])
{
    static const char prefix[] = "fftw-";
    const char *version = fftwf_version;
    if (!strncmp(version, prefix, strlen(prefix)))
        version += strlen(prefix);
    snprintf(text, 32, "FFTW %.*s", (int)strcspn(version, "-"), version);
}
