/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

#include "study_device.h"
#include "bench/bench_plan.h"
#include "cases/signals.h"
#include "shared/command.h"
#include "shared/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a plan takes samples there. */
static int probe(struct study_device *device, penstock_context *context)
{
    penstock_bench *on_device = NULL;
    struct bench_plan work = {.frames = STUDY_BLOCK_BYTES / 128, .average = 1};
    int status = penstock_fft_plan(&work.plan, context, &PENSTOCK_FFT_DESC(.n = 16), device->name);
    if (status)
        return fail_status(status);
    status = bench_plan_new(&on_device, context, &work, device->block, STUDY_BLOCK_BYTES);
    penstock_bench_free(on_device);
    penstock_plan_free(work.plan);
    device->on_device = !status;
    return status && status != PENSTOCK_ERR_UNSUPPORTED ? fail_status(status) : EXIT_DONE;
}

static int make_samples(struct study_device *device, size_t bytes)
{
    device->in = aligned_alloc(64, bytes);
    device->out = aligned_alloc(64, bytes);
    if (!device->in || !device->out)
        return fail(EXIT_DATA, "out of memory");
    for (size_t at = 0; at < bytes; at += STUDY_BLOCK_BYTES)
        memcpy((char *)device->in + at, device->block, STUDY_BLOCK_BYTES);
    memset(device->out, 0, bytes);
    return EXIT_DONE;
}

int study_device_find(struct study_device *device, penstock_context *context, const char *wanted, size_t host_bytes)
{
    penstock_device_info info = PENSTOCK_DEVICE_INFO;
    uint64_t seed = 1;
    progress_wait(PROGRESS_DEVICES);
    int status = penstock_device_find(context, wanted ? wanted : "opencl", &device->row);
    progress_arrived();
    if (status || (status = penstock_device_get(context, device->row, &info)))
        return fail_status(status);
    device->name = info.name;
    snprintf(device->product, sizeof device->product, "%s", info.product);
    if (!(device->block = malloc(STUDY_BLOCK_BYTES)))
        return fail(EXIT_DATA, "out of memory");
    signal_random(device->block, PENSTOCK_CF32, STUDY_BLOCK_BYTES / sizeof(penstock_cf32), &seed);
    int code = probe(device, context);
    return code || device->on_device ? code : make_samples(device, host_bytes);
}

void study_device_free(struct study_device *device)
{
    free(device->block);
    free(device->in);
    free(device->out);
    *device = (struct study_device){0};
}
