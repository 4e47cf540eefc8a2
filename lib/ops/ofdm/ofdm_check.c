/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Checks of OFDM descriptions and batches, each with the value that is wrong and the range that would be right. */
#include "ops/ofdm/ofdm_check.h"
#include "backends/backend.h"
#include "core/stream/rest.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#define MAX_LENGTH   8192
#define ITEM_SYMBOLS 4096 /* that are worth another thread's attention */

static bool is_constellation(penstock_constellation constellation)
{
    switch (constellation) {
    case PENSTOCK_BPSK:
    case PENSTOCK_QPSK:
    case PENSTOCK_QAM16:
    case PENSTOCK_QAM64:
    case PENSTOCK_QAM256:
    case PENSTOCK_QAM1024:
        return true;
    }
    return false;
}

static int check_numbers(const char *what, const int32_t *numbers, size_t count, size_t n)
{
    uint64_t seen[MAX_LENGTH / 64] = {0};
    int32_t low = -(int32_t)(n / 2), high = (int32_t)((n - 1) / 2);
    if (count && !numbers)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: %s is NULL, but %s_count is %zu", what, what, count);
    if (count > n)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: %s_count is %zu, more than n, which is %zu", what, count,
                               n);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] < low || numbers[i] > high)
            return penstock__error(PENSTOCK_ERR_ARGUMENT,
                                   "ofdm: %s[%zu] is %" PRId32 ", outside %" PRId32 " .. %" PRId32 " for n %zu", what,
                                   i, numbers[i], low, high, n);
        size_t place = (size_t)(numbers[i] - low);
        if (seen[place / 64] >> place % 64 & 1)
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: carrier %" PRId32 " is twice in %s", numbers[i], what);
        seen[place / 64] |= (uint64_t)1 << place % 64;
    }
    return PENSTOCK_OK;
}

static int check_pilots(const penstock_ofdm_desc *desc)
{
    int status = check_numbers("pilots", desc->pilots, desc->pilot_count, desc->n);
    if (status || !desc->pilot_count)
        return status;
    if (!desc->pilot_values || !desc->pilot_rows)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: %zu pilots without rows of pilot_values",
                               desc->pilot_count);
    if (desc->pilot_rows > SIZE_MAX / desc->pilot_count / sizeof(penstock_cf32))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: pilot_rows is %zu, which no memory holds",
                               desc->pilot_rows);
    for (size_t i = 0; i < desc->pilot_rows * desc->pilot_count; i++) {
        float power =
            desc->pilot_values[i].re * desc->pilot_values[i].re + desc->pilot_values[i].im * desc->pilot_values[i].im;
        if (!(power > 0 && power < INFINITY))
            return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: pilot_values[%zu] is zero or not finite", i);
    }
    return PENSTOCK_OK;
}

int penstock__ofdm_check_desc(penstock_ofdm_desc *desc)
{
    if (desc->n < 2 || desc->n > MAX_LENGTH)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: n is %zu, not 2 .. %d", desc->n, MAX_LENGTH);
    if (desc->guard > UINT32_MAX / 4)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: guard is %zu, more than %u", desc->guard, UINT32_MAX / 4);
    if (desc->window_offset > desc->guard)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "ofdm: window_offset %zu is longer than the guard interval of %zu", desc->window_offset,
                               desc->guard);
    if (!penstock_format_bytes(desc->format))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: format %d is no sample format", (int)desc->format);
    if (desc->carrier_count < 1)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: no data carriers");
    if (desc->tracking != PENSTOCK_TRACK_PILOTS && desc->tracking != PENSTOCK_TRACK_GIVEN)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: tracking %d is unknown", (int)desc->tracking);
    if (!desc->max_constellation)
        desc->max_constellation = PENSTOCK_QAM64;
    if (!is_constellation(desc->max_constellation))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: max_constellation %d is not 1, 2, 4, 6, 8 or 10",
                               (int)desc->max_constellation);
    int status = check_numbers("carriers", desc->carriers, desc->carrier_count, desc->n);
    return status ? status : check_pilots(desc);
}

static int check_frame(const struct ofdm_grid *grid, const penstock_ofdm_frame *frame, size_t i)
{
    if (!frame->channel)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: frame %zu has no channel", i);
    if (!(frame->noise > 0 && frame->noise < INFINITY))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: frame %zu has noise %g, not a positive number", i,
                               (double)frame->noise);
    if (!(frame->llr_scale >= 0 && frame->llr_scale < INFINITY))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: frame %zu has llr_scale %g, not a positive number", i,
                               (double)frame->llr_scale);
    if (!(fabs(frame->cfo) <= 0.5))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: frame %zu has cfo %g turns per sample, not -0.5 .. 0.5", i,
                               frame->cfo);
    if (!is_constellation(frame->constellation) || (size_t)frame->constellation > grid->pitch)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "ofdm: frame %zu has a constellation of %d bits, not 1, 2, 4, 6, 8 or 10, %zu at most",
                               i, (int)frame->constellation, grid->pitch);
    return PENSTOCK_OK;
}

static int check_symbol(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch, size_t need, size_t i)
{
    const penstock_ofdm_symbol *symbol = &batch->symbols[i];
    if (symbol->frame >= batch->frame_count)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: symbol %zu is of frame %" PRIu32 ", there are %zu", i,
                               symbol->frame, batch->frame_count);
    if (need > batch->sample_count || symbol->start > batch->sample_count - need)
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "ofdm: symbol %zu starts at sample %" PRIu64 " and needs %zu of %zu samples", i,
                               symbol->start, need, batch->sample_count);
    if (grid->pilots.count && symbol->pilot_row >= grid->pilot_rows)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: symbol %zu has pilot_row %" PRIu32 " of %zu", i,
                               symbol->pilot_row, grid->pilot_rows);
    if (grid->tracking == PENSTOCK_TRACK_GIVEN && !(isfinite(symbol->phase) && isfinite(symbol->slope)))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: symbol %zu has phase %g and slope %g", i,
                               (double)symbol->phase, (double)symbol->slope);
    return PENSTOCK_OK;
}

static bool is_good(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch, size_t need,
                    const penstock_ofdm_symbol *symbol)
{
    return symbol->frame < batch->frame_count && symbol->start <= batch->sample_count - need &&
           (!grid->pilots.count || symbol->pilot_row < grid->pilot_rows) &&
           (grid->tracking != PENSTOCK_TRACK_GIVEN || (isfinite(symbol->phase) && isfinite(symbol->slope)));
}

bool penstock__ofdm_good_symbols(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch, size_t skip,
                                 size_t first, size_t end)
{
    size_t need = skip + grid->n;
    bool good = need <= batch->sample_count;
    for (size_t i = first; i < end && good; i++)
        good = is_good(grid, batch, need, &batch->symbols[i]);
    return good;
}

/* A long batch is looked through by all threads; what the message says of is found by one. */
struct looking {
    const struct ofdm_grid *grid;
    const penstock_ofdm_batch *batch;
    size_t skip;
    atomic_bool found;
};

static void look(void *argument, size_t item, unsigned worker)
{
    struct looking *looking = argument;
    size_t first = item * ITEM_SYMBOLS, left = looking->batch->symbol_count - first;
    (void)worker;
    if (!penstock__ofdm_good_symbols(looking->grid, looking->batch, looking->skip, first,
                                     first + (left < ITEM_SYMBOLS ? left : ITEM_SYMBOLS)))
        atomic_store(&looking->found, true);
}

int penstock__ofdm_check_symbols(penstock_context *context, const struct ofdm_grid *grid,
                                 const penstock_ofdm_batch *batch, size_t skip)
{
    struct looking looking = {.grid = grid, .batch = batch, .skip = skip};
    if (batch->symbol_count > ITEM_SYMBOLS) {
        penstock__parallel(context, (batch->symbol_count - 1) / ITEM_SYMBOLS + 1, look, &looking);
        if (!atomic_load(&looking.found))
            return PENSTOCK_OK;
    }
    for (size_t i = 0; i < batch->symbol_count; i++) {
        int status = check_symbol(grid, batch, skip + grid->n, i);
        if (status)
            return status;
    }
    return PENSTOCK_OK;
}

/* Arrays that no memory holds: their addresses would overflow. */
static int check_counts(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch)
{
    static const char call[] = "penstock_ofdm_run";
    int status = penstock__check_count(call, batch->sample_count, sizeof(penstock_cf32));
    if (!status)
        status = penstock__check_count(call, batch->frame_count, sizeof *batch->frames);
    if (!status)
        status = penstock__check_count(call, batch->symbol_count, sizeof *batch->symbols);
    if (!status) /* points, soft bits and pilots of a symbol */
        status = penstock__check_count(call, batch->symbol_count, grid->n * sizeof(penstock_cf32));
    return status;
}

int penstock__ofdm_check_frames(const struct ofdm_grid *grid, const penstock_ofdm_batch *batch)
{
    int status = check_counts(grid, batch);
    if (status)
        return status;
    if (batch->symbol_count && !(batch->samples && batch->frames && batch->symbols))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ofdm: %zu symbols, but samples, frames or symbols is NULL",
                               batch->symbol_count);
    for (size_t i = 0; batch->symbol_count && i < batch->frame_count; i++) {
        if ((status = check_frame(grid, &batch->frames[i], i)))
            return status;
    }
    return PENSTOCK_OK;
}
