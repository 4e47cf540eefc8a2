/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What a filter tells of itself while it runs. */
#include "ops/filter/filter_run.h"
#include "ops/filter/filter_stream.h"

/* Samples that must be there for value m, as far as the stream has them. */
static uint64_t end_of_value(const struct filter_stream *filter, uint64_t m)
{
    const struct filter_shape *shape = filter->shape;
    uint64_t end = (m * shape->decimation + shape->advance) / shape->interpolation + 1;
    return end < filter->stream.taken ? end : filter->stream.taken;
}

void penstock__filter_measure(struct filter_stream *filter, double came)
{
    const struct filter_shape *shape = filter->shape;
    struct penstock__meter *meter = &filter->stream.meter;
    uint64_t values = filter->stream.given - meter->out, step = shape->decimation / shape->interpolation;
    penstock__meter_take(meter, filter->stream.taken - meter->in, came);
    if (values && !filter->stream.finished && shape->decimation % shape->interpolation == 0)
        penstock__meter_give(meter, values, end_of_value(filter, meter->out), step, penstock__now_s());
    else if (values) /* as if the last one's sample were that of all */
        penstock__meter_give(meter, values, end_of_value(filter, filter->stream.given - 1), 0, penstock__now_s());
    if (filter->stream.finished && filter->stream.given == filter->total)
        penstock__meter_skip(meter, filter->stream.taken); /* those that decimation passes over wait for nothing */
}

void penstock__filter_measure_blocks(struct filter_stream *filter, size_t blocks, double began)
{
    const penstock_plan *plan = filter->engine->forward;
    bool clock = plan && penstock__plan_has_clock(plan);
    penstock__meter_batch(&filter->stream.meter, blocks * filter->shape->values, clock ? 0 : penstock__now_s() - began);
}

void penstock__filter_get_stats(const penstock_stream *stream, penstock_stream_stats *stats)
{
    const struct filter_engine *engine = const_filter_of(stream)->engine;
    stats->fallbacks = (engine->forward ? penstock__plan_fallbacks(engine->forward) : 0) +
                       (engine->reverse ? penstock__plan_fallbacks(engine->reverse) : 0);
    stats->cpu_while_compiling = const_filter_of(stream)->cpu_while_compiling;
}
