/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The streaming spectrum while it runs: push and pull in one call, changes, counters. */
#include "core/description.h"
#include "ops/spectrum.h"

#include <math.h>
#include <string.h>

/* Fewer samples than MANY_SAMPLES come from a caller whose own threads keep the processors busy, where a hand-over
 * costs as much as it brings: ALONE_SAMPLES are transformed at a time, for which nobody is asked to help. */
#define ALONE_SAMPLES ((size_t)1 << 14)
#define MANY_SAMPLES  ((size_t)1 << 16)

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "spectrum: " __VA_ARGS__)

/* Samples from one vector's start to the next one's. */
static size_t step_of(const penstock_spectrum *spectrum)
{
    return spectrum->desc.average * spectrum->desc.hop;
}

/* Samples of one vector. */
static size_t span_of(const penstock_spectrum *spectrum)
{
    return step_of(spectrum) - spectrum->desc.hop + spectrum->desc.n;
}

/* ---------------------------------------------------------------- straight -------------------- */

/* A device that computes within the call has nothing to wait for. */
static int push_and_pull(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken, void *vectors,
                         size_t capacity, size_t *given)
{
    int pushed = count ? penstock_spectrum_push(spectrum, samples, count, taken) : PENSTOCK_OK;
    bool direct = penstock__plan_is_direct(spectrum->plan);
    if (direct)
        penstock__batcher_flush(spectrum->batcher); /* the batcher keeps a failure until its turn comes */
    int status = penstock_spectrum_pull(spectrum, vectors, capacity, direct, given);
    return status || *given ? status : pushed;
}

/* `count` samples to the batcher, which has room for them. */
static int hold(penstock_spectrum *spectrum, const char *samples, size_t count)
{
    size_t bytes = penstock_format_bytes(spectrum->format), room;
    void *to;
    int status = penstock__batcher_room(spectrum->batcher, &to, &room);
    if (status || !count)
        return status;
    memcpy(to, samples, count * bytes);
    return penstock__batcher_commit(spectrum->batcher, count);
}

/* Where the samples that came straight before, and are held, end within vectors: how many vectors begin in them, and
 * how many samples it takes to complete these. */
struct seam {
    size_t held, vectors, needs;
};

/* Whether vectors can be made straight from the caller's samples. */
static bool goes_straight(const penstock_spectrum *spectrum)
{
    return !spectrum->finished && !spectrum->sum && spectrum->desc.hop <= spectrum->desc.n &&
           spectrum->format == spectrum->desc.format && penstock__plan_is_direct(spectrum->plan);
}

/* Whether this call can go straight. */
static bool find_seam(const penstock_spectrum *spectrum, struct seam *seam, size_t count, size_t capacity)
{
    size_t step = step_of(spectrum), span = span_of(spectrum), room;
    void *to;
    if (!goes_straight(spectrum))
        return false;
    seam->held = penstock__batcher_held(spectrum->batcher);
    if (seam->held == SIZE_MAX || penstock__batcher_room(spectrum->batcher, &to, &room))
        return false;
    seam->vectors = (seam->held + step - 1) / step;
    seam->needs = seam->vectors ? (seam->vectors - 1) * step + span - seam->held : 0;
    return count >= seam->needs && seam->needs <= room && capacity > seam->vectors && room >= span;
}

/* The vectors that begin in what is held; afterwards nothing is, and the next one begins within `samples`. */
static int close_seam(penstock_spectrum *spectrum, const struct seam *seam, const char *samples, char *vectors)
{
    size_t given = 0;
    int status;
    if (!seam->vectors)
        return PENSTOCK_OK;
    if ((status = hold(spectrum, samples, seam->needs)) || (status = penstock__batcher_flush(spectrum->batcher)) ||
        (status = penstock__spectrum_pull(spectrum, vectors, seam->vectors, true, &given)))
        return status;
    penstock__batcher_drop_held(spectrum->batcher);
    return PENSTOCK_OK;
}

/* The rest of a vector of which some transforms were done ahead. */
static void end_prepared(penstock_spectrum *spectrum, const char *samples, char *vector)
{
    double began = penstock__now_s();
    penstock__plan_run_frames(spectrum->plan, samples, spectrum->prepared, spectrum->desc.average - spectrum->prepared,
                              vector, spectrum->prepare_sums);
    spectrum->prepared = 0;
    penstock__meter_batch(&spectrum->meter, 1, spectrum->prepare_s + penstock__now_s() - began);
}

/* `count` vectors; how many were made before a failure. */
static int make_vectors(penstock_spectrum *spectrum, const char *samples, size_t count, char *vectors, size_t *made)
{
    const penstock_spectrum_desc *desc = &spectrum->desc;
    size_t step = step_of(spectrum), most = ALONE_SAMPLES / (desc->n * desc->average), begun = 0, some;
    if (count && spectrum->prepared) {
        end_prepared(spectrum, samples, vectors);
        begun = 1;
    }
    double began = penstock__now_s();
    if (count * step >= MANY_SAMPLES)
        most = count;
    for (*made = begun; *made < count; *made += some) {
        const char *from = samples + *made * step * penstock_format_bytes(spectrum->format);
        char *to = vectors + *made * spectrum->length * spectrum->value_bytes;
        int status;
        some = most < 1 ? 1 : most < count - *made ? most : count - *made;
        if ((status = penstock_plan_run(spectrum->plan, from, to, some * desc->average)))
            return status;
    }
    if (count > begun)
        penstock__meter_batch(&spectrum->meter, count - begun, penstock__now_s() - began);
    return PENSTOCK_OK;
}

static int run_straight(penstock_spectrum *spectrum, const struct seam *seam, const char *samples, size_t count,
                        size_t *taken, char *vectors, size_t capacity, size_t *given)
{
    size_t bytes = penstock_format_bytes(spectrum->format), vector_bytes = spectrum->length * spectrum->value_bytes;
    size_t step = step_of(spectrum), span = span_of(spectrum), at = seam->vectors * step - seam->held, straight, made;
    int status = close_seam(spectrum, seam, samples, vectors);
    if (status)
        return status;
    *taken = at;
    *given = seam->vectors;
    straight = count - at >= span ? (count - at - span) / step + 1 : 0;
    if (straight > capacity - *given)
        straight = capacity - *given;
    status = make_vectors(spectrum, samples + at * bytes, straight, vectors + *given * vector_bytes, &made);
    *given += made;
    *taken += made * step;
    if (status)
        return *given ? PENSTOCK_OK : status; /* the next call meets it again */
    if (straight || count - *taken >= span)   /* the next call brings the rest again, and more; or there is no room */
        return PENSTOCK_OK;
    spectrum->prepared = 0;
    status = hold(spectrum, samples + *taken * bytes, count - *taken);
    *taken = count;
    return status;
}

int penstock_spectrum_run(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken, void *vectors,
                          size_t capacity, size_t *given)
{
    struct seam seam;
    if (!spectrum || !taken || !given || (count && !samples) || (capacity && !vectors))
        return bad("penstock_spectrum_run: an argument is NULL");
    *taken = *given = 0;
    if (!count || !find_seam(spectrum, &seam, count, capacity))
        return push_and_pull(spectrum, samples, count, taken, vectors, capacity, given);
    double began = penstock__now_s();
    int status = run_straight(spectrum, &seam, samples, count, taken, vectors, capacity, given);
    spectrum->samples += *taken;
    penstock__meter_take(&spectrum->meter, *taken, began);
    penstock__spectrum_gave(spectrum, *given);
    return status;
}

/* ---------------------------------------------------------------- ahead ----------------------- */

/* Whether the next sample is the first one of a vector, and transforms can be done one by one. */
static bool can_prepare(penstock_spectrum *spectrum)
{
    size_t bytes;
    if (!goes_straight(spectrum) || spectrum->desc.average == 1 || penstock__batcher_held(spectrum->batcher) ||
        !penstock__plan_runs_frames(spectrum->plan, &bytes))
        return false;
    if (spectrum->prepare_bytes < bytes) {
        penstock__free(spectrum->prepare_sums);
        spectrum->prepared = 0;
        spectrum->prepare_sums = penstock__alloc(bytes);
        spectrum->prepare_bytes = spectrum->prepare_sums ? bytes : 0;
    }
    return spectrum->prepare_sums;
}

int penstock_spectrum_prepare(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *wanted)
{
    if (!spectrum || !wanted || (count && !samples))
        return bad("penstock_spectrum_prepare: an argument is NULL");
    *wanted = 0;
    if (!can_prepare(spectrum))
        return PENSTOCK_OK;
    const penstock_spectrum_desc *desc = &spectrum->desc;
    size_t transforms = count < desc->n ? 0 : (count - desc->n) / desc->hop + 1;
    transforms = transforms < desc->average ? transforms : desc->average - 1;
    if (transforms > spectrum->prepared) {
        double began = penstock__now_s();
        penstock__plan_run_frames(spectrum->plan, samples, spectrum->prepared, transforms - spectrum->prepared,
                                  spectrum->prepare_sums, spectrum->prepare_sums);
        spectrum->prepare_s = (spectrum->prepared ? spectrum->prepare_s : 0) + penstock__now_s() - began;
        spectrum->prepared = (unsigned)transforms;
    }
    *wanted = spectrum->prepared * desc->hop + desc->n;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- changes --------------------- */

int penstock_spectrum_set_window(penstock_spectrum *spectrum, const char *window, const float *taps)
{
    penstock_plan *next;
    int status;
    if (!spectrum)
        return bad("penstock_spectrum_set_window: spectrum is NULL");
    if ((status = penstock__spectrum_plan(spectrum, &next, window, taps)))
        return status;
    penstock__batcher_set_plan(spectrum->batcher, next);
    spectrum->prepared = 0;
    spectrum->fallbacks += penstock__plan_fallbacks(spectrum->plan);
    spectrum->meanwhile += penstock__plan_meanwhile(spectrum->plan);
    penstock_plan_free(spectrum->plan);
    spectrum->plan = next;
    return PENSTOCK_OK;
}

int penstock_spectrum_set_max_latency(penstock_spectrum *spectrum, double max_latency_s)
{
    if (!spectrum || !(max_latency_s >= 0))
        return bad("penstock_spectrum_set_max_latency: spectrum is NULL, or %g is not 0 or more", max_latency_s);
    spectrum->desc.max_latency_s = max_latency_s;
    penstock__batcher_set_latency(spectrum->batcher, max_latency_s);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- what is known --------------- */

double penstock_spectrum_due_s(const penstock_spectrum *spectrum)
{
    return spectrum ? penstock__batcher_due_s(spectrum->batcher) : (double)INFINITY;
}

uint64_t penstock_spectrum_waiting(const penstock_spectrum *spectrum)
{
    if (!spectrum || spectrum->samples < span_of(spectrum))
        return 0;
    uint64_t complete = (spectrum->samples - span_of(spectrum)) / step_of(spectrum) + 1;
    return complete > spectrum->vectors ? complete - spectrum->vectors : 0;
}

uint64_t penstock_spectrum_vector_of(const penstock_spectrum *spectrum, uint64_t sample)
{
    return spectrum ? sample / step_of(spectrum) : 0;
}

void penstock__spectrum_gave(penstock_spectrum *spectrum, size_t vectors)
{
    size_t step = step_of(spectrum);
    if (!vectors)
        return;
    penstock__meter_give(&spectrum->meter, vectors,
                         spectrum->vectors * step + (step - spectrum->desc.hop) + spectrum->desc.n, step,
                         penstock__now_s());
    spectrum->vectors += vectors;
}

int penstock_spectrum_get_stats(const penstock_spectrum *spectrum, penstock_stream_stats *stats)
{
    penstock_stream_stats now = PENSTOCK_STREAM_STATS;
    if (!spectrum)
        return bad("penstock_spectrum_get_stats: spectrum is NULL");
    penstock__meter_read(&spectrum->meter, &now, penstock__now_s());
    now.fallbacks = spectrum->fallbacks + penstock__plan_fallbacks(spectrum->plan);
    now.meanwhile = spectrum->meanwhile + penstock__plan_meanwhile(spectrum->plan);
    return penstock__description_write(stats, &now, sizeof now, "penstock_stream_stats");
}
