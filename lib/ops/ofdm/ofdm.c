/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * OFDM symbol demodulation as a gathered FFT plan on the device, which starts each transform inside its symbol and
 * takes the carrier offset out, followed by a CPU part spread over threads. A batch goes through in blocks, each
 * of which sends only the samples that it spans, or, where symbols lie far apart, only those that it transforms.
 */
#include "core/base/context.h"
#include "core/base/description.h"
#include "core/choice/side_by_side.h"
#include "core/plan/plan.h"
#include "ops/ofdm/ofdm_check.h"
#include "ops/ofdm/ofdm_demodulator.h"

#include <math.h>
#include <string.h>

/* Memory for one block's transforms: small enough for a cache where the device does not ask for more. */
#define BLOCK_BYTES     ((size_t)1 << 20)
#define MAX_BLOCK_BYTES ((size_t)1 << 26)

/* Carriers that are worth another thread's attention; fewer where that makes threads' shares alike. */
#define ITEM_CARRIERS  16384
#define LEAST_CARRIERS 4096

/* The plan does not read this format at an offset. */
static bool converted(penstock_format format)
{
    return format == PENSTOCK_PLANAR || format == PENSTOCK_F32 || format == PENSTOCK_CF16;
}

struct penstock_problem penstock__ofdm_transforms(const penstock_ofdm_desc *desc)
{
    penstock_format format = converted(desc->format) ? PENSTOCK_CF32 : desc->format;
    size_t bytes = desc->n * sizeof(penstock_cf32), batch = desc->batch ? desc->batch : BLOCK_BYTES / bytes;
    return (struct penstock_problem){
        .kind = PENSTOCK_PROBLEM_FFT,
        .in_bytes = penstock_format_bytes(format),
        .out_bytes = bytes,
        .batch = batch < MAX_BLOCK_BYTES / bytes ? batch : MAX_BLOCK_BYTES / bytes,
        .fft = {.n = desc->n, .format = format, .spacing = desc->n, .scale = 1, .average = 1, .gathered = true},
    };
}

/* What is made on a device. */
struct making {
    penstock_ofdm *ofdm;
    const struct ofdm_order *order;
    const char *device;
    unsigned first; /* kernel that does without the transforms */
};

static int make_part(void *owner, unsigned which)
{
    const struct making *making = owner;
    penstock_ofdm *ofdm = making->ofdm;
    if (which)
        return penstock__ofdm_fused_make(ofdm->fused, (enum ofdm_want)(making->first + which - 1));
    const struct penstock_problem problem = penstock__ofdm_transforms(&making->order->desc);
    return penstock__plan_new_there(&ofdm->plan, ofdm->context, &problem, making->device, 1);
}

static int describe_fused(penstock_ofdm *ofdm, const struct ofdm_order *order, struct penstock_device *device)
{
    if (!(ofdm->fused = penstock__calloc(1, sizeof *ofdm->fused)))
        return PENSTOCK_ERR_MEMORY;
    return penstock__ofdm_fused_describe(ofdm->fused, device, &ofdm->grid, &order->desc, order->way);
}

/* The transforms and, beside them, where a compiler takes its time for each, the kernels that do without. */
static int make_parts(penstock_ofdm *ofdm, const struct ofdm_order *order, const char *device)
{
    const bool listed = order->way == OFDM_LISTED;
    struct penstock_device *compiled_for;
    struct making making = {ofdm, order, device, listed ? OFDM_COMPLETE : OFDM_SOFT};
    unsigned count = 1;
    int status = penstock__compiled_for(&compiled_for, ofdm->context, device);
    if (!status && compiled_for)
        status = describe_fused(ofdm, order, compiled_for);
    if (!status && compiled_for && ofdm->fused->described)
        count += !listed && penstock__overtaken() ? OFDM_WANTS : 1;
    if (status || (status = penstock__side_by_side(make_part, &making, count, compiled_for)) || compiled_for)
        return status;
    return describe_fused(ofdm, order, penstock__plan_executor(ofdm->plan)->state.device);
}

static int make_block(penstock_ofdm *ofdm)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    size_t bytes = ofdm->grid.n * sizeof(penstock_cf32);
    int status = penstock_plan_get_info(ofdm->plan, &info);
    if (status)
        return status;
    ofdm->block = info.best_batch > BLOCK_BYTES / bytes ? info.best_batch : BLOCK_BYTES / bytes;
    if (ofdm->block > MAX_BLOCK_BYTES / bytes)
        ofdm->block = MAX_BLOCK_BYTES / bytes;
    ofdm->gather = penstock__alloc(ofdm->block * sizeof *ofdm->gather);
    ofdm->fft = penstock__alloc(ofdm->block * bytes);
    ofdm->packed = penstock__alloc(ofdm->block * bytes);
    return ofdm->gather && ofdm->fft && ofdm->packed ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
}

static int make_workers(penstock_ofdm *ofdm)
{
    unsigned count = penstock__threads(ofdm->context);
    if (!(ofdm->workers = penstock__calloc(count, sizeof *ofdm->workers)))
        return PENSTOCK_ERR_MEMORY;
    ofdm->worker_count = count;
    for (unsigned i = 0; i < count; i++)
        if (penstock__ofdm_worker_init(&ofdm->workers[i], &ofdm->grid))
            return PENSTOCK_ERR_MEMORY;
    return PENSTOCK_OK;
}

int penstock__ofdm_make(penstock_ofdm **ofdm, const struct ofdm_order *order, const char *device)
{
    const penstock_ofdm_desc *d = &order->desc;
    penstock_ofdm *made = penstock__calloc(1, sizeof *made);
    int status;
    if (!made)
        return PENSTOCK_ERR_MEMORY;
    made->context = order->context;
    made->kernels = penstock__ofdm_kernels();
    made->skip = d->guard - d->window_offset;
    made->length = d->guard + d->n;
    made->format = d->format;
    made->convert = converted(d->format);
    if ((status = penstock__ofdm_grid_init(&made->grid, d)) || (status = make_parts(made, order, device)) ||
        (status = make_block(made)) || (status = make_workers(made)) ||
        (status = penstock__ofdm_fused_init(made->fused, made->block, order->way))) {
        penstock__ofdm_free(made);
        return status;
    }
    *ofdm = made;
    return PENSTOCK_OK;
}

/* A block on its way: `count` symbols whose results start at row `first`. */
struct block {
    penstock_ofdm *ofdm;
    const penstock_ofdm_batch *batch;
    const penstock_ofdm_result *result;
    size_t first, count;
    size_t item; /* symbols of one piece of work */
    bool fused;  /* the device does it all */
};

static void pack(const struct block *block)
{
    penstock_ofdm *ofdm = block->ofdm;
    size_t n = ofdm->grid.n, bytes = penstock_format_bytes(ofdm->format);
    for (size_t i = 0; i < block->count; i++) {
        uint64_t window = block->batch->symbols[block->first + i].start + ofdm->skip;
        if (ofdm->convert)
            penstock__convert((penstock_cf32 *)ofdm->packed + i * n, block->batch->samples, ofdm->format,
                              (size_t)window, n, block->batch->sample_count);
        else
            memcpy((char *)ofdm->packed + i * n * bytes, (const char *)block->batch->samples + (size_t)window * bytes,
                   n * bytes);
        ofdm->gather[i].start = (uint32_t)(i * n);
    }
}

/* The block's samples, and where in them its transforms are. */
static void gather(const struct block *block, const void **in, size_t *samples)
{
    penstock_ofdm *ofdm = block->ofdm;
    const penstock_ofdm_symbol *symbols = block->batch->symbols + block->first;
    size_t n = ofdm->grid.n, bytes = penstock_format_bytes(ofdm->format);
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < block->count; i++) {
        uint64_t window = symbols[i].start + ofdm->skip;
        low = window < low ? window : low;
        high = window > high ? window : high;
        penstock__ofdm_rotation(&ofdm->gather[i], &block->batch->frames[symbols[i].frame], window, n);
    }
    if (ofdm->convert || high - low > 2 * (uint64_t)block->count * ofdm->length || high - low > UINT32_MAX / 2) {
        pack(block);
        *in = ofdm->packed;
        *samples = block->count * n;
    } else {
        *in = (const char *)block->batch->samples + (size_t)low * bytes;
        *samples = (size_t)(high - low) + n;
        for (size_t i = 0; i < block->count; i++)
            ofdm->gather[i].start = (uint32_t)(symbols[i].start + ofdm->skip - low);
    }
}

static void demodulate(void *argument, size_t item, unsigned worker)
{
    const struct block *block = argument;
    penstock_ofdm *ofdm = block->ofdm;
    size_t end = (item + 1) * block->item < block->count ? (item + 1) * block->item : block->count;
    for (size_t i = item * block->item; i < end; i++) {
        const penstock_ofdm_symbol *symbol = &block->batch->symbols[block->first + i];
        penstock__ofdm_symbol(&ofdm->grid, ofdm->kernels, &ofdm->workers[worker], &block->batch->frames[symbol->frame],
                              symbol, ofdm->fft + i * ofdm->grid.n, block->result, block->first + i);
    }
}

/* What one kernel gives of a packed block; its error means that transforms must. */
static int run_fused(const struct block *block, const void *in)
{
    penstock_ofdm *ofdm = block->ofdm;
    struct ofdm_rows rows = penstock__ofdm_rows(&ofdm->grid, block->result, block->first);
    rows.count = block->count;
    int status = penstock__ofdm_fused_run(ofdm->fused, &ofdm->grid, block->batch, block->batch->symbols + block->first,
                                          in, &rows, ofdm->skip);
    ofdm->fused_blocks += !status;
    return status;
}

static int run_block(struct block *block)
{
    penstock_ofdm *ofdm = block->ofdm;
    const struct ofdm_grid *grid = &ofdm->grid;
    const void *in;
    size_t samples;
    int status;
    gather(block, &in, &samples);
    if (block->fused && ofdm->fused->chosen) {
        if (in != ofdm->packed)
            pack(block);
        if (!run_fused(block, ofdm->packed))
            return PENSTOCK_OK;
        gather(block, &in, &samples);
    }
    if ((status = penstock__plan_run_gathered(ofdm->plan, in, samples, ofdm->gather, ofdm->fft, block->count)))
        return status;
    const size_t carriers = grid->data.padded + grid->pilots.padded;
    block->item = penstock__fair_share(block->ofdm->context, block->count, LEAST_CARRIERS / carriers + 1,
                                       ITEM_CARRIERS / carriers + 1);
    size_t items = (block->count + block->item - 1) / block->item;
    if (items == 1)
        demodulate(block, 0, 0);
    else
        penstock__parallel(block->ofdm->context, items, demodulate, block);
    return PENSTOCK_OK;
}

static struct ofdm_flow_work work_of(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch,
                                     const penstock_ofdm_result *result)
{
    return (struct ofdm_flow_work){.fused = ofdm->fused,
                                   .grid = &ofdm->grid,
                                   .batch = batch,
                                   .result = result,
                                   .skip = ofdm->skip,
                                   .length = ofdm->length};
}

/* Whether one kernel has done it all. */
static bool flow(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result)
{
    const struct ofdm_flow_work work = work_of(ofdm, batch, result);
    if (!ofdm->fused->chosen || ofdm->convert || !batch->symbol_count)
        return false;
    int status = penstock__ofdm_flow_run(&ofdm->flow, &work, &ofdm->fused_blocks);
    if (status < 0)
        penstock__ofdm_fused_give_up(ofdm->fused);
    return !status;
}

size_t penstock__ofdm_chunk(const penstock_ofdm *ofdm)
{
    const struct ofdm_fused *fused = ofdm->fused;
    const bool able = fused->able && !ofdm->convert;
    return able ? penstock__ofdm_flow_chunk(&fused->kernels[OFDM_COMPLETE].problem, ofdm->length) : 0;
}

unsigned penstock__ofdm_slots(const penstock_ofdm *ofdm)
{
    const struct penstock__executor *executor = ofdm->fused->kernels[OFDM_COMPLETE].executor;
    return executor ? executor->slot_count : 1;
}

int penstock__ofdm_start(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, uint64_t frames_id, char *made,
                         unsigned slot, bool *started)
{
    const penstock_ofdm_result all = PENSTOCK_OFDM_RESULT(.points = (void *)made, .soft = (void *)made);
    struct ofdm_flow_work work = work_of(ofdm, batch, &all);
    *started = false;
    work.made = made;
    if (!penstock__ofdm_chunk(ofdm))
        return PENSTOCK_OK;
    ofdm->fused->gain_set = slot;
    int status = penstock__ofdm_fused_begin(ofdm->fused, &ofdm->grid, batch, &all, frames_id);
    ofdm->fused->gain_set = 0;
    if (status <= 0 || !ofdm->fused->chosen || batch->symbol_count > penstock__ofdm_chunk(ofdm))
        return status < 0 ? status : PENSTOCK_OK;
    status = penstock__ofdm_flow_start(&ofdm->flow, &work, slot);
    *started = !status;
    ofdm->fused_blocks += *started;
    return status < 0 ? status : PENSTOCK_OK;
}

int penstock__ofdm_wait(penstock_ofdm *ofdm, unsigned slot)
{
    return penstock__executor_wait(ofdm->fused->kernels[OFDM_COMPLETE].executor, slot);
}

void penstock__ofdm_give_up(penstock_ofdm *ofdm)
{
    if (ofdm->fused->kernels[OFDM_COMPLETE].executor) {
        ofdm->fused->chosen = &ofdm->fused->kernels[OFDM_COMPLETE];
        penstock__ofdm_fused_give_up(ofdm->fused);
    }
}

static int run(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result)
{
    bool done;
    int status, fused = penstock__ofdm_fused_begin(ofdm->fused, &ofdm->grid, batch, result, 0);
    if (fused < 0)
        return fused;
    if (fused && flow(ofdm, batch, result))
        return PENSTOCK_OK;
    if ((status = penstock__ofdm_check_symbols(ofdm->context, &ofdm->grid, batch, ofdm->skip)))
        return status;
    for (unsigned i = 0; i < ofdm->worker_count; i++)
        ofdm->workers[i].frame = NULL;
    if ((status = penstock__ofdm_run_parts(ofdm, batch, result, &done)) || done)
        return status;
    for (size_t first = 0; first < batch->symbol_count; first += ofdm->block) {
        size_t rest = batch->symbol_count - first;
        struct block block = {.ofdm = ofdm,
                              .batch = batch,
                              .result = result,
                              .first = first,
                              .count = rest < ofdm->block ? rest : ofdm->block,
                              .fused = fused};
        if ((status = run_block(&block)))
            return status;
    }
    return PENSTOCK_OK;
}

int penstock_ofdm_run(penstock_ofdm *ofdm, const penstock_ofdm_batch *batch, const penstock_ofdm_result *result)
{
    penstock_ofdm_batch b;
    penstock_ofdm_result r;
    int status;
    if (!ofdm)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_ofdm_run: ofdm is NULL");
    if ((status = penstock__description_read(&b, sizeof b, batch, "penstock_ofdm_batch")) ||
        (status = penstock__description_read(&r, sizeof r, result, "penstock_ofdm_result")) ||
        (status = penstock__ofdm_check_frames(&ofdm->grid, &b)))
        return status;
    penstock__ofdm_collect(ofdm);
    penstock__serve(&ofdm->standby, ofdm->build);
    status = run(ofdm, &b, &r);
    penstock__served(&ofdm->standby, ofdm->build, b.symbol_count);
    if (status)
        return status;
    ofdm->cpu_while_compiling += ofdm->build != NULL;
    return PENSTOCK_OK;
}
