/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The kernel of plain transforms: where it is used, and what is generated of it. */
#include "gpu/decomposition.h"
#include "gpu/fused_kinds.h"
#include "gpu/source.h"
#include "gpu/tuning_parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_IN_PTX 8192  /* points, as it compiles in half the time there */
#define MOST_OF_ONE  16384 /* points; twice as many are done as two halves */
#define POINTS_AHEAD 8192  /* for each multiprocessor, which few groups fit: their loads wait for their computing */

/* Measured on an H200. 4096 points by the usual kernel take 96 registers where the compiler is not told of a bound, so
 * that there are two groups at once in place of four. */
static bool faster(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    size_t n = fft->n;
    const char *wanted = getenv("PENSTOCK_FUSED_PLAIN");
    struct gpu_tuning tuning;
    penstock__gpu_tuning_parameters(&tuning, (unsigned)n, penstock__gpu_wanted(limits, 0));
    if (tuning.fused == 1)
        return true;
    if (wanted)
        return *wanted == '1';
    return (n == 128 && !penstock__gpu_whole(fft)) || (n == 4096 && !limits->bounded) || n >= LEAST_IN_PTX;
}

static bool is_two(const struct penstock_fft_problem *fft)
{
    return fft->n > MOST_OF_ONE;
}

static struct fused_requirements requirements_of(const struct penstock_fft_problem *fft)
{
    struct fused_requirements requirements = {.extra = 16, .plain = true};
    if (is_two(fft)) {
        requirements.extra += 8 * fft->n / 2;
        requirements.halves = true;
    }
    return requirements;
}

/* Where registers are few, and a group has room for work-items that hold fewer points. */
static bool holds_too_many(const struct fused_config *config, const struct gpu_limits *limits)
{
    return limits->slots && config->slots > limits->slots && config->n / limits->slots <= limits->max_group;
}

/* What is needed besides the points is for halves, or else keeps the memory of a single pass from being empty: neither
 * is ever swizzled. */
static int configure_fft(struct fused_kernel *self, const struct penstock_fft_problem *fft,
                         const struct gpu_limits *limits)
{
    struct fused_requirements requirements = requirements_of(fft);
    int status = penstock__fused_config(&self->config, is_two(fft) ? fft->n / 2 : fft->n, limits, 0, &requirements);
    if (fft->n >= LEAST_IN_PTX && !getenv("PENSTOCK_FUSED_SHAPE"))
        self->config.ahead = limits->units * POINTS_AHEAD / (unsigned)fft->n;
    self->local_bytes = self->config.per_group * 8 * (size_t)self->config.region;
    if (!self->config.swizzled)
        self->local_bytes += requirements.extra;
    return status;
}

static int configure(struct fused_kernel *self, const struct penstock_problem *problem, const struct gpu_limits *limits,
                     unsigned variant)
{
    (void)variant;
    return configure_fft(self, &problem->fft, limits);
}

bool penstock__fused_plain_fits(const struct penstock_fft_problem *fft, const struct gpu_limits *limits)
{
    struct fused_kernel kernel;
    if (limits->cpu || fft->n < FUSED_LEAST || fft->n > 2 * MOST_OF_ONE || (fft->n & (fft->n - 1)) ||
        !faster(fft, limits) || fft->average > 1 || fft->output != PENSTOCK_OUTPUT_COMPLEX ||
        fft->domain != PENSTOCK_COMPLEX || fft->gathered || fft->shift != 0 || fft->format >= PENSTOCK_PLANAR ||
        fft->half || fft->fold || fft->spacing > INT32_MAX / 2 || fft->skip > INT32_MAX / 2)
        return false;
    if (is_two(fft) &&
        (fft->format != PENSTOCK_CF32 || fft->spacing % 2 || fft->skip % 2 || fft->window || fft->centered))
        return false;
    return !configure_fft(&kernel, fft, limits) && !holds_too_many(&kernel.config, limits);
}

/* ---------------------------------------------------------------- source ---------------------- */

static void add_constants(struct gpu_text *text, const struct fused_kernel *self,
                          const struct penstock_fft_problem *fft)
{
    penstock__text_add(text,
                       "#define FORMAT %d\n#define WINDOW 0\n#define GATHERED 0\n#define REVERSE 0\n#define REAL 0\n"
                       "#define LOCAL_PIECES %zu\n#define SPACING %zu\n#define SKIP %zu\n#define TWO %d\n"
                       "#define AHEAD %u\n#define WINDOWED %d\n#define WINDOW_AT %zu\n#define TURNS_AT %zu\n"
                       "#define PTX %d\n#define SCALE (",
                       (int)fft->format, self->local_bytes / 16, fft->spacing, fft->skip, is_two(fft),
                       self->config.ahead, fft->window != NULL, penstock__fused_table_floats(&self->config),
                       penstock__fused_table_floats(&self->config) / 2, fft->n >= LEAST_IN_PTX);
    penstock__text_add_float(text, (float)((double)fft->scale * penstock__fused_sample_factor(fft->format)));
    penstock__text_add(text, ")\n");
}

/* exp(-2 pi i k / 2N), k = lane + i lanes, is that of the lane, which is read, times that of i lanes. */
static void add_halves(struct gpu_text *text, const struct fused_config *config, bool reverse,
                       const unsigned order[GPU_MAX_SLOTS])
{
    penstock__text_add(text, "#define STORE_ALL");
    for (unsigned i = 0; i < config->slots; i++) {
        double angle = acos(-1) * i / config->slots;
        penstock__text_add(text, " STORE_TWO(%u, v%u, %u, ", i * config->lanes, order[i], order[i] * config->lanes);
        penstock__text_add_float(text, (float)cos(angle));
        penstock__text_add(text, ", ");
        penstock__text_add_float(text, (float)(reverse ? sin(angle) : -sin(angle)));
        penstock__text_add(text, ")");
    }
    penstock__text_add(text, "\n");
}

static int source(struct gpu_text *text, const penstock_context *context, const struct fused_kernel *self,
                  const struct penstock_problem *problem)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    static const char *const files[] = {"portability.h", "load.h", "fused.h", "ptx.h", "plain.cl", NULL};
    const struct fused_config *config = &self->config;
    bool reverse = fft->direction == PENSTOCK_REVERSE;
    unsigned order[GPU_MAX_SLOTS];
    penstock__fused_constants(text, config);
    add_constants(text, self, fft);
    penstock__fused_transform(text, config, "TRANSFORM", reverse, is_two(fft), NULL, order);
    if (is_two(fft))
        add_halves(text, config, reverse, order);
    else {
        unsigned center = fft->centered ? config->n / 2 : 0; /* slots are even */
        penstock__text_add(text, "#define STORE_ALL");
        for (unsigned i = 0; i < config->slots; i++)
            penstock__text_add(text, " STORE(%u, v%u)", (i * config->lanes + center) % config->n, order[i]);
        penstock__text_add(text, "\n");
    }
    return penstock__gpu_source_files(text, context, files);
}

static int table(float **values, size_t *count, const struct fused_kernel *self, const struct penstock_problem *problem)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    const size_t at = penstock__fused_table_floats(&self->config), lanes = self->config.lanes;
    int status = penstock__fused_table(values, count, &self->config, is_two(fft) ? 2 * lanes : fft->n);
    if (!status && fft->window)
        memcpy(*values + at, fft->window, fft->n * sizeof **values);
    for (size_t i = 0; i < lanes && is_two(fft) && !status; i++) {
        double angle = (fft->direction == PENSTOCK_REVERSE ? 2 : -2) * acos(-1) * (double)i / (double)fft->n;
        (*values)[at + 2 * i] = (float)cos(angle);
        (*values)[at + 2 * i + 1] = (float)sin(angle);
    }
    return status;
}

const struct fused_kind penstock__fused_plain = {
    .names = {"plain"}, .configure = configure, .source = source, .table = table};
