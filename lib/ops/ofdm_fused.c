/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel of the device. */
#include "ops/ofdm_fused.h"

#include <math.h>

static const double tau = 6.28318530717958647692528676655900577;

/* Gains and ratios that the kernel's arithmetic keeps within floats. */
#define LEAST       1e-30
#define GREATEST    1e30
#define SLOTS       3
#define PIECE_BYTES ((size_t)4 << 20) /* of samples: from here on a copy's fixed cost is small against its length */
#define NARROW      21                /* the highest level that a kernel without some limits bears */

/* ---------------------------------------------------------------- life ------------------------ */

static int bind(struct ofdm_fused *fused, struct penstock_device *device)
{
    int status = penstock__binding_new(&fused->binding, device, &fused->problem, SLOTS);
    if (!status || status == PENSTOCK_ERR_MEMORY)
        return status;
    penstock__log(device->context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s demodulates OFDM by transforms alone: %s", device->name, penstock_error_text());
    return PENSTOCK_OK;
}

/* A kernel for all does not pay on a device that is the host's processor, and takes its compiler seconds. */
static bool worth_it(const struct penstock_device *device, const struct ofdm_grid *grid, const penstock_ofdm_desc *desc)
{
    bool pilots = grid->tracking == PENSTOCK_TRACK_PILOTS && desc->pilot_count;
    return (device->backend->flags & PENSTOCK_BACKEND_FUSED) && !device->host_memory && !pilots &&
           desc->format != PENSTOCK_PLANAR && desc->format != PENSTOCK_F32;
}

int penstock__ofdm_fused_init(struct ofdm_fused *fused, struct penstock_device *device, const struct ofdm_grid *grid,
                              const penstock_ofdm_desc *desc, size_t block)
{
    *fused = (struct ofdm_fused){0};
    if (!worth_it(device, grid, desc))
        return PENSTOCK_OK;
    fused->bins = penstock__alloc(grid->data.count * sizeof *fused->bins);
    fused->places = penstock__calloc(block, sizeof *fused->places);
    if (!fused->bins || !fused->places)
        return PENSTOCK_ERR_MEMORY;
    for (size_t k = 0; k < grid->data.count; k++)
        fused->bins[k] = grid->data.bin[k];
    fused->problem = (struct penstock_problem){
        .kind = PENSTOCK_PROBLEM_OFDM,
        .in_bytes = penstock_format_bytes(desc->format),
        .out_bytes = grid->data.count * grid->pitch,
        .batch = block,
        .ofdm = {grid->n, desc->format, (unsigned)grid->pitch, grid->data.count, fused->bins},
    };
    return bind(fused, device);
}

void penstock__ofdm_fused_free(struct ofdm_fused *fused)
{
    penstock__binding_free(fused->binding);
    penstock__free(fused->bins);
    penstock__free(fused->places);
    penstock__free(fused->gains);
    *fused = (struct ofdm_fused){0};
}

/* ---------------------------------------------------------------- gains ----------------------- */

static double sample_scale(penstock_format format)
{
    return format == PENSTOCK_CS16 ? 1.0 / 32768 : format == PENSTOCK_CF32 ? 1 : 1.0 / 128;
}

/*
 * With a point's levels at odd integers, of mean square `power`, a soft bit is w times a sum of distances in that unit,
 * w = 4 llr_scale |channel|^2 / (noise power). Points scaled by w have their levels at odd multiples of it, and the
 * sum is the soft bit. So the gain is a ramp conj(channel) with a = 4 llr_scale / (noise sqrt(power)), and the ratio
 * w / |gain|^2 = noise / (4 llr_scale). False where a number does not fit a float.
 */
static bool fill_gains(penstock_cf32 *gains, struct ofdm_fused *fused, const struct ofdm_grid *grid,
                       const penstock_ofdm_frame *frame)
{
    double scale = sample_scale(fused->problem.ofdm.format), llr = frame->llr_scale > 0 ? (double)frame->llr_scale : 1;
    unsigned bits = fused->problem.ofdm.bits;
    double power = bits == 1 ? 1 : 2 * ((double)(1u << bits) - 1) / 3;
    double a = 4 * llr * scale / ((double)frame->noise * sqrt(power));
    double ratio = (double)frame->noise / (4 * llr * scale * scale);
    bool good = ratio > LEAST && ratio < GREATEST;
    for (size_t c = 0; c < grid->data.count && good; c++) {
        penstock_cf32 h = frame->channel[grid->data.bin[c]], ramp = grid->data.ramp[c];
        double re = (double)h.re, im = (double)h.im, channel = re * re + im * im, square = a * a * channel;
        bool used = channel > LEAST && channel < GREATEST;
        good = !used || (square > LEAST && square < GREATEST && square * ratio < GREATEST);
        if (used)
            fused->highest = fmax(fused->highest, square * ratio);
        else
            re = im = 0;
        gains[grid->data.bin[c]] = (penstock_cf32){(float)(a * ((double)ramp.re * re + (double)ramp.im * im)),
                                                   (float)(a * ((double)ramp.im * re - (double)ramp.re * im))};
    }
    gains[grid->n] = (penstock_cf32){(float)ratio, 0};
    return good;
}

static int reserve_frames(struct ofdm_fused *fused, size_t count)
{
    size_t row = fused->problem.ofdm.n + 2;
    if (count <= fused->frame_capacity)
        return PENSTOCK_OK;
    penstock__free(fused->gains);
    fused->frame_capacity = 0;
    if (!(fused->gains = penstock__calloc(count * row, sizeof *fused->gains)))
        return PENSTOCK_ERR_MEMORY;
    fused->frame_capacity = count;
    return PENSTOCK_OK;
}

int penstock__ofdm_fused_begin(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                               const penstock_ofdm_result *result)
{
    int status;
    if (!fused->binding || !result->soft || result->points || result->pilots || result->phase || result->slope ||
        !batch->frame_count)
        return false;
    for (size_t f = 0; f < batch->frame_count; f++)
        if ((unsigned)batch->frames[f].constellation != fused->problem.ofdm.bits)
            return false;
    if ((status = reserve_frames(fused, batch->frame_count)))
        return status;
    fused->highest = 0;
    for (size_t f = 0; f < batch->frame_count; f++)
        if (!fill_gains(fused->gains + f * (grid->n + 2), fused, grid, &batch->frames[f]))
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
                                                        .slope = given ? turns_of(symbols[i].slope) : 0};
}

/* Symbols of one frame at even distances, with nothing to take out, need no list. */
static bool is_even(const struct penstock_ofdm_place *places, size_t count)
{
    uint32_t spacing = count > 1 ? places[1].start - places[0].start : 0;
    for (size_t i = 0; i < count; i++) {
        const struct penstock_ofdm_place *place = &places[i];
        if (place->phase | place->step | place->common | place->slope || place->frame != places[0].frame ||
            place->start != (uint64_t)places[0].start + (uint64_t)i * spacing)
            return false;
    }
    return true;
}

static struct penstock_ofdm_tables tables_of(const struct ofdm_fused *fused, size_t count)
{
    const struct penstock_ofdm_place *places = fused->places;
    struct penstock_ofdm_tables tables = {
        .places = places, .gains = fused->gains, .frame_count = fused->frame_capacity};
    if (is_even(places, count)) {
        tables.places = NULL;
        tables.start = places[0].start;
        tables.spacing = count > 1 ? places[1].start - places[0].start : 0;
        tables.gains += places[0].frame * (fused->problem.ofdm.n + 2);
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
        PIECE_BYTES / (batch->samples / batch->frames + 1) / penstock_format_bytes(fused->problem.ofdm.format);
    if (penstock__binding_in_host_memory(fused->binding) || piece + 1 >= batch->frames)
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
    size_t bytes = penstock_format_bytes(fused->problem.ofdm.format), start, span;
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
                                    .out = (char *)batch->out + first * fused->problem.out_bytes,
                                    .frames = frames,
                                    .samples = span + fused->problem.ofdm.n};
}

/* Pieces go through the slots in turn, so that copies there and back and the kernel overlap. */
static int run_pieces(struct ofdm_fused *fused, const struct penstock__batch *batch)
{
    struct penstock__binding *binding = fused->binding;
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

int penstock__ofdm_fused_run(struct ofdm_fused *fused, const penstock_ofdm_symbol *symbols,
                             const struct penstock_gather *gather, size_t count, const void *in, size_t samples,
                             int8_t *soft)
{
    int status;
    fill_places(fused, symbols, gather, count, true);
    struct penstock_ofdm_tables tables = tables_of(fused, count);
    struct penstock__batch batch = {.in = in, .ofdm = &tables, .out = soft, .frames = count, .samples = samples};
    if (!(status = run_pieces(fused, &batch)))
        return PENSTOCK_OK;
    penstock__log(fused->binding->state.device->context, PENSTOCK_LOG_WARNING,
                  "%s goes on demodulating OFDM by transforms alone, since: %s", fused->binding->state.device->name,
                  penstock_error_text());
    penstock__binding_free(fused->binding);
    fused->binding = NULL;
    return status;
}

int penstock__ofdm_fused_resident(penstock_resident **resident, struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                  const void *in, size_t in_bytes, const penstock_ofdm_frame *frame, size_t start,
                                  size_t spacing, size_t symbols)
{
    int status;
    *resident = NULL;
    if (!fused->binding)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "the device does not demodulate in one kernel");
    if ((status = reserve_frames(fused, 1)))
        return status;
    fused->highest = 0;
    if ((unsigned)frame->constellation != fused->problem.ofdm.bits || spacing > UINT32_MAX || start > UINT32_MAX ||
        !fill_gains(fused->gains, fused, grid, frame))
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
    return penstock__resident_new(resident, fused->binding, &work, false);
}
