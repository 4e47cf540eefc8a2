/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel of the device. */
#include "ops/ofdm/ofdm_fused.h"
#include "core/choice/async_build.h"
#include "core/device/buffer.h"
#include "core/device/device_group.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- life ------------------------ */

int penstock__ofdm_fused_make(struct ofdm_fused *fused, enum ofdm_want want)
{
    struct ofdm_kernel *kernel = &fused->kernels[want];
    int status = penstock__executor_new(&kernel->executor, fused->device, &kernel->problem, OFDM_SLOTS);
    penstock__failure_keep(&kernel->failure, status);
    kernel->tried = status != PENSTOCK_ERR_MEMORY;
    return kernel->tried ? PENSTOCK_OK : status;
}

/* The same unless that was done, and a log line where it fails. */
static int bind(struct ofdm_fused *fused, enum ofdm_want want)
{
    const struct ofdm_kernel *kernel = &fused->kernels[want];
    int status = kernel->tried ? PENSTOCK_OK : penstock__ofdm_fused_make(fused, want);
    if (status || !(status = penstock__failure_tell(&kernel->failure)))
        return status;
    penstock__log(fused->device->context,
                  status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
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

bool penstock__ofdm_lists(const struct penstock_device *device)
{
    return !device->on_cpu && device->backend->flags & PENSTOCK_BACKEND_FUSED;
}

/* A kernel for all does not pay on a device that is the host's processor, and takes its compiler seconds. */
static bool worth_it(const struct penstock_device *device, const struct ofdm_grid *grid, enum ofdm_way way)
{
    bool wanted = way == OFDM_WHERE_IT_PAYS || way == OFDM_LISTED
                      ? penstock__ofdm_lists(device)
                      : way == OFDM_ONE_KERNEL && device->backend->flags & PENSTOCK_BACKEND_FUSED;
    return wanted && even_pilots(grid);
}

static int copy_grid(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_desc *desc)
{
    size_t pilots = grid->pilots.count, values = pilots * grid->pilot_rows;
    fused->bins = penstock__alloc(grid->data.count * sizeof *fused->bins);
    fused->pilot_bins = penstock__alloc((pilots + 1) * sizeof *fused->pilot_bins);
    fused->pilot_values = penstock__alloc((values + 1) * sizeof *fused->pilot_values);
    if (!fused->bins || !fused->pilot_bins || !fused->pilot_values)
        return PENSTOCK_ERR_MEMORY;
    memcpy(fused->bins, grid->data.bin, grid->data.count * sizeof *fused->bins);
    if (pilots) {
        memcpy(fused->pilot_bins, grid->pilots.bin, pilots * sizeof *fused->pilot_bins);
        memcpy(fused->pilot_values, desc->pilot_values, values * sizeof *fused->pilot_values);
    }
    return PENSTOCK_OK;
}

struct penstock_problem penstock__ofdm_problem(const struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                               penstock_format format, enum ofdm_want want)
{
    bool own = grid->tracking == PENSTOCK_TRACK_PILOTS && grid->pilots.count, complete = want == OFDM_COMPLETE;
    bool packed = format == PENSTOCK_PLANAR || format == PENSTOCK_F32 || format == PENSTOCK_CF16; /* as CF32 */
    struct penstock_problem problem = {
        .kind = PENSTOCK_PROBLEM_OFDM,
        .batch = 1, /* any: no kernel differs by it */
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

int penstock__ofdm_fused_describe(struct ofdm_fused *fused, struct penstock_device *device,
                                  const struct ofdm_grid *grid, const penstock_ofdm_desc *desc, enum ofdm_way way)
{
    int status;
    *fused = (struct ofdm_fused){.device = device};
    if (!worth_it(device, grid, way))
        return PENSTOCK_OK;
    if ((status = copy_grid(fused, grid, desc)))
        return status;
    for (int want = 0; want < OFDM_WANTS; want++)
        fused->kernels[want].problem = penstock__ofdm_problem(fused, grid, desc->format, (enum ofdm_want)want);
    fused->described = true;
    return PENSTOCK_OK;
}

int penstock__ofdm_fused_init(struct ofdm_fused *fused, size_t block, enum ofdm_way way)
{
    struct ofdm_kernel *complete = &fused->kernels[OFDM_COMPLETE];
    int status;
    if (!fused->described)
        return PENSTOCK_OK;
    fused->block = block;
    if (!(fused->descriptors = penstock__calloc(block, sizeof *fused->descriptors)))
        return PENSTOCK_ERR_MEMORY;
    if (way == OFDM_LISTED)
        return bind(fused, OFDM_COMPLETE);
    if ((status = bind(fused, OFDM_SOFT)))
        return status;
    fused->able = fused->kernels[OFDM_SOFT].executor;
    if (fused->able && penstock__overtaken()) /* nobody waits yet, and the first batch would */
        return bind(fused, OFDM_COMPLETE);
    penstock__executor_free(complete->executor); /* without the other one it is not used */
    complete->executor = NULL;
    return PENSTOCK_OK;
}

void penstock__ofdm_there_free(struct ofdm_there *there)
{
    penstock_buffer_free(there->coefficients);
    penstock_buffer_free(there->descriptors);
    *there = (struct ofdm_there){.coefficients = NULL};
}

void penstock__ofdm_fused_free(struct ofdm_fused *fused)
{
    for (unsigned i = 0; fused->there && i < penstock__device_members(fused->device); i++)
        penstock__ofdm_there_free(&fused->there[i]);
    penstock__free(fused->there);
    for (int want = 0; want < OFDM_WANTS; want++)
        penstock__executor_free(fused->kernels[want].executor);
    penstock__free(fused->bins);
    penstock__free(fused->pilot_bins);
    penstock__free(fused->pilot_values);
    penstock__free(fused->descriptors);
    for (unsigned i = 0; i < PENSTOCK__MAX_SLOTS; i++)
        penstock__free(fused->gain_sets[i].values);
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
        if (!kernel->tried && (status = bind(fused, OFDM_COMPLETE)))
            return status;
    }
    fused->chosen = kernel->executor ? kernel : NULL;
    return PENSTOCK_OK;
}

static int reserve_frames(struct ofdm_fused *fused, size_t count)
{
    struct ofdm_gain_set *set = &fused->gain_sets[fused->gain_set];
    size_t pairs = count * penstock__ofdm_coefficients(&fused->chosen->problem.ofdm);
    fused->frame_count = count;
    set->frames_id = 0;
    if (pairs > set->capacity) {
        penstock__free(set->values);
        set->values = penstock__calloc(pairs, sizeof *set->values);
        set->capacity = set->values ? pairs : 0;
    }
    fused->coefficients = set->values;
    return set->values ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

/* Whether the set has what a batch of these frames needs. */
static bool kept(struct ofdm_fused *fused, size_t count, uint64_t frames_id)
{
    const struct ofdm_gain_set *set = &fused->gain_sets[fused->gain_set];
    if (!frames_id || set->frames_id != frames_id)
        return false;
    fused->frame_count = count;
    fused->coefficients = set->values;
    fused->filled = set->filled;
    fused->highest = set->highest;
    return true;
}

int penstock__ofdm_fused_begin(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                               const penstock_ofdm_result *result, uint64_t frames_id)
{
    struct ofdm_gain_set *set = &fused->gain_sets[fused->gain_set];
    int status = choose(fused, batch, result);
    if (status || !fused->chosen || !batch->frame_count)
        return status;
    const struct penstock_ofdm_problem *ofdm = &fused->chosen->problem.ofdm;
    if (kept(fused, batch->frame_count, frames_id))
        return true;
    if ((status = reserve_frames(fused, batch->frame_count)))
        return status;
    fused->filled = set->filled = ++fused->fills;
    fused->highest = 0;
    for (size_t f = 0; f < batch->frame_count; f++)
        if (!penstock__ofdm_coefficients_fill(fused->coefficients + f * penstock__ofdm_coefficients(ofdm), ofdm, grid,
                                              &batch->frames[f], &fused->highest))
            return false;
    set->frames_id = frames_id;
    set->highest = fused->highest;
    return true;
}

/* ---------------------------------------------------------------- runs ------------------------ */

/* By 32-bit turns, which come round by themselves. */
static uint32_t turns_of(float radians)
{
    double turns = (double)radians * -0.15915494309189533577;
    if (!(fabs(turns) < 0x1p20))
        turns -= rint(turns);
    return (uint32_t)(int64_t)(turns * 0x1p32 + (turns < 0 ? -0.5 : 0.5));
}

struct penstock_ofdm_descriptor penstock__ofdm_descriptor(const penstock_ofdm_symbol *symbol,
                                                          const penstock_ofdm_frame *frames, uint64_t window, size_t n,
                                                          bool given)
{
    struct penstock_gather gather;
    penstock__ofdm_rotation(&gather, &frames[symbol->frame], window, n);
    return (struct penstock_ofdm_descriptor){.phase = gather.phase,
                                             .step = gather.step,
                                             .frame = symbol->frame,
                                             .common = given ? turns_of(symbol->phase) : 0,
                                             .slope = given ? turns_of(symbol->slope) : 0,
                                             .pilot_row = symbol->pilot_row};
}

struct penstock_ofdm_tables penstock__ofdm_even_tables(const struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                                       const penstock_ofdm_frame *frames,
                                                       const penstock_ofdm_symbol *first, size_t skip, uint32_t spacing,
                                                       struct penstock_ofdm_descriptor descriptors[2])
{
    const penstock_ofdm_frame *frame = &frames[first->frame];
    uint64_t turns = penstock__ofdm_turns(frame), window = first->start + skip;
    struct penstock_ofdm_tables tables = {
        .spacing = spacing,
        .coefficients = fused->coefficients + first->frame * penstock__ofdm_coefficients(&fused->chosen->problem.ofdm),
        .frame_count = 1,
        .narrow = fused->highest <= OFDM_NARROW};
    if (!turns)
        return tables;
    tables.descriptors = descriptors;
    descriptors[0] = penstock__ofdm_descriptor(first, frames, window, grid->n, false);
    descriptors[0].frame = 0;
    descriptors[0].phase_low = (uint32_t)penstock__ofdm_phase(frame, window, grid->n);
    descriptors[1] = (struct penstock_ofdm_descriptor){.phase = (uint32_t)(turns * spacing >> 32),
                                                       .phase_low = (uint32_t)(turns * spacing)};
    return tables;
}

/* The values of symbols from `first` on, `values` a symbol, of the part at `at`. */
static void copy_part(penstock_cf32 *to, const struct ofdm_made *made, size_t at, size_t values, size_t count)
{
    const size_t bytes = values * sizeof *to;
    if (to)
        memcpy(to, made->from + made->symbols * at + made->first * bytes, count * bytes);
}

void penstock__ofdm_spread(const struct penstock_ofdm_problem *ofdm, const struct ofdm_grid *grid,
                           const penstock_ofdm_symbol *symbols, const struct ofdm_made *made,
                           const struct ofdm_rows *rows)
{
    const size_t soft = ofdm->carrier_count * ofdm->bits;
    const char *angles = made->from + made->symbols * penstock__ofdm_phase_at(ofdm) + made->first * sizeof(float[2]);
    if (rows->soft)
        memcpy(rows->soft, made->from + made->first * soft, rows->count * soft);
    copy_part(rows->points, made, penstock__ofdm_points_at(ofdm), ofdm->carrier_count, rows->count);
    copy_part(rows->pilots, made, penstock__ofdm_pilots_at(ofdm), ofdm->pilot_count, rows->count);
    for (size_t i = 0; (rows->phase || rows->slope) && i < rows->count; i++) {
        float found[2];
        memcpy(found, angles + i * sizeof found, sizeof found);
        if (rows->phase)
            rows->phase[i] = ofdm->own ? found[0] : penstock__ofdm_given(grid, symbols[i].phase);
        if (rows->slope)
            rows->slope[i] = ofdm->own ? found[1] : penstock__ofdm_given(grid, symbols[i].slope);
    }
}

void penstock__ofdm_fused_give_up(struct ofdm_fused *fused)
{
    penstock__log(fused->device->context, PENSTOCK_LOG_WARNING,
                  "%s goes on demodulating OFDM by transforms alone, since: %s", fused->device->name,
                  penstock_error_text());
    penstock__executor_free(fused->chosen->executor);
    fused->chosen->executor = NULL;
    fused->chosen = NULL;
}

int penstock__ofdm_fused_run(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                             const penstock_ofdm_symbol *symbols, const void *in, const struct ofdm_rows *rows,
                             size_t skip)
{
    const struct penstock_problem *problem = &fused->chosen->problem;
    struct penstock_ofdm_tables tables = {
        .descriptors = fused->descriptors, .coefficients = fused->coefficients, .frame_count = fused->frame_count};
    struct penstock__batch packed = {.in = in,
                                     .ofdm = &tables,
                                     .out = rows->soft,
                                     .frames = rows->count,
                                     .samples = rows->count * grid->n,
                                     .event_times = fused->event_times};
    int status = problem->ofdm.complete ? make_rows(fused, fused->chosen) : PENSTOCK_OK;
    if (problem->ofdm.complete)
        packed.out = fused->rows;
    for (size_t i = 0; i < rows->count; i++) {
        fused->descriptors[i] = penstock__ofdm_descriptor(&symbols[i], batch->frames, symbols[i].start + skip, grid->n,
                                                          grid->tracking == PENSTOCK_TRACK_GIVEN);
        fused->descriptors[i].start = (uint32_t)(i * grid->n);
    }
    if (status || (status = penstock__executor_submit(fused->chosen->executor, 0, &packed)) ||
        (status = penstock__executor_wait(fused->chosen->executor, 0))) {
        penstock__ofdm_fused_give_up(fused);
        return status;
    }
    if (problem->ofdm.complete)
        penstock__ofdm_spread(&problem->ofdm, grid, symbols, &(struct ofdm_made){fused->rows, rows->count, 0}, rows);
    return PENSTOCK_OK;
}
