/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Each sample once for each frame that it is in, each value once. More often, and declared here:
 * - the bins of a half spectrum but the first and the last: each is its own and its mate's;
 * - samples in an image, once for each part of a point, as often as a texel has points;
 * - the last row or the last column, by those work-items of the last group that have nothing else to do. They also
 * store it again, the same values, unless the kernel has no local memory, or columns leave it as rows, or
 *   values become texels of two points;
 * - the last of an odd number of transforms, where a work-item does two at once.
 */
#include "gpu_trace_wanted.h"

static bool to_texels_of_two(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass)
{
    return decomposition->texel == 2 && pass->last;
}

/* How often row `row` of the launch is done. */
static unsigned row_times(const struct trace_launch *launch, size_t row, bool store)
{
    const struct gpu_decomposition *decomposition = launch->decomposition;
    const struct gpu_pass *pass = &decomposition->pass[launch->step.pass];
    const struct gpu_launch_config *config = &pass->config;
    size_t per = decomposition->paired ? 2 : 1, rows = launch->step.rows, tasks = (rows + per - 1) / per;
    size_t idle = config->columns || decomposition->tiles ? 0 : launch->step.groups * config->per_group - tasks;
    bool twice = !(store && (!penstock__gpu_local_bytes(config) || to_texels_of_two(decomposition, pass)));
    if (row + 1 < rows)
        return 1;
    return 1 + (decomposition->paired && rows % 2) + (twice ? (unsigned)(per * idle) : 0);
}

/* How often the last column is done. */
static unsigned last_column_times(const struct trace_launch *launch, bool store)
{
    const struct gpu_pass *pass = &launch->decomposition->pass[launch->step.pass];
    const struct gpu_launch_config *config = &pass->config;
    unsigned columns = penstock__gpu_columns(launch->decomposition, pass), per = config->per_group;
    bool once = store &&
                (config->turned || to_texels_of_two(launch->decomposition, pass) || !penstock__gpu_local_bytes(config));
    if (launch->decomposition->tiles || !config->columns || once)
        return 1;
    return 1 + (columns + per - 1) / per * per - columns;
}

static void add(struct trace_want *want, size_t at, size_t bytes, unsigned times)
{
    want->outside += at + bytes > want->bytes;
    for (size_t i = at; i < at + bytes && i < want->bytes; i++)
        want->times[i] = (uint16_t)(want->times[i] + times);
}

/* ---------------------------------------------------------------- loads ----------------------- */

/* Sample `j` of a frame that begins with sample `start`. */
static void add_sample(struct trace_want *want, const struct trace_launch *launch, size_t start, size_t j,
                       unsigned times)
{
    size_t bytes = penstock_format_bytes(launch->fft->format);
    if (launch->fft->format != PENSTOCK_PLANAR) {
        add(want, (start + j) * bytes, bytes, times);
        return;
    }
    add(want, (start + j) * sizeof(float), sizeof(float), times);
    add(want, (launch->samples + start + j) * sizeof(float), sizeof(float), times);
}

/* Where sample j of a folded frame goes; the first frame's turn is 0. */
static size_t point_of(const struct penstock_fft_problem *fft, size_t start, size_t j)
{
    return (start + j) % fft->n;
}

static void add_frame(struct trace_want *want, const struct trace_launch *launch, size_t start, unsigned times)
{
    const struct gpu_decomposition *decomposition = launch->decomposition;
    const struct penstock_fft_problem *fft = launch->fft;
    unsigned columns = decomposition->tiles ? 1 : penstock__gpu_columns(decomposition, &decomposition->pass[0]);
    unsigned last = last_column_times(launch, false), parts = decomposition->texel ? 2 * decomposition->texel : 1;
    bool half_spectrum = fft->domain == PENSTOCK_REAL && fft->direction == PENSTOCK_REVERSE;
    if (half_spectrum && decomposition->real == GPU_PACKED) { /* point j is of bins j and n / 2 - j */
        for (size_t j = 0; j < fft->n / 2; j++) {
            add_sample(want, launch, start, j, times);
            add_sample(want, launch, start, fft->n / 2 - j, times);
        }
        return;
    }
    for (size_t j = 0; j < fft->fold * fft->n; j++)
        add_sample(want, launch, start, j, times * (point_of(fft, start, j) % columns == columns - 1 ? last : 1));
    for (size_t j = 0; j < fft->n && !fft->fold; j++) {
        unsigned column = j % columns == columns - 1 ? last : 1;
        if (decomposition->texel == 2) /* a texel of two points comes for each part of each of them */
            add_sample(want, launch, start, j ^ 1, times * column * 2);
        add_sample(want, launch, start, half_spectrum && fft->n - j < j ? fft->n - j : j,
                   times * column * (decomposition->texel == 2 ? 2 : parts));
    }
}

void trace_want_loads(struct trace_want *want, const struct trace_launch *launch)
{
    const struct gpu_decomposition *decomposition = launch->decomposition;
    const struct gpu_pass *pass = &decomposition->pass[launch->step.pass];
    size_t average = pass->last ? launch->fft->average : 1;
    for (size_t frame = 0; frame < launch->step.rows * average; frame++) {
        unsigned times = row_times(launch, frame / average, false);
        size_t number = launch->step.first * average + frame;
        if (pass->first) {
            size_t start =
                launch->gather ? launch->gather[number].start : number * launch->fft->spacing + launch->fft->skip;
            add_frame(want, launch, start, times);
            continue;
        }
        unsigned columns = penstock__gpu_columns(decomposition, pass), last = last_column_times(launch, false);
        for (size_t j = 0; j < decomposition->total; j++)
            add(want, (frame * decomposition->total + j) * sizeof(penstock_cf32), sizeof(penstock_cf32),
                times * (j % columns == columns - 1 ? last : 1));
    }
}

/* ---------------------------------------------------------------- stores ---------------------- */

/* Whether value `at` of the pass's result is of its last column. */
static bool of_last_column(const struct gpu_decomposition *decomposition, const struct gpu_pass *pass, size_t at)
{
    size_t columns = penstock__gpu_columns(decomposition, pass), inner = pass->inner;
    return at % inner == inner - 1 && at / (inner * pass->config.n) == columns / inner - 1;
}

void trace_want_stores(struct trace_want *want, const struct trace_launch *launch)
{
    const struct gpu_decomposition *decomposition = launch->decomposition;
    const struct gpu_pass *pass = &decomposition->pass[launch->step.pass];
    const struct penstock_fft_problem *fft = launch->fft;
    size_t bytes = pass->last ? penstock__fft_out_item(fft) : sizeof(penstock_cf32);
    size_t count = pass->last ? penstock__fft_out_count(fft) : decomposition->total;
    size_t middle = pass->last && fft->centered ? fft->n / decomposition->side / 2 * decomposition->side : 0;
    unsigned last = last_column_times(launch, true);
    for (size_t row = 0; row < launch->step.rows; row++) {
        unsigned times = row_times(launch, row, true);
        size_t number = (pass->last ? launch->step.first : 0) + row;
        for (size_t at = 0; at < count; at++) {
            bool doubled = last > 1 && of_last_column(decomposition, pass, at);
            add(want, (number * count + (at + middle) % count) * bytes, bytes, times * (doubled ? last : 1));
        }
    }
}
