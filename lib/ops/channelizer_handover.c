/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The analysis bank's engine, on the CPU until the device is ready. */
#include "core/context.h"
#include "core/meanwhile.h"
#include "ops/channelizer_stream.h"

/* The maker's, of a channelizer_order. */
static int make_engine(void **engine, void *owner, const char *device)
{
    const struct channelizer_order *order = owner;
    struct channelizer_engine *made = penstock__calloc(1, sizeof *made);
    int status;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->context = order->context;
    made->bank = order->bank;
    if ((status = penstock__channelizer_engine_init(made, order->max_latency_s, device))) {
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
    return penstock__plan_binding(made->plans[0])->state.device->name;
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
    if (!channelizer->engine.batcher)
        return;
    penstock__batcher_set_latency(channelizer->engine.batcher, channelizer->desc.max_latency_s);
    penstock__batcher_set_meter(channelizer->engine.batcher, &channelizer->stream.meter);
}

int penstock__channelizer_make_engine(struct channelizer *channelizer, const char *device)
{
    static const struct penstock__maker maker = {.make = make_engine, .free = free_engine, .device = device_of};
    penstock_context *context = channelizer->engine.context;
    bool meanwhile = penstock__serves_meanwhile(context, device);
    void *made;
    channelizer->order = (struct channelizer_order){
        .context = context, .bank = channelizer->engine.bank, .max_latency_s = channelizer->desc.max_latency_s};
    int status =
        penstock__make(&made, meanwhile ? &channelizer->arrival : NULL, &maker, &channelizer->order, context, device);
    if (!status)
        take_engine(channelizer, made);
    return status;
}

void penstock__channelizer_welcome(struct channelizer *channelizer)
{
    void *made;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    if (!penstock__welcome(&channelizer->arrival, channelizer->engine.context, &made))
        return;
    take_engine(channelizer, made);
    penstock_plan_get_info(channelizer->engine.plans[0], &info);
    penstock__log(channelizer->engine.context, PENSTOCK_LOG_INFO, "%s is ready and goes on", info.device);
    penstock__channelizer_send(channelizer); /* the batcher keeps a failure until its turn comes */
}
