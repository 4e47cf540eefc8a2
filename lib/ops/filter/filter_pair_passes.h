/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernels of filter_pair.h, for files that define WIDTH and build them for one instruction set. */
#include "ops/filter/filter_pair.h"
#include "vector/vector_passes.h"

#include <string.h>

static void forward(const struct filter_pair *pair, float *data, const penstock_cf32 *in)
{
    transform_down(&pair->fft, (void *)data, &(struct samples){.in = in});
}

/* W vectors: the last forward pass, the product and the first reverse pass, the transform across being its own inverse
 * when it takes values in the order of bins. */
INLINE void middle(cvec *work, const cvec *data, const cvec *between, const cvec *spectrum)
{
    cvec x[WIDTH], y[WIDTH];
    EACH(q, WIDTH) x[q] = times(data[q], between[q].re, between[q].im);
    transform_across(x);
    EACH(q, WIDTH) y[vector_bin_at(q, WIDTH)] = exchanged(times(x[q], spectrum[q].re, spectrum[q].im));
    dft_width(y);
    EACH(q, WIDTH) x[vector_lane_of(vector_bin_at(q, WIDTH), WIDTH)] = exchanged(y[q]);
    transpose_all(x);
    EACH(q, WIDTH) work[q] = times_conjugate(x[q], between[q].re, between[q].im);
}

/* Where values go: those of a vector that reaches beyond an end one by one. */
struct out {
    penstock_cf32 *values;
    size_t first, end;
};

INLINE void store_values(const struct out *out, size_t at, cvec v)
{
    penstock_cf32 some[WIDTH];
    if (at >= out->first && at + WIDTH <= out->end) {
        store_samples(out->values + (at - out->first), v);
        return;
    }
    if (at + WIDTH <= out->first || at >= out->end)
        return;
    store_samples(some, v);
    size_t from = at < out->first ? out->first : at, to = at + WIDTH < out->end ? at + WIDTH : out->end;
    memcpy(out->values + (from - out->first), some + (from - at), (to - from) * sizeof *some);
}

/* One butterfly of decimation in time, reverse. */
INLINE void join(cvec *data, const struct out *out, size_t at, size_t span, const float *roots, unsigned radix)
{
    cvec x[8];
    EACH(q, radix)
    {
        x[q] = data[q * span];
        if (q && roots)
            x[q] = times_conjugate(x[q], SPLAT(roots[2 * q - 2]), SPLAT(roots[2 * q - 1]));
        x[q] = exchanged(x[q]);
    }
    dft(x, radix);
    EACH(q, radix)
    {
        if (out)
            store_values(out, (at + q * span) * WIDTH, exchanged(x[q]));
        else
            data[q * span] = exchanged(x[q]);
    }
}

INLINE void join_radix(cvec *data, size_t count, const struct out *out, const struct vector_pass *pass, unsigned radix)
{
    for (size_t block = 0; block < count; block += radix * pass->span)
        for (size_t j = 0; j < pass->span; j++)
            join(data + block + j, out, j, pass->span, roots_of(pass, j, radix), radix);
}

/* One pass over all blocks of `count` vectors; with `out` there is one block. */
INLINE void join_all(cvec *data, size_t count, const struct out *out, const struct vector_pass *pass)
{
    if (pass->radix == 8)
        join_radix(data, count, out, pass, 8);
    else
        join_radix(data, count, out, pass, 4);
}

/* What the way back starts from, and where it works. */
struct turn {
    cvec *work;
    const cvec *data, *between, *spectrum;
};

/* The middle and the passes before `end`, from the shortest span on, of `count` vectors from `at` on: all over what is
 * near, else block by block, as the way there. `pass`: the one that joins them all. */
static void ascend(const struct turn *turn, size_t at, size_t count, const struct vector_pass *pass,
                   const struct vector_pass *end)
{
    if (count > NEAR_VECTORS) {
        for (size_t leg = 0; leg < pass->radix; leg++)
            ascend(turn, at + leg * pass->span, pass->span, pass + 1, end);
        join_all(turn->work + at, count, NULL, pass);
        return;
    }
    for (size_t i = at; i < at + count; i += WIDTH)
        middle(turn->work + i, turn->data + i, turn->between + i, turn->spectrum + i);
    while (end-- > pass)
        join_all(turn->work + at, count, NULL, end);
}

static void reverse(const struct filter_pair *pair, float *work, const float *data, const float *spectrum,
                    penstock_cf32 *values, size_t first, size_t count)
{
    const struct turn turn = {(void *)work, (const void *)data, (const void *)pair->fft.middle, (const void *)spectrum};
    const struct vector_pass *pass = pair->fft.passes, *end = pass + pair->fft.pass_count;
    const struct out out = {.values = values, .first = first, .end = first + count};
    if (pair->fft.vectors > NEAR_VECTORS)
        for (size_t leg = 0; leg < pass->radix; leg++)
            ascend(&turn, leg * pass->span, pass->span, pass + 1, end);
    else
        ascend(&turn, 0, pair->fft.vectors, pass + 1, end);
    join_all(turn.work, pair->fft.vectors, &out, pass);
}
