/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* cuFFT, opened at run time; names and values are those of NVIDIA's cufft.h. */
#include "separate.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int open_library(void)
{
    static const char *const names[] = {"libcufft.so.12",
                                        "libcufft.so.11",
                                        "libcufft.so.10",
                                        "libcufft.so",
                                        "/usr/local/cuda/lib64/libcufft.so",
                                        "/usr/local/cuda/lib/libcufft.so"};
    static const char *const symbols[] = {"cufftPlanMany", "cufftExecC2C", "cufftDestroy", "cufftGetVersion"};
    void **const places[] = {(void **)(void *)&cufft.plan_many, (void **)(void *)&cufft.exec,
                             (void **)(void *)&cufft.destroy, (void **)(void *)&cufft.version};
    void *library = NULL;
    if (cufft.version)
        return EXIT_DONE;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(EXIT_DATA, "libcufft was not found");
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i]);
        if (!symbol)
            return fail(EXIT_DATA, "libcufft has no %s", symbols[i]);
        memcpy((void *)places[i], &symbol, sizeof symbol);
    }
    return EXIT_DONE;
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
    if (open_library() || !(run = calloc(1, sizeof *run)))
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

static int run_once(struct run *run)
{
    struct separate *s = &run->separate;
    int code = separate_before(s);
    if (!code)
        code = check("cufftExecC2C", cufft.exec(run->plans[0], s->samples + run->work.skip * sizeof(penstock_cf32),
                                                s->spectrum, CUFFT_FORWARD));
    if (!code && run->work.kind == DEVICE_WORK_FILTER && !(code = separate_between(s)))
        code = check("cufftExecC2C", cufft.exec(run->plans[1], s->spectrum, s->spectrum, CUFFT_INVERSE));
    return code ? code : separate_after(s);
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    struct run *run = state;
    int code = cuda_machine_stamp(run->machine, 0);
    for (unsigned i = 0; i < repeats && !code; i++)
        code = run_once(run);
    if (code || (code = cuda_machine_stamp(run->machine, 1)) || (code = cuda_machine_elapsed(run->machine, seconds)))
        return code;
    *seconds /= repeats;
    return EXIT_DONE;
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
                                .device_read = read_out,
                                .device_free = free_run};
