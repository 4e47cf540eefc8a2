/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The device of a filter: where there are several to choose from, whole blocks are timed on each, as a stream sends
 * them, with the transform length that suits the device. */
#include "core/cancel.h"
#include "core/candidates.h"
#include "core/context.h"
#include "core/devices.h"
#include "core/measure.h"
#include "core/wisdom.h"
#include "ops/filter_run.h"

#include <stdio.h>
#include <string.h>

#define KEY_BYTES 4096

struct wanted {
    penstock_context *context;
    const struct filter_shape *shape;
    const struct filter_shift *shifts;
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
    size_t rows, in_bytes, out_bytes;
    int status;
    *rig = (struct rig){.context = wanted->context};
    if ((status = penstock__filter_engine_new(&rig->engine, wanted->context, shape, wanted->shifts, wanted->channels,
                                              device)) ||
        (status = penstock__filter_taps_new(&rig->taps, penstock__filter_engine_shape(rig->engine), 0,
                                            shape->real ? NULL : &one, shape->real ? &real_one : NULL, 1)))
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
static int time_on(double *seconds, const struct wanted *wanted, const struct filter_shape *shape, const char *device)
{
    double round_s;
    struct rig rig;
    int status = rig_init(&rig, wanted, shape, device);
    if (!status && !(status = penstock__measure_rounds(&round_s, run_round, &rig))) {
        unsigned slots = penstock__filter_engine_slots(rig.engine);
        *seconds = round_s / (double)(rig.blocks.count * shape->block * slots);
        status = wait_for_all(&rig);
    }
    rig_free(&rig);
    return status;
}

/* ---------------------------------------------------------------- auto ------------------------ */

static void write_key(char key[KEY_BYTES], const struct wanted *wanted, const struct penstock__candidates *list)
{
    const struct filter_shape *shape = wanted->shape;
    size_t shifted = 0;
    for (size_t c = 0; c < wanted->channels; c++)
        shifted += wanted->shifts[c].shift != 0;
    int used = snprintf(key, KEY_BYTES,
                        "penstock %s, %u threads: filter format %d real %d %d up %zu down %zu channels %zu shifted %zu "
                        "latency %zu",
                        penstock_version(), penstock__threads(wanted->context), (int)shape->format, shape->real,
                        shape->real_values, shape->interpolation, shape->decimation, wanted->channels, shifted,
                        shape->max_latency);
    for (size_t i = 0; i < list->count && used > 0 && used < KEY_BYTES; i++) {
        struct filter_shape there = *shape;
        penstock__filter_length(&there, list->devices[i], wanted->channels);
        used += snprintf(key + used, KEY_BYTES - (size_t)used, "; %s: %s, %s: %zu points, %zu parts",
                         list->devices[i]->name, list->devices[i]->product, list->devices[i]->driver, there.n,
                         there.partitions);
    }
}

static struct penstock_device *recall(const struct wanted *wanted, const struct penstock__candidates *list,
                                      const char *key)
{
    char answer[80], name[56];
    bool found = penstock__wisdom_recall(answer, sizeof answer, wanted->context, key) ||
                 penstock__wisdom_read(answer, sizeof answer, wanted->context, "filter", key);
    for (size_t i = 0; found && sscanf(answer, " filter on %55s", name) == 1 && i < list->count; i++)
        if (!strcmp(name, list->devices[i]->name)) {
            penstock__wisdom_keep(answer, sizeof answer, wanted->context, key);
            return list->devices[i];
        }
    return NULL;
}

static void remember(const struct wanted *wanted, const char *key, const struct penstock_device *device)
{
    char answer[80];
    snprintf(answer, sizeof answer, "\nfilter on %s\n", device->name);
    penstock__wisdom_write(wanted->context, "filter", key, answer);
    penstock__wisdom_keep(answer, sizeof answer, wanted->context, key);
}

static int time_all(struct penstock_device **device, bool *complete, const struct wanted *wanted,
                    const struct penstock__candidates *list)
{
    double least = 0, seconds = 0;
    int status = PENSTOCK_ERR_UNSUPPORTED;
    *device = NULL;
    *complete = true;
    for (size_t i = 0; i < list->count; i++) {
        struct filter_shape there = *wanted->shape;
        penstock__filter_length(&there, list->devices[i], wanted->channels);
        if (penstock__cancelled())
            return penstock__error(PENSTOCK_ERR_TIMEOUT, "nobody waits for the filter any more");
        if ((status = time_on(&seconds, wanted, &there, list->devices[i]->name))) {
            penstock__candidate_failed(list->devices[i]);
            *complete = false;
            continue;
        }
        penstock__log(wanted->context, PENSTOCK_LOG_DEBUG, "auto: a filter's sample takes %.3g ns on %s", 1e9 * seconds,
                      list->devices[i]->name);
        if (!*device || seconds < least) {
            *device = list->devices[i];
            least = seconds;
        }
    }
    return *device ? PENSTOCK_OK : status;
}

static int choose_device(struct penstock_device **device, const struct wanted *wanted)
{
    struct penstock__candidates list;
    char key[KEY_BYTES];
    bool complete;
    int status = penstock__devices_probe(wanted->context, NULL);
    if (status)
        return status;
    penstock__candidates_find(&list, wanted->context, NULL);
    if (!list.count)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "no device can do that");
    *device = list.devices[0];
    if (list.count == 1)
        return PENSTOCK_OK;
    write_key(key, wanted, &list);
    if ((status = penstock__cancellable_lock(&wanted->context->choice_lock))) /* two at once would disturb each other */
        return status;
    if (!(*device = recall(wanted, &list, key)) && !(status = time_all(device, &complete, wanted, &list)) && complete)
        remember(wanted, key, *device);
    pthread_mutex_unlock(&wanted->context->choice_lock);
    return status;
}

int penstock__filter_choose(struct filter_shape *shape, char text[64], penstock_context *context,
                            const struct filter_shift *shifts, size_t channel_count, const char *asked)
{
    struct wanted wanted = {.context = context, .shape = shape, .shifts = shifts, .channels = channel_count};
    struct penstock_device *device;
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, asked);
    if (status)
        return status;
    if (preference == PENSTOCK_DEVICE_AUTO) {
        if ((status = choose_device(&device, &wanted)))
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
