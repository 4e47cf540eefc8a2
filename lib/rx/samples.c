/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The ring of samples: what has come and is still needed, as floats. */
#include "rx/receiver.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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
    for (const struct penstock__rx_frame *frame = rx->waiting; frame; frame = frame->next)
        if (frame->state == PENSTOCK__RX_WAITING && !frame->kept && frame->reference < position)
            position = frame->reference;
    return position > rx->base ? position : rx->base;
}

/* Samples that were not searched are all kept. Where there are none, little is to be moved, and room is made for all
 * that may gather. */
static penstock_cf32 *make_room(struct penstock__rx *rx, size_t count)
{
    const size_t most = rx->end == rx->worked ? (size_t)(rx->most_hops * rx->hop) : 0;
    if ((size_t)(rx->end - rx->base) + (count > most ? count : most) > rx->capacity) {
        int64_t from = oldest(rx);
        memmove(rx->samples, rx->samples + (from - rx->base), (size_t)(rx->end - from) * sizeof *rx->samples);
        rx->base = from;
    }
    return rx->samples + (rx->end - rx->base);
}

void penstock__rx_append(struct penstock__rx *rx, const void *items, size_t count)
{
    penstock_cf32 *to = make_room(rx, count);
    if (items) {
        penstock__rx_convert(rx, items, count);
        rx->total = rx->end + (int64_t)count;
    } else {
        memset(to, 0, count * sizeof *to);
    }
    rx->end += (int64_t)count;
}

struct penstock__rx_view penstock__rx_view(const struct penstock__rx *rx, const struct penstock__rx_frame *frame)
{
    if (frame->kept)
        return (struct penstock__rx_view){.samples = frame->kept, .scale = 1};
    return (struct penstock__rx_view){
        .samples = rx->samples + (frame->reference - rx->base), .mean = frame->mean, .scale = frame->scale};
}

/* Samples as a frame looks at them. */
struct look {
    penstock_cf32 mean;
    float scale;
};

static void scale(penstock_cf32 *out, const penstock_cf32 *in, size_t count, struct look look)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (penstock_cf32){(in[i].re - look.mean.re) * look.scale, (in[i].im - look.mean.im) * look.scale};
}

/* Past the processor's caches, which need not read before that what is there. */
static void scale_past(penstock_cf32 *out, const penstock_cf32 *in, size_t count, struct look look)
{
#if defined(__SSE2__)
    const __m128 mean = _mm_setr_ps(look.mean.re, look.mean.im, look.mean.re, look.mean.im),
                 factor = _mm_set1_ps(look.scale);
    const size_t before = (uintptr_t)out % sizeof mean != 0 && count;
    scale(out, in, before, look);
    for (out += before, in += before, count -= before; count >= 2; out += 2, in += 2, count -= 2)
        _mm_stream_ps(&out->re, _mm_mul_ps(_mm_sub_ps(_mm_loadu_ps(&in->re), mean), factor));
    _mm_sfence();
#endif
    scale(out, in, count, look);
}

void penstock__rx_read(const struct penstock__rx *rx, const struct penstock__rx_frame *frame, int64_t at, size_t count,
                       bool past_caches, penstock_cf32 *out)
{
    const struct penstock__rx_view view = penstock__rx_view(rx, frame);
    const int64_t there = rx->end - frame->reference - at;
    const size_t good = there <= 0 ? 0 : frame->kept || (size_t)there > count ? count : (size_t)there;
    (past_caches ? scale_past : scale)(out, view.samples + at, good, (struct look){view.mean, view.scale});
    memset(out + good, 0, (count - good) * sizeof *out);
}
