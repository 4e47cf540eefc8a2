/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* VkFFT, of Debian's libvkfft-dev: on CUDA and OpenCL devices by the same interface. */
#include "vkfft.h"

#include "shared/command.h"

#include <stdlib.h>
#include <string.h>

struct run {
    const struct peer *by;
    void *state;
};

static void *new_run(const struct device_work *work)
{
    const struct peer *by = strncmp(work->device, "cuda", 4) ? &vkfft_opencl : &vkfft_cuda;
    struct run *run;
    if (work->kind != DEVICE_WORK_FFT || work->skip) {
        fail(EXIT_USAGE, "vkfft does plain transforms only");
        return NULL;
    }
    if (by->reason) {
        fail(EXIT_USAGE, "vkfft on %s is not in this build: %s", work->device, by->reason);
        return NULL;
    }
    if (!(run = malloc(sizeof *run)))
        return NULL;
    *run = (struct run){.by = by, .state = by->device_new(work)};
    if (run->state)
        return run;
    free(run);
    return NULL;
}

static int run_timed(void *state, unsigned repeats, double *seconds)
{
    const struct run *run = state;
    return run->by->device_run(run->state, repeats, seconds);
}

static int read_out(void *state, void *out, size_t bytes)
{
    const struct run *run = state;
    return run->by->device_read(run->state, out, bytes);
}

static void free_run(void *state)
{
    struct run *run = state;
    if (!run)
        return;
    run->by->device_free(run->state);
    free(run);
}

const struct peer peer_vkfft = {.name = "vkfft",
                                .version = vkfft_version,
                                .device_new = new_run,
                                .device_run = run_timed,
                                .device_read = read_out,
                                .device_free = free_run};
