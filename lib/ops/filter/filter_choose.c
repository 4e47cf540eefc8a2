/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a filter: where there are several to choose from, whole blocks are timed on each, as a stream sends
 * them, with the transform length that suits the device. */
#include "core/base/context.h"
#include "core/choice/choice.h"
#include "core/choice/timer.h"
#include "core/device/devices.h"
#include "ops/filter/filter_run.h"

#include <stdio.h>
#include <string.h>

struct wanted {
    penstock_context *context;
    const struct filter_shape *shape;
    size_t channels;
};

/* ---------------------------------------------------------------- timing ---------------------- */

/* An engine at work, on values nobody reads. */
struct rig {
    struct filter_engine *engine;
    struct filter_taps *taps;
    struct filter_channel *channels;
    penstock_context *context;
    void *in, *out; /* where the device reaches them by itself */
    struct filter_blocks blocks;
};

static void rig_free(struct rig *rig)
{
    penstock__filter_taps_free(rig->taps);
    penstock__free(rig->channels);
    penstock__filter_engine_free(rig->engine);
    penstock_host_memory_free(rig->context, rig->in);
    penstock_host_memory_free(rig->context, rig->out);
}

/* After an error too, free is to be called. */
static int rig_init(struct rig *rig, const struct wanted *wanted, const struct filter_shape *shape, const char *device)
{
    static const penstock_cf32 one = {1, 0};
    static const float real_one = 1;
    const struct filter_shift shift = {shape->rotated ? 0.1 : 0, 0};
    size_t rows, in_bytes, out_bytes;
    int status;
    *rig = (struct rig){.context = wanted->context};
    if ((status = penstock__filter_engine_new(&rig->engine, wanted->context, shape, wanted->channels, device)) ||
        (status = penstock__filter_taps_new(&rig->taps, penstock__filter_engine_shape(rig->engine), shift,
                                            shape->real ? NULL : &one, shape->real ? &real_one : NULL, 1)) ||
        (status = penstock__filter_taps_rotate(rig->taps, penstock__filter_engine_shape(rig->engine), NULL, false)))
        return status;
    rows = penstock__filter_engine_rows(rig->engine);
    in_bytes = penstock__filter_engine_samples(rig->engine, rows) * shape->sample_bytes;
    out_bytes = rows * shape->values * shape->value_bytes;
    struct penstock_device *memory = penstock__filter_engine_memory(rig->engine);
    if (!(rig->channels = penstock__calloc(wanted->channels, sizeof *rig->channels)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = penstock__host_block_new(&rig->in, wanted->context, memory, in_bytes)) ||
        (status = penstock__host_block_new(&rig->out, wanted->context, memory, out_bytes * wanted->channels)))
        return status;
    memset(rig->in, 0, in_bytes);
    for (size_t c = 0; c < wanted->channels; c++)
        rig->channels[c] = (struct filter_channel){.taps = rig->taps, .out = (char *)rig->out + c * out_bytes};
    rig->blocks = (struct filter_blocks){.count = rows, .near = rows, .in = rig->in, .channels = rig->channels};
    return PENSTOCK_OK;
}

static int wait_for_all(struct rig *rig)
{
    int status = PENSTOCK_OK;
    for (unsigned slot = 0; slot < penstock__filter_engine_slots(rig->engine) && !status; slot++)
        if (penstock__filter_engine_slots(rig->engine) > 1)
            status = penstock__filter_engine_wait(rig->engine, slot);
    return status;
}

/* As many batches as are on their way at once. */
static int run_round(void *argument)
{
    struct rig *rig = argument;
    unsigned slots = penstock__filter_engine_slots(rig->engine);
    bool refills;
    int status = PENSTOCK_OK;
    for (unsigned slot = 0; slot < slots && !status; slot++) {
        if (slots == 1)
            return penstock__filter_engine_run(rig->engine, &rig->blocks);
        if ((status = penstock__filter_engine_wait(rig->engine, slot)))
            return status;
        bool sends = penstock__filter_engine_can_send(rig->engine, &rig->blocks, &refills);
        if (refills)
            status = wait_for_all(rig);
        if (!status)
            status = sends ? penstock__filter_engine_send(rig->engine, &rig->blocks, slot)
                           : penstock__filter_engine_run(rig->engine, &rig->blocks);
    }
    return status;
}

/* Seconds of a sample. */
static int time_on(void *owner, struct penstock_device *device, double *seconds)
{
    const struct wanted *wanted = owner;
    struct filter_shape shape = *wanted->shape;
    double round_s;
    struct rig rig;
    penstock__filter_length(&shape, device, wanted->channels);
    int status = rig_init(&rig, wanted, &shape, device->name);
    if (!status && !(status = penstock__time_rounds(&round_s, run_round, &rig))) {
        unsigned slots = penstock__filter_engine_slots(rig.engine);
        *seconds = round_s / (double)(rig.blocks.count * shape.block * slots);
        status = wait_for_all(&rig);
    }
    rig_free(&rig);
    return status;
}

/* ---------------------------------------------------------------- auto ------------------------ */

/* The length on each device, on which what is timed there depends, stands for the taps. */
static void ask(void *owner, struct penstock__question *question, const struct penstock__candidates *list)
{
    const struct wanted *wanted = owner;
    const struct filter_shape *shape = wanted->shape;
    penstock__question_add(question,
                           "filter: format %d, real %d %d, up %zu, down %zu, channels %zu, rotated %d, latency %zu",
                           (int)shape->format, shape->real, shape->real_values, shape->interpolation, shape->decimation,
                           wanted->channels, shape->rotated, shape->max_latency);
    for (size_t i = 0; i < list->count; i++) {
        struct filter_shape there = *shape;
        penstock__filter_length(&there, list->devices[i], wanted->channels);
        penstock__question_add(question, "%s%zu points, %zu parts", i ? "; " : ": ", there.n, there.partitions);
    }
    penstock__question_add(question, "\n");
}

int penstock__filter_choose(struct filter_shape *shape, char text[64], penstock_context *context, size_t channel_count,
                            const char *asked)
{
    struct wanted wanted = {.context = context, .shape = shape, .channels = channel_count};
    struct penstock_device *device;
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, asked);
    if (status)
        return status;
    if (preference == PENSTOCK_DEVICE_AUTO) {
        if ((status = penstock__choice_make(&device, &(struct penstock__choice){.context = context,
                                                                                .kind = "filter",
                                                                                .unit = "sample",
                                                                                .owner = &wanted,
                                                                                .ask = ask,
                                                                                .time = time_on})))
            return status;
        snprintf(text, 64, "prefer:%s", device->name);
    } else {
        if ((status = penstock__device_find(context, name, &device)) || (status = penstock__device_open(device)))
            return status;
        snprintf(text, 64, "%s%s", preference == PENSTOCK_DEVICE_PREFERRED ? "prefer:" : "", device->name);
    }
    penstock__filter_length(shape, device, channel_count);
    return PENSTOCK_OK;
}
