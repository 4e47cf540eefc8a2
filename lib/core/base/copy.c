/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Copies and conversions of samples that all threads of a context share. One thread copies at a fraction of what the
 * memory gives. */
#include "core/base/context.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define CHUNK_BYTES ((size_t)64 << 10)  /* what is worth handing to another thread that is awake */
#define WAKE_BYTES  ((size_t)256 << 10) /* and what to one that sleeps; a stream of copies has all awake soon */
#define PAST_CHUNK  ((size_t)16 << 10)  /* as CHUNK_BYTES, past the caches: fast enough that the last ones count */
#define PAST_BYTES  ((size_t)128 << 10) /* less than this a device reads from the caches sooner */
#define LINE        ((size_t)64)

/* ---------------------------------------------------------------- copies ---------------------- */

struct copy {
    char *to;
    const char *from;
    size_t bytes, chunk;
    void (*copy)(char *to, const char *from, size_t bytes);
};

static void copy_plainly(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

/* Lines of which all is written are not read from memory before that, as by ordinary stores. */
static void copy_past(char *to, const char *from, size_t bytes)
{
#if defined(__SSE2__)
    const size_t before = (LINE - (uintptr_t)to % LINE) % LINE, head = before < bytes ? before : bytes;
    memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= LINE; bytes -= LINE, to += LINE, from += LINE) {
        const __m128i *in = (const void *)from;
        __m128i *out = (void *)to;
        const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                      d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    _mm_sfence();
#endif
    memcpy(to, from, bytes);
}

static void copy_chunk(void *argument, size_t i, unsigned worker)
{
    const struct copy *copy = argument;
    size_t at = i * copy->chunk, left = copy->bytes - at;
    (void)worker;
    copy->copy(copy->to + at, copy->from + at, left < copy->chunk ? left : copy->chunk);
}

/* Whole lines, so that no two threads write to one, as far as the memory begins with a line. */
static void share(penstock_context *context, struct copy *copy)
{
    copy->chunk = penstock__round_up(penstock__fair_share(context, copy->bytes, copy->chunk, copy->chunk), LINE);
    penstock__parallel_waking(context, (copy->bytes - 1) / copy->chunk + 1, (copy->bytes - 1) / WAKE_BYTES, copy_chunk,
                              copy);
}

void penstock__copy_past_caches(penstock_context *context, void *to, const void *from, size_t bytes)
{
    struct copy copy = {to, from, bytes, PAST_CHUNK, copy_past};
    if (bytes < PAST_BYTES)
        copy = (struct copy){to, from, bytes, CHUNK_BYTES, copy_plainly};
    if (bytes)
        share(context, &copy);
}

void penstock__copy(penstock_context *context, void *to, const void *from, size_t bytes)
{
    if ((bytes >= PAST_BYTES && penstock__host_is_read_by_device(context, to)) ||
        (bytes >= PENSTOCK__GIVEN_BYTES && penstock__host_is_read_by_device(context, from)))
        penstock__copy_past_caches(context, to, from, bytes);
    else if (bytes)
        share(context, &(struct copy){to, from, bytes, CHUNK_BYTES, copy_plainly});
}

/* ---------------------------------------------------------------- conversions ----------------- */

struct conversion {
    penstock_cf32 *to;
    const void *from;
    penstock_format format;
    size_t first, count, total, chunk;
};

#define CHUNK_SAMPLES (CHUNK_BYTES / sizeof(penstock_cf32))

static void convert_chunk(void *argument, size_t i, unsigned worker)
{
    const struct conversion *c = argument;
    size_t at = i * c->chunk, left = c->count - at;
    (void)worker;
    penstock__convert(c->to + at, c->from, c->format, c->first + at, left < c->chunk ? left : c->chunk, c->total);
}

void penstock__convert_all(penstock_context *context, penstock_cf32 *to, const void *from, penstock_format format,
                           size_t first, size_t count, size_t total)
{
    struct conversion conversion = {to, from, format, first, count, total, CHUNK_SAMPLES};
    if (format == PENSTOCK_CF32) {
        penstock__copy(context, to, (const penstock_cf32 *)from + first, count * sizeof *to);
        return;
    }
    if (!count)
        return;
    conversion.chunk =
        penstock__round_up(penstock__fair_share(context, count, CHUNK_SAMPLES, CHUNK_SAMPLES), LINE / sizeof *to);
    penstock__parallel_waking(context, (count - 1) / conversion.chunk + 1, (count - 1) * sizeof *to / WAKE_BYTES,
                              convert_chunk, &conversion);
}
