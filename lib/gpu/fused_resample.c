/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The resampler's kernel: work-items, and samples in local memory. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#define GROUP      256
#define SHARES     32                 /* work-items for an output, where samples do not fit in local memory */
#define TILE_BYTES ((size_t)32 << 10) /* several groups fit on a multiprocessor, and some devices have no more */

static int check(const struct penstock_problem *problem, const char *device)
{
    const struct penstock_resample_problem *resample = &problem->resample;
    const size_t block = resample->block;
    if (resample->format == PENSTOCK_PLANAR)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s resamples no %s samples", device,
                               penstock_format_name(resample->format));
    if (!block || block > PENSTOCK__RESAMPLE_BLOCK || (block & (block - 1)) ||
        (resample->real && (resample->format != PENSTOCK_F32 || resample->complex_taps)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s does not resample in blocks of %zu outputs", device,
                               block);
    return PENSTOCK_OK;
}

/* Variant 0 has samples in local memory where they fit, variant 1 reads them where they are. */
static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const size_t sample = (problem->resample.real ? 1 : 2) * sizeof(float);
    const size_t bytes = limits->local_bytes < TILE_BYTES ? limits->local_bytes : TILE_BYTES;
    if (variant > 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "resampling has no variant %u", variant);
    self->tile = variant ? 1 : (unsigned)(bytes / sample);
    self->local_bytes = self->tile * sample;
    self->group[0] = penstock__gpu_group(limits, GROUP);
    self->group[1] = 1;
    self->per_group = (unsigned)problem->resample.block;
    return PENSTOCK_OK;
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_resample_problem *resample = &problem->resample;
    static const char *const files[] = {"portability.h", "load.h", "resample.cl", NULL};
    penstock__text_add(text,
                       "#define CPU 0\n#define FORMAT %d\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE_IN 0\n"
                       "#define REAL 2\n#define REAL_SAMPLES %d\n#define COMPLEX_TAPS %d\n#define BLOCK %zu\n"
                       "#define GROUP %u\n#define TILE %u\n#define SHARES %d\n",
                       (int)resample->format, resample->real, resample->complex_taps, resample->block, self->group[0],
                       self->tile, SHARES);
    return penstock__gpu_source_files(text, context, files);
}

const struct fused_kind penstock__fused_resample = {
    .names = {"resample"}, .check = check, .configure = configure, .source = source};
