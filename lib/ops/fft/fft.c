/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The batched FFT: checks a description, fills in its defaults and hands it on as a problem for a backend. */
#include "ops/fft/fft.h"
#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/plan/plan.h"

#include <math.h>

#define MAX_LENGTH  ((size_t)1 << 23)
#define MAX_SPACING ((size_t)1 << 31)
#define MAX_AVERAGE (1u << 20)
#define MAX_SLOTS   16
#define MAX_ITEMS   1024

/* Samples of a batch when the caller does not say: enough to keep every device busy, small enough for a cache. */
#define BATCH_SAMPLES ((size_t)1 << 18)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "fft: " __VA_ARGS__)

static int check_transform(const penstock_fft_desc *desc)
{
    if (desc->n < 1 || desc->n > MAX_LENGTH)
        return bad("length %zu is not in 1 .. %zu", desc->n, MAX_LENGTH);
    if (desc->direction != PENSTOCK_FORWARD && desc->direction != PENSTOCK_REVERSE)
        return bad("direction %d is neither PENSTOCK_FORWARD nor PENSTOCK_REVERSE", (int)desc->direction);
    if (desc->domain != PENSTOCK_COMPLEX && desc->domain != PENSTOCK_REAL)
        return bad("domain %d is neither PENSTOCK_COMPLEX nor PENSTOCK_REAL", (int)desc->domain);
    if (desc->slots > MAX_SLOTS)
        return bad("%u slots are not in 1 .. %d", desc->slots, MAX_SLOTS);
    return PENSTOCK_OK;
}

static int check_planes(const penstock_fft_desc *desc)
{
    bool rows = desc->rows > 1, columns = desc->columns > 1;
    if (rows && columns)
        return bad("%zu rows do not go with %zu columns: a frame is one or the other", desc->rows, desc->columns);
    if (rows && desc->n % desc->rows)
        return bad("%zu values are not %zu rows", desc->n, desc->rows);
    if (columns && desc->n % desc->columns)
        return bad("%zu values are not %zu columns", desc->n, desc->columns);
    if ((rows || columns) && desc->domain == PENSTOCK_REAL)
        return bad("rows or columns do not go with PENSTOCK_REAL");
    if ((rows || columns) && desc->load.shift != 0)
        return bad("rows or columns do not go with a shift");
    if (rows && desc->store.average > 1)
        return bad("rows do not go with average %u", desc->store.average);
    return PENSTOCK_OK;
}

static int check_options(const penstock_fft_options *options)
{
    unsigned radix = options->radix;
    if (radix && radix != 2 && radix != 4 && radix != 8 && radix != 16)
        return bad("radix %u is not 2, 4, 8 or 16", radix);
    if ((unsigned)options->scratch > PENSTOCK_SCRATCH_GLOBAL)
        return bad("scratch %d is not PENSTOCK_SCRATCH_ANY, _LOCAL or _GLOBAL", (int)options->scratch);
    if ((unsigned)options->column_way > PENSTOCK_COLUMNS_TRANSPOSED)
        return bad("column_way %d is not PENSTOCK_COLUMNS_ANY, _STRIDED or _TRANSPOSED", (int)options->column_way);
    if (options->items > MAX_ITEMS)
        return bad("%u work-items are not in 1 .. %d", options->items, MAX_ITEMS);
    if (options->group > MAX_ITEMS)
        return bad("%u transforms of a work-group are not in 1 .. %d", options->group, MAX_ITEMS);
    if ((unsigned)options->arithmetic > PENSTOCK_ARITHMETIC_HALF)
        return bad("arithmetic %d is not PENSTOCK_ARITHMETIC_FLOAT or _HALF", (int)options->arithmetic);
    return PENSTOCK_OK;
}

static int check_load(const penstock_fft_desc *desc)
{
    const penstock_load *load = &desc->load;
    bool real = desc->domain == PENSTOCK_REAL, reverse = desc->direction == PENSTOCK_REVERSE;
    if (!penstock_format_name(load->format))
        return bad("format %d is no sample format", (int)load->format);
    if (load->format == PENSTOCK_F32 && !(real && !reverse))
        return bad("format f32 goes with a forward transform of PENSTOCK_REAL");
    if (real && !reverse && load->format != PENSTOCK_F32 && load->format != PENSTOCK_CF32)
        return bad("format %s does not go with a forward transform of PENSTOCK_REAL, which takes f32",
                   penstock_format_name(load->format));
    if (load->spacing > MAX_SPACING)
        return bad("spacing %zu is larger than %zu", load->spacing, MAX_SPACING);
    if (load->skip > MAX_SPACING)
        return bad("skip %zu is larger than %zu", load->skip, MAX_SPACING);
    if (!(fabs(load->shift) <= 0.5))
        return bad("shift %g is not in -0.5 .. 0.5 turns per sample", load->shift);
    if (real && load->shift != 0)
        return bad("a shift does not go with PENSTOCK_REAL");
    if (real && reverse && load->window)
        return bad("a window does not go with a reverse transform of PENSTOCK_REAL");
    for (size_t i = 0; load->window && i < desc->n; i++)
        if (!isfinite(load->window[i]))
            return bad("window factor %zu is not finite", i);
    return PENSTOCK_OK;
}

static int check_store(const penstock_fft_desc *desc)
{
    const penstock_store *store = &desc->store;
    bool real = desc->domain == PENSTOCK_REAL, reverse = desc->direction == PENSTOCK_REVERSE;
    if ((unsigned)store->output > PENSTOCK_OUTPUT_DECIBEL)
        return bad("output %d is not PENSTOCK_OUTPUT_COMPLEX, _POWER or _DECIBEL", (int)store->output);
    if (real && reverse && store->output != PENSTOCK_OUTPUT_COMPLEX)
        return bad("a reverse transform of PENSTOCK_REAL gives real samples: leave output out");
    if (real && store->centered)
        return bad("a centred spectrum does not go with PENSTOCK_REAL, which has half a spectrum or none");
    if (!isfinite(store->scale))
        return bad("scale %g is not finite", (double)store->scale);
    if (store->average > MAX_AVERAGE)
        return bad("average %u is larger than %u", store->average, MAX_AVERAGE);
    if (store->average > 1 && store->output == PENSTOCK_OUTPUT_COMPLEX)
        return bad("average %u goes with power or decibel output, not with complex", store->average);
    return PENSTOCK_OK;
}

static size_t usual_batch(const penstock_fft_desc *desc, size_t average)
{
    size_t batch = desc->batch ? desc->batch : BATCH_SAMPLES / desc->n;
    if (batch < average)
        batch = average;
    return batch > MAX_SPACING ? MAX_SPACING : batch / average * average;
}

static void fill_problem(struct penstock_problem *problem, const penstock_fft_desc *desc)
{
    struct penstock_fft_problem *fft = &problem->fft;
    *problem = (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FFT};
    fft->n = desc->n;
    fft->direction = desc->direction;
    fft->domain = desc->domain;
    fft->format = desc->load.format;
    if (desc->domain == PENSTOCK_REAL && desc->direction == PENSTOCK_FORWARD)
        fft->format = PENSTOCK_F32;
    fft->window = desc->load.window;
    fft->skip = desc->load.skip;
    fft->spacing = desc->load.spacing ? desc->load.spacing : desc->load.skip + penstock__fft_in_count(fft);
    fft->shift = desc->load.shift;
    fft->output = desc->store.output;
    fft->centered = desc->store.centered;
    fft->half = desc->store.half;
    fft->scale = desc->store.scale != 0 ? desc->store.scale : 1;
    fft->average = desc->store.average ? desc->store.average : 1;
    fft->rows = desc->rows;
    fft->columns = desc->columns;
    fft->options = desc->options;
    fft->tune = desc->tune;
    problem->in_bytes = fft->spacing * penstock_format_bytes(fft->format);
    problem->out_bytes = penstock__fft_out_count(fft) * penstock__fft_out_item(fft);
    problem->batch = usual_batch(desc, fft->average);
}

static int make(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc, const char *device,
                bool there)
{
    penstock_fft_desc checked;
    struct penstock_problem problem;
    int status;
    if ((status = penstock__plan_begin(plan, context, "fft")) ||
        (status = penstock__description_read(&checked, sizeof checked, desc, "penstock_fft_desc")) ||
        (status = check_transform(&checked)) || (status = check_load(&checked)) || (status = check_store(&checked)) ||
        (status = check_planes(&checked)) || (status = check_options(&checked.options)))
        return status;
    fill_problem(&problem, &checked);
    if (there)
        return penstock__plan_new_there(plan, context, &problem, device, checked.slots);
    return penstock__plan_new(plan, context, &problem, device, checked.slots,
                              penstock__cpu_while_compiling(context, device));
}

int penstock_fft_plan(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc,
                      const char *device)
{
    return make(plan, context, desc, device, false);
}

int penstock__fft_plan_there(penstock_plan **plan, penstock_context *context, const penstock_fft_desc *desc,
                             const char *device)
{
    return make(plan, context, desc, device, true);
}
