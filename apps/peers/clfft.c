/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* clFFT, opened at run time; names and values are those of clFFT.h. */
#include "library.h"
#include "opencl_machine.h"
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLFFT_1D = 1, CLFFT_SINGLE = 1, CLFFT_OUTOFPLACE = 2, CLFFT_FORWARD = -1 };

typedef size_t clfft_plan;

struct clfft_setup {
    cl_uint major, minor, patch;
    cl_ulong debug;
};

#define FUNCTIONS(X)                                                                                                 \
    X(teardown, "clfftTeardown", (void))                                                                             \
    X(setup, "clfftSetup", (const struct clfft_setup *))                                                             \
    X(version, "clfftGetVersion", (cl_uint *, cl_uint *, cl_uint *))                                                 \
    X(create, "clfftCreateDefaultPlan", (clfft_plan *, cl_context, int dimensions, const size_t *lengths))           \
    X(precision, "clfftSetPlanPrecision", (clfft_plan, int))                                                         \
    X(place, "clfftSetResultLocation", (clfft_plan, int))                                                            \
    X(batch, "clfftSetPlanBatchSize", (clfft_plan, size_t))                                                          \
    X(distance, "clfftSetPlanDistance", (clfft_plan, size_t in, size_t out))                                         \
    X(bake, "clfftBakePlan", (clfft_plan, cl_uint queues, cl_command_queue *, void (*)(clfft_plan, void *), void *)) \
    X(destroy, "clfftDestroyPlan", (clfft_plan *))                                                                   \
    X(enqueue, "clfftEnqueueTransform",                                                                              \
      (clfft_plan, int direction, cl_uint queues, cl_command_queue *, cl_uint events, const cl_event *, cl_event *,  \
       cl_mem *in, cl_mem *out, cl_mem scratch))

static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} clfft;

struct run {
    struct opencl_machine machine;
    clfft_plan plan;
    bool set_up, planned;
};

static bool open_library(void)
{
    static bool opened;
    static const char *const names[] = {"libclFFT.so.2", NULL};
    static const struct library_function functions[] = {
#define ROW(name, symbol, parameters) {symbol, offsetof(__typeof__(clfft), name)},
        FUNCTIONS(ROW){NULL, 0}
#undef ROW
    };
    return opened = opened || library_load(names, "install libclfft2", functions, &clfft);
}

static const char *version(void)
{
    static char text[48];
    cl_uint major = 0, minor = 0, patch = 0;
    if (clfft.version && !clfft.version(&major, &minor, &patch))
        snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
    return text;
}

static void free_run(void *state)
{
    struct run *run = state;
    if (!run)
        return;
    if (run->planned)
        clfft.destroy(&run->plan);
    if (run->set_up)
        clfft.teardown();
    opencl_machine_close(&run->machine);
    free(run);
}

/* As its examples do; it knows lengths whose prime factors are at most 13. */
static int plan(struct run *run, const struct device_work *work)
{
    const struct clfft_setup setup = {.major = 2};
    int code = opencl_machine_check("clfftSetup", clfft.setup(&setup));
    run->set_up = !code;
    if (!code)
        code = opencl_machine_check("clfftCreateDefaultPlan",
                                    clfft.create(&run->plan, run->machine.context, CLFFT_1D, &work->n));
    run->planned = !code;
    if (!code)
        code = opencl_machine_check("clfftSetPlanPrecision", clfft.precision(run->plan, CLFFT_SINGLE));
    if (!code)
        code = opencl_machine_check("clfftSetResultLocation", clfft.place(run->plan, CLFFT_OUTOFPLACE));
    if (!code)
        code = opencl_machine_check("clfftSetPlanBatchSize", clfft.batch(run->plan, work->frames));
    if (!code)
        code = opencl_machine_check("clfftSetPlanDistance", clfft.distance(run->plan, work->spacing, work->n));
    return code ? code
                : opencl_machine_check("clfftBakePlan", clfft.bake(run->plan, 1, &run->machine.queue, NULL, NULL));
}

static void *new_run(const struct device_work *work)
{
    struct run *run;
    if (work->kind != DEVICE_WORK_FFT || work->skip) {
        fail(EXIT_USAGE, "clfft does plain transforms only");
        return NULL;
    }
    if (!open_library() || !(run = calloc(1, sizeof *run)))
        return NULL;
    if (opencl_machine_open(&run->machine, work->device, work->in_bytes, work->frames * work->n * sizeof(penstock_cf32),
                            work->in, work->block_bytes) &&
        !plan(run, work))
        return run;
    free_run(run);
    return NULL;
}

static int enqueue(void *state)
{
    struct run *run = state;
    struct opencl_machine *machine = &run->machine;
    return opencl_machine_check("clfftEnqueueTransform", clfft.enqueue(run->plan, CLFFT_FORWARD, 1, &machine->queue, 0,
                                                                       NULL, NULL, &machine->in, &machine->out, NULL));
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    struct run *run = state;
    return opencl_machine_time(&run->machine, enqueue, run, repeats, seconds);
}

static int read_out(void *state, void *out, size_t bytes)
{
    struct run *run = state;
    return opencl_machine_read(&run->machine, out, bytes);
}

const struct peer peer_clfft = {.name = "clfft",
                                .version = version,
                                .device_new = new_run,
                                .device_run = run_timed,
                                .device_read = read_out,
                                .device_free = free_run};
