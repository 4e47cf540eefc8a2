/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel of overlapped transforms' sums: work-items, and the weights. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#include <string.h>

#define GROUP  256
#define VALUES 1024 /* of a group: several to a work-item, whose first weights and places are the dearest */
#define MOST_N 65536

static int check(const struct penstock_problem *problem, const char *device)
{
    if (problem->fft.n <= MOST_N)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s overlaps transforms of at most %d points, not %zu", device,
                           MOST_N, problem->fft.n);
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    if (variant)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "overlapping has no variant %u", variant);
    self->group[0] = penstock__gpu_group(limits, GROUP);
    self->group[1] = 1;
    self->per_group = (unsigned)(problem->fft.hop < VALUES ? VALUES / problem->fft.hop : 1);
    return PENSTOCK_OK;
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    static const char *const files[] = {"portability.h", "load.h", "overlap.cl", NULL};
    penstock__text_add(
        text,
        "#define CPU 0\n#define FORMAT 0\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE_IN 0\n#define REAL 0\n"
        "#define N %zuu\n#define HOP %zuu\n#define DEPTH %zuu\n#define GROUP %u\n#define "
        "PER_GROUP %uu\n",
        problem->fft.n, problem->fft.hop, problem->fft.fold, self->group[0], self->per_group);
    return penstock__gpu_source_files(text, context, files);
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    (void)self;
    *count = penstock__fft_window_count(&problem->fft);
    if (!(*values = penstock__alloc(*count * sizeof **values)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(*values, problem->fft.window, *count * sizeof **values);
    return PENSTOCK_OK;
}

const struct fused_kind penstock__fused_overlap = {
    .names = {"overlap"}, .check = check, .configure = configure, .source = source, .table = table};
