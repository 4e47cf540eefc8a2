/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A demodulator on the device that is asked for, on the fastest, or on the CPU until that is ready. */
#include "core/base/description.h"
#include "core/device/devices.h"
#include "ops/ofdm/ofdm_check.h"
#include "ops/ofdm/ofdm_demodulator.h"

#include <stdio.h>

/* For "auto". Where transforms alone are wanted, those are what is timed. */
static int choose_for(char device[64], const struct ofdm_order *order)
{
    const struct penstock_problem transforms = penstock__ofdm_transforms(&order->desc);
    if (order->choose)
        return order->choose(device, order->context, &transforms);
    if (order->way == OFDM_WHERE_IT_PAYS)
        return penstock__ofdm_choose(device, order);
    snprintf(device, 64, "auto");
    return PENSTOCK_OK;
}

/* The maker's, of an ofdm_order. */
static int make_ofdm(void **made, void *owner, const char *device)
{
    const struct ofdm_order *order = owner;
    enum penstock_preference preference;
    penstock_ofdm *ofdm = NULL;
    const char *name;
    char chosen[64];
    int status = penstock__device_parse(&preference, &name, device);
    if (!status && preference == PENSTOCK_DEVICE_AUTO) {
        status = choose_for(chosen, order);
        device = chosen;
    }
    if (!status)
        status = penstock__ofdm_make(&ofdm, order, device);
    *made = ofdm;
    return status;
}

static void free_ofdm(void *ofdm)
{
    penstock__ofdm_free(ofdm);
}

static const char *device_of_ofdm(const void *ofdm)
{
    return penstock_ofdm_device(ofdm);
}

int penstock__ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                       const char *device, enum ofdm_way way, penstock__ofdm_chooser *choose)
{
    static const struct penstock__maker maker = {.make = make_ofdm, .free = free_ofdm, .device = device_of_ofdm};
    struct penstock__async_build *build = NULL;
    struct ofdm_order *order;
    penstock_ofdm_desc d;
    void *made;
    int status;
    if (!ofdm || !context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ofdm_new: ofdm or context is NULL");
    *ofdm = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_ofdm_desc")) ||
        (status = penstock__ofdm_check_desc(&d)) || (status = penstock__ofdm_order_new(&order, context, &d, way)))
        return status;
    order->choose = choose;
    status = penstock__make(&made, penstock__cpu_while_compiling(context, device) ? &build : NULL, &maker, order,
                            context, device);
    if (!build)
        penstock__ofdm_order_free(order);
    if (status)
        return status;
    *ofdm = made;
    (*ofdm)->build = build;
    (*ofdm)->order = build ? order : NULL;
    return PENSTOCK_OK;
}

int penstock_ofdm_new(penstock_ofdm **ofdm, penstock_context *context, const penstock_ofdm_desc *desc,
                      const char *device)
{
    return penstock__ofdm_new(ofdm, context, desc, device, OFDM_WHERE_IT_PAYS, NULL);
}
