/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames from samples to bits on a device: what that takes, and batches on their way while those before and behind
 * them are finished and prepared. */
#include "rx/device.h"
#include "core/cpu_while_compiling.h"
#include "core/device_group.h"
#include "core/meter.h"
#include "core/problem.h"
#include "ops/ofdm.h"
#include "ops/viterbi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PART_ALIGNMENT 4096 /* a multiple of every device's */

/* ---------------------------------------------------------------- life ------------------------ */

static int describe_rates(struct penstock__rx_device *device, const struct penstock__rx_code *code)
{
    const size_t row = PENSTOCK__CODED_MAP + 2 * (size_t)code->most_steps;
    if (!(device->rates = penstock__alloc(code->rates * row * sizeof *device->rates)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < code->rates * row; i++)
        device->rates[i] = -1;
    for (unsigned r = 0; r < code->rates; r++)
        code->rate(r, device->rates + r * row);
    return PENSTOCK_OK;
}

static struct penstock_problem coded_problem(const struct penstock__rx_device *device, size_t block_bytes)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    const struct penstock__rx_code *code = standard->code;
    const size_t row = PENSTOCK__CODED_MAP + 2 * (size_t)code->most_steps;
    return (struct penstock_problem){.kind = PENSTOCK_PROBLEM_CODED,
                                     .in_bytes = device->ofdm->state.problem->out_bytes,
                                     .out_bytes = (size_t)2 * code->most_steps,
                                     .batch = PENSTOCK__RX_SYMBOLS,
                                     .coded = {.carriers = standard->carriers,
                                               .pitch = standard->carriers * standard->bits,
                                               .generators = {code->generators[0], code->generators[1]},
                                               .constraint = code->constraint,
                                               .rate_count = code->rates,
                                               .row = (unsigned)row,
                                               .rates = device->rates,
                                               .block_bytes = block_bytes,
                                               .tally = block_bytes > 0}};
}

static int describe(struct penstock__rx_device *device)
{
    const struct penstock__rx_code *code = device->rx->standard->code;
    int status = describe_rates(device, code);
    if (status ||
        (status = penstock__viterbi_problem(
             &device->problems[1], NULL,
             &PENSTOCK_VITERBI_DESC(.generators = {code->generators[0], code->generators[1]},
                                    .constraint = code->constraint, .bits = code->most_bits, .soft = PENSTOCK_SOFT_S8,
                                    .result = PENSTOCK_BITS_LSB_FIRST, .batch = PENSTOCK__RX_FRAMES / 2))))
        return status;
    device->problems[0] = coded_problem(device, 0);
    device->problems[2] = coded_problem(device, device->problems[1].out_bytes);
    return PENSTOCK_OK;
}

static void place_parts(struct penstock__rx_device *device)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    const size_t frames = PENSTOCK__RX_FRAMES, symbols = PENSTOCK__RX_SYMBOLS;
    const size_t samples = symbols * standard->symbol + frames * (standard->head + standard->margin);
    const size_t bytes[PENSTOCK__RX_PARTS] = {
        [PENSTOCK__RX_DESCRIPTORS] = symbols * sizeof(struct penstock_ofdm_descriptor),
        [PENSTOCK__RX_COEFFICIENTS] = frames * device->pairs * sizeof(penstock_cf32),
        [PENSTOCK__RX_BLOCKS] = frames * sizeof(penstock_viterbi_block),
        [PENSTOCK__RX_CODED] = symbols * sizeof(struct penstock_coded_symbol),
        [PENSTOCK__RX_SAMPLES] = samples * sizeof(penstock_cf32)};
    size_t at = 0;
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS; i++) {
        device->part_at[i] = at;
        device->part_bytes[i] = bytes[i];
        at += (bytes[i] + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    }
}

static void free_device(void *made)
{
    struct penstock__rx_device *device = made;
    for (unsigned i = 0; device && device->batches && i < device->batch_count; i++)
        penstock__rx_device_batch_free(&device->batches[i], device);
    if (device) {
        penstock__executor_free(device->deinterleave);
        penstock__executor_free(device->viterbi);
        penstock__executor_free(device->tally);
        penstock__free(device->batches);
        penstock__free(device->rates);
    }
    penstock__free(device);
}

static int make_batches(struct penstock__rx_device *device, struct penstock_device *there)
{
    int status = PENSTOCK_OK;
    device->batch_count = PENSTOCK__RX_BATCHES * penstock__device_members(there) + PENSTOCK__RX_BATCHES_HERE;
    if (!(device->batches = penstock__calloc(device->batch_count, sizeof *device->batches)))
        return PENSTOCK_ERR_MEMORY;
    for (unsigned i = 0; i < device->batch_count && !status; i++)
        status = penstock__rx_device_batch_init(&device->batches[i], device, i);
    return status;
}

static int make_executors(struct penstock__rx_device *device, struct penstock_device *there)
{
    struct penstock__executor **executors[3] = {&device->deinterleave, &device->viterbi, &device->tally};
    int status = PENSTOCK_OK;
    for (unsigned i = 0; i < 3 && !status; i++)
        if ((status = penstock__problem_supported(there, &device->problems[i])) >= 0)
            status = penstock__executor_new(executors[i], there, &device->problems[i], 1);
    return status;
}

/* The maker's, of a receiver. */
static int make(void **made, void *owner, const char *name)
{
    struct penstock__rx *rx = owner;
    struct penstock__rx_device *device = penstock__calloc(1, sizeof *device);
    int status = device ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    (void)name; /* that of the demodulator */
    *made = NULL;
    if (!status) {
        device->rx = rx;
        device->ofdm = penstock__ofdm_listed(rx->ofdm);
        device->pairs = penstock__ofdm_listed_pairs(rx->ofdm);
        place_parts(device);
        status = describe(device);
    }
    if (!status && !(status = make_executors(device, device->ofdm->state.device)))
        status = make_batches(device, device->ofdm->state.device);
    if (status) {
        free_device(device);
        return status;
    }
    *made = device;
    return PENSTOCK_OK;
}

static const char *device_of(const void *made)
{
    return ((const struct penstock__rx_device *)made)->ofdm->state.device->name;
}

/* Why a device only demodulates. */
static void tell(const struct penstock__rx *rx, int status)
{
    penstock__log(rx->stream.context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s demodulates, and the CPU decodes: %s", penstock_ofdm_device(rx->ofdm), penstock_error_text());
}

void penstock__rx_device_begin(struct penstock__rx *rx)
{
    static const struct penstock__maker maker = {.make = make, .free = free_device, .device = device_of};
    void *made = NULL;
    int status;
    if (rx->device_tried || !rx->standard->code || !penstock__ofdm_listed(rx->ofdm))
        return;
    rx->device_tried = true;
    status = rx->waits ? penstock__async_build_new(&rx->build, &maker, rx, penstock_ofdm_device(rx->ofdm), 0)
                       : make(&made, rx, NULL);
    rx->device = made;
    if (status)
        tell(rx, status);
}

/* Takes what was waited for. */
static void collect(struct penstock__rx *rx)
{
    void *made = NULL;
    if (!rx->build || !penstock__async_build_done(rx->build, 0))
        return;
    if (penstock__async_build_take(rx->build, &made))
        tell(rx, PENSTOCK_ERR_DEVICE);
    penstock__async_build_free(rx->build);
    rx->build = NULL;
    rx->device = made;
}

void penstock__rx_device_free(struct penstock__rx *rx)
{
    penstock__async_build_free(rx->build);
    free_device(rx->device);
    rx->build = NULL;
    rx->device = NULL;
}

/* ---------------------------------------------------------------- batches --------------------- */

/* What goes on at once: each may be NULL. */
struct stage {
    struct penstock__rx_device *device;
    struct penstock__rx_device_batch *prepared, *sent, *waited;
    const struct penstock__rx_device_batch *finished;
    atomic_bool no_memory;
    double waited_s;
    int status; /* of the device */
    char error[256];
};

static void use_device(struct stage *stage)
{
    const double began = penstock__now_s();
    if (stage->sent)
        stage->status = penstock__rx_device_send(stage->device, stage->sent);
    if (stage->waited && !stage->status)
        stage->status = penstock__rx_device_wait(stage->waited);
    stage->waited_s = penstock__now_s() - began;
    if (stage->status)
        snprintf(stage->error, sizeof stage->error, "%s", penstock_error_text());
}

/* The device first, then frames. */
static void work(void *argument, size_t index, unsigned worker)
{
    struct stage *stage = argument;
    const size_t device = stage->sent || stage->waited, finished = stage->finished ? stage->finished->item_count : 0;
    if (index < device)
        use_device(stage);
    else if (index < device + finished)
        penstock__rx_device_finish(stage->device, stage->finished, index - device, worker);
    else if (penstock__rx_device_prepare(stage->device, stage->prepared, index - device - finished, worker))
        atomic_store(&stage->no_memory, true);
}

static int run_stage(struct stage *stage)
{
    struct penstock__rx *rx = stage->device->rx;
    const struct penstock__rx_device_batch *finished = stage->finished;
    penstock__parallel(rx->stream.context,
                       (stage->sent || stage->waited) + (finished ? finished->item_count : 0) +
                           (stage->prepared ? stage->prepared->item_count : 0),
                       work, stage);
    for (size_t i = 0; finished && i < finished->item_count; i++)
        if (finished->items[i].frame->state == PENSTOCK__RX_DONE)
            penstock__rx_count(rx, finished->items[i].frame);
    if (stage->waited && !stage->status)
        penstock__meter_batch(&rx->stream.meter, stage->waited->item_count, stage->waited_s);
    return stage->status ? penstock__error(stage->status, "%s", stage->error) : PENSTOCK_OK;
}

/* Batches that were prepared, sent, waited for and finished: each is one of `batch_count` in turn. */
struct progress {
    size_t prepared, sent, waited, finished;
};

/* The next stage but for what is prepared in it. */
static void choose(struct stage *stage, const struct progress *done)
{
    struct penstock__rx_device_batch *batches = stage->device->batches;
    const size_t count = stage->device->batch_count, most = count - PENSTOCK__RX_BATCHES_HERE;
    if (done->sent < done->prepared)
        stage->sent = &batches[done->sent % count];
    if (done->finished < done->waited)
        stage->finished = &batches[done->finished % count];
    if (done->waited < done->sent && (done->sent - done->waited >= most || !stage->sent))
        stage->waited = &batches[done->waited % count];
    else if (done->waited == done->sent && !stage->prepared) /* nothing else is to be done meanwhile */
        stage->waited = stage->sent;
}

static int decode(struct penstock__rx_device *device)
{
    struct penstock__rx_frame *frame = device->rx->first;
    struct progress done = {0};
    int status = PENSTOCK_OK;
    for (bool more = true; !status && (more || done.finished < done.prepared);) {
        struct stage stage = {.device = device};
        struct penstock__rx_device_batch *next = &device->batches[done.prepared % device->batch_count];
        if (more && done.prepared - done.finished < device->batch_count) {
            frame = penstock__rx_device_collect(device, next, frame);
            more = next->item_count;
            stage.prepared = more ? next : NULL;
        }
        choose(&stage, &done);
        status = run_stage(&stage);
        if (atomic_load(&stage.no_memory)) /* those before it go on */
            more = false;
        done.prepared += stage.prepared && !atomic_load(&stage.no_memory);
        done.sent += stage.sent != NULL;
        done.waited += stage.waited != NULL;
        done.finished += stage.finished != NULL;
    }
    return status;
}

void penstock__rx_decode_there(struct penstock__rx *rx)
{
    penstock__rx_device_begin(rx);
    collect(rx);
    if (rx->device && decode(rx->device)) {
        penstock__log(rx->stream.context, PENSTOCK_LOG_WARNING, "%s decodes no more, and the CPU does, since: %s",
                      penstock_ofdm_device(rx->ofdm), penstock_error_text());
        penstock__rx_device_free(rx);
    }
}
