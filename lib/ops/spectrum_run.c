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

/* Where the samples that came straight before, and are held, end within vectors: how many vectors begin in them, and
 * how many samples it takes to complete these. */
struct seam {
    size_t held, vectors, needs;
};

/* Whether this call can go straight. */
static bool find_seam(const penstock_spectrum *spectrum, struct seam *seam, size_t count, size_t capacity)
{
    size_t step = penstock__spectrum_step(spectrum), span = penstock__spectrum_span(spectrum), room;
    void *to;
    if (!penstock__spectrum_goes_straight(spectrum))
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
    if ((status = penstock__spectrum_hold(spectrum, samples, seam->needs)) ||
        (status = penstock__batcher_flush(spectrum->batcher)) ||
        (status = penstock__spectrum_pull(spectrum, vectors, seam->vectors, true, &given)))
        return status;
    penstock__batcher_drop_held(spectrum->batcher, penstock__batcher_held(spectrum->batcher));
    return PENSTOCK_OK;
}

/* `count` vectors; how many were made before a failure. The samples of the first one that are gone come before
 * `samples`. */
static int make_vectors(penstock_spectrum *spectrum, const char *samples, size_t count, char *vectors, size_t *made)
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

int penstock_spectrum_run(penstock_spectrum *spectrum, const void *samples, size_t count, size_t *taken, void *vectors,
                          size_t capacity, size_t *given)
{
    struct seam seam = {0};
    if (!spectrum || !taken || !given || (count && !samples) || (capacity && !vectors))
        return bad("penstock_spectrum_run: an argument is NULL");
    *taken = *given = 0;
    bool begun = spectrum->prepared && !spectrum->finished;
    if (begun && !capacity)
        return PENSTOCK_OK;
    if (!count || (!begun && !find_seam(spectrum, &seam, count, capacity)))
        return push_and_pull(spectrum, samples, count, taken, vectors, capacity, given);
    double began = penstock__now_s();
    int status = begun && penstock__batcher_held(spectrum->batcher)
                     ? penstock__spectrum_run_held(spectrum, samples, count, taken, vectors, given)
                     : run_straight(spectrum, &seam, samples, count, taken, vectors, capacity, given);
    spectrum->samples += *taken;
    penstock__meter_take(&spectrum->meter, *taken, began);
    penstock__spectrum_gave(spectrum, *given);
    return status;
}

/* ---------------------------------------------------------------- changes --------------------- */

void penstock__spectrum_change_plan(penstock_spectrum *spectrum, penstock_plan *next)
{
    penstock__batcher_set_plan(spectrum->batcher, next);
    spectrum->fallbacks += penstock__plan_fallbacks(spectrum->plan);
    spectrum->meanwhile += penstock__plan_meanwhile(spectrum->plan);
    penstock_plan_free(spectrum->plan);
    spectrum->plan = next;
    spectrum->next = NULL;
}

int penstock_spectrum_set_window(penstock_spectrum *spectrum, const char *window, const float *taps)
{
    penstock_plan *next;
    int status;
    if (!spectrum)
        return bad("penstock_spectrum_set_window: spectrum is NULL");
    if (penstock__rest_count(&spectrum->rest))
        return penstock__error(PENSTOCK_ERR_STATE, "spectrum: vectors wait to be pulled before the window can change");
    if ((status = penstock__spectrum_plan(spectrum, &next, window, taps)))
        return status;
    if (spectrum->prepared) {
        penstock_plan_free(spectrum->next);
        spectrum->next = next;
    } else {
        penstock__spectrum_change_plan(spectrum, next);
    }
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
    if (!spectrum || spectrum->samples < penstock__spectrum_span(spectrum))
        return 0;
    uint64_t complete = (spectrum->samples - penstock__spectrum_span(spectrum)) / penstock__spectrum_step(spectrum) + 1;
    return complete > spectrum->vectors ? complete - spectrum->vectors : 0;
}

uint64_t penstock_spectrum_vector_of(const penstock_spectrum *spectrum, uint64_t sample)
{
    return spectrum ? sample / penstock__spectrum_step(spectrum) : 0;
}

void penstock__spectrum_gave(penstock_spectrum *spectrum, size_t vectors)
{
    size_t step = penstock__spectrum_step(spectrum);
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
