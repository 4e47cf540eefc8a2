/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The averaging kernel: what is generated of it. */
#include "gpu/fused_kinds.h"
#include "gpu/source.h"

#include <string.h>

bool penstock__fused_spectrum_fits(const struct penstock_fft_problem *fft)
{
    return fft->average > 1 && fft->output == PENSTOCK_OUTPUT_POWER && fft->domain == PENSTOCK_COMPLEX &&
           fft->direction == PENSTOCK_FORWARD && !fft->gathered && fft->shift == 0 && fft->format < PENSTOCK_PLANAR &&
           !fft->half && fft->n >= FUSED_LEAST && fft->n <= FUSED_MOST && !(fft->n & (fft->n - 1)) &&
           fft->spacing <= INT32_MAX / 2 / fft->average && fft->skip <= INT32_MAX / 2;
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    const size_t n = problem->fft.n;
    const struct fused_requirements requirements = {
        .extra = 16, .dense = n == 2048 ? 4 : 1, .two_buffers = true}; /* measured */
    int status = penstock__fused_config(&self->config, n, limits, 0, &requirements);
    (void)variant;
    self->local_bytes = self->config.per_group * 8 * (size_t)self->config.region + 16;
    return status;
}

/* Whether the next frame's first exchange would overwrite what work-items still read of this one's last. */
static bool needs_barrier(const struct fused_config *config)
{
    return config->passes > 1 && !(config->two_buffers && config->passes == 3);
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    static const char *const files[] = {"portability.h", "load.h", "fused.h", "spectrum.cl", NULL};
    const struct fused_config *config = &self->config;
    unsigned order[GPU_MAX_SLOTS];
    double scale = (double)fft->scale * penstock__fused_sample_factor(fft->format);
    penstock__fused_constants(text, config);
    penstock__text_add(text,
                       "#define FORMAT %d\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE 0\n#define REAL 0\n"
                       "#define LOCAL_PIECES %zu\n#define SPACING %zu\n#define SKIP %zu\n#define AVERAGE %u\n"
                       "#define WINDOWED %d\n#define WINDOW_AT %zu\n#define CENTER %zu\n#define SUM_BARRIER %s\n"
                       "#define FACTOR ",
                       (int)fft->format, self->local_bytes / 16, fft->spacing, fft->skip, fft->average,
                       fft->window != NULL, penstock__fused_table_floats(config), fft->centered ? fft->n / 2 : 0,
                       needs_barrier(config) ? "K_BARRIER_LANES();" : "");
    penstock__text_add_float(text, (float)(scale * scale / fft->average));
    penstock__text_add(text, "\n");
    penstock__fused_transform(text, config, "TRANSFORM", false, false, NULL, order);
    penstock__text_add(text, "#define ADD_ALL");
    for (unsigned i = 0; i < config->slots; i++)
        penstock__text_add(text, " ADD(%u, v%u)", i, order[i]);
    penstock__text_add(text, "\n");
    return penstock__gpu_source_files(text, context, files);
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    const size_t n = problem->fft.n;
    int status = penstock__fused_table(values, count, &self->config, n);
    if (!status && problem->fft.window)
        memcpy(*values + *count - n, problem->fft.window, n * sizeof **values);
    return status;
}

const struct fused_kind penstock__fused_spectrum = {
    .names = {"spectrum"}, .configure = configure, .source = source, .table = table};
