/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The decaying mean of a streaming spectrum: whatever way a vector of powers came, it goes through here last. */
#include "ops/spectrum/spectrum.h"
#include "ops/spectrum/spectrum_kernels.h"
#include "vector/instructions.h"

#define LEAST_BINS    ((size_t)64)      /* of one vector, that a thread takes at a time */
#define LINE_BINS     ((size_t)16)      /* floats of a cache's line */
#define WAKING_VALUES ((size_t)1 << 15) /* for each thread that is woken: some 40 us of decibels */

const struct spectrum_kernels *penstock__spectrum_kernels(void)
{
    const struct spectrum_kernels *avx2 = AVX2_BUILD(&penstock__spectrum_kernels_avx2);
    return avx2 ? avx2 : &penstock__spectrum_kernels_plain;
}

int penstock__spectrum_decay_check(double decay)
{
    if (decay > 0 && decay <= 1)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: decay is %g, not above 0 up to 1", decay);
}

/* Vectors of which threads share the bins: those of a bin come one after the other. */
struct vectors {
    const struct spectrum *spectrum;
    float *first;
    size_t count, item; /* in all, and bins that a thread takes at a time */
};

static void decay_bins(void *argument, size_t i, unsigned worker)
{
    const struct vectors *vectors = argument;
    const struct spectrum *spectrum = vectors->spectrum;
    const size_t bin = i * vectors->item, rest = spectrum->length - bin,
                 n = rest < vectors->item ? rest : vectors->item;
    float *powers = vectors->first + bin;
    double *mean = spectrum->mean + bin;
    (void)worker;
    for (size_t v = 0; v < vectors->count; v++, powers += spectrum->length) {
        if (spectrum->desc.decay < 1)
            spectrum->kernels->decay(mean, powers, n, spectrum->desc.decay);
        else /* what is no number goes */
            for (size_t k = 0; k < n; k++)
                mean[k] = (double)powers[k];
        if (spectrum->desc.output == PENSTOCK_OUTPUT_DECIBEL)
            spectrum->kernels->decibel(powers, n);
    }
}

void penstock__spectrum_decay(struct spectrum *spectrum, float *vectors, size_t count)
{
    penstock_context *context = spectrum->batched.stream.context;
    const size_t length = spectrum->length, share = length / penstock__threads(context) / 2;
    struct vectors all = {spectrum, vectors, count,
                          share > LEAST_BINS ? penstock__round_up(share, LINE_BINS) : LEAST_BINS};
    if (spectrum->mean && count)
        penstock__parallel_waking(context, (length + all.item - 1) / all.item, count * length / WAKING_VALUES,
                                  decay_bins, &all);
}

int penstock_spectrum_set_decay(penstock_stream *stream, double decay)
{
    int status = penstock__stream_is(stream, &penstock__spectrum_kind.calls, "penstock_spectrum_set_decay");
    if (status || (status = penstock__spectrum_decay_check(decay)))
        return status;
    if (!spectrum_of(stream)->mean)
        return penstock__error(PENSTOCK_ERR_STATE, "spectrum: it was opened without decay");
    spectrum_of(stream)->desc.decay = decay;
    return PENSTOCK_OK;
}
