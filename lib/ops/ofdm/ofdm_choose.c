/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a demodulator: whole ones are timed, with batches of the size that the description tells. */
#include "core/choice/choice.h"
#include "core/choice/timer.h"
#include "core/device/devices.h"
#include "ops/ofdm/ofdm_demodulator.h"

#include <string.h>

#define MAX_BYTES ((size_t)64 << 20) /* of a batch's samples */
#define FILLING   0x3c               /* such bytes are a number of ordinary size in every format */

/* ---------------------------------------------------------------- timing ---------------------- */

/* A demodulator at work, on values nobody reads. */
struct rig {
    penstock_ofdm *ofdm;
    size_t count; /* symbols of a batch */
    void *samples;
    penstock_cf32 *channel;
    penstock_ofdm_symbol *symbols;
    int8_t *soft;
    penstock_ofdm_frame frame;
    penstock_ofdm_batch batch;
    penstock_ofdm_result result;
};

static void rig_free(struct rig *rig)
{
    penstock__ofdm_free(rig->ofdm);
    penstock__free(rig->samples);
    penstock__free(rig->channel);
    penstock__free(rig->symbols);
    penstock__free(rig->soft);
}

static size_t symbols_of(const penstock_ofdm_desc *desc)
{
    size_t most = MAX_BYTES / ((desc->guard + desc->n) * penstock_format_bytes(desc->format)) + 1;
    size_t batch = penstock__ofdm_transforms(desc).batch;
    batch += !batch;
    return batch < most ? batch : most;
}

/* After an error too, free is to be called. */
static int rig_init(struct rig *rig, const struct ofdm_order *order, const char *device)
{
    const penstock_ofdm_desc *desc = &order->desc;
    const size_t length = desc->guard + desc->n, bits = (size_t)desc->max_constellation;
    *rig = (struct rig){.count = symbols_of(desc)};
    const size_t samples = rig->count * length, bytes = samples * penstock_format_bytes(desc->format);
    int status = penstock__ofdm_make(&rig->ofdm, order, device);
    if (status)
        return status;
    rig->samples = penstock__alloc(bytes);
    rig->channel = penstock__alloc(desc->n * sizeof *rig->channel);
    rig->symbols = penstock__calloc(rig->count, sizeof *rig->symbols);
    rig->soft = penstock__alloc(rig->count * desc->carrier_count * bits);
    if (!rig->samples || !rig->channel || !rig->symbols || !rig->soft)
        return PENSTOCK_ERR_MEMORY;
    memset(rig->samples, FILLING, bytes);
    for (size_t k = 0; k < desc->n; k++)
        rig->channel[k] = (penstock_cf32){1, 0};
    for (size_t i = 0; i < rig->count; i++)
        rig->symbols[i].start = i * length;
    rig->frame = (penstock_ofdm_frame){.channel = rig->channel, .noise = 1, .constellation = desc->max_constellation};
    rig->batch = PENSTOCK_OFDM_BATCH(.samples = rig->samples, .sample_count = samples, .frames = &rig->frame,
                                     .frame_count = 1, .symbols = rig->symbols, .symbol_count = rig->count);
    rig->result = PENSTOCK_OFDM_RESULT(.soft = rig->soft);
    return PENSTOCK_OK;
}

static int run_round(void *argument)
{
    const struct rig *rig = argument;
    return penstock_ofdm_run(rig->ofdm, &rig->batch, &rig->result);
}

static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    const struct ofdm_order *order = owner;
    double round_s;
    struct rig rig;
    int status = rig_init(&rig, order, device->name);
    if (!status && !(status = penstock__time_rounds(&round_s, run_round, &rig)))
        *seconds = round_s / (double)rig.count;
    rig_free(&rig);
    return status;
}

/* ---------------------------------------------------------------- auto ------------------------ */

/* What a kernel for all of it would be asked to do stands for the grid. */
static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    const struct ofdm_order *order = owner;
    const penstock_ofdm_desc *desc = &order->desc;
    struct ofdm_grid grid = {.n = 0};
    (void)list;
    penstock__question_add(question, "ofdm: guard %zu, format %d, tracking %d, %zu symbols of ", desc->guard,
                           (int)desc->format, (int)desc->tracking, symbols_of(desc));
    if (!penstock__ofdm_grid_init(&grid, desc)) {
        const struct ofdm_fused arrays = {
            .bins = grid.data.bin, .pilot_bins = grid.pilots.bin, .pilot_values = order->pilot_values};
        const struct penstock_problem problem = penstock__ofdm_problem(&arrays, &grid, desc->format, OFDM_COMPLETE);
        penstock__question_add_problem(question, &problem);
    }
    penstock__ofdm_grid_free(&grid);
}

int penstock__ofdm_choose(char device[64], const struct ofdm_order *order)
{
    const struct penstock_problem transforms = penstock__ofdm_transforms(&order->desc);
    return penstock__choice_prefer(device, &(struct penstock__choice){.context = order->context,
                                                                      .problem = &transforms,
                                                                      .kind = "ofdm",
                                                                      .unit = "symbol",
                                                                      .owner = (void *)(uintptr_t)order,
                                                                      .ask = ask,
                                                                      .time = time_on});
}
