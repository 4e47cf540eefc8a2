/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The inside of a filter: samples gather behind the history of the block before; what fails leaves them where they are,
 * and is tried again. */
#ifndef PENSTOCK_OPS_FILTER_STREAM_H
#define PENSTOCK_OPS_FILTER_STREAM_H

#include "ops/filter_engine.h"

struct penstock_filter {
    penstock_filter_desc desc; /* defaults filled in; pointers are not kept */
    penstock_context *context;
    struct filter_engine *engine;
    const struct filter_shape *shape; /* the engine's */
    struct filter_taps *taps;         /* those that hold at the next block's start, and later ones */
    const struct filter_taps *newest;

    char *in;        /* frames that gather */
    size_t whole;    /* samples of a full batch of frames */
    size_t filled;   /* samples there, history included */
    size_t due;      /* complete blocks that a pull gives without waiting */
    double complete; /* the time since when there is a complete block, where that is of interest; else 0 */
    uint64_t blocks; /* that went through the engine */

    char *made;          /* blocks whose values were not pulled at once */
    size_t made_blocks;  /* room there */
    size_t ready, given; /* values there, and how many of them were pulled */
    bool flushed;        /* they are of a block that goes through the engine again */
    size_t early;        /* values of the next blocks that were pulled already */
    uint64_t flush_to;   /* values before this one are to come at once */

    uint64_t samples, values;
    bool finished;
    uint64_t total; /* values of the whole stream, once finished */
};

/* Back to the first sample. */
void penstock__filter_rewind(struct penstock_filter *filter);

/* Forgets sets of taps until `last`, which becomes the first. */
void penstock__filter_drop_taps(struct penstock_filter *filter, const struct filter_taps *last);

#endif
