/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The averaging kernel: what is generated of it. */
#include "gpu/fused_spectrum.h"
#include "gpu/source.h"

#include <string.h>

bool penstock__fused_spectrum_fits(const struct penstock_fft_problem *fft)
{
    return fft->average > 1 && fft->output == PENSTOCK_OUTPUT_POWER && fft->domain == PENSTOCK_COMPLEX &&
           fft->direction == PENSTOCK_FORWARD && !fft->gathered && fft->shift == 0 && fft->format < PENSTOCK_PLANAR &&
           !fft->half && fft->n >= FUSED_LEAST && fft->n <= FUSED_MOST && !(fft->n & (fft->n - 1)) &&
           fft->spacing <= INT32_MAX / 2 / fft->average && fft->skip <= INT32_MAX / 2;
}

int penstock__fused_spectrum_config(struct fused_kernel *self, const struct penstock_fft_problem *fft,
                                    const struct gpu_limits *limits)
{
    const struct fused_requirements requirements = {
        .extra = 16, .dense = fft->n == 2048 ? 4 : 1, .two_buffers = true}; /* measured */
    int status = penstock__fused_config(&self->config, fft->n, limits, 0, &requirements);
    self->copy_lanes = self->piece = 0;
    self->local_bytes = self->config.per_group * 8 * (size_t)self->config.region + 16;
    return status;
}

/* Whether the next frame's first exchange would overwrite what work-items still read of this one's last. */
static bool needs_barrier(const struct fused_config *config)
{
    return config->passes > 1 && !(config->two_buffers && config->passes == 3);
}

int penstock__fused_spectrum_source(struct gpu_text *text, const penstock_context *context,
                                    const struct fused_kernel *self, const struct penstock_fft_problem *fft)
{
    static const char *const files[] = {"portability.h", "load.h", "fused.h", "spectrum.cl", NULL};
    const struct fused_config *config = &self->config;
    unsigned order[GPU_MAX_SLOTS];
    double sample = fft->format == PENSTOCK_CS16 ? 1.0 / 32768 : fft->format == PENSTOCK_CF32 ? 1 : 1.0 / 128;
    double scale = (double)fft->scale * sample;
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

int penstock__fused_spectrum_table(float **values, size_t *count, const struct fused_kernel *self,
                                   const struct penstock_fft_problem *fft)
{
    size_t window_at = penstock__fused_table_floats(&self->config);
    *count = window_at + fft->n;
    if (!(*values = penstock__calloc(*count, sizeof **values)))
        return PENSTOCK_ERR_MEMORY;
    penstock__fused_table(*values, &self->config);
    if (fft->window)
        memcpy(*values + window_at, fft->window, fft->n * sizeof **values);
    return PENSTOCK_OK;
}
