/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* What the files of the streaming spectrum share. */
#ifndef PENSTOCK_OPS_SPECTRUM_H
#define PENSTOCK_OPS_SPECTRUM_H

#include "core/stream/batched.h"
#include "core/stream/rest.h"

struct spectrum {
    struct penstock__batched batched;
    penstock_spectrum_desc desc; /* defaults filled in; pointers are not kept */
    penstock_format format;      /* of the plan; another one than desc.format where samples are converted here */
    penstock_output output;      /* of the plan; powers where desc.output is made of a decaying mean */
    size_t length, value_bytes;  /* of a vector, or of those of all channels */

    size_t in_frame;            /* hop > n: samples of the present transform that were taken */
    size_t to_skip;             /* hop > n: samples to leave out next */
    struct penstock__rest rest; /* of a planar push; counted as pushed */
    size_t zeros;               /* still to be pushed after the end */

    double *sum; /* of powers, where the average is made here; else NULL */
    unsigned summed;

    double *mean; /* the decaying one, or NULL */
    const struct spectrum_kernels *kernels;

    unsigned prepared;   /* transforms of the next vector that were done ahead, and whose samples are gone; those that
                            the batcher holds are then the ones that follow, too few for the vector */
    double prepare_s;    /* what they took */
    penstock_plan *next; /* with another window, for the vector after that one, or NULL */
    void *prepare_sums;  /* scratch memory of the plan with their sums, or NULL */
    size_t prepare_bytes;
};

extern const struct penstock__batched_kind penstock__spectrum_kind;

static inline struct spectrum *spectrum_of(penstock_stream *stream)
{
    return (struct spectrum *)(void *)stream;
}

static inline const struct spectrum *const_spectrum_of(const penstock_stream *stream)
{
    return (const struct spectrum *)(const void *)stream;
}

/* Whether powers are summed here: the device cannot for the whole vector, or part of one may be asked for. */
bool penstock__spectrum_averages_here(const penstock_spectrum_desc *desc);

/* PENSTOCK_ERR_ARGUMENT with text where it is no weight of a decaying mean. */
int penstock__spectrum_decay_check(double decay);

/* What `count` vectors that are handed out become, if there is a decaying mean. */
void penstock__spectrum_decay(struct spectrum *spectrum, float *vectors, size_t count);

/* The plan with the description's window. */
int penstock__spectrum_plan(const struct penstock__batched *batched, penstock_plan **plan);

/* The present plan gives way to `next`, the spectrum's own. */
void penstock__spectrum_change_plan(struct spectrum *spectrum, penstock_plan *next);

/* Samples from one vector's start to the next one's, and samples of one vector. */
static inline size_t penstock__spectrum_step(const struct spectrum *spectrum)
{
    return spectrum->desc.average * spectrum->desc.hop;
}

static inline size_t penstock__spectrum_span(const struct spectrum *spectrum)
{
    return penstock__spectrum_step(spectrum) - spectrum->desc.hop + spectrum->desc.n;
}

/* Samples from the start of the next vector on that are gone, because its first transforms were done ahead. */
static inline size_t penstock__spectrum_gone(const struct spectrum *spectrum)
{
    return spectrum->prepared * spectrum->desc.hop;
}

/* Whether vectors can be made straight from the caller's samples. */
bool penstock__spectrum_goes_straight(const struct spectrum *spectrum);

/* `count` samples, which complete nothing, to the batcher, which has room for them. */
int penstock__spectrum_hold(struct spectrum *spectrum, const char *samples, size_t count);

/* The rest of a vector of which transforms were done ahead: all its samples from there on are at `samples`. */
void penstock__spectrum_end_prepared(struct spectrum *spectrum, const char *samples, char *vector);

/* As penstock_stream_run() where transforms were done ahead and the batcher holds samples behind them; capacity is
 * not 0. */
int penstock__spectrum_run_held(struct spectrum *spectrum, const char *samples, size_t count, size_t *taken,
                                char *vector, size_t *given);

/* PENSTOCK_ERR_STATE with text while transforms were done ahead. */
int penstock__spectrum_check_unprepared(const struct spectrum *spectrum);

/* As many items of a push as there is room for. */
int penstock__spectrum_take(struct spectrum *spectrum, const struct penstock__items *in, size_t count, size_t *taken);

/* Pulls without counting. */
int penstock__spectrum_pull(struct spectrum *spectrum, void *vectors, size_t capacity, bool wait, size_t *count);

/* Counts vectors that were handed out. */
void penstock__spectrum_gave(struct spectrum *spectrum, size_t vectors);

/* ---- of the kind's table: spectrum_run.c, spectrum_samples.c ---- */

int penstock__spectrum_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                           const struct penstock__room *out, size_t capacity, size_t *given);
int penstock__spectrum_acquire(penstock_stream *stream, void **to, size_t *room);
void penstock__spectrum_release(penstock_stream *stream, size_t count);
int penstock__spectrum_peek(penstock_stream *stream, bool wait, const void **from, size_t *groups);
int penstock__spectrum_finish(penstock_stream *stream);
void penstock__spectrum_get_info(const penstock_stream *stream, penstock_stream_info *info);

#endif
