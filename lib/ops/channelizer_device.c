/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of samples that are on the device, where it does the sums of the branches too. */
#include "core/plan.h"
#include "core/stream_device.h"
#include "ops/channelizer_stream.h"

static int put(penstock_stream *stream, uint64_t first, size_t frames, const penstock_buffer *in, penstock_buffer *out,
               penstock_queue *queue)
{
    const struct channelizer_engine *engine = &channelizer_of(stream)->engine;
    const size_t turn = penstock__channel_bank_turn(&engine->bank, first);
    return penstock__plan_enqueue_turned(engine->plans[0], in, turn, out, frames, queue);
}

int penstock__channelizer_device_work(penstock_stream *stream, struct penstock__device_work *work)
{
    const struct channelizer *channelizer = channelizer_of(stream);
    const struct channelizer_engine *engine = &channelizer->engine;
    const struct channel_bank *bank = &engine->bank;
    if (!engine->folds || engine->select || channelizer->desc.format != engine->format)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "channelizer: on a device it takes complex samples that have a zero, gives all "
                               "channels, and has a kernel for the branches");
    *work = (struct penstock__device_work){.samples = 1,
                                           .sample_bytes = penstock__channelizer_engine_sample(engine),
                                           .result_bytes = bank->channels * sizeof(penstock_cf32),
                                           .lead = bank->window - 1 - bank->advance,
                                           .step = bank->hop,
                                           .span = bank->window,
                                           .results = 1,
                                           .total = penstock__channelizer_total(channelizer),
                                           .put = put};
    return PENSTOCK_OK;
}
