/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The life of a filter, and its taps. */
#include "core/description.h"
#include "ops/filter_check.h"
#include "ops/filter_stream.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: " __VA_ARGS__)

/* ---------------------------------------------------------------- life ------------------------ */

static int make_engine_of(penstock_filter *filter, penstock_context *context, struct filter_shape *shape,
                          const char *device)
{
    struct filter_shift shift = {filter->desc.shift, filter->desc.phase};
    char text[64];
    size_t n = filter->desc.n;
    int status;
    if (!n) {
        if ((status = penstock__filter_choose(&n, text, context, shape, &shift, 1, device)))
            return status;
        device = text;
    }
    if (!penstock__filter_shape_set(shape, n))
        return bad("transforms of %zu are too short for %zu taps and decimation %zu", n, shape->taps,
                   shape->decimation);
    return penstock__filter_engine_new(&filter->engine, context, shape, &shift, 1, device);
}

/* A device without real transforms does the same by complex ones. */
static int make_engine(penstock_filter *filter, penstock_context *context, const char *device)
{
    struct filter_shape shape;
    int status;
    penstock__filter_shape_of(&shape, &filter->desc);
    status = make_engine_of(filter, context, &shape, device);
    if (status != PENSTOCK_ERR_UNSUPPORTED || !shape.real)
        return status;
    shape.real = false;
    shape.real_values = true;
    shape.format = PENSTOCK_CF32;
    return make_engine_of(filter, context, &shape, device);
}

/* Room for a full batch of frames and one more, and for those that begin in what one call leaves and end in the next
 * one's samples; and for the values of a batch, or of one block where blocks need no company. */
static int make_buffers(penstock_filter *filter)
{
    const struct filter_shape *shape = filter->shape;
    size_t rows = penstock__filter_engine_rows(filter->engine);
    size_t room = penstock__filter_engine_samples(filter->engine, rows + 1);
    filter->whole = penstock__filter_engine_samples(filter->engine, rows);
    room = room > 2 * shape->n ? room : 2 * shape->n;
    filter->made_blocks = penstock__filter_engine_near(filter->engine) ? 1 : rows;
    filter->in = penstock__alloc(room * shape->sample_bytes);
    filter->made = penstock__alloc(filter->made_blocks * shape->values * shape->value_bytes);
    return filter->in && filter->made ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

int penstock_filter_new(penstock_filter **filter, penstock_context *context, const penstock_filter_desc *desc,
                        const char *device)
{
    penstock_filter_desc d;
    penstock_filter *made;
    int status;
    if (!filter || !context)
        return bad("penstock_filter_new: filter or context is NULL");
    *filter = NULL;
    if ((status = penstock__description_read(&d, sizeof d, desc, "penstock_filter_desc")) ||
        (status = penstock__filter_check(&d)))
        return status;
    if (!(made = penstock__calloc(1, sizeof *made)))
        return PENSTOCK_ERR_MEMORY;
    made->desc = d;
    made->context = context;
    if ((status = make_engine(made, context, device)))
        goto fail;
    made->shape = penstock__filter_engine_shape(made->engine);
    if ((status = penstock__filter_taps_new(&made->taps, made->shape, d.shift, d.taps, d.real_taps, d.tap_count)) ||
        (status = make_buffers(made)))
        goto fail;
    made->newest = made->taps;
    made->desc.taps = NULL;
    made->desc.real_taps = NULL;
    penstock__filter_rewind(made);
    *filter = made;
    return PENSTOCK_OK;
fail:
    penstock_filter_free(made);
    return status;
}

void penstock_filter_free(penstock_filter *filter)
{
    if (!filter)
        return;
    penstock__filter_drop_taps(filter, NULL);
    penstock__filter_engine_free(filter->engine);
    penstock__free(filter->in);
    penstock__free(filter->made);
    penstock__free(filter);
}

int penstock_filter_reset(penstock_filter *filter)
{
    if (!filter)
        return bad("penstock_filter_reset: filter is NULL");
    penstock__filter_drop_taps(filter, filter->newest);
    filter->taps->from = 0;
    penstock__filter_rewind(filter);
    return PENSTOCK_OK;
}

int penstock_filter_get_info(const penstock_filter *filter, penstock_filter_info *info)
{
    penstock_filter_info known = PENSTOCK_FILTER_INFO;
    const struct filter_shape *shape;
    if (!filter)
        return bad("penstock_filter_get_info: filter is NULL");
    struct filter_shift shift = {filter->desc.shift, filter->desc.phase};
    shape = filter->shape;
    known.device = penstock__filter_engine_device(filter->engine);
    known.real = shape->real || shape->real_values;
    known.value_bytes = shape->value_bytes;
    known.n = shape->n;
    known.block = shape->block;
    known.latency = filter->whole - shape->history - 1;
    known.delay = (double)(filter->newest->count - 1) / 2 - (double)shape->advance;
    known.samples = filter->samples;
    known.values = filter->values;
    known.phase = (double)(penstock__filter_phase(&shift, filter->samples) >> 11) * 0x1p-53;
    return penstock__description_write(info, &known, sizeof known, "penstock_filter_info");
}

int penstock_resident_new_filter(penstock_resident **resident, penstock_filter *filter, const void *in, size_t in_bytes,
                                 size_t blocks)
{
    if (!resident || !filter || !blocks)
        return bad("penstock_resident_new_filter: an argument is NULL or 0");
    *resident = NULL;
    return penstock__filter_engine_resident(resident, filter->engine, filter->newest, in, in_bytes, blocks);
}

/* ---------------------------------------------------------------- taps ------------------------ */

void penstock__filter_drop_taps(penstock_filter *filter, const struct filter_taps *last)
{
    while (filter->taps != last) {
        struct filter_taps *old = filter->taps;
        filter->taps = old->next;
        penstock__free(old);
    }
}

int penstock_filter_set_taps(penstock_filter *filter, const penstock_cf32 *taps, const float *real_taps,
                             size_t tap_count, uint64_t at)
{
    struct filter_taps *made, *last;
    int status;
    if (!filter)
        return bad("penstock_filter_set_taps: filter is NULL");
    if ((status = penstock__filter_check_taps(taps, real_taps, tap_count, filter->desc.max_taps)))
        return status;
    if (taps && filter->shape->value_bytes == sizeof(float))
        return bad("complex taps do not go with real values");
    if (tap_count <= filter->shape->advance)
        return bad("%zu taps do not go with an advance of %zu", tap_count, filter->shape->advance);
    if (at < filter->samples || at < filter->newest->from)
        return bad("taps from sample %llu on; the first that they can hold from is %llu", (unsigned long long)at,
                   (unsigned long long)(at < filter->samples ? filter->samples : filter->newest->from));
    if ((status = penstock__filter_taps_new(&made, filter->shape, filter->desc.shift, taps, real_taps, tap_count)))
        return status;
    made->from = at;
    for (last = filter->taps; last->next;)
        last = last->next;
    last->next = made;
    filter->newest = made;
    return PENSTOCK_OK;
}
