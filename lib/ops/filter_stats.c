/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter tells of itself while it runs. */
#include "core/description.h"
#include "ops/filter_run.h"
#include "ops/filter_stream.h"

/* Samples that must be there for value m, as far as the stream has them. */
static uint64_t end_of_value(const penstock_filter *filter, uint64_t m)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t end = (m * shape->decimation + shape->advance) / shape->interpolation + 1;
    return end < filter->samples ? end : filter->samples;
}

void penstock__filter_measure(penstock_filter *filter, double came)
{
    const struct filter_shape *shape = filter->shape;
    struct penstock__meter *meter = &filter->meter;
    uint64_t values = filter->values - meter->out, step = shape->decimation / shape->interpolation;
    penstock__meter_take(meter, filter->samples - meter->in, came);
    if (values && !filter->finished && shape->decimation % shape->interpolation == 0)
        penstock__meter_give(meter, values, end_of_value(filter, meter->out), step, penstock__now_s());
    else if (values) /* as if the last one's sample were that of all */
        penstock__meter_give(meter, values, end_of_value(filter, filter->values - 1), 0, penstock__now_s());
    if (filter->finished && filter->values == filter->total)
        penstock__meter_skip(meter, filter->samples); /* those that decimation passes over wait for nothing */
}

void penstock__filter_measure_blocks(penstock_filter *filter, size_t blocks, double began)
{
    const penstock_plan *plan = filter->engine->forward;
    bool clock = plan && penstock__plan_has_clock(plan);
    penstock__meter_batch(&filter->meter, blocks * filter->shape->values, clock ? 0 : penstock__now_s() - began);
}

int penstock_filter_get_stats(const penstock_filter *filter, penstock_stream_stats *stats)
{
    penstock_stream_stats now = PENSTOCK_STREAM_STATS;
    if (!filter)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "filter: penstock_filter_get_stats: filter is NULL");
    const struct filter_engine *engine = filter->engine;
    penstock__meter_read(&filter->meter, &now, penstock__now_s());
    now.fallbacks = (engine->forward ? penstock__plan_fallbacks(engine->forward) : 0) +
                    (engine->reverse ? penstock__plan_fallbacks(engine->reverse) : 0);
    now.meanwhile = filter->meanwhile;
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}
