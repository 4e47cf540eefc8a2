/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The end of an OFDM demodulator, and what is known of it. */
#include "core/base/description.h"
#include "core/device/background.h"
#include "core/plan/plan.h"
#include "ops/ofdm/ofdm.h"
#include "ops/ofdm/ofdm_demodulator.h"

void penstock__ofdm_cancel(penstock_ofdm *ofdm)
{
    if (ofdm)
        penstock__async_build_cancel(ofdm->build);
}

static void free_ofdm(void *owner)
{
    penstock_ofdm *ofdm = owner;
    penstock__async_build_free(ofdm->build);
    penstock__ofdm_order_free(ofdm->order);
    for (unsigned i = 0; i < ofdm->worker_count; i++)
        penstock__ofdm_worker_free(&ofdm->workers[i]);
    penstock__free(ofdm->workers);
    penstock__free(ofdm->here);
    if (ofdm->fused)
        penstock__ofdm_fused_free(ofdm->fused);
    penstock__free(ofdm->fused);
    penstock__ofdm_flow_free(&ofdm->flow, ofdm->context);
    penstock__free(ofdm->packed);
    penstock__free(ofdm->fft);
    penstock__free(ofdm->gather);
    penstock__plan_free(ofdm->plan);
    penstock__ofdm_grid_free(&ofdm->grid);
    penstock__free(ofdm);
}

void penstock__ofdm_free(penstock_ofdm *ofdm)
{
    if (ofdm)
        free_ofdm(ofdm);
}

void penstock_ofdm_free(penstock_ofdm *ofdm)
{
    if (!ofdm)
        return;
    penstock__ofdm_cancel(ofdm);
    penstock__background_free(ofdm->context, free_ofdm, ofdm);
}

const char *penstock_ofdm_device(const penstock_ofdm *ofdm)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    return ofdm && !penstock_plan_get_info(ofdm->plan, &info) ? info.device : NULL;
}

/* The kernel for soft bits alone, where there is one, else the transform. */
int penstock_ofdm_get_info(const penstock_ofdm *ofdm, penstock_plan_info *info)
{
    const struct ofdm_kernel *kernel = ofdm ? &ofdm->fused->kernels[OFDM_SOFT] : NULL;
    penstock_plan_info known = PENSTOCK_PLAN_INFO;
    if (!ofdm)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ofdm_get_info: ofdm is NULL");
    int status = kernel->executor ? PENSTOCK_OK : penstock_plan_get_info(ofdm->plan, &known);
    if (status)
        return status;
    known.awaited = ofdm->build ? penstock__async_build_name(ofdm->build) : NULL;
    known.cpu_while_compiling = ofdm->cpu_while_compiling;
    if (!kernel->executor)
        return penstock__description_write(info, &known, sizeof known, "penstock_plan_info");
    known.device = kernel->executor->state.device->name;
    known.variant = kernel->executor->state.variant;
    known.kernels = kernel->executor->state.kernels;
    known.passes = kernel->executor->state.passes;
    known.in_bytes = ofdm->length * kernel->problem.in_bytes;
    known.out_bytes = kernel->problem.out_bytes;
    known.best_batch = kernel->executor->state.best_batch;
    return penstock__description_write(info, &known, sizeof known, "penstock_plan_info");
}

uint64_t penstock__ofdm_fused_blocks(const penstock_ofdm *ofdm)
{
    return ofdm->fused_blocks;
}

uint64_t penstock__ofdm_fallbacks(const penstock_ofdm *ofdm)
{
    return penstock__plan_fallbacks(ofdm->plan);
}

uint64_t penstock__ofdm_cpu_while_compiling(const penstock_ofdm *ofdm)
{
    return ofdm->cpu_while_compiling;
}

bool penstock__ofdm_has_clock(const penstock_ofdm *ofdm)
{
    return penstock__plan_has_clock(ofdm->plan);
}

void penstock__ofdm_set_event_times(penstock_ofdm *ofdm, struct penstock__event_times *event_times)
{
    penstock__plan_set_event_times(ofdm->plan, event_times);
    ofdm->fused->event_times = event_times;
}
