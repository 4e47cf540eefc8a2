/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* OFDM demodulation in one kernel of the device, where it has one: what goes to it, symbols and coefficients. */
#ifndef PENSTOCK_OPS_OFDM_FUSED_H
#define PENSTOCK_OPS_OFDM_FUSED_H

#include "core/plan/executor.h"
#include "ops/ofdm/ofdm.h"
#include "ops/ofdm/ofdm_symbol.h"

#define OFDM_SLOTS  3  /* of each device */
#define OFDM_NARROW 21 /* the highest level that a kernel without some limits bears */

/* Soft bits alone, or all that can be asked for. */
enum ofdm_want { OFDM_SOFT, OFDM_COMPLETE, OFDM_WANTS };

struct ofdm_kernel {
    struct penstock_problem problem;
    struct penstock__executor *executor; /* NULL: not made, or there is none */
    bool tried;
    struct penstock__failure failure; /* of that */
};

/* On one of the device's members: what stands for the frame that was enqueued there last. */
struct ofdm_there {
    penstock_buffer *coefficients; /* NULL: none was */
    penstock_buffer *descriptors;  /* NULL where it has no offset */
    struct penstock_ofdm_tables tables;
};

struct ofdm_fused {
    bool described;
    bool able; /* the device may have such kernels; of those for all that can be asked for, the first batch tells */
    struct penstock_device *device;
    struct ofdm_kernel kernels[OFDM_WANTS];
    struct ofdm_kernel *chosen; /* for the batch that is under way */
    uint32_t *bins, *pilot_bins;
    penstock_cf32 *pilot_values;
    struct penstock_ofdm_descriptor *descriptors; /* of a block's symbols */
    penstock_cf32 *coefficients;                  /* of a batch's frames */
    uint64_t filled, fills;                       /* which of all that were made these are: what tells them apart */
    size_t frame_count;
    struct ofdm_gain_set {
        penstock_cf32 *values;
        size_t capacity;              /* pairs */
        uint64_t frames_id, filled;   /* 0: of frames that may differ from the next batch's; and as above, */
        double highest;               /* likewise */
    } gain_sets[PENSTOCK__MAX_SLOTS]; /* `coefficients` is one of them; batches that are on their way at once have each
                                       * its own
                                       */
    unsigned gain_set;                /* the next batch's */
    char *rows;                       /* of a block, where all was asked for */
    size_t block;
    double highest;                            /* level of these frames */
    struct ofdm_there *there;                  /* of each member; NULL before symbols were first enqueued */
    struct penstock__event_times *event_times; /* or NULL: as penstock__batch.event_times, of all batches */
};

/* Results of `count` symbols, of which the kernel gives what is not NULL: as in penstock_ofdm_result. */
struct ofdm_rows {
    penstock_cf32 *points;
    int8_t *soft;
    penstock_cf32 *pilots;
    float *phase, *slope;
    size_t count;
};

/* What kernels are to do, where the device may have them. */
int penstock__ofdm_fused_describe(struct ofdm_fused *fused, struct penstock_device *device,
                                  const struct ofdm_grid *grid, const penstock_ofdm_desc *desc, enum ofdm_way way);

/* Makes one of those described: both may be made at once. An error only for want of memory. */
int penstock__ofdm_fused_make(struct ofdm_fused *fused, enum ofdm_want want);

/* Leaves `able` false where the device has no such kernel for the grid, or where what it has fails its check (with a
 * log line). An error only for want of memory. */
int penstock__ofdm_fused_init(struct ofdm_fused *fused, size_t block, enum ofdm_way way);
void penstock__ofdm_fused_free(struct ofdm_fused *fused);

/* What a kernel is to do, with the arrays and the block of `fused`. */
struct penstock_problem penstock__ofdm_problem(const struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                               penstock_format format, enum ofdm_want want);

/* Whether a kernel gives all that is wanted of the batch; then it is made and the frames' coefficients are, unless the
 * batch before with this set of them had the same `frames_id`, not 0: the same results wanted of as many frames, alike
 * but for offset and origin. A negative status is an error. */
int penstock__ofdm_fused_begin(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                               const penstock_ofdm_result *result, uint64_t frames_id);

/* A block's symbols, whose samples are packed at `in`, n of each. After an error the kernel is given up. */
int penstock__ofdm_fused_run(struct ofdm_fused *fused, const struct ofdm_grid *grid, const penstock_ofdm_batch *batch,
                             const penstock_ofdm_symbol *symbols, const void *in, const struct ofdm_rows *rows,
                             size_t skip);

/*
 * Soft bits of `symbols` symbols of `frame`, whose samples are on the device, `length` from one to the next one. NULL:
 * the frame of the call before.
 */
int penstock__ofdm_fused_enqueue(struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                 const penstock_ofdm_frame *frame, const penstock_buffer *in, penstock_buffer *out,
                                 size_t symbols, size_t skip, size_t length, penstock_queue *queue);
void penstock__ofdm_there_free(struct ofdm_there *there);

/* With a log line. */
void penstock__ofdm_fused_give_up(struct ofdm_fused *fused);

/* How a symbol, whose transform begins at sample `window` of the batch, is listed, less where that is. `given`: with
 * its own phase and slope. */
struct penstock_ofdm_descriptor penstock__ofdm_descriptor(const penstock_ofdm_symbol *symbol,
                                                          const penstock_ofdm_frame *frames, uint64_t window, size_t n,
                                                          bool given);

/* Symbols of one frame at even distances, from the `first` one on: the chosen kernel's tables, which point to
 * `descriptors` where the frame has an offset. */
struct penstock_ofdm_tables penstock__ofdm_even_tables(const struct ofdm_fused *fused, const struct ofdm_grid *grid,
                                                       const penstock_ofdm_frame *frames,
                                                       const penstock_ofdm_symbol *first, size_t skip, uint32_t spacing,
                                                       struct penstock_ofdm_descriptor descriptors[2]);

/* Results of `symbols` symbols as the kernel leaves them, of which those from `first` on are looked at. */
struct ofdm_made {
    const char *from;
    size_t symbols, first;
};

/* To where each part is wanted. */
void penstock__ofdm_spread(const struct penstock_ofdm_problem *ofdm, const struct ofdm_grid *grid,
                           const penstock_ofdm_symbol *symbols, const struct ofdm_made *made,
                           const struct ofdm_rows *rows);

/* Where the results of symbols from `first` on go. */
static inline struct ofdm_rows penstock__ofdm_rows(const struct ofdm_grid *grid, const penstock_ofdm_result *result,
                                                   size_t first)
{
    size_t carriers = first * grid->data.count;
    return (struct ofdm_rows){.points = result->points ? result->points + carriers : NULL,
                              .soft = result->soft ? result->soft + carriers * grid->pitch : NULL,
                              .pilots = result->pilots ? result->pilots + first * grid->pilots.count : NULL,
                              .phase = result->phase ? result->phase + first : NULL,
                              .slope = result->slope ? result->slope + first : NULL};
}

/*
 * The carrier offset's rotation as 32-bit turns. In 64-bit turns, modulo one turn, the phase at any sample is exact but
 * for the rounding of `cfo` itself. What rounding the step leaves is made zero at the transform's middle.
 */
static inline uint64_t penstock__ofdm_turns(const penstock_ofdm_frame *frame) /* from a sample to the next */
{
    return (uint64_t)(int64_t)(-frame->cfo * 0x1p63) * 2;
}

static inline uint64_t penstock__ofdm_phase(const penstock_ofdm_frame *frame, uint64_t window, size_t n)
{
    uint64_t turns = penstock__ofdm_turns(frame), half = 0x80000000u, step = (turns + half) >> 32;
    return turns * (window - frame->origin) + (turns - (step << 32)) * (n / 2) + half;
}

static inline void penstock__ofdm_rotation(struct penstock_gather *gather, const penstock_ofdm_frame *frame,
                                           uint64_t window, size_t n)
{
    gather->phase = (uint32_t)(penstock__ofdm_phase(frame, window, n) >> 32);
    gather->step = (uint32_t)((penstock__ofdm_turns(frame) + 0x80000000u) >> 32);
}

/* ---------------------------------------------------------------- ofdm_coefficients.c --------- */

/* A frame's row of struct penstock_ofdm_tables; *highest grows to its highest level. False where a number does not fit
 * the kernel's arithmetic. */
bool penstock__ofdm_coefficients_fill(penstock_cf32 *coefficients, const struct penstock_ofdm_problem *ofdm,
                                      const struct ofdm_grid *grid, const penstock_ofdm_frame *frame, double *highest);

#endif
