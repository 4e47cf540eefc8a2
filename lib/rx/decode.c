/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Complete frames side by side: where the demodulator works on the calling thread, each frame goes from its samples to
 * its octets on one thread, a few symbols at a time, so that all of it stays in that thread's cache. */
#include "core/stream/meter.h"
#include "ops/ofdm/ofdm.h"
#include "rx/receiver.h"

#include <stdatomic.h>

/* ---------------------------------------------------------------- one frame ------------------- */

/* Symbols `first` .. `first` + `count` of a frame that is tracked. */
static void demodulate(const struct penstock__rx *rx, unsigned worker, struct penstock__rx_frame *frame, size_t first,
                       size_t count)
{
    struct penstock__rx_worker *own = &rx->workers[worker];
    penstock_ofdm_symbol *symbols = own->symbols + first;
    penstock_ofdm_frame described = frame->ofdm;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = symbols[i].start < low ? symbols[i].start : low;
        high = symbols[i].start > high ? symbols[i].start : high;
    }
    for (size_t i = 0; i < count; i++) {
        symbols[i].start -= low;
        symbols[i].frame = 0;
    }
    const size_t samples = (size_t)(high - low) + rx->standard->symbol;
    penstock__rx_read(rx, frame, (int64_t)low, samples, false, own->samples);
    described.origin = 0 - low;
    double began = penstock__now_s();
    penstock__ofdm_run_here(rx->ofdm, worker, own->ofdm,
                            &PENSTOCK_OFDM_BATCH(.samples = own->samples, .sample_count = samples, .frames = &described,
                                                 .frame_count = 1, .symbols = symbols, .symbol_count = count),
                            &PENSTOCK_OFDM_RESULT(.soft = own->soft, .points = own->points));
    own->ofdm_s += penstock__now_s() - began;
    rx->standard->take(rx, own->own, frame, first, count, own->soft, own->points);
}

struct decoding {
    const struct penstock__rx *rx;
    atomic_bool no_memory;
};

static void decode(void *argument, size_t index, unsigned worker)
{
    struct decoding *decoding = argument;
    const struct penstock__rx *rx = decoding->rx;
    struct penstock__rx_frame *frame = rx->decoding[index];
    void *own = rx->workers[worker].own;
    if (rx->standard->reserve(rx, frame)) {
        atomic_store(&decoding->no_memory, true);
        return;
    }
    rx->standard->track(rx, own, frame, rx->workers[worker].symbols);
    if (!penstock__rx_complete(rx, frame)) /* a slow clock: the frame goes on, as its pilots have told */
        return;
    for (size_t first = 0; first < frame->symbols; first += PENSTOCK__OFDM_HERE) {
        size_t left = frame->symbols - first;
        demodulate(rx, worker, frame, first, left < PENSTOCK__OFDM_HERE ? left : PENSTOCK__OFDM_HERE);
    }
    rx->standard->finish(rx, own, frame);
}

/* ---------------------------------------------------------------- all of them ----------------- */

static int reserve_ofdm(struct penstock__rx *rx, size_t bytes)
{
    for (unsigned i = 0; i < rx->worker_count; i++) {
        struct penstock__rx_worker *worker = &rx->workers[i];
        if (worker->ofdm_bytes >= bytes)
            continue;
        penstock__free(worker->ofdm);
        worker->ofdm_bytes = 0;
        if (!(worker->ofdm = penstock__alloc(bytes)))
            return PENSTOCK_ERR_MEMORY;
        worker->ofdm_bytes = bytes;
    }
    return PENSTOCK_OK;
}

/* Frames were decoded, each on one thread. */
static void measure(struct penstock__rx *rx, size_t frames)
{
    double seconds = 0;
    for (unsigned i = 0; i < rx->worker_count; i++) {
        seconds += rx->workers[i].ofdm_s;
        rx->workers[i].ofdm_s = 0;
    }
    penstock__meter_batch(&rx->stream.meter, frames, seconds);
    penstock__ofdm_ran_here(rx->ofdm);
}

/* Where the demodulator works on the calling thread. */
static int decode_here(struct penstock__rx *rx, size_t bytes)
{
    struct penstock__rx_frame *frame = rx->first;
    while (frame) {
        struct decoding decoding = {.rx = rx};
        size_t count = 0;
        int status;
        for (; frame && count < PENSTOCK__RX_DECODED; frame = frame->next)
            if (penstock__rx_complete(rx, frame))
                rx->decoding[count++] = frame;
        if (!count)
            return PENSTOCK_OK;
        if ((status = reserve_ofdm(rx, bytes)))
            return status;
        penstock__parallel(rx->stream.context, count, decode, &decoding);
        for (size_t i = 0; i < count; i++)
            if (rx->decoding[i]->state == PENSTOCK__RX_DONE)
                penstock__rx_count(rx, rx->decoding[i]);
        measure(rx, count);
        if (atomic_load(&decoding.no_memory))
            return penstock__error(PENSTOCK_ERR_MEMORY, "receiver: no memory for what a frame gives");
    }
    return PENSTOCK_OK;
}

int penstock__rx_decode(struct penstock__rx *rx, bool all)
{
    size_t bytes;
    if (!rx->first)
        return PENSTOCK_OK;
    const bool here = penstock__ofdm_here(rx->ofdm, &bytes);
    if (here)
        penstock__rx_finish_there(rx);
    else
        penstock__rx_decode_there(rx, all);
    const int status = here ? decode_here(rx, bytes) : penstock__rx_decode_batches(rx);
    if (!status)
        penstock__rx_device_release(rx);
    return status;
}
