/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What an OFDM demodulator is made from, while a device is waited for. */
#include "ops/ofdm/ofdm_demodulator.h"

#include <string.h>

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
