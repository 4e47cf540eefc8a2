/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Structs of callers that were built against another version of the header. */
#include "core/base/description.h"

#include "backends/backend.h"

#include <string.h>

/* No struct of ours comes near this: a larger size is a variable that was never set. */
#define SIZE_LIMIT 4096

static int caller_size(size_t *size, const void *object, const char *type)
{
    if (!object)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s is NULL", type);
    memcpy(size, object, sizeof *size);
    if (*size < sizeof *size || *size > SIZE_LIMIT || *size % sizeof *size) /* no field is cut in two */
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s has size %zu: make it with its macro, which sets the size",
                               type, *size);
    return PENSTOCK_OK;
}

int penstock__description_read(void *to, size_t bytes, const void *from, const char *type)
{
    const unsigned char *theirs = from;
    size_t size = 0;
    int status = caller_size(&size, from, type);
    if (status)
        return status;
    for (size_t i = bytes; i < size; i++)
        if (theirs[i])
            return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                   "%s has %zu bytes, and sets a field that this library (%zu bytes) does not know",
                                   type, size, bytes);
    memset(to, 0, bytes);
    memcpy(to, from, size < bytes ? size : bytes);
    memcpy(to, &bytes, sizeof bytes);
    return PENSTOCK_OK;
}

int penstock__description_write(void *to, const void *from, size_t bytes, const char *type)
{
    size_t size = 0, copied;
    int status = caller_size(&size, to, type);
    if (status)
        return status;
    copied = size < bytes ? size : bytes;
    memcpy(to, from, copied);
    memset((unsigned char *)to + copied, 0, size - copied);
    memcpy(to, &size, sizeof size);
    return PENSTOCK_OK;
}
