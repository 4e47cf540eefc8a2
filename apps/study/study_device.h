/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a study of transforms on GPUs, with samples for it. */
#ifndef PENSTOCK_APPS_STUDY_DEVICE_H
#define PENSTOCK_APPS_STUDY_DEVICE_H

#include <penstock/penstock.h>

#include <stdbool.h>

enum { STUDY_BLOCK_BYTES = 1 << 20 };

struct study_device {
    const char *name; /* lives as long as the context */
    char product[128];
    size_t row;     /* of penstock_device_get() */
    void *block;    /* STUDY_BLOCK_BYTES of random cf32 samples */
    bool on_device; /* transforms may have their samples in memory of its own; elsewhere: */
    void *in, *out; /* samples as in `block`, and as many bytes for values */
};

/* `wanted`: as of penstock_device_find(), or NULL for opencl. `host_bytes`: of `in` and `out`, a multiple of
 * STUDY_BLOCK_BYTES. Returns an exit code; study_device_free() after either. */
int study_device_find(struct study_device *device, penstock_context *context, const char *wanted, size_t host_bytes);
void study_device_free(struct study_device *device);

#endif
