/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms of a vector whose last samples are not there yet: on a device that works on the calling thread their mean
 * so far is kept in the plan's scratch memory, and their samples need be kept by nobody.
 */
#include "ops/spectrum/spectrum.h"

#include <string.h>

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: " __VA_ARGS__)

bool penstock__spectrum_goes_straight(const struct spectrum *spectrum)
{
    return !spectrum->batched.stream.finished && !spectrum->sum && spectrum->desc.hop <= spectrum->desc.n &&
           spectrum->desc.channels == 1 && spectrum->format == spectrum->desc.format &&
           penstock__plan_is_direct(spectrum->batched.plan);
}

int penstock__spectrum_hold(struct spectrum *spectrum, const char *samples, size_t count)
{
    size_t bytes = penstock_format_bytes(spectrum->format), room;
    void *to;
    int status = penstock__batcher_room(spectrum->batched.batcher, &to, &room);
    if (status || !count)
        return status;
    memcpy(to, samples, count * bytes);
    return penstock__batcher_commit(spectrum->batched.batcher, count);
}

/* ---------------------------------------------------------------- begun ----------------------- */

/* Whether the next sample is the first one of a transform, and these can be done one by one. */
static bool can_prepare(struct spectrum *spectrum)
{
    size_t bytes;
    if (!spectrum->prepared)
        penstock__plan_executor_now(spectrum->batched.plan);
    if (!penstock__spectrum_goes_straight(spectrum) || spectrum->desc.average == 1 ||
        penstock__batcher_held(spectrum->batched.batcher) ||
        !penstock__plan_runs_frames(spectrum->batched.plan, &bytes))
        return false;
    if (spectrum->prepare_bytes < bytes) {
        penstock__free(spectrum->prepare_sums);
        spectrum->prepare_sums = penstock__alloc(bytes);
        spectrum->prepare_bytes = spectrum->prepare_sums ? bytes : 0;
    }
    return spectrum->prepare_sums;
}

int penstock_spectrum_prepare(penstock_stream *stream, const void *samples, size_t count, size_t *taken, size_t *wanted)
{
    int status = penstock__stream_is(stream, &penstock__spectrum_kind.calls, "penstock_spectrum_prepare");
    if (status)
        return status;
    if (!taken || !wanted || (count && !samples))
        return bad("penstock_spectrum_prepare: an argument is NULL");
    struct spectrum *spectrum = spectrum_of(stream);
    *taken = *wanted = 0;
    if (!can_prepare(spectrum))
        return PENSTOCK_OK;
    const penstock_spectrum_desc *desc = &spectrum->desc;
    size_t transforms = count < desc->n ? 0 : (count - desc->n) / desc->hop + 1;
    size_t left = desc->average - 1 - spectrum->prepared;
    transforms = transforms < left ? transforms : left;
    if (transforms) {
        double began = penstock__now_s();
        penstock__plan_serve(spectrum->batched.plan);
        penstock__plan_run_frames(spectrum->batched.plan, samples, spectrum->prepared, transforms,
                                  spectrum->prepare_sums, spectrum->prepare_sums);
        penstock__plan_served(spectrum->batched.plan, transforms);
        spectrum->prepare_s = (spectrum->prepared ? spectrum->prepare_s : 0) + penstock__now_s() - began;
        spectrum->prepared += (unsigned)transforms;
        *taken = transforms * desc->hop;
        penstock__stream_took(stream, *taken, began);
    }
    *wanted = desc->n;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- ended ----------------------- */

void penstock__spectrum_end_prepared(struct spectrum *spectrum, const char *samples, char *vector)
{
    double began = penstock__now_s();
    penstock__plan_run_frames(spectrum->batched.plan, samples, spectrum->prepared,
                              spectrum->desc.average - spectrum->prepared, vector, spectrum->prepare_sums);
    spectrum->prepared = 0;
    penstock__meter_batch(&spectrum->batched.stream.meter, 1, spectrum->prepare_s + penstock__now_s() - began);
    if (spectrum->next)
        penstock__spectrum_change_plan(spectrum, spectrum->next);
}

int penstock__spectrum_run_held(struct spectrum *spectrum, const char *samples, size_t count, size_t *taken,
                                char *vector, size_t *given)
{
    size_t held = penstock__batcher_held(spectrum->batched.batcher), gone = penstock__spectrum_gone(spectrum), room;
    size_t needs = penstock__spectrum_span(spectrum) - gone - held;
    size_t over = penstock__spectrum_step(spectrum) - gone; /* where the next vector starts in what is held */
    size_t bytes = penstock_format_bytes(spectrum->format);
    void *to;
    int status;
    if (count < needs) {
        status = penstock__spectrum_hold(spectrum, samples, count);
        *taken = status ? 0 : count;
        return status;
    }
    if ((status = penstock__batcher_room(spectrum->batched.batcher, &to, &room)))
        return status;
    memcpy(to, samples, needs * bytes); /* for the moment: a part of them may be the next vector's, too */
    penstock__spectrum_end_prepared(spectrum, (char *)to - held * bytes, vector);
    penstock__batcher_drop_held(spectrum->batched.batcher, over < held ? over : held);
    *taken = over < held ? 0 : over - held;
    *given = 1;
    return PENSTOCK_OK;
}
