/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's filter banks: firpfbch at critical sampling, firpfbch2 at twice the rate. A stream is the work of one
 * thread. */
#include "liquid_channelizer.h"
#include "shared/command.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <stdint.h>
#include <stdlib.h>

struct bank_state {
    size_t channels, hop, samples;
    const float complex *in;
    float complex *out;
    firpfbch_crcf critical; /* one of the two */
    firpfbch2_crcf twice;
};

/* Whole frames only: the last samples are the peer's gain. */
int liquid_channelizer_run(void *state)
{
    struct bank_state *s = state;
    for (size_t i = 0, m = 0; i + s->hop <= s->samples; i += s->hop, m++) {
        float complex *from = (float complex *)(uintptr_t)(s->in + i), *to = s->out + m * s->channels;
        if (s->critical)
            firpfbch_crcf_analyzer_execute(s->critical, from, to);
        else
            firpfbch2_crcf_execute(s->twice, from, to);
    }
    return EXIT_DONE;
}

void liquid_channelizer_free(void *state)
{
    struct bank_state *s = state;
    if (s->critical)
        firpfbch_crcf_destroy(s->critical);
    if (s->twice)
        firpfbch2_crcf_destroy(s->twice);
    free(s);
}

void *liquid_channelizer_new(float *taps, size_t depth, size_t channels, size_t hop, const void *in, void *out,
                             size_t samples)
{
    struct bank_state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct bank_state){.channels = channels, .hop = hop, .samples = samples, .in = in, .out = out};
    if (hop == channels)
        s->critical = firpfbch_crcf_create(LIQUID_ANALYZER, (unsigned)channels, (unsigned)depth, taps);
    else if (2 * hop == channels && depth % 2 == 0)
        s->twice = firpfbch2_crcf_create(LIQUID_ANALYZER, (unsigned)channels, (unsigned)(depth / 2), taps);
    if (s->critical || s->twice)
        return s;
    free(s);
    return NULL;
}
