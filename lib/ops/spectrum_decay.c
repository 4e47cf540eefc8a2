/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The decaying mean of a streaming spectrum: whatever way a vector of powers came, it goes through here last. */
#include "ops/spectrum.h"
#include "ops/spectrum_kernels.h"
#include "vector/instructions.h"

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

void penstock__spectrum_decay(struct spectrum *spectrum, float *vectors, size_t count)
{
    const struct spectrum_kernels *kernels = spectrum->kernels;
    const size_t length = spectrum->length;
    if (!spectrum->mean)
        return;
    for (size_t v = 0; v < count; v++, vectors += length) {
        if (spectrum->desc.decay < 1)
            kernels->decay(spectrum->mean, vectors, length, spectrum->desc.decay);
        else /* what is no number goes */
            for (size_t i = 0; i < length; i++)
                spectrum->mean[i] = (double)vectors[i];
        if (spectrum->desc.output == PENSTOCK_OUTPUT_DECIBEL)
            kernels->decibel(vectors, length);
    }
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
