/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a stream had no room for of a planar push, and the checks that pushes share. */
#include "core/stream/rest.h"

int penstock__rest_reserve(struct penstock__rest *rest, size_t count)
{
    penstock_cf32 *samples;
    if (count <= rest->room)
        return PENSTOCK_OK;
    if (count > PTRDIFF_MAX / sizeof *samples || !(samples = penstock__alloc(count * sizeof *samples)))
        return penstock__error(PENSTOCK_ERR_MEMORY, "no memory to keep a planar push of %zu samples", count);
    penstock__free(rest->samples);
    *rest = (struct penstock__rest){.samples = samples, .room = count};
    return PENSTOCK_OK;
}

void penstock__rest_keep(struct penstock__rest *rest, const void *samples, size_t count, size_t *taken)
{
    rest->first = 0;
    rest->end = count - *taken;
    penstock__convert(rest->samples, samples, PENSTOCK_PLANAR, *taken, rest->end, count);
    *taken = count;
}

void penstock__rest_free(struct penstock__rest *rest)
{
    penstock__free(rest->samples);
    *rest = (struct penstock__rest){0};
}

int penstock__check_count(const char *call, size_t count, size_t item_bytes)
{
    if (item_bytes && count > PTRDIFF_MAX / item_bytes)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: no array has %zu items of %zu bytes", call, count,
                               item_bytes);
    return PENSTOCK_OK;
}
