/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Copies and conversions of samples that all threads of a context share. One thread copies at a fraction of what the
 * memory gives. */
#include "backends/backend.h"

#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)  /* what is worth handing to another thread that is awake */
#define WAKE_BYTES  ((size_t)256 << 10) /* and what to one that sleeps; a stream of copies has all awake soon */

struct copy {
    char *to;
    const char *from;
    size_t bytes;
};

static void copy_chunk(void *argument, size_t i, unsigned worker)
{
    const struct copy *copy = argument;
    size_t at = i * CHUNK_BYTES, left = copy->bytes - at;
    (void)worker;
    memcpy(copy->to + at, copy->from + at, left < CHUNK_BYTES ? left : CHUNK_BYTES);
}

void penstock__copy(penstock_context *context, void *to, const void *from, size_t bytes)
{
    struct copy copy = {to, from, bytes};
    if (bytes)
        penstock__parallel_waking(context, (bytes - 1) / CHUNK_BYTES + 1, (bytes - 1) / WAKE_BYTES, copy_chunk, &copy);
}

struct conversion {
    penstock_cf32 *to;
    const void *from;
    penstock_format format;
    size_t first, count, total;
};

#define CHUNK_SAMPLES (CHUNK_BYTES / sizeof(penstock_cf32))

static void convert_chunk(void *argument, size_t i, unsigned worker)
{
    const struct conversion *c = argument;
    size_t at = i * CHUNK_SAMPLES, left = c->count - at;
    (void)worker;
    penstock__convert(c->to + at, c->from, c->format, c->first + at, left < CHUNK_SAMPLES ? left : CHUNK_SAMPLES,
                      c->total);
}

void penstock__convert_all(penstock_context *context, penstock_cf32 *to, const void *from, penstock_format format,
                           size_t first, size_t count, size_t total)
{
    struct conversion conversion = {to, from, format, first, count, total};
    if (count)
        penstock__parallel_waking(context, (count - 1) / CHUNK_SAMPLES + 1, (count - 1) * sizeof *to / WAKE_BYTES,
                                  convert_chunk, &conversion);
}
