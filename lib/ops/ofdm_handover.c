/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* From the CPU to the device that is ready by now, between two batches of OFDM symbols. */
#include "core/cpu_while_compiling.h"
#include "ops/ofdm_demodulator.h"

#include <string.h>

/* ---------------------------------------------------------------- orders ---------------------- */

static void *copied(const void *from, size_t count, size_t bytes)
{
    void *to = penstock__alloc((count + !count) * bytes);
    if (to && count)
        memcpy(to, from, count * bytes);
    return to;
}

int penstock__ofdm_order_new(struct ofdm_order **order, penstock_context *context, const penstock_ofdm_desc *desc,
                             enum ofdm_way way)
{
    struct ofdm_order *made = penstock__calloc(1, sizeof *made);
    *order = NULL;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->context = context;
    made->desc = *desc;
    made->way = way;
    made->desc.carriers = made->carriers = copied(desc->carriers, desc->carrier_count, sizeof *desc->carriers);
    made->desc.pilots = made->pilots = copied(desc->pilots, desc->pilot_count, sizeof *desc->pilots);
    made->desc.pilot_values = made->pilot_values =
        copied(desc->pilot_values, desc->pilot_rows * desc->pilot_count, sizeof *desc->pilot_values);
    if (!made->carriers || !made->pilots || !made->pilot_values) {
        penstock__ofdm_order_free(made);
        return PENSTOCK_ERR_MEMORY;
    }
    *order = made;
    return PENSTOCK_OK;
}

void penstock__ofdm_order_free(struct ofdm_order *order)
{
    if (!order)
        return;
    penstock__free(order->carriers);
    penstock__free(order->pilots);
    penstock__free(order->pilot_values);
    penstock__free(order);
}

/* ---------------------------------------------------------------- handover -------------------- */

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
