/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The overlap-save kernel: what is generated of it. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#include <stdlib.h>

/* Groups ahead of which the new samples are fetched into the cache, measured; nothing for sums of products, nor where
 * most of what is moved are values. */
static unsigned groups_ahead(const struct penstock_filter_problem *filter, const struct gpu_limits *limits)
{
    if (penstock__filter_sets(filter) > 1)
        return 0;
    return filter->n == 1024   ? 6 * limits->units
           : filter->n == 4096 ? 2 * limits->units
           : filter->n == 8192 ? limits->units / 2
                               : 0;
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const struct penstock_filter_problem *filter = &problem->filter;
    const bool one = penstock__filter_sets(filter) == 1; /* sums of products, and a spectrum kept, take registers */
    const struct fused_requirements requirements = {.extra = 16, /* measured: */
                                                    .dense = filter->n == 4096   ? (one ? 3 : 2)
                                                             : filter->n == 2048 ? (one ? 5 : 4)
                                                                                 : 1,
                                                    .regions = filter->interpolation == 1,
                                                    .computed = one && (filter->n == 4096 || filter->n == 2048),
                                                    .per_group = filter->n == 1024 ? 1 : 0};
    int status = penstock__fused_config(&self->config, filter->n, limits, variant, &requirements);
    if (!variant && !getenv("PENSTOCK_FUSED_SHAPE"))
        self->config.ahead = groups_ahead(filter, limits);
    self->local_bytes = self->config.per_group * 8 * (size_t)self->config.region + 16;
    return status;
}

static void add_constants(struct gpu_text *text, const struct fused_kernel *self,
                          const struct penstock_filter_problem *filter)
{
    penstock__fused_constants(text, &self->config);
    penstock__text_add(text,
                       "#define FORMAT %d\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE 0\n#define REAL 0\n"
                       "#define LOCAL_PIECES %zu\n#define SPACING %zu\n#define FIRST %zu\n#define VALUES %zu\n"
                       "#define STEP %zu\n#define PARTS %zu\n#define ARMS %zu\n#define ROTATED %d\n#define AHEAD %u\n",
                       (int)filter->format, self->local_bytes / 16, filter->block, filter->first,
                       penstock__filter_values(filter), filter->decimation, filter->partitions, filter->interpolation,
                       filter->rotated, self->config.ahead);
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_filter_problem *filter = &problem->filter;
    static const char *const files[] = {"portability.h", "load.h", "fused.h", "filter.cl", NULL};
    const struct fused_config *config = &self->config;
    unsigned forward[GPU_MAX_SLOTS], back[GPU_MAX_SLOTS];
    add_constants(text, self, filter);
    penstock__fused_transform(text, config, "FORWARD", false, filter->partitions > 1 && config->passes > 1, NULL,
                              forward);
    penstock__fused_transform(text, config, "REVERSE_ALL", true, config->passes > 1, forward, back);
    penstock__text_add(text, "#define PAIR_OF_LANE %s\n#define MULTIPLY",
                       filter->n == 4096 && !config->regions ? "(lane / 256 * 256 + lane % 16 * 16 + lane / 16 % 16)"
                                                             : "lane");
    for (unsigned i = 0, half = config->slots / 2; i < half; i++)
        penstock__text_add(text, " PRODUCTS(v%u, %u, v%u, %u, %u)", forward[i], i, forward[i + half], i + half,
                           (unsigned)(penstock__filter_place(filter->n, (size_t)i * config->lanes) / 2));
    for (unsigned taken = 0; taken < 2; taken++) {
        penstock__text_add(text, taken ? "\n#define TAKE_ALL" : "\n#define KEEP_ALL");
        for (unsigned i = 0; i < config->slots; i++)
            penstock__text_add(text, taken ? " TAKE(v%u, %u)" : " KEEP(v%u, %u)", forward[i], i);
    }
    penstock__text_add(text, "\n#define STORE_ALL");
    for (unsigned i = 0; i < config->slots; i++) {
        size_t at = (size_t)i * config->lanes, end = at + config->lanes;
        if (end > filter->first && at < filter->first + filter->block)
            penstock__text_add(text, " STORE(v%u, %zu, %d)", back[i], at,
                               at >= filter->first && end <= filter->first + filter->block);
    }
    penstock__text_add(text, "\n");
    return penstock__gpu_source_files(text, context, files);
}

const struct fused_kind penstock__fused_filter = {.names = {"filter"}, .configure = configure, .source = source};
