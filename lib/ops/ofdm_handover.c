/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the CPU to the device that is ready by now, between two batches of OFDM symbols. */
#include "core/cpu_while_compiling.h"
#include "ops/ofdm.h"
#include "ops/ofdm_demodulator.h"

/* All but the counts and the clock goes with a device. */
static void take_over(penstock_ofdm *ofdm, penstock_ofdm *other)
{
    penstock_ofdm before = *ofdm;
    *ofdm = *other;
    *other = before;
    ofdm->order = before.order;
    ofdm->cpu_while_compiling = before.cpu_while_compiling;
    other->order = NULL;
    penstock__ofdm_set_event_times(ofdm, before.fused->event_times);
    penstock__log(ofdm->context, PENSTOCK_LOG_INFO, "%s is ready and goes on", penstock_ofdm_device(ofdm));
}

void penstock__ofdm_collect(penstock_ofdm *ofdm)
{
    void *made;
    if (!ofdm->build)
        return;
    if (penstock__async_build_collect(&ofdm->build, ofdm->context, &made)) {
        take_over(ofdm, made);
        penstock_ofdm_free(made);
    }
    if (!ofdm->build) {
        penstock__ofdm_order_free(ofdm->order);
        ofdm->order = NULL;
    }
}
