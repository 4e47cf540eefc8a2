/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* liquid-dsp's msresamp, which is made for any ratio: half-band stages, then an arbitrary one. It takes a block at a
 * time, so that what is between its stages stays in the cache. */
#include "liquid_resampler.h"
#include "shared/command.h"

#include <complex.h>
#include <liquid/liquid.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK = 1024 };

struct resampler_state {
    msresamp_crcf resampler;
    const float complex *in;
    size_t samples;
    float complex *out; /* of a block */
};

int liquid_resampler_run(void *state)
{
    struct resampler_state *s = state;
    unsigned made;
    for (size_t i = 0; i + BLOCK <= s->samples; i += BLOCK)
        msresamp_crcf_execute(s->resampler, (float complex *)(uintptr_t)(s->in + i), BLOCK, s->out, &made);
    return EXIT_DONE;
}

void liquid_resampler_free(void *state)
{
    struct resampler_state *s = state;
    if (s->resampler)
        msresamp_crcf_destroy(s->resampler);
    free(s->out);
    free(s);
}

void *liquid_resampler_new(double ratio, double attenuation_db, const void *in, size_t samples)
{
    struct resampler_state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct resampler_state){.in = in, .samples = samples};
    s->resampler = msresamp_crcf_create((float)ratio, (float)attenuation_db);
    s->out = malloc((size_t)ceil(2 * BLOCK * (ratio + 1)) * sizeof *s->out);
    if (s->resampler && s->out)
        return s;
    liquid_resampler_free(s);
    return NULL;
}
