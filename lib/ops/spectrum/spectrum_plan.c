/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The plan of a streaming spectrum, and another in its place. */
#include "ops/spectrum/spectrum.h"

#include <string.h>

bool penstock__spectrum_averages_here(const penstock_spectrum_desc *desc)
{
    return desc->average > 1 && (desc->flush_partial || desc->average > PENSTOCK__BATCH_BYTES / sizeof(penstock_cf32) /
                                                                            (desc->n * desc->channels));
}

/* The window's factors, each for all channels, or NULL where there are none. */
static int make_window(float **window, const penstock_spectrum_desc *desc)
{
    const size_t n = desc->n, channels = desc->channels;
    *window = NULL;
    if (!desc->taps && !desc->window)
        return PENSTOCK_OK;
    if (!(*window = penstock__alloc(n * channels * sizeof **window)))
        return PENSTOCK_ERR_MEMORY;
    if (desc->taps)
        memcpy(*window, desc->taps, n * sizeof **window);
    int status = desc->taps ? PENSTOCK_OK : penstock_window_fill(*window, n, desc->window);
    if (status) {
        penstock__free(*window);
        return status;
    }
    for (size_t i = n; channels > 1 && i-- > 0;) /* from the end on, as they are where they came from */
        for (size_t c = channels; c-- > 0;)
            (*window)[i * channels + c] = (*window)[i];
    return PENSTOCK_OK;
}

int penstock__spectrum_plan(const struct penstock__batched *batched, penstock_plan **plan)
{
    const struct spectrum *spectrum = const_spectrum_of(&batched->stream);
    const penstock_spectrum_desc *desc = &spectrum->desc;
    bool here = penstock__spectrum_averages_here(desc);
    float *window;
    int status = make_window(&window, desc);
    if (status)
        return status;
    status = penstock_fft_plan(
        plan, spectrum->batched.stream.context,
        &PENSTOCK_FFT_DESC(.n = desc->n * desc->channels, .columns = desc->channels, .slots = PENSTOCK__BATCHED_SLOTS,
                           .domain = spectrum->format == PENSTOCK_F32 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = spectrum->format,
                                    .window = window,
                                    .spacing = desc->channels * (desc->hop < desc->n ? desc->hop : desc->n)},
                           .store = {.output = here ? PENSTOCK_OUTPUT_POWER : spectrum->output,
                                     .centered = desc->centered,
                                     .scale = desc->scale,
                                     .average = here ? 1 : desc->average}),
        spectrum->batched.device);
    penstock__free(window);
    return status;
}

void penstock__spectrum_change_plan(struct spectrum *spectrum, penstock_plan *next)
{
    spectrum->next = NULL;
    penstock__batched_change(&spectrum->batched, next);
}
