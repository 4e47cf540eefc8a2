/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* cuFFT, opened at run time; names and values are those of NVIDIA's cufft.h. */
#include "library.h"
#include "separate.h"

#include <stdio.h>
#include <stdlib.h>

enum { CUFFT_C2C = 0x29, CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

static struct {
    int (*plan_many)(int *plan, int rank, int *n, int *in_embed, int in_stride, int in_distance, int *out_embed,
                     int out_stride, int out_distance, int type, int batch);
    int (*exec)(int plan, cuda_memory in, cuda_memory out, int direction); /* device addresses: 64 bits each */
    int (*destroy)(int plan);
    int (*version)(int *version);
} cufft;

struct run {
    struct cuda_machine *machine;
    struct separate separate;
    struct device_work work;
    int plans[2];
    bool planned[2];
};

static int check(const char *what, int code)
{
    return code ? fail(EXIT_DATA, "%s failed with error %d", what, code) : EXIT_DONE;
}

static bool open_library(void)
{
    static const char *const names[] = {"libcufft.so.12",
                                        "libcufft.so.11",
                                        "libcufft.so.10",
                                        "libcufft.so",
                                        "/usr/local/cuda/lib64/libcufft.so",
                                        "/usr/local/cuda/lib/libcufft.so",
                                        NULL};
    static const struct library_function functions[] = {{"cufftPlanMany", offsetof(__typeof__(cufft), plan_many)},
                                                        {"cufftExecC2C", offsetof(__typeof__(cufft), exec)},
                                                        {"cufftDestroy", offsetof(__typeof__(cufft), destroy)},
                                                        {"cufftGetVersion", offsetof(__typeof__(cufft), version)},
                                                        {NULL, 0}};
    static bool opened;
    return opened = opened || library_load(names, "install the CUDA toolkit", functions, &cufft);
}

static const char *version(void)
{
    static char text[32];
    int number = 0;
    if (cufft.version && !cufft.version(&number))
        snprintf(text, sizeof text, "%d.%d.%d", number / 1000, number / 100 % 10, number % 100);
    return text;
}

/* Transforms of the frames where they lie, and, for a filter, back in place. */
static int plan(struct run *run)
{
    const struct device_work *work = &run->work;
    int n = (int)work->n, batch = (int)work->frames, distance = (int)work->spacing, code;
    if ((code = check("cufftPlanMany",
                      cufft.plan_many(&run->plans[0], 1, &n, &n, 1, distance, &n, 1, n, CUFFT_C2C, batch))))
        return code;
    run->planned[0] = true;
    if (work->kind != DEVICE_WORK_FILTER)
        return EXIT_DONE;
    code = check("cufftPlanMany", cufft.plan_many(&run->plans[1], 1, &n, &n, 1, n, &n, 1, n, CUFFT_C2C, batch));
    run->planned[1] = !code;
    return code;
}

static void free_run(void *state)
{
    struct run *run = state;
    if (!run)
        return;
    for (int i = 0; i < 2; i++)
        if (run->planned[i])
            cufft.destroy(run->plans[i]);
    cuda_machine_free(run->machine);
    free(run);
}

static void *new_run(const struct device_work *work)
{
    struct run *run;
    if (!open_library() || !(run = calloc(1, sizeof *run)))
        return NULL;
    run->work = *work;
    if (!(run->machine = cuda_machine_new(work->device)))
        goto failed;
    run->separate = (struct separate){.machine = run->machine, .work = &run->work};
    if (separate_new(&run->separate) || plan(run))
        goto failed;
    return run;
failed:
    free_run(run);
    return NULL;
}

static int run_before(void *state)
{
    struct run *run = state;
    return separate_before(&run->separate);
}

static int run_forward(void *state)
{
    struct run *run = state;
    const struct separate *s = &run->separate;
    return check("cufftExecC2C", cufft.exec(run->plans[0], s->samples + run->work.skip * sizeof(penstock_cf32),
                                            s->spectrum, CUFFT_FORWARD));
}

static int run_between(void *state)
{
    struct run *run = state;
    return separate_between(&run->separate);
}

static int run_back(void *state)
{
    struct run *run = state;
    const struct separate *s = &run->separate;
    return check("cufftExecC2C", cufft.exec(run->plans[1], s->spectrum, s->spectrum, CUFFT_INVERSE));
}

static int run_after(void *state)
{
    struct run *run = state;
    return separate_after(&run->separate);
}

/* The kernels of each kind of work, in order. */
static const struct part {
    const char *name;
    int (*run)(void *run);
} parts[][DEVICE_PARTS] = {
    [DEVICE_WORK_FFT] = {{"transform", run_forward}},
    [DEVICE_WORK_SPECTRUM] = {{"convert", run_before}, {"transform", run_forward}, {"mean_power", run_after}},
    [DEVICE_WORK_OFDM] = {{"convert", run_before}, {"transform", run_forward}, {"demap", run_after}},
    [DEVICE_WORK_FILTER] = {
        {"transform", run_forward}, {"multiply", run_between}, {"back", run_back}, {"cut", run_after}}};

static const struct part *parts_of(const struct run *run)
{
    return parts[run->work.kind];
}

/* What a part must read and write. */
static double part_bytes(const struct run *run, const struct part *part)
{
    const struct device_work *work = &run->work;
    double points = 8 * (double)work->frames * (double)work->n, out = (double)run->separate.out_bytes;
    if (part->run == run_before)
        return (double)work->in_bytes + 8 * (double)run->separate.in_count;
    if (part->run != run_after)
        return 2 * points;
    return out + (work->kind == DEVICE_WORK_OFDM     ? 16 * (double)work->frames * (double)work->carriers
                  : work->kind == DEVICE_WORK_FILTER ? out
                                                     : points);
}

static int run_once(void *state)
{
    struct run *run = state;
    const struct part *part = parts_of(run);
    int code = EXIT_DONE;
    for (size_t i = 0; i < DEVICE_PARTS && part[i].run && !code; i++)
        code = part[i].run(run);
    return code;
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    struct run *run = state;
    return cuda_machine_time(run->machine, run_once, run, repeats, seconds);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some runs of one part. */
static int time_part(struct run *run, const struct part *part, double *seconds)
{
    enum { WARM_UP = 2, RUNS = 9 };
    double times[RUNS];
    int code = EXIT_DONE;
    for (int i = -WARM_UP; i < RUNS && !code; i++)
        code = cuda_machine_time(run->machine, part->run, run, 1, &times[i < 0 ? 0 : i]);
    if (code)
        return code;
    qsort(times, RUNS, sizeof *times, by_value);
    *seconds = times[RUNS / 2];
    return EXIT_DONE;
}

/* Called after device_run: the data that the parts take is there. */
static int time_parts(void *state, struct device_part timed[DEVICE_PARTS], size_t *count)
{
    struct run *run = state;
    const struct part *part = parts_of(run);
    int code = EXIT_DONE;
    for (*count = 0; *count < DEVICE_PARTS && part[*count].run && !code; ++*count) {
        timed[*count] = (struct device_part){part[*count].name, part_bytes(run, &part[*count]), 0};
        code = time_part(run, &part[*count], &timed[*count].seconds);
    }
    return code;
}

static int read_out(void *state, void *out, size_t bytes)
{
    const struct run *run = state;
    return cuda_machine_read(run->machine, out, run->separate.out, bytes);
}

const struct peer peer_cufft = {.name = "cufft",
                                .version = version,
                                .device_new = new_run,
                                .device_run = run_timed,
                                .device_enqueue = run_once,
                                .device_read = read_out,
                                .device_parts = time_parts,
                                .device_free = free_run};
