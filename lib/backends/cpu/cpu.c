/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The cpu backend's table: one device, ordinary memory, work done within enqueue. */
#include "backends/cpu/cpu.h"
#include "backends/cpu/arrays.h"
#include "backends/cpu/cpu_ldpc.h"
#include "backends/cpu/cpu_viterbi.h"
#include "backends/cpu/overlap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The processor's name as the kernel gives it: "model name" on x86, "Model" (of the board) on ARM. */
static void read_product(char *product, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    product[0] = 0;
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) && strncmp(line, "Model\t", 6)))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(product, bytes, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file)
        fclose(file);
}

static void read_driver(char *driver, size_t bytes)
{
    char transform[32], arrays[32];
    penstock__cpu_transform_library(transform);
    penstock__arrays_library(arrays);
    if (!transform[0])
        snprintf(transform, sizeof transform, "built-in FFT");
    snprintf(driver, bytes, "%s%s%s", transform, arrays[0] ? ", " : "", arrays);
}

static int probe(penstock_context *context, struct penstock_device *rows, size_t capacity, size_t *count,
                 char reason[256])
{
    (void)context;
    reason[0] = 0;
    *count = capacity ? 1 : 0;
    if (!capacity)
        return PENSTOCK_OK;
    read_product(rows->product, sizeof rows->product);
    read_driver(rows->driver, sizeof rows->driver);
    rows->compute_units = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    return PENSTOCK_OK;
}

static int open_device(struct penstock_device *device)
{
    (void)device;
    penstock__arrays_init();
    return PENSTOCK_OK;
}

static void close_device(struct penstock_device *device)
{
    (void)device;
}

static int supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    (void)device;
    if (problem->kind != PENSTOCK_PROBLEM_FFT && problem->kind != PENSTOCK_PROBLEM_VITERBI &&
        problem->kind != PENSTOCK_PROBLEM_LDPC)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "cpu: problem kind %d is not known", (int)problem->kind);
    return 1;
}

union any_plan {
    struct cpu_plan fft;
    struct cpu_overlap overlap;
    struct cpu_viterbi viterbi;
    struct cpu_ldpc ldpc;
};

static void keep_nothing(struct penstock_plan_state *plan)
{
    (void)plan;
}

static const struct plan_kind {
    int (*init)(struct penstock_plan_state *plan, unsigned variant);
    void (*free)(struct penstock_plan_state *plan);
    int (*enqueue)(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job);
} transforms = {.init = penstock__cpu_plan_init, .free = penstock__cpu_plan_free, .enqueue = penstock__cpu_enqueue},
  overlapped = {.init = penstock__cpu_overlap_init,
                .free = penstock__cpu_overlap_free,
                .enqueue = penstock__cpu_overlap_enqueue},
  viterbi = {.init = penstock__cpu_viterbi_init, .free = keep_nothing, .enqueue = penstock__cpu_viterbi_enqueue},
  ldpc = {.init = penstock__cpu_ldpc_init, .free = keep_nothing, .enqueue = penstock__cpu_ldpc_enqueue};

static const struct plan_kind *kind_of(const struct penstock_plan_state *plan)
{
    const struct penstock_problem *problem = plan->problem;
    return problem->kind == PENSTOCK_PROBLEM_VITERBI ? &viterbi
           : problem->kind == PENSTOCK_PROBLEM_LDPC  ? &ldpc
           : problem->fft.hop                        ? &overlapped
                                                     : &transforms;
}

static int plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    return kind_of(plan)->init(plan, variant);
}

static void plan_free(struct penstock_plan_state *plan)
{
    kind_of(plan)->free(plan);
}

static int enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    return kind_of(plan)->enqueue(slot, plan, job);
}

static void slot_free(struct penstock_slot *slot)
{
    struct cpu_slot *s = slot->priv;
    penstock__free(s->scratch);
}

const struct penstock_backend penstock__cpu_backend = {
    .abi = PENSTOCK_BACKEND_ABI,
    .folds = true,
    .name = "cpu",
    .licence = PENSTOCK_CPU_LICENCE,
    .flags = PENSTOCK_BACKEND_HOST_MEMORY | PENSTOCK_BACKEND_PLANES | PENSTOCK_BACKEND_FEC | PENSTOCK_BACKEND_LDPC |
             PENSTOCK_BACKEND_FORKS,
    .single = true,
    .slot_bytes = sizeof(struct cpu_slot),
    .plan_bytes = sizeof(union any_plan),
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .buffer_alloc = penstock__host_buffer_alloc,
    .buffer_wrap = penstock__host_buffer_wrap,
    .buffer_free = penstock__host_buffer_free,
    .supports = supports,
    .plan_init = plan_init,
    .plan_free = plan_free,
    .slot_init = penstock__host_slot_init,
    .slot_free = slot_free,
    .upload = penstock__host_upload,
    .enqueue = enqueue,
    .download = penstock__host_download,
    .run_frames = penstock__cpu_run_frames,
    .run_gathered = penstock__cpu_run_gathered,
    .mark = penstock__host_mark,
    .wait = penstock__host_wait,
};
