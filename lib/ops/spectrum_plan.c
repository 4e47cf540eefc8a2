/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The plan of a streaming spectrum, and another in its place. */
#include "ops/spectrum.h"

bool penstock__spectrum_averages_here(const penstock_spectrum_desc *desc)
{
    return desc->average > 1 &&
           (desc->flush_partial || desc->average > PENSTOCK__BATCH_BYTES / sizeof(penstock_cf32) / desc->n);
}

int penstock__spectrum_plan(const struct penstock__batched *batched, penstock_plan **plan)
{
    const struct spectrum *spectrum = const_spectrum_of(&batched->stream);
    const penstock_spectrum_desc *desc = &spectrum->desc;
    bool here = penstock__spectrum_averages_here(desc);
    float *window = NULL;
    int status;
    if (!desc->taps && desc->window) {
        if (!(window = penstock__alloc(desc->n * sizeof *window)))
            return PENSTOCK_ERR_MEMORY;
        if ((status = penstock_window_fill(window, desc->n, desc->window))) {
            penstock__free(window);
            return status;
        }
    }
    status = penstock_fft_plan(
        plan, spectrum->batched.stream.context,
        &PENSTOCK_FFT_DESC(.n = desc->n, .slots = PENSTOCK__BATCHED_SLOTS,
                           .domain = spectrum->format == PENSTOCK_F32 ? PENSTOCK_REAL : PENSTOCK_COMPLEX,
                           .load = {.format = spectrum->format,
                                    .window = desc->taps ? desc->taps : window,
                                    .spacing = desc->hop < desc->n ? desc->hop : desc->n},
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
