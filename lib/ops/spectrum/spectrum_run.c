/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The streaming spectrum while it runs: push and pull in one call, changes, counters. */
#include "core/check/check.h"
#include "ops/spectrum/spectrum.h"

#include <string.h>

/* Fewer samples than MANY_SAMPLES come from a caller whose own threads keep the processors busy, where a hand-over
 * costs as much as it brings: ALONE_SAMPLES are transformed at a time, for which nobody is asked to help. */
#define ALONE_SAMPLES ((size_t)1 << 14)
#define MANY_SAMPLES  ((size_t)1 << 16)

/* ---------------------------------------------------------------- straight -------------------- */

/* A device that computes within the call has nothing to wait for. */
static int push_and_pull(struct spectrum *spectrum, const void *samples, size_t count, size_t *taken, void *vectors,
                         size_t capacity, size_t *given)
{
    int pushed = count ? penstock_stream_push(&spectrum->batched.stream, samples, count, taken) : PENSTOCK_OK;
    bool direct = penstock__plan_is_direct(spectrum->batched.plan);
    if (direct)
        penstock__batcher_flush(spectrum->batched.batcher); /* the batcher keeps a failure until its turn comes */
    int status = penstock_stream_pull(&spectrum->batched.stream, vectors, capacity, direct, given);
    return status || *given ? status : pushed;
}

/* Where the samples that came straight before, and are held, end within vectors: how many vectors begin in them, and
 * how many samples it takes to complete these. */
struct seam {
    size_t held, vectors, needs;
};

/* Whether this call can go straight. */
static bool find_seam(const struct spectrum *spectrum, struct seam *seam, size_t count, size_t capacity)
{
    size_t step = penstock__spectrum_step(spectrum), span = penstock__spectrum_span(spectrum), room;
    void *to;
    if (!penstock__spectrum_goes_straight(spectrum))
        return false;
    seam->held = penstock__batcher_held(spectrum->batched.batcher);
    if (seam->held == SIZE_MAX || penstock__batcher_room(spectrum->batched.batcher, &to, &room))
        return false;
    seam->vectors = (seam->held + step - 1) / step;
    seam->needs = seam->vectors ? (seam->vectors - 1) * step + span - seam->held : 0;
    return count >= seam->needs && seam->needs <= room && capacity > seam->vectors && room >= span;
}

/* The vectors that begin in what is held; afterwards nothing is, and the next one begins within `samples`. */
static int close_seam(struct spectrum *spectrum, const struct seam *seam, const char *samples, char *vectors)
{
    size_t given = 0;
    int status;
    if (!seam->vectors)
        return PENSTOCK_OK;
    if ((status = penstock__spectrum_hold(spectrum, samples, seam->needs)) ||
        (status = penstock__batcher_flush(spectrum->batched.batcher)) ||
        (status = penstock__spectrum_pull(spectrum, vectors, seam->vectors, true, &given)))
        return status;
    penstock__batcher_drop_held(spectrum->batched.batcher, penstock__batcher_held(spectrum->batched.batcher));
    return PENSTOCK_OK;
}

/* `count` vectors; how many were made before a failure. The samples of the first one that are gone come before
 * `samples`. */
static int make_vectors(struct spectrum *spectrum, const char *samples, size_t count, char *vectors, size_t *made)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    size_t step = penstock__spectrum_step(spectrum), most = ALONE_SAMPLES / (desc->n * desc->average), some;
    size_t gone = penstock__spectrum_gone(spectrum), begun = count && gone;
    if (begun)
        penstock__spectrum_end_prepared(spectrum, samples, vectors);
    double began = penstock__now_s();
    if (count * step >= MANY_SAMPLES)
        most = count;
    for (*made = begun; *made < count; *made += some) {
        const char *from = samples + (*made * step - gone) * penstock_format_bytes(spectrum->format);
        char *to = vectors + *made * spectrum->length * spectrum->value_bytes;
        int status;
        some = most < 1 ? 1 : most < count - *made ? most : count - *made;
        if ((status = penstock_plan_run(spectrum->batched.plan, from, to, some * desc->average)))
            return status;
    }
    if (count > begun)
        penstock__meter_batch(&spectrum->batched.stream.meter, count - begun, penstock__now_s() - began);
    return PENSTOCK_OK;
}

static int run_straight(struct spectrum *spectrum, const struct seam *seam, const char *samples, size_t count,
                        size_t *taken, char *vectors, size_t capacity, size_t *given)
{
    size_t bytes = penstock_format_bytes(spectrum->format), vector_bytes = spectrum->length * spectrum->value_bytes;
    size_t step = penstock__spectrum_step(spectrum), span = penstock__spectrum_span(spectrum),
           at = seam->vectors * step - seam->held, straight, made;
    size_t gone = penstock__spectrum_gone(spectrum);
    int status = close_seam(spectrum, seam, samples, vectors);
    if (status)
        return status;
    *taken = at;
    *given = seam->vectors;
    straight = gone + count - at >= span ? (gone + count - at - span) / step + 1 : 0;
    if (straight > capacity - *given)
        straight = capacity - *given;
    status = make_vectors(spectrum, samples + at * bytes, straight, vectors + *given * vector_bytes, &made);
    *given += made;
    *taken += made ? made * step - gone : 0;
    if (status)
        return *given ? PENSTOCK_OK : status; /* the next call meets it again */
    if (straight ||
        gone + count - *taken >= span) /* the next call brings the rest again, and more; or there is no room */
        return PENSTOCK_OK;
    status = penstock__spectrum_hold(spectrum, samples + *taken * bytes, count - *taken);
    *taken = count;
    return status;
}

int penstock__spectrum_run(penstock_stream *stream, const void *in, size_t count, size_t *taken,
                           const struct penstock__room *out, size_t capacity, size_t *given)
{
    struct spectrum *spectrum = spectrum_of(stream);
    struct seam seam = {0};
    bool begun = spectrum->prepared && !stream->finished;
    if (begun && !capacity)
        return PENSTOCK_OK;
    if (!count || (!begun && !find_seam(spectrum, &seam, count, capacity)))
        return push_and_pull(spectrum, in, count, taken, out->whole, capacity, given);
    double began = penstock__now_s();
    int status = begun && penstock__batcher_held(spectrum->batched.batcher)
                     ? penstock__spectrum_run_held(spectrum, in, count, taken, out->whole, given)
                     : run_straight(spectrum, &seam, in, count, taken, out->whole, capacity, given);
    penstock__spectrum_decay(spectrum, out->whole, *given);
    penstock__stream_took(stream, *taken, began);
    penstock__spectrum_gave(spectrum, *given);
    return status;
}

/* ---------------------------------------------------------------- the batcher's memory -------- */

int penstock__spectrum_check_unprepared(const struct spectrum *spectrum)
{
    if (!spectrum->prepared)
        return PENSTOCK_OK;
    return penstock__error(PENSTOCK_ERR_STATE, "spectrum: the vector that was begun by penstock_spectrum_prepare() is "
                                               "ended by penstock_stream_run()");
}

int penstock__spectrum_acquire(penstock_stream *stream, void **to, size_t *room)
{
    int status = penstock__spectrum_check_unprepared(spectrum_of(stream));
    return status ? status : penstock__batched_acquire(stream, to, room);
}

void penstock__spectrum_release(penstock_stream *stream, size_t count)
{
    penstock__batcher_release(spectrum_of(stream)->batched.batcher, count);
    penstock__spectrum_gave(spectrum_of(stream), count);
}

/* ---------------------------------------------------------------- changes --------------------- */

int penstock_spectrum_set_window(penstock_stream *stream, const char *window, const float *taps)
{
    penstock_plan *next;
    int status = penstock__stream_is(stream, &penstock__spectrum_kind.calls, "penstock_spectrum_set_window");
    if (status)
        return status;
    struct spectrum *spectrum = spectrum_of(stream);
    if (penstock__rest_count(&spectrum->rest))
        return penstock__error(PENSTOCK_ERR_STATE, "spectrum: vectors wait to be pulled before the window can change");
    spectrum->desc.window = window;
    spectrum->desc.taps = taps;
    penstock__check_replaces(true);
    status = penstock__spectrum_plan(&spectrum->batched, &next);
    penstock__check_replaces(false);
    spectrum->desc.window = NULL;
    spectrum->desc.taps = NULL;
    if (status)
        return status;
    if (spectrum->prepared) {
        penstock__plan_free(spectrum->next);
        spectrum->next = next;
    } else {
        penstock__spectrum_change_plan(spectrum, next);
    }
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

void penstock__spectrum_gave(struct spectrum *spectrum, size_t vectors)
{
    size_t step = penstock__spectrum_step(spectrum);
    penstock__stream_gave(&spectrum->batched.stream, vectors,
                          spectrum->batched.stream.given * step + (step - spectrum->desc.hop) + spectrum->desc.n, step);
}

/* Vectors that are complete, and were given or not. */
static uint64_t complete(const struct spectrum *spectrum)
{
    uint64_t samples = spectrum->batched.stream.taken, span = penstock__spectrum_span(spectrum);
    return samples < span ? 0 : (samples - span) / penstock__spectrum_step(spectrum) + 1;
}

void penstock__spectrum_get_info(const penstock_stream *stream, penstock_stream_info *info)
{
    const struct spectrum *spectrum = const_spectrum_of(stream);
    penstock__batched_get_info(stream, info);
    info->waiting = complete(spectrum) > stream->given ? complete(spectrum) - stream->given : 0;
}
