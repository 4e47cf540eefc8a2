/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernels of coded symbols: work-items, and the table of rates. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#include <math.h>

#define GROUP           64
#define COUNT_BYTES     8                   /* a symbol's counts in local memory, a work-item */
#define MAP_AT          4                   /* in a rate's row of the table: as kernels/coded.cl has it */
#define MOST_SOFT       ((unsigned)1 << 20) /* floats hold their places exactly */
#define MOST_CONSTRAINT 9

static int check(const struct penstock_problem *problem, const char *device)
{
    const struct penstock_coded_problem *coded = &problem->coded;
    if (!coded->rate_count || coded->row < PENSTOCK__CODED_MAP || coded->pitch > MOST_SOFT || coded->constraint < 2 ||
        coded->constraint > MOST_CONSTRAINT)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no kernel for symbols of %u soft bits at %u rates",
                               device, coded->pitch, coded->rate_count);
    return PENSTOCK_OK;
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    if (variant)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "coded symbols have no variant %u", variant);
    self->group[0] = penstock__gpu_group(limits, GROUP);
    self->group[1] = 1;
    self->per_group = 1;
    self->local_bytes = problem->coded.tally ? (size_t)self->group[0] * COUNT_BYTES : 0;
    return PENSTOCK_OK;
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_coded_problem *coded = &problem->coded;
    static const char *const files[] = {"portability.h", "coded.cl", NULL};
    penstock__text_add(text,
                       "#define CPU 0\n#define TALLY %d\n#define CARRIERS %u\n#define PITCH %u\n"
                       "#define POINTS_AT %u\n#define TABLE_ROW %u\n#define GENERATOR_0 %uu\n#define GENERATOR_1 %uu\n"
                       "#define CONSTRAINT %u\n#define BLOCK_BYTES %zu\n#define GROUP %u\n",
                       coded->tally, coded->carriers, coded->pitch, (coded->pitch + 7) / 8 * 8,
                       coded->row - PENSTOCK__CODED_MAP + MAP_AT, coded->generators[0], coded->generators[1],
                       coded->constraint, coded->block_bytes, self->group[0]);
    return penstock__gpu_source_files(text, context, files);
}

/* Points of mean power one, of the rate's constellation, times this have levels at odd integers. */
static float unit_of(float levels, int32_t bits)
{
    return sqrtf((bits == 1 ? 1.0F : 2.0F) * (levels * levels - 1) / 3);
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    const struct penstock_coded_problem *coded = &problem->coded;
    const size_t width = coded->row - PENSTOCK__CODED_MAP + MAP_AT;
    (void)self;
    *count = coded->rate_count * width;
    if (!(*values = penstock__calloc(*count, sizeof **values)))
        return PENSTOCK_ERR_MEMORY;
    for (unsigned r = 0; r < coded->rate_count; r++) {
        const int32_t *rate = coded->rates + (size_t)r * coded->row, bits = rate[PENSTOCK__CODED_BITS];
        const float levels = bits == 1 ? 2 : (float)(1U << (bits / 2));
        float *row = *values + r * width;
        row[0] = (float)rate[PENSTOCK__CODED_STEPS];
        row[1] = unit_of(levels, bits);
        row[2] = levels / 2 - 0.5F; /* keeps the outermost levels the nearest for what lies beyond */
        row[3] = bits == 1;
        for (unsigned i = PENSTOCK__CODED_MAP; i < coded->row; i++)
            row[MAP_AT + i - PENSTOCK__CODED_MAP] = (float)rate[i];
    }
    return PENSTOCK_OK;
}

const struct fused_kind penstock__fused_deinterleave = {
    .names = {"deinterleave"}, .check = check, .configure = configure, .source = source, .table = table};
const struct fused_kind penstock__fused_tally = {
    .names = {"tally"}, .check = check, .configure = configure, .source = source, .table = table};
