/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The inside of an engine, which has one of two ways. Near: each thread takes a few blocks through all stages while
 * they are in its caches, straight from the samples to the values. In batches: transforms of many blocks at once, by
 * plans on any device, and the other stages on the processor's threads.
 */
#ifndef PENSTOCK_OPS_FILTER_RUN_H
#define PENSTOCK_OPS_FILTER_RUN_H

#include "ops/filter/filter_engine.h"
#include "ops/filter/filter_fused.h"

struct filter_engine {
    penstock_context *context;
    struct filter_shape shape;
    const struct filter_kernels *kernels;
    const char *device;
    penstock_plan *forward, *reverse; /* NULL with a pair */
    struct filter_pair *pair;         /* or NULL */
    struct penstock_dft_plan *taps_dft;
    size_t channels;
    size_t rows;                      /* blocks of a batch */
    unsigned slots;                   /* batches on their way at once, while one kernel does all */
    size_t bins, products, row_bytes; /* of a block: bins before and after the product, bytes after the reverse one */
    bool near;

    /* In batches: room for `rows` blocks and one more, for a change of taps. */
    penstock_cf32 *spectra, *product;
    char *made;
    struct filter_fused fused;                 /* does all of it, where the device can */
    struct penstock__event_times *event_times; /* or NULL: as penstock__batch.event_times, of all batches */

    /* Near: of each thread. */
    char *scratch;
    size_t scratch_bytes, product_at, made_at, transform_at;
};

/* A pair where the device is this processor and the shape is fit for it; none is no error. */
int penstock__filter_near_pair(struct filter_engine *engine, const char *device);
bool penstock__filter_near_possible(const struct filter_engine *engine);
int penstock__filter_near_init(struct filter_engine *engine);
void penstock__filter_near_run(struct filter_engine *engine, const struct filter_blocks *blocks);

int penstock__filter_batch_init(struct filter_engine *engine);
int penstock__filter_batch_run(struct filter_engine *engine, const struct filter_blocks *blocks);
bool penstock__filter_batch_can_send(struct filter_engine *engine, const struct filter_blocks *blocks, bool *refills);
int penstock__filter_batch_send(struct filter_engine *engine, const struct filter_blocks *blocks, unsigned slot);

/* ---- stages of a row: filter_row.c ---- */

/* `to` may be `spectrum` without interpolation. */
void penstock__filter_multiply(const struct filter_engine *engine, penstock_cf32 *to, const penstock_cf32 *spectrum,
                               const struct filter_taps *taps);

/* Values `first` .. `end` - 1 of a block, out of what the reverse transform made of a product with `taps`; `out` is
 * where its value 0 goes. */
void penstock__filter_store(const struct filter_engine *engine, const struct filter_taps *taps, void *out,
                            const void *made, uint64_t block, size_t first, size_t end);

/* The value of a block at which the next taps take over; all values where they do not. */
size_t penstock__filter_taps_end(const struct filter_shape *shape, const struct filter_taps *taps, uint64_t block);

#endif
