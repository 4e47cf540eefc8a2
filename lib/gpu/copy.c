/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel that copies memory. */
#include "gpu/copy.h"
#include "gpu/source.h"

#define PIECE 16

int penstock__gpu_copy_source(struct gpu_text *text, const penstock_context *context)
{
    static const char *const names[] = {"portability.h", "copy.cl", NULL};
    penstock__text_add(text, "#define CPU 0\n");
    return penstock__gpu_source_files(text, context, names);
}

int penstock__gpu_copy_arguments(struct gpu_copy_arguments *arguments, const struct penstock_device *device,
                                 const struct penstock_device_copy *copy)
{
    size_t furthest = (copy->from_at > copy->to_at ? copy->from_at : copy->to_at) + copy->bytes;
    if (copy->from_at % PIECE || copy->to_at % PIECE || copy->bytes % PIECE || !copy->bytes ||
        furthest / PIECE > (size_t)INT32_MAX - GPU_COPY_GROUP)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: %zu bytes from %zu to %zu cannot be copied in pieces of %d",
                               device->name, copy->bytes, copy->from_at, copy->to_at, PIECE);
    arguments->from_at = (uint32_t)(copy->from_at / PIECE);
    arguments->to_at = (uint32_t)(copy->to_at / PIECE);
    arguments->count = (uint32_t)(copy->bytes / PIECE);
    arguments->groups = (arguments->count + GPU_COPY_GROUP - 1) / GPU_COPY_GROUP;
    return PENSTOCK_OK;
}
