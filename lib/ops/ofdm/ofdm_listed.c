/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Symbols of many frames, listed for a queue of the device: receivers that decode there. */
#include "ops/ofdm/ofdm.h"
#include "ops/ofdm/ofdm_demodulator.h"

struct penstock__executor *penstock__ofdm_listed(penstock_ofdm *ofdm)
{
    const struct ofdm_fused *fused = ofdm->fused;
    return fused && !fused->able ? fused->kernels[OFDM_COMPLETE].executor : NULL;
}

bool penstock__ofdm_list_frame(const penstock_ofdm *ofdm, penstock_cf32 *row, const penstock_ofdm_frame *frame)
{
    double highest = 0;
    return penstock__ofdm_coefficients_fill(row, &ofdm->fused->kernels[OFDM_COMPLETE].problem.ofdm, &ofdm->grid, frame,
                                            &highest);
}

void penstock__ofdm_list_symbols(const penstock_ofdm *ofdm, struct penstock_ofdm_descriptor *descriptors,
                                 const penstock_ofdm_symbol *symbols, size_t count, const penstock_ofdm_frame *frames)
{
    const bool given = ofdm->grid.tracking == PENSTOCK_TRACK_GIVEN;
    for (size_t i = 0; i < count; i++) {
        const uint64_t window = symbols[i].start + ofdm->skip;
        descriptors[i] = penstock__ofdm_descriptor(&symbols[i], frames, window, ofdm->grid.n, given);
        descriptors[i].start = (uint32_t)window;
    }
}
