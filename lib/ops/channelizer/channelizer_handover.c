/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The analysis bank's engine, on the CPU until the device is ready. */
#include "core/base/context.h"
#include "core/device/devices.h"
#include "ops/channelizer/channelizer_stream.h"

#include <string.h>

/* The maker's, of a channelizer_order. */
static int make_engine(void **engine, void *owner, const char *device)
{
    const struct channelizer_order *order = owner;
    enum penstock_preference preference;
    struct channelizer_engine *made;
    const char *name;
    char chosen[64];
    int status = penstock__device_parse(&preference, &name, device);
    if (!status && preference == PENSTOCK_DEVICE_AUTO) {
        status = penstock__channelizer_choose(chosen, order);
        device = chosen;
    }
    if (status)
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->context = order->context;
    made->bank = order->bank;
    made->wanted = order->wanted;
    if ((status = penstock__channelizer_engine_init(made, order->desc.max_latency_s, device))) {
        penstock__channelizer_engine_free(made);
        penstock__free(made);
        return status;
    }
    *engine = made;
    return PENSTOCK_OK;
}

static void free_engine(void *engine)
{
    penstock__channelizer_engine_free(engine);
    penstock__free(engine);
}

static const char *device_of(const void *engine)
{
    const struct channelizer_engine *made = engine;
    return penstock__plan_executor(made->plans[0])->state.device->name;
}

/* In place of the one before; the bank and what is kept of it stay. */
static void take_engine(struct channelizer *channelizer, struct channelizer_engine *made)
{
    struct channelizer_engine before = channelizer->engine;
    channelizer->engine = *made;
    channelizer->engine.bank = before.bank;
    channelizer->engine.select = before.select;
    channelizer->engine.kept = before.kept;
    *made = before;
    free_engine(made);
    channelizer->stream.lends_out = channelizer->engine.capacity && !channelizer->engine.select;
    channelizer->stream.lends_in = channelizer->desc.format == channelizer->engine.format;
    if (!channelizer->engine.capacity)
        return;
    channelizer->engine.max_latency_s = channelizer->desc.max_latency_s;
    penstock__channelizer_engine_set_meter(&channelizer->engine, &channelizer->stream.meter);
}

/* Plans for the prototypes that came meanwhile, and memory that the device reaches. */
static int prepare(struct channelizer *channelizer, struct channelizer_engine *made)
{
    penstock_plan *plan = NULL;
    int status = PENSTOCK_OK;
    if (channelizer->order.stale)
        status = penstock__channelizer_engine_plan(made, &channelizer->engine.bank, &plan);
    if (plan)
        penstock__channelizer_engine_set_plan(made, plan);
    for (struct channelizer_change *change = channelizer->changes; change && !status; change = change->next)
        status = penstock__channelizer_engine_plan(made, &change->bank, &change->plan);
    return status ? status : penstock__channelizer_relocate(channelizer, made, channelizer->widest);
}

static void forget_plans(struct channelizer *channelizer)
{
    for (struct channelizer_change *change = channelizer->changes; change; change = change->next) {
        penstock__plan_free(change->plan);
        change->plan = NULL;
    }
}

/* A copy, as the bank that it is of may be gone when the maker's thread reads it. */
static int keep_factors(struct channel_bank *bank)
{
    size_t bytes = bank->window * sizeof *bank->factors;
    float *copy = penstock__alloc(bytes);
    if (copy)
        memcpy(copy, bank->factors, bytes);
    bank->weights.values = NULL;
    bank->factors = copy;
    return copy ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* What has a zero; and floats, which the CPU gathers, where another device may take over. */
static penstock_format wanted(const penstock_channelizer_desc *desc, bool cpu_while_compiling)
{
    const bool kept = desc->format == PENSTOCK_CS16 || desc->format == PENSTOCK_CS8 || desc->format == PENSTOCK_CF16;
    return kept && !cpu_while_compiling ? desc->format : PENSTOCK_CF32;
}

int penstock__channelizer_make_engine(struct channelizer *channelizer, const char *device)
{
    static const struct penstock__maker maker = {.make = make_engine, .free = free_engine, .device = device_of};
    penstock_context *context = channelizer->engine.context;
    bool cpu_while_compiling = penstock__cpu_while_compiling(context, device);
    void *made;
    channelizer->order = (struct channelizer_order){.context = context,
                                                    .desc = channelizer->desc,
                                                    .bank = channelizer->engine.bank,
                                                    .wanted = wanted(&channelizer->desc, cpu_while_compiling)};
    channelizer->order.desc.taps = NULL;
    channelizer->order.desc.select = NULL;
    int status = keep_factors(&channelizer->order.bank);
    if (status)
        return status;
    status = penstock__make(&made, cpu_while_compiling ? &channelizer->build : NULL, &maker, &channelizer->order,
                            context, device);
    if (!channelizer->build)
        penstock__channel_bank_free(&channelizer->order.bank);
    if (!channelizer->build)
        channelizer->order.bank.factors = NULL;
    if (!status)
        take_engine(channelizer, made);
    return status;
}

void penstock__channelizer_collect(struct channelizer *channelizer)
{
    void *made;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    if (!penstock__async_build_collect(&channelizer->build, &channelizer->standby, channelizer->engine.context, &made))
        return;
    penstock_plan_get_info(((struct channelizer_engine *)made)->plans[0], &info);
    if (prepare(channelizer, made)) {
        penstock__stayed(&channelizer->standby, channelizer->engine.context, info.device);
        forget_plans(channelizer);
        free_engine(made);
        return;
    }
    take_engine(channelizer, made);
    penstock__went_over(&channelizer->standby, channelizer->engine.context, info.device);
    penstock__channelizer_send(channelizer, false); /* the engine keeps a failure until its turn comes */
}
