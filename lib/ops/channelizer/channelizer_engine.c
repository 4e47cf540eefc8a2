/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The life of the filter bank's engine: its plans, and the threads' memory. */
#include "ops/channelizer/channelizer_engine.h"
#include "core/device/devices.h"
#include "ops/fft/fft.h"

#include <string.h>

/* Values of the frames that a thread takes at a time: their sums and transforms stay in its cache, and are some ten
 * microseconds of work, against the few that it takes to hand them out. */
#define ITEM_VALUES 8192

/* Samples of the caller's that a thread copies at a time: as many as leave room for the rest in its second-level cache,
 * where the windows at a piece's start, which the piece before has too, should be little of it. */
#define GATHERED ((size_t)16384)

/* ---------------------------------------------------------------- life ------------------------ */

static int make_child(struct channelizer_engine *engine, penstock_plan **plan, bool in_rows, const char *device)
{
    return penstock__fft_plan_there(plan, engine->context,
                                    &PENSTOCK_FFT_DESC(.n = engine->bank.channels, .batch = in_rows ? engine->item : 0,
                                                       .load = {.spacing = in_rows ? engine->bank.stride : 0}),
                                    device);
}

struct penstock_problem penstock__channelizer_engine_problem(const struct channel_bank *bank, penstock_format format)
{
    return (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FFT,
                                     .in_bytes = bank->hop * penstock_format_bytes(format),
                                     .out_bytes = bank->channels * sizeof(penstock_cf32),
                                     .batch = 1,
                                     .fft = {.n = bank->channels,
                                             .direction = PENSTOCK_FORWARD,
                                             .domain = PENSTOCK_COMPLEX,
                                             .format = format,
                                             .window = bank->factors,
                                             .fold = bank->weights.depth,
                                             .spacing = bank->hop,
                                             .output = PENSTOCK_OUTPUT_COMPLEX,
                                             .scale = 1,
                                             .average = 1}};
}

/* The whole in one, where the device sums and copies its samples anyway. What keeps it from that is kept. */
static int make_folded(struct channelizer_engine *engine, struct penstock__failure *failure,
                       const struct penstock_device *found, const char *device)
{
    const struct penstock_problem problem = penstock__channelizer_engine_problem(&engine->bank, engine->wanted);
    if (!found->backend->folds || found->on_cpu || found->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY)
        return PENSTOCK_OK;
    int status = penstock__plan_new_there(&engine->plans[0], engine->context, &problem, device, 0);
    engine->folds = !status;
    engine->format = status ? engine->format : engine->wanted;
    return penstock__failure_keep(failure, status) == PENSTOCK_ERR_MEMORY ? status : PENSTOCK_OK;
}

/* On a device of its own: the whole, or else the transforms, which may have another reason to fail. */
static int make_there(struct channelizer_engine *engine, const struct penstock_device *found, const char *device)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    struct penstock__failure failure = {.status = PENSTOCK_OK};
    int status = make_folded(engine, &failure, found, device);
    if (status || (!engine->folds && (status = make_child(engine, &engine->plans[0], false, device))))
        return status;
    if ((status = penstock__failure_tell(&failure)))
        penstock__log(engine->context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                      "%s makes no sums of the filter bank: %s", found->name, penstock_error_text());
    if ((status = penstock_plan_get_info(engine->plans[0], &info)))
        return status;
    return penstock__channelizer_engine_ring(engine, info.best_batch);
}

/* The device's plan; where it is the CPU's, one a thread that reads rows. */
static int make_plans(struct channelizer_engine *engine, const char *device)
{
    unsigned threads = penstock__threads(engine->context);
    enum penstock_preference preference;
    struct penstock_device *found;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    if (status || (status = penstock__device_find(engine->context, name, &found)) ||
        (status = penstock__device_open(found)))
        return status;
    engine->movable = preference != PENSTOCK_DEVICE_NAMED;
    if (!(engine->plans = penstock__calloc(threads, sizeof *engine->plans)))
        return PENSTOCK_ERR_MEMORY;
    engine->plan_count = 1;
    if (strcmp(found->name, "cpu"))
        return make_there(engine, found, device);
    engine->plan_count = threads;
    for (unsigned i = 0; i < threads; i++)
        if ((status = make_child(engine, &engine->plans[i], true, "cpu")))
            return status;
    return PENSTOCK_OK;
}

int penstock__channelizer_engine_init(struct channelizer_engine *engine, double max_latency_s, const char *device)
{
    const struct channel_bank *bank = &engine->bank;
    size_t together = bank->sums->frames;
    int status;
    engine->max_latency_s = max_latency_s;
    engine->format = PENSTOCK_CF32;
    engine->item = (ITEM_VALUES / bank->channels + together - 1) / together * together;
    if (!engine->item)
        engine->item = together;
    if ((status = make_plans(engine, device)))
        return status;
    engine->scratch_values = penstock__round_up(engine->item * (bank->stride + bank->channels), FOLD_WIDTH);
    engine->gathered = engine->capacity ? 0 : GATHERED + BANK_SLACK;
    engine->scratch_values += engine->gathered;
    engine->scratch =
        penstock__alloc(penstock__threads(engine->context) * engine->scratch_values * sizeof *engine->scratch);
    engine->statuses = penstock__calloc(penstock__threads(engine->context), sizeof *engine->statuses);
    return engine->scratch && engine->statuses ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

void penstock__channelizer_engine_free(struct channelizer_engine *engine)
{
    if (engine->capacity)
        penstock__channelizer_engine_settle(engine, SIZE_MAX);
    for (unsigned i = 0; i < engine->plan_count; i++)
        penstock__plan_free(engine->plans[i]);
    penstock__ring_free(&engine->ring);
    penstock__free(engine->plans);
    penstock__free(engine->scratch);
    penstock__free(engine->statuses);
}
