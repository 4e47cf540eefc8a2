/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel of the device. */
#include "ops/ofdm_fused.h"

#include <math.h>
#include <string.h>

static const double tau = 6.28318530717958647692528676655900577;

#define SLOTS       3
#define PIECE_BYTES ((size_t)4 << 20) /* of samples: from here on a copy's fixed cost is small against its length */
#define NARROW      21                /* the highest level that a kernel without some limits bears */

/* ---------------------------------------------------------------- life ------------------------ */

/* Fails only for want of memory. */
static int bind(struct ofdm_fused *fused, struct ofdm_kernel *kernel)
{
    penstock_context *context = fused->device->context;
    int status = penstock__binding_new(&kernel->binding, fused->device, &kernel->problem, SLOTS);
    kernel->tried = status != PENSTOCK_ERR_MEMORY;
    if (!status || status == PENSTOCK_ERR_MEMORY)
        return status;
    penstock__log(context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s demodulates OFDM by transforms alone: %s", fused->device->name, penstock_error_text());
    return PENSTOCK_OK;
}

/* Weights are a frame's, so a pilot must have the same power in all rows. */
static bool even_pilots(const struct ofdm_grid *grid)
{
    for (size_t i = grid->pilots.count; i < grid->pilots.count * grid->pilot_rows; i++)
        if (!(fabsf(grid->pilot_power[i] - grid->pilot_power[i % grid->pilots.count]) <= 1e-6f * grid->pilot_power[i]))
            return false;
    return true;
}

/* A kernel for all does not pay on a device that is the host's processor, and takes its compiler seconds. */
static bool worth_it(const struct penstock_device *device, const struct ofdm_grid *grid, enum ofdm_way way)
{
    bool wanted = way == OFDM_WHERE_IT_PAYS ? !device->host_memory : way == OFDM_ONE_KERNEL;
    return (device->backend->flags & PENSTOCK_BACKEND_FUSED) && wanted && even_pilots(grid);
}

static int copy_grid(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_desc *desc)
{
    size_t pilots = grid->pilots.count, values = pilots * grid->pilot_rows;
    fused->bins = penstock__alloc(grid->data.count * sizeof *fused->bins);
    fused->pilot_bins = penstock__alloc((pilots + 1) * sizeof *fused->pilot_bins);
    fused->pilot_values = penstock__alloc((values + 1) * sizeof *fused->pilot_values);
    fused->places = penstock__calloc(fused->block, sizeof *fused->places);
    if (!fused->bins || !fused->pilot_bins || !fused->pilot_values || !fused->places)
        return PENSTOCK_ERR_MEMORY;
    memcpy(fused->bins, grid->data.bin, grid->data.count * sizeof *fused->bins);
    if (pilots) {
        memcpy(fused->pilot_bins, grid->pilots.bin, pilots * sizeof *fused->pilot_bins);
        memcpy(fused->pilot_values, desc->pilot_values, values * sizeof *fused->pilot_values);
    }
    return PENSTOCK_OK;
}

static struct penstock_problem problem_of(const struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                          penstock_format format, enum ofdm_want want)
{
    bool own = grid->tracking == PENSTOCK_TRACK_PILOTS && grid->pilots.count, complete = want == OFDM_COMPLETE;
    bool packed = format == PENSTOCK_PLANAR || format == PENSTOCK_F32 || format == PENSTOCK_CF16; /* as CF32 */
    struct penstock_problem problem = {
        .kind = PENSTOCK_PROBLEM_OFDM,
        .batch = fused->block,
        .ofdm = {.n = grid->n,
                 .format = packed ? PENSTOCK_CF32 : format,
                 .bits = (unsigned)grid->pitch,
                 .carrier_count = grid->data.count,
                 .bins = fused->bins,
                 .mixed = own || complete || (grid->n & (grid->n - 1)),
                 .complete = complete,
                 .own = own},
    };
    if (own || complete) {
        problem.ofdm.pilot_count = grid->pilots.count;
        problem.ofdm.pilot_rows = grid->pilots.count ? grid->pilot_rows : 0;
        problem.ofdm.pilot_bins = fused->pilot_bins;
        problem.ofdm.pilot_values = fused->pilot_values;
    }
    problem.in_bytes = penstock_format_bytes(problem.ofdm.format);
    problem.out_bytes = penstock__ofdm_row(&problem.ofdm);
    return problem;
}

int penstock__ofdm_fused_init(struct ofdm_fused *fused, struct penstock_device *device, const struct ofdm_grid *grid,
                              const penstock_ofdm_desc *desc, size_t block, enum ofdm_way way)
{
    *fused = (struct ofdm_fused){.device = device, .block = block};
    if (!worth_it(device, grid, way))
        return PENSTOCK_OK;
    int status = copy_grid(fused, grid, desc);
    for (int want = 0; want < OFDM_WANTS && !status; want++)
        fused->kernels[want].problem = problem_of(fused, grid, desc->format, (enum ofdm_want)want);
    if (status || (status = bind(fused, &fused->kernels[OFDM_SOFT])))
        return status;
    fused->able = fused->kernels[OFDM_SOFT].binding;
    return PENSTOCK_OK;
}

void penstock__ofdm_fused_free(struct ofdm_fused *fused)
{
    for (int want = 0; want < OFDM_WANTS; want++)
        penstock__binding_free(fused->kernels[want].binding);
    penstock__free(fused->bins);
    penstock__free(fused->pilot_bins);
    penstock__free(fused->pilot_values);
    penstock__free(fused->places);
    penstock__free(fused->gains);
    penstock__free(fused->rows);
    *fused = (struct ofdm_fused){0};
}

/* ---------------------------------------------------------------- choice ---------------------- */

static bool same_constellation(const penstock_ofdm_batch *batch, unsigned bits)
{
    for (size_t f = 0; f < batch->frame_count; f++)
        if ((unsigned)batch->frames[f].constellation != bits)
            return false;
    return true;
}

static int make_rows(struct ofdm_fused *fused, const struct ofdm_kernel *kernel)
{
    if (!fused->rows && !(fused->rows = penstock__alloc(fused->block * kernel->problem.out_bytes)))
        return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

/* The kernel for what is wanted, made when it is first wanted; NULL where there is none. */
static int choose(struct ofdm_fused *fused, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result)
{
    struct ofdm_kernel *kernel = &fused->kernels[OFDM_SOFT];
    bool soft = result->soft && !(result->points || result->pilots || result->phase || result->slope);
    int status;
    fused->chosen = NULL;
    if (!fused->able || !(soft || result->soft || result->points || result->pilots || result->phase || result->slope))
        return PENSTOCK_OK;
    if (!soft || (!kernel->problem.ofdm.mixed && !same_constellation(batch, kernel->problem.ofdm.bits))) {
        kernel = &fused->kernels[OFDM_COMPLETE];
        if ((!kernel->tried && (status = bind(fused, kernel))) ||
            (kernel->binding && (status = make_rows(fused, kernel))))
            return status;
    }
    fused->chosen = kernel->binding ? kernel : NULL;
    return PENSTOCK_OK;
}

static int reserve_frames(struct ofdm_fused *fused, size_t count)
{
    size_t pairs = count * penstock__ofdm_gains(&fused->chosen->problem.ofdm);
    fused->frame_count = count;
    if (pairs <= fused->gain_capacity)
        return PENSTOCK_OK;
    penstock__free(fused->gains);
    fused->gain_capacity = 0;
    if (!(fused->gains = penstock__calloc(pairs, sizeof *fused->gains)))
        return PENSTOCK_ERR_MEMORY;
    fused->gain_capacity = pairs;
    return PENSTOCK_OK;
}

int penstock__ofdm_fused_begin(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                               const penstock_ofdm_result *result)
{
    int status = choose(fused, batch, result);
    if (status || !fused->chosen || !batch->frame_count)
        return status;
    const struct penstock_ofdm_problem *ofdm = &fused->chosen->problem.ofdm;
    if ((status = reserve_frames(fused, batch->frame_count)))
        return status;
    fused->highest = 0;
    for (size_t f = 0; f < batch->frame_count; f++)
        if (!penstock__ofdm_gains_fill(fused->gains + f * penstock__ofdm_gains(ofdm), ofdm, grid, &batch->frames[f],
                                       &fused->highest))
            return false;
    return true;
}

/* ---------------------------------------------------------------- runs ------------------------ */

static uint32_t turns_of(float radians)
{
    double turns = -(double)radians / tau;
    return (uint32_t)(int64_t)rint((turns - rint(turns)) * 0x1p32);
}

static void fill_places(struct ofdm_fused *fused, const penstock_ofdm_symbol *symbols,
                        const struct penstock_gather *gather, size_t count, bool given)
{
    for (size_t i = 0; i < count; i++)
        fused->places[i] = (struct penstock_ofdm_place){.start = gather[i].start,
                                                        .phase = gather[i].phase,
                                                        .step = gather[i].step,
                                                        .frame = symbols[i].frame,
                                                        .common = given ? turns_of(symbols[i].phase) : 0,
                                                        .slope = given ? turns_of(symbols[i].slope) : 0,
                                                        .pilot_row = symbols[i].pilot_row};
}

/* Symbols of one frame at even distances, with nothing to take out, need no list. */
static bool is_even(const struct penstock_ofdm_place *places, size_t count, uint32_t spacing)
{
    for (size_t i = 0; i < count; i++) {
        const struct penstock_ofdm_place *place = &places[i];
        if (place->phase | place->step | place->common | place->slope || place->frame != places[0].frame ||
            place->start != (uint64_t)places[0].start + (uint64_t)i * spacing)
            return false;
    }
    return spacing > 0;
}

static struct penstock_ofdm_tables tables_of(const struct ofdm_fused *fused, size_t count)
{
    const struct penstock_ofdm_place *places = fused->places;
    const struct penstock_ofdm_problem *ofdm = &fused->chosen->problem.ofdm;
    uint32_t spacing = count > 1 ? places[1].start - places[0].start : 1;
    struct penstock_ofdm_tables tables = {.places = places, .gains = fused->gains, .frame_count = fused->frame_count};
    if (!ofdm->pilot_count && is_even(places, count, spacing)) {
        tables.places = NULL;
        tables.start = places[0].start;
        tables.spacing = spacing;
        tables.gains += places[0].frame * penstock__ofdm_gains(ofdm);
        tables.frame_count = 1;
        tables.narrow = fused->highest <= NARROW;
    }
    return tables;
}

/* Symbols that a slot takes at once: all where nothing is copied, and where they do not follow one another. */
static size_t piece_of(const struct ofdm_fused *fused, const struct penstock__batch *batch)
{
    const struct penstock_ofdm_place *places = batch->ofdm->places;
    size_t piece =
        PIECE_BYTES / (batch->samples / batch->frames + 1) / penstock_format_bytes(fused->chosen->problem.ofdm.format);
    if (penstock__binding_in_host_memory(fused->chosen->binding) || piece + 1 >= batch->frames)
        return batch->frames;
    for (size_t i = 1; places && i < batch->frames; i++)
        if (places[i].start < places[i - 1].start)
            return batch->frames;
    return piece + 1;
}

/* Symbols from `first` on; listed ones are counted from where the piece's samples start. */
static struct penstock__batch part_of(struct ofdm_fused *fused, const struct penstock__batch *batch,
                                      struct penstock_ofdm_tables *tables, size_t first, size_t frames)
{
    size_t bytes = penstock_format_bytes(fused->chosen->problem.ofdm.format), start, span;
    *tables = *batch->ofdm;
    if (tables->places) {
        start = fused->places[first].start;
        span = fused->places[first + frames - 1].start - start;
        for (size_t i = first; i < first + frames; i++)
            fused->places[i].start -= (uint32_t)start;
        tables->places = fused->places + first;
    } else {
        start = batch->ofdm->start + first * tables->spacing;
        span = (frames - 1) * tables->spacing;
        tables->start = 0;
    }
    return (struct penstock__batch){.in = (const char *)batch->in + start * bytes,
                                    .ofdm = tables,
                                    .out = (char *)batch->out + first * fused->chosen->problem.out_bytes,
                                    .frames = frames,
                                    .samples = span + fused->chosen->problem.ofdm.n};
}

/* Pieces go through the slots in turn, so that copies there and back and the kernel overlap. */
static int run_pieces(struct ofdm_fused *fused, const struct penstock__batch *batch)
{
    struct penstock__binding *binding = fused->chosen->binding;
    size_t piece = piece_of(fused, batch);
    unsigned slot = 0;
    int status = PENSTOCK_OK;
    for (size_t first = 0; first < batch->frames && !status; first += piece, slot = (slot + 1) % SLOTS) {
        size_t left = batch->frames - first;
        struct penstock_ofdm_tables tables;
        struct penstock__batch part = *batch;
        if (piece < batch->frames)
            part = part_of(fused, batch, &tables, first, left < piece ? left : piece);
        if (!(status = penstock__binding_wait(binding, slot)))
            status = penstock__binding_submit(binding, slot, &part);
    }
    for (unsigned i = 0; i < SLOTS && !status; i++)
        status = penstock__binding_wait(binding, i);
    return status;
}

/* Rows as the kernel leaves them to where each part is wanted. */
static void spread(const struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_symbol *symbols,
                   const struct ofdm_rows *rows)
{
    const struct penstock_ofdm_problem *ofdm = &fused->chosen->problem.ofdm;
    size_t soft = ofdm->carrier_count * ofdm->bits, points = ofdm->carrier_count, pilots = ofdm->pilot_count;
    for (size_t i = 0; i < rows->count; i++) {
        const char *row = fused->rows + i * fused->chosen->problem.out_bytes;
        float found[2];
        memcpy(found, row + penstock__ofdm_phase_at(ofdm), sizeof found);
        if (rows->soft)
            memcpy(rows->soft + i * soft, row, soft);
        if (rows->points)
            memcpy(rows->points + i * points, row + penstock__ofdm_points_at(ofdm), points * sizeof *rows->points);
        if (rows->pilots)
            memcpy(rows->pilots + i * pilots, row + penstock__ofdm_pilots_at(ofdm), pilots * sizeof *rows->pilots);
        if (rows->phase)
            rows->phase[i] = ofdm->own ? found[0] : penstock__ofdm_given(grid, symbols[i].phase);
        if (rows->slope)
            rows->slope[i] = ofdm->own ? found[1] : penstock__ofdm_given(grid, symbols[i].slope);
    }
}

int penstock__ofdm_fused_run(struct ofdm_fused *fused, const struct ofdm_grid *grid,
                             const penstock_ofdm_symbol *symbols, const struct penstock_gather *gather, const void *in,
                             size_t samples, const struct ofdm_rows *rows)
{
    struct ofdm_kernel *kernel = fused->chosen;
    bool complete = kernel->problem.ofdm.complete;
    int status;
    fill_places(fused, symbols, gather, rows->count, grid->tracking == PENSTOCK_TRACK_GIVEN);
    struct penstock_ofdm_tables tables = tables_of(fused, rows->count);
    struct penstock__batch batch = {.in = in,
                                    .ofdm = &tables,
                                    .out = complete ? (void *)fused->rows : rows->soft,
                                    .frames = rows->count,
                                    .samples = samples};
    if (!(status = run_pieces(fused, &batch))) {
        if (complete)
            spread(fused, grid, symbols, rows);
        return PENSTOCK_OK;
    }
    penstock__log(fused->device->context, PENSTOCK_LOG_WARNING,
                  "%s goes on demodulating OFDM by transforms alone, since: %s", fused->device->name,
                  penstock_error_text());
    penstock__binding_free(kernel->binding);
    kernel->binding = NULL;
    fused->chosen = NULL;
    return status;
}

int penstock__ofdm_fused_resident(penstock_resident **resident, struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                  const void *in, size_t in_bytes, const penstock_ofdm_frame *frame, size_t start,
                                  size_t spacing, size_t symbols)
{
    const struct penstock_ofdm_problem *ofdm = &fused->kernels[OFDM_SOFT].problem.ofdm;
    int status;
    *resident = NULL;
    if (!fused->kernels[OFDM_SOFT].binding)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not demodulate in one kernel");
    fused->chosen = &fused->kernels[OFDM_SOFT];
    if ((status = reserve_frames(fused, 1)))
        return status;
    fused->highest = 0;
    if ((unsigned)frame->constellation != ofdm->bits || spacing > UINT32_MAX || start > UINT32_MAX ||
        !penstock__ofdm_gains_fill(fused->gains, ofdm, grid, frame, &fused->highest))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "a resident's frame needs the largest constellation");
    struct penstock_ofdm_tables tables = {.gains = fused->gains,
                                          .frame_count = 1,
                                          .start = (uint32_t)start,
                                          .spacing = (uint32_t)spacing,
                                          .narrow = fused->highest <= NARROW};
    struct penstock__resident_work work = {
        .in = in,
        .in_bytes = in_bytes,
        .batch = {.ofdm = &tables, .frames = symbols, .samples = (symbols - 1) * spacing + start + grid->n}};
    return penstock__resident_new(resident, fused->kernels[OFDM_SOFT].binding, &work, false);
}
