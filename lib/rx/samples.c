/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The ring of samples: what has come and is still needed, as floats. */
#include "rx/condition.h"
#include "rx/receiver.h"

#include <stdatomic.h>
#include <string.h>

#define CHUNK 4096 /* samples that are worth another thread's attention */

int penstock__rx_samples_init(struct penstock__rx *rx)
{
    const struct penstock__rx_standard *standard = rx->standard;
    rx->capacity = standard->longest + standard->kept + standard->padding + (size_t)((rx->most_hops + 1) * rx->hop);
    rx->samples = penstock__calloc(rx->capacity + standard->after, sizeof *rx->samples);
    return rx->samples ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__rx_samples_start(struct penstock__rx *rx)
{
    memset(rx->samples, 0, rx->standard->kept * sizeof *rx->samples);
    rx->base = -(int64_t)rx->standard->kept;
    rx->end = rx->total = 0;
}

/* The first sample that is still needed. */
static int64_t oldest(const struct penstock__rx *rx)
{
    const struct penstock__rx_standard *standard = rx->standard;
    int64_t position = rx->search.next * (int64_t)standard->group - (int64_t)standard->kept;
    if (rx->candidate_count && rx->candidates[0].position - (int64_t)standard->before < position)
        position = rx->candidates[0].position - (int64_t)standard->before;
    for (const struct penstock__rx_frame *frame = rx->first; frame; frame = frame->next)
        if (frame->state == PENSTOCK__RX_WAITING && frame->reference < position)
            position = frame->reference;
    return position > rx->base ? position : rx->base;
}

static penstock_cf32 *make_room(struct penstock__rx *rx, size_t count)
{
    if ((size_t)(rx->end - rx->base) + count > rx->capacity) {
        int64_t from = oldest(rx);
        memmove(rx->samples, rx->samples + (from - rx->base), (size_t)(rx->end - from) * sizeof *rx->samples);
        rx->base = from;
    }
    return rx->samples + (rx->end - rx->base);
}

struct conversion {
    penstock_cf32 *out;
    const char *in;
    penstock_format format;
    size_t count;
    atomic_uint_fast64_t clipped, not_finite;
};

static void convert(void *argument, size_t chunk, unsigned worker)
{
    struct conversion *c = argument;
    size_t at = chunk * CHUNK, left = c->count - at;
    uint64_t clipped = 0, not_finite = 0;
    (void)worker;
    penstock__condition(c->out + at, c->in + at * penstock_format_bytes(c->format), c->format,
                        left < CHUNK ? left : CHUNK, &clipped, &not_finite);
    if (clipped)
        atomic_fetch_add(&c->clipped, clipped);
    if (not_finite)
        atomic_fetch_add(&c->not_finite, not_finite);
}

void penstock__rx_append(struct penstock__rx *rx, const void *items, size_t count)
{
    struct conversion conversion = {.out = make_room(rx, count), .in = items, .format = rx->format, .count = count};
    if (items) {
        penstock__parallel(rx->stream.context, (count + CHUNK - 1) / CHUNK, convert, &conversion);
        rx->counters.clipped += atomic_load(&conversion.clipped);
        rx->counters.not_finite += atomic_load(&conversion.not_finite);
    } else {
        memset(conversion.out, 0, count * sizeof *conversion.out);
    }
    rx->end += (int64_t)count;
    if (items)
        rx->total = rx->end;
}

void penstock__rx_read(const struct penstock__rx *rx, const struct penstock__rx_frame *frame, int64_t at, size_t count,
                       penstock_cf32 *out)
{
    const penstock_cf32 *in = rx->samples + (frame->reference + at - rx->base), mean = frame->mean;
    const int64_t there = rx->end - frame->reference - at;
    const size_t good = there <= 0 ? 0 : (size_t)there < count ? (size_t)there : count;
    const float scale = frame->scale;
    for (size_t i = 0; i < good; i++)
        out[i] = (penstock_cf32){(in[i].re - mean.re) * scale, (in[i].im - mean.im) * scale};
    memset(out + good, 0, (count - good) * sizeof *out);
}
