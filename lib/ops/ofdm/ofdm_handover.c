/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the CPU to the device that is ready by now, between two batches of OFDM symbols. */
#include "ops/ofdm/ofdm.h"
#include "ops/ofdm/ofdm_demodulator.h"

/* All but the counts and the clock goes with a device. */
static void take_over(penstock_ofdm *ofdm, penstock_ofdm *other)
{
    penstock_ofdm before = *ofdm;
    *ofdm = *other;
    *other = before;
    ofdm->order = before.order;
    ofdm->standby = before.standby;
    ofdm->cpu_while_compiling = before.cpu_while_compiling;
    other->order = NULL;
    penstock__ofdm_set_event_times(ofdm, before.fused->event_times);
    penstock__went_over(&ofdm->standby, ofdm->context, penstock_ofdm_device(ofdm));
}

void penstock__ofdm_collect(penstock_ofdm *ofdm)
{
    void *made;
    if (!ofdm->build && !ofdm->order)
        return;
    if (penstock__async_build_collect(&ofdm->build, &ofdm->standby, ofdm->context, &made)) {
        take_over(ofdm, made);
        penstock__ofdm_free(made);
    }
    if (!ofdm->build && !penstock__standby_waits(&ofdm->standby)) {
        penstock__ofdm_order_free(ofdm->order);
        ofdm->order = NULL;
    }
}
