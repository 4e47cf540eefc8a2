/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of which a device demodulates the symbols, all those of a batch at once; their soft bits are decoded here. */
#include "core/stream/meter.h"
#include "ops/ofdm/ofdm.h"
#include "rx/batch.h"

#define SYMBOLS 2048
#define FRAMES  256

struct batch {
    struct penstock__rx_batch common;
    int8_t *soft;
    penstock_cf32 *points;
};

static int make(void *owner, struct penstock__rx_batch *common, unsigned number)
{
    const struct penstock__rx_standard *standard = ((const struct penstock__rx *)owner)->standard;
    const size_t carriers = standard->carriers, margins = standard->head + standard->margin;
    struct batch *batch = (struct batch *)common;
    (void)number;
    common->samples = penstock__alloc((SYMBOLS * standard->symbol + FRAMES * margins) * sizeof *common->samples);
    common->symbols = penstock__calloc(SYMBOLS, sizeof *common->symbols);
    batch->soft = penstock__alloc(SYMBOLS * carriers * standard->bits);
    batch->points = penstock__alloc(SYMBOLS * carriers * sizeof *batch->points);
    return common->samples && common->symbols && batch->soft && batch->points ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static void free_batch(void *owner, struct penstock__rx_batch *common)
{
    struct batch *batch = (struct batch *)common;
    (void)owner;
    penstock__free(common->samples);
    penstock__free(common->symbols);
    penstock__free(batch->soft);
    penstock__free(batch->points);
}

/* Each batch is waited for as it is sent. */
static int use(void *owner, struct penstock__rx_batch *common, struct penstock__rx_batch *waited)
{
    struct penstock__rx *rx = owner;
    const struct batch *batch = (const struct batch *)common;
    const double began = penstock__now_s();
    const int status =
        penstock_ofdm_run(rx->ofdm,
                          &PENSTOCK_OFDM_BATCH(.samples = common->samples, .sample_count = common->sample_count,
                                               .frames = common->frames, .frame_count = common->item_count,
                                               .symbols = common->symbols, .symbol_count = common->symbol_count),
                          &PENSTOCK_OFDM_RESULT(.soft = batch->soft, .points = batch->points));
    (void)waited;
    if (!status)
        penstock__meter_batch(&rx->stream.meter, common->item_count,
                              penstock__ofdm_has_clock(rx->ofdm) ? 0 : penstock__now_s() - began);
    return status;
}

static void finish(const void *owner, const struct penstock__rx_batch *common, const struct penstock__rx_item *item,
                   void *worker)
{
    const struct penstock__rx *rx = owner;
    const struct penstock__rx_standard *standard = rx->standard;
    const struct batch *batch = (const struct batch *)common;
    standard->take(rx, worker, item->frame, 0, item->frame->symbols,
                   batch->soft + item->symbol * standard->carriers * standard->bits,
                   batch->points + item->symbol * standard->carriers);
    standard->finish(rx, worker, item->frame);
}

int penstock__rx_decode_batches(struct penstock__rx *rx)
{
    static const struct penstock__rx_way way = {.bytes = sizeof(struct batch),
                                                .frames = FRAMES,
                                                .symbols = SYMBOLS,
                                                .make = make,
                                                .free = free_batch,
                                                .use = use,
                                                .finish = finish};
    int status = rx->batches ? PENSTOCK_OK : penstock__rx_batches_new(&rx->batches, rx, &way, rx, 0);
    if (!status)
        status = penstock__rx_batches_run(rx->batches, true);
    return status <= 0 ? status : penstock__error(PENSTOCK_ERR_MEMORY, "receiver: no memory for what a frame gives");
}
