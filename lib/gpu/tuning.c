/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lists configurations: a few tuning parameters, each a step from what was measured or estimated to be best. */
#include "gpu/tuning.h"
#include "gpu/kernel.h"
#include "gpu/plane.h"
#include "gpu/tuning_parameters.h"

#include <stdio.h>
#include <string.h>

#define CPU_SHAPES 4 /* compiling takes a CPU's driver seconds */

/* What a text makes of a plan. */
struct made {
    bool fused;
    struct fused_kernel kernel;             /* where fused */
    struct gpu_decomposition decomposition; /* where not */
};

struct list {
    struct penstock_launch_configs *configs;
    const struct penstock_problem *problem;
    struct gpu_limits limits;
    struct made usual, tried;
    uint64_t hashes[PENSTOCK_MAX_LAUNCH_CONFIGS + 1]; /* of the usual configuration and of those listed */
    size_t most;
};

/* ---------------------------------------------------------------- the list -------------------- */

static int make(struct made *made, const struct list *list, const char *config)
{
    struct gpu_limits limits = list->limits;
    limits.config = config;
    memset(made, 0, sizeof *made);
    made->fused = penstock__fused_first(list->problem, &limits);
    if (made->fused)
        return penstock__fused_kernel_config(&made->kernel, list->problem, &limits, 0, true);
    return penstock__gpu_decomposition(&made->decomposition, &list->problem->fft, &limits, 0);
}

/* A configuration that the device cannot have, or that is there already, is left out. */
static void add(struct list *list, const char *config)
{
    uint64_t hash;
    if (list->configs->count == list->most || strlen(config) >= PENSTOCK_LAUNCH_CONFIG_BYTES ||
        make(&list->tried, list, config))
        return;
    hash = penstock__hash(&list->tried, sizeof list->tried);
    for (size_t i = 0; i <= list->configs->count; i++)
        if (list->hashes[i] == hash)
            return;
    snprintf(list->configs->text[list->configs->count++], PENSTOCK_LAUNCH_CONFIG_BYTES, "%s", config);
    list->hashes[list->configs->count] = hash;
}

/* ---------------------------------------------------------------- one pass -------------------- */

/* `count` 0: the pass's own stages. */
struct step {
    unsigned radix[GPU_MAX_STAGES], count;
    unsigned lanes, per_group, resident, ahead;
};

static struct step step_of(const struct gpu_launch_config *config)
{
    struct step step = {.count = config->chain,
                        .lanes = config->lanes,
                        .per_group = config->per_group,
                        .resident = config->resident,
                        .ahead = config->ahead};
    memcpy(step.radix, config->radix, sizeof step.radix);
    return step;
}

/* `before` goes first in the text. */
static void add_step(struct list *list, const char *before, unsigned n, const struct step *step)
{
    char text[2 * PENSTOCK_LAUNCH_CONFIG_BYTES], radices[PENSTOCK_LAUNCH_CONFIG_BYTES] = "";
    size_t used = 0;
    for (unsigned s = 0; s < step->count && used < sizeof radices; s++)
        used += (size_t)snprintf(radices + used, sizeof radices - used, "%s%u", s ? "x" : "", step->radix[s]);
    used = (size_t)snprintf(text, sizeof text, "%sn=%u,radix=%s,lanes=%u,group=%u", before, n, radices, step->lanes,
                            step->per_group);
    if (!list->limits.cpu && used < sizeof text)
        snprintf(text + used, sizeof text - used, step->ahead ? ",resident=%u,ahead=%u" : ",resident=%u,ahead=none",
                 step->resident, step->ahead);
    add(list, text);
}

/* Powers of two by one radix alone; work-items hold that many points. */
static void add_radix(struct list *list, const char *before, const struct gpu_launch_config *config, unsigned radix)
{
    struct step step = step_of(config);
    if (radix >= config->n)
        return;
    step.count = 0;
    for (unsigned left = config->n; left > 1 && step.count < TUNING_MAX_STAGES; step.count++) {
        step.radix[step.count] = left < radix ? left : radix;
        left /= step.radix[step.count];
    }
    step.lanes = config->n / radix;
    step.per_group = list->limits.cpu || config->columns || step.lanes >= 64 ? config->per_group : 64 / step.lanes;
    step.resident = step.lanes * step.per_group > 512 ? 1 : 1024 / (step.lanes * step.per_group);
    add_step(list, before, config->n, &step);
}

/* More or fewer transforms of a work-group, work-items of a transform, other stages, another order of them, and, on a
 * GPU, groups of a multiprocessor and samples that are fetched ahead. */
static void add_steps(struct list *list, const char *before, const struct gpu_launch_config *config)
{
    const struct step usual = step_of(config);
    struct step step = usual;
    bool power = !(config->n & (config->n - 1));
    step.per_group = 2 * usual.per_group;
    step.resident = (usual.resident + 1) / 2;
    add_step(list, before, config->n, &step);
    if (usual.per_group > 1) {
        step.resident = usual.resident;
        step.per_group = usual.per_group / 2;
        add_step(list, before, config->n, &step);
    }
    if (power) {
        add_radix(list, before, config, 8);
        add_radix(list, before, config, 16);
    }
    step = usual;
    for (unsigned s = 0; s < usual.count; s++)
        step.radix[s] = usual.radix[usual.count - 1 - s];
    add_step(list, before, config->n, &step);
    step = usual;
    step.ahead = usual.ahead ? 0 : list->limits.units;
    if (!list->limits.cpu)
        add_step(list, before, config->n, &step);
    step = usual;
    step.lanes = 2 * usual.lanes;
    step.resident = (usual.resident + 1) / 2;
    add_step(list, before, config->n, &step);
    step = usual;
    step.resident = usual.resident > 1 ? usual.resident / 2 : 2;
    if (!list->limits.cpu)
        add_step(list, before, config->n, &step);
}

/* ---------------------------------------------------------------- the whole ------------------- */

/* Other numbers of points for a convolution: the next power of two, and smooth ones near the least. */
static void add_totals(struct list *list, unsigned n)
{
    char text[PENSTOCK_LAUNCH_CONFIG_BYTES];
    unsigned least = 2 * n - 1, step = least > 512 ? 32 : 8, power = 1, near = 0;
    while (power < least)
        power *= 2;
    snprintf(text, sizeof text, "n=%u,total=%u", n, power);
    add(list, text);
    for (unsigned m = (least + step - 1) / step * step; m < power && near < 3; m += step)
        if (penstock__gpu_smooth(m)) {
            snprintf(text, sizeof text, "n=%u,total=%u", n, m);
            add(list, text);
            near++;
        }
}

/* Two passes: one larger, the other smaller; less of a batch at a time, so that what is between them stays in a cache.
 */
static void add_parts(struct list *list, unsigned n, const struct gpu_decomposition *usual)
{
    unsigned a = usual->pass[0].config.n, b = usual->pass[1].config.n, chunk = list->limits.cpu ? 18 : 22;
    char text[PENSTOCK_LAUNCH_CONFIG_BYTES];
    const unsigned parts[][2] = {{2 * a, b / 2}, {a / 2, 2 * b}, {b, a}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && usual->count == 2; i++)
        if (parts[i][0] * parts[i][1] == a * b) {
            snprintf(text, sizeof text, "n=%u,parts=%ux%u", n, parts[i][0], parts[i][1]);
            add(list, text);
        }
    snprintf(text, sizeof text, "n=%u,chunk=%u", n, chunk);
    add(list, text);
    for (unsigned i = 0; i < 2; i++) {
        struct step step = step_of(&usual->pass[i].config);
        step.per_group /= 2;
        add_step(list, "", usual->pass[i].config.n, &step);
    }
}

/* Transforms of a work-group, and where factors come from. */
static void add_fused(struct list *list, unsigned n, const struct fused_config *usual)
{
    const struct {
        const char *knob;
        unsigned value;
    } tuning[] = {{"group", 2 * usual->per_group},
                  {"group", usual->per_group / 2},
                  {"buffers", usual->two_buffers ? 1 : 2},
                  {"computed", 0},
                  {"computed", 2},
                  {"dense", 2}};
    char text[PENSTOCK_LAUNCH_CONFIG_BYTES];
    for (size_t i = 0; i < sizeof tuning / sizeof *tuning; i++) {
        snprintf(text, sizeof text, "n=%u,fused=1,%s=%u", n, tuning[i].knob, tuning[i].value);
        if (strcmp(tuning[i].knob, "group") || tuning[i].value)
            add(list, text);
    }
}

static void add_all(struct list *list)
{
    const struct gpu_decomposition *decomposition = &list->usual.decomposition;
    unsigned n = (unsigned)list->problem->fft.n;
    char text[PENSTOCK_LAUNCH_CONFIG_BYTES];
    snprintf(text, sizeof text, "n=%u,fused=%s", n, list->usual.fused ? "none" : "1");
    add(list, text);
    if (list->usual.fused) {
        add_fused(list, n, &list->usual.kernel.config);
        return;
    }
    if (decomposition->method == GPU_BLUESTEIN)
        add_totals(list, n);
    if (decomposition->count > 1) {
        add_parts(list, n, decomposition);
        return;
    }
    text[0] = 0;
    if (decomposition->method == GPU_BLUESTEIN)
        snprintf(text, sizeof text, "n=%u,total=%u;", n, decomposition->total);
    add_steps(list, text, &decomposition->pass[0].config);
}

/* ---------------------------------------------------------------- identity -------------------- */

/* The name that the usual plan's first kernel has in the cache: its source, device, driver and compiler are in it. */
static int identify(struct list *list, const struct penstock_device *device, const char *identity)
{
    struct gpu_text text = {0};
    struct gpu_table table;
    int status;
    if (list->usual.fused)
        status = penstock__fused_source(&text, device->context, &list->usual.kernel, list->problem);
    else {
        penstock__gpu_table_plan(&table, &list->usual.decomposition, 0, &list->problem->fft);
        status = penstock__gpu_kernel_source(&text, device->context, &list->usual.decomposition, 0, &table,
                                             &list->problem->fft);
    }
    if (!status)
        penstock__gpu_cache_name(list->configs->identity, device->backend->name, text.content, "", identity);
    penstock__text_free(&text);
    return status;
}

int penstock__gpu_launch_configs(struct penstock_launch_configs *configs, const struct penstock_device *device,
                                 const struct penstock_problem *problem, const struct gpu_limits *limits,
                                 const char *identity)
{
    struct list *list;
    int status;
    memset(configs, 0, sizeof *configs);
    if (problem->kind != PENSTOCK_PROBLEM_FFT || penstock__gpu_is_plane(&problem->fft, limits) ||
        penstock__fft_is_plane(&problem->fft) || problem->fft.transposed || penstock__fft_has_options(&problem->fft))
        return PENSTOCK_OK;
    if (!(list = penstock__calloc(1, sizeof *list)))
        return PENSTOCK_ERR_MEMORY;
    list->configs = configs;
    list->problem = problem;
    list->limits = *limits;
    list->most = limits->cpu ? CPU_SHAPES : PENSTOCK_MAX_LAUNCH_CONFIGS;
    if (!(status = make(&list->usual, list, NULL)) && !(status = identify(list, device, identity))) {
        list->hashes[0] = penstock__hash(&list->usual, sizeof list->usual);
        add_all(list);
    }
    penstock__free(list);
    return status;
}
