/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The transforms of natural_order.h, for files that define WIDTH and build them for one instruction set. */
#include "backends/cpu/natural_order.h"
#include "vector/vector_passes.h"

/* What goes in, and what is made of it: all constants or NULL wherever functions are inlined. */
struct ends {
    struct samples samples; /* exchanged in a reverse transform, and bins then, too */
    penstock_cf32 *out;
    const penstock_cf32 *next; /* samples of the transform that follows, or NULL */
};

/* Up to so many points a transform's samples are in so many short pieces that the processor does not see them coming
 * itself; longer transforms lose 5 to 17 % if samples are fetched for them. */
#define FETCHED_LENGTH 2048

/* W samples that will be wanted soon, and may have to come from another core. */
INLINE void fetch(const penstock_cf32 *samples)
{
    EACH(part, WIDTH / 8)
    _mm_prefetch((const char *)(samples + 8 * part), _MM_HINT_T1);
}

/* The transforms across the W vectors with the bins from `bin` on. They are transposed in such an order that storing,
 * which mixes lanes as loading does, leaves bins in a row. `next` is fetched, or NULL; `coarse` is the
 * common factor of the W vectors, or NULL. */
INLINE void across(const struct natural_order_fft *natural_order, const cvec *data, const struct ends *ends,
                   const penstock_cf32 *next, const cvec *coarse, size_t bin)
{
    const cvec *between = (const cvec *)(const void *)natural_order->fft.middle + (coarse ? 0 : bin);
    const uint32_t *places = natural_order->places + bin;
    cvec x[WIDTH];
    EACH(q, WIDTH)
    {
        size_t which = vector_sample_in(q, WIDTH);
        cvec factors = coarse ? times(between[which], coarse->re, coarse->im) : between[which];
        x[q] = times(data[places[which]], factors.re, factors.im);
    }
    transform_across(x);
    EACH(q, WIDTH)
    {
        if (next)
            fetch(next + bin * WIDTH + q * WIDTH);
        size_t at = vector_bin_at(q, WIDTH) * natural_order->fft.vectors + bin;
        store_samples(ends->out + at, ends->samples.exchanged ? exchanged(x[q]) : x[q]);
    }
}

INLINE void transform(const struct natural_order_fft *natural_order, const struct ends *ends, cvec *data)
{
    const penstock_cf32 *next = natural_order->fft.n <= FETCHED_LENGTH ? ends->next : NULL;
    const cvec *coarse = (const void *)natural_order->fft.coarse;
    transform_down(&natural_order->fft, data, &ends->samples);
    if (coarse)
        for (size_t bin = 0; bin < natural_order->fft.vectors; bin += WIDTH)
            across(natural_order, data, ends, next, coarse + bin / WIDTH, bin);
    else
        for (size_t bin = 0; bin < natural_order->fft.vectors; bin += WIDTH)
            across(natural_order, data, ends, next, NULL, bin);
}

static void forward(const struct natural_order_fft *natural_order, penstock_cf32 *out, const penstock_cf32 *in,
                    const penstock_cf32 *next, void *work)
{
    if (natural_order->window)
        transform(natural_order,
                  &(struct ends){.samples = {.in = in, .window = natural_order->window}, .out = out, .next = next},
                  work);
    else
        transform(natural_order, &(struct ends){.samples = {.in = in}, .out = out, .next = next}, work);
}

static void reverse(const struct natural_order_fft *natural_order, penstock_cf32 *out, const penstock_cf32 *in,
                    const penstock_cf32 *next, void *work)
{
    transform(natural_order, &(struct ends){.samples = {.in = in, .exchanged = true}, .out = out, .next = next}, work);
}
