/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Blocks of a stream through overlap-save: a forward transform of each frame and, for each channel, the product with
 * the taps' spectrum, a reverse transform, and what is left after wrapping around. A frame is `history` old samples and
 * `block` new ones.
 *
 * Interpolation by I repeats the spectrum I times, which is that of the samples with I - 1 zeros between each two.
 * Decimation by D: with F the greatest common divisor of D and the length n I, the spectrum is folded F times, so that
 * the reverse transform is F times shorter, and of its values each (D / F)-th is kept.
 *
 * Many taps may be cut into `partitions` of one block's length each: a block's spectrum is then the sum of products of
 * the last `partitions` frames' spectra with those of the partitions, and the transform no longer than two blocks (T.
 * Stockham's method with the sectioning of B. Kulp, "Digital equalization using Fourier transform techniques", AES 85,
 * 1988).
 *
 * Positions are counted at the interpolated rate, where taps are, from the first sample on.
 */
#ifndef PENSTOCK_OPS_FILTER_ENGINE_H
#define PENSTOCK_OPS_FILTER_ENGINE_H

#include "core/plan/plan.h"
#include "ops/filter/filter_kernels.h"
#include "ops/filter/filter_pair.h"

struct filter_shape {
    penstock_format format; /* of the samples that the forward transform reads: no planar one, no CU8 */
    bool real;              /* real transforms: format F32, values are float */
    bool real_values;       /* of complex transforms the real part is kept: values are float */
    bool rotated;           /* some channel has a shift or a phase, or may get one */
    size_t taps, interpolation, decimation, advance;
    size_t max_latency; /* 0: any */

    /* Set by penstock__filter_shape_set(). */
    size_t n, high, fold, m; /* transform lengths: forward, high = n interpolation, and reverse m = high / fold */
    size_t history, block;   /* samples of a frame: old ones and new ones */
    size_t partitions;       /* sets of taps */
    size_t frame;            /* samples that a block reads, >= history + block: n + (partitions - 1) block */
    size_t first;            /* of a row's values among the reverse transform's */
    size_t values, step;     /* values that a block makes; one of `step` of the reverse transform's */
    size_t sample_bytes, value_bytes;

    /* An engine's own. */
    const struct filter_pair *pair; /* what convolves instead of two transforms, or NULL */
    const struct penstock_dft_plan
        *taps_dft;   /* of `high` points, for taps; NULL where they make it when they need it */
    uint64_t origin; /* sample at which its first block begins */
};

/* For transforms of length n; false where the taps do not fit into it. */
bool penstock__filter_shape_set(struct filter_shape *shape, size_t n);

/* The same with the taps in partitions; false where blocks could not be so short, or would be more than the taps need.
 */
bool penstock__filter_shape_partition(struct filter_shape *shape, size_t n);

/* Position of a block's first value. */
uint64_t penstock__filter_position(const struct filter_shape *shape, uint64_t block);

/* In turns per sample of the input, and the phase at sample 0 in units of 2^-64 turns. */
struct filter_shift {
    double shift;
    uint64_t phase;
};

/* What turns values: of all sets of taps with the same shift. */
struct filter_rotation {
    size_t uses;
    penstock_cf32 table[]; /* from a block's first value to each */
};

/* A set of taps with a shift, and the position from which on it holds; the next one follows in time. */
struct filter_taps {
    size_t count;
    uint64_t from;
    uint64_t id; /* no other set has it; never 0 */
    struct filter_taps *next;
    struct filter_shift shift;
    struct filter_rotation *rotation; /* NULL: values are as they are */
    void *given;                      /* the taps themselves, where another shape or shift may need them; else NULL */
    bool given_real, first;           /* first: as the description has it */
    _Alignas(64) penstock_cf32 spectrum[]; /* of each part `high` values, real: high / 2 + 1; 1 / high and the rotation
                                              are in it; in the pair's order where there is one */
};

/* `shape` is an engine's. One of `complex` and `real` is given. */
int penstock__filter_taps_new(struct filter_taps **taps, const struct filter_shape *shape, struct filter_shift shift,
                              const penstock_cf32 *complex_taps, const float *real_taps, size_t count);

/* The rotation of its shift, or that of `like` (may be NULL), where that has the same; none where there is nothing to
 * turn, unless `always`. */
int penstock__filter_taps_rotate(struct filter_taps *taps, const struct filter_shape *shape,
                                 const struct filter_taps *like, bool always);

/* Keeps the taps themselves too. */
int penstock__filter_taps_keep(struct filter_taps *taps, const penstock_cf32 *complex_taps, const float *real_taps);
void penstock__filter_taps_free(struct filter_taps *taps);

struct filter_engine;

/* What holds for one channel in a run. */
struct filter_channel {
    const struct filter_taps *taps; /* those that hold at the first block's start, and later ones */
    void *out;                      /* values of all blocks, one after the other */
};

struct filter_blocks {
    uint64_t first; /* of the stream's blocks */
    size_t count;
    const void *in;  /* the first block's frame; the others each `block` samples on */
    size_t near;     /* this many of them; */
    const void *far; /* the frame of block first + near, the others each `block` samples on. Batches: near = count. */
    const struct filter_channel *channels;
};

/* `shape` has been set. */
int penstock__filter_engine_new(struct filter_engine **engine, penstock_context *context,
                                const struct filter_shape *shape, size_t channel_count, const char *device);
void penstock__filter_engine_free(struct filter_engine *engine);

const struct filter_shape *penstock__filter_engine_shape(const struct filter_engine *engine);

/* Blocks are counted from this sample on, at which a value of the stream lies. */
void penstock__filter_engine_start(struct filter_engine *engine, uint64_t sample);

/* Name of the device that transforms. */
const char *penstock__filter_engine_device(const struct filter_engine *engine);

/* Blocks of a batch, at most where blocks are not near the processor. */
size_t penstock__filter_engine_rows(const struct filter_engine *engine);

/* Whether blocks go through the processor's own caches: any number of them in a run, which cannot fail. */
bool penstock__filter_engine_near(const struct filter_engine *engine);

/* Near: whether the threads share so many blocks, and how many they want at once; 1 where there is one thread. */
bool penstock__filter_engine_shares(const struct filter_engine *engine, size_t blocks);
size_t penstock__filter_engine_share(const struct filter_engine *engine);

/* Phase at a sample of the input, in units of 2^-64 turns, and at a position. */
uint64_t penstock__filter_phase(struct filter_shift shift, uint64_t sample);
uint64_t penstock__filter_phase_at(const struct filter_shape *shape, struct filter_shift shift, uint64_t position);

/* Turns in units of 2^-64, modulo one. */
uint64_t penstock__filter_turns(double turns);

/* Samples that `rows` >= 1 blocks read. */
size_t penstock__filter_engine_samples(const struct filter_engine *engine, size_t rows);

/* What batches cost by the device's clock is added there, as by penstock__plan_set_event_times(). */
struct penstock__event_times;
void penstock__filter_engine_set_event_times(struct filter_engine *engine, struct penstock__event_times *event_times);

int penstock__filter_engine_run(struct filter_engine *engine, const struct filter_blocks *blocks);

/* Batches that may be on their way at once, one in each slot from 0 on, to a device that does all of a block at once;
 * 1: there is nothing but penstock__filter_engine_run(). That is so too once the device has failed. */
unsigned penstock__filter_engine_slots(const struct filter_engine *engine);

/* Whether these blocks can be sent: taps do not change within them. `*refills`: only while nothing is on its way. */
bool penstock__filter_engine_can_send(struct filter_engine *engine, const struct filter_blocks *blocks, bool *refills);

/* Through an idle slot; `blocks` itself is not kept. After an error of either the batches in all slots are lost,
 * nothing of them touches memory any more, and there are no more slots. */
int penstock__filter_engine_send(struct filter_engine *engine, const struct filter_blocks *blocks, unsigned slot);
int penstock__filter_engine_wait(struct filter_engine *engine, unsigned slot);

/* Whose memory samples and values should lie in; NULL: any. */
struct penstock_device *penstock__filter_engine_memory(const struct filter_engine *engine);

/* As penstock_filter_enqueue(), with these taps; no batch may be on its way. */
int penstock__filter_engine_enqueue(struct filter_engine *engine, const struct filter_taps *taps, uint64_t first,
                                    const penstock_buffer *in, penstock_buffer *out, size_t count,
                                    penstock_queue *queue);

/* Sets the length and the partitions that suit a device, which is open. */
void penstock__filter_length(struct filter_shape *shape, const struct penstock_device *device, size_t channel_count);

/* The same for the device that `asked` means, which "auto" finds by measurement or from memory; `device` is then the
 * text that names it. */
int penstock__filter_choose(struct filter_shape *shape, char device[64], penstock_context *context,
                            size_t channel_count, const char *asked);

#endif
