/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames of a batch on one thread: each goes through load stage, transform and store stage while it is in the cache. A
 * stage that has nothing to do is left out where the caller's memory is aligned, so that the transform reads or writes
 * it directly; where it is not, the frame is copied. */
#include "backends/cpu/frames.h"
#include "backends/cpu/power.h"

/* Where powers are added up, and whether that is of a piece of a mean, which somebody else completes. */
struct target {
    char *sums;
    bool piece;
};

static bool aligned(const struct cpu_plan *p, const void *address)
{
    return ((uintptr_t)address & (p->transform.alignment - 1)) == 0;
}

static size_t first_sample(const struct cpu_frames *b, size_t frame)
{
    const struct penstock_fft_problem *fft = b->plan->fft;
    return b->gather ? b->gather[frame].start : (frame - b->first) * fft->spacing + fft->skip;
}

static char *output_of(const struct cpu_frames *b, size_t frame)
{
    return b->out + frame / b->plan->fft->average * b->output_bytes;
}

static float *floats_of(const struct cpu_frames *b, size_t frame, char *scratch)
{
    return (float *)(void *)(b->plan->fft->half ? scratch + b->plan->floats_at : output_of(b, frame));
}

/* After an output, of which `frame` is one: it may be of half precision. */
static void finish(const struct cpu_frames *b, size_t frame, const char *scratch)
{
    const struct penstock_fft_problem *fft = b->plan->fft;
    if (fft->half)
        penstock_half_from_float((uint16_t *)(void *)output_of(b, frame),
                                 (const float *)(const void *)(scratch + b->plan->floats_at),
                                 penstock__fft_out_count(fft) * penstock__fft_out_parts(fft));
}

/* ---------------------------------------------------------------- means ----------------------- */

/* The place of a frame among the `*of` whose powers are added up here. */
static unsigned place_of(const struct cpu_frames *b, size_t frame, bool piece, unsigned *of)
{
    const unsigned average = b->plan->fft->average, k = (unsigned)(frame % average), place = k % POWER_TOGETHER;
    const unsigned left = average - (k - place);
    *of = !piece ? average : left < POWER_TOGETHER ? left : POWER_TOGETHER;
    return piece ? place : k;
}

static void store_mean(const struct cpu_frames *b, size_t frame, const char *sums, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    float *out = floats_of(b, frame, scratch);
    if (p->adds_power) {
        p->transform.kind->mean_power(&p->transform, out, sums, p->fft->average, penstock__store_first(&p->store));
        penstock__store_mean(&p->store, out);
    } else {
        penstock__store_sums(&p->store, out, (const double *)(const void *)sums);
    }
    finish(b, frame, scratch);
}

/* A frame's power, by the transform itself or from its values. */
static void add_frame(const struct cpu_frames *b, size_t frame, const char *in, const char *next, char *values,
                      const struct target *target, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    unsigned of, k = place_of(b, frame, target->piece, &of);
    if (p->adds_power)
        p->transform.kind->add_power(&p->transform, target->sums, k, of, in, next, scratch + p->transform_at);
    else
        penstock__store_add(&p->store, (double *)(void *)target->sums, values, k, of);
    if (!target->piece && k + 1 == of)
        store_mean(b, frame, target->sums, scratch);
}

/* ---------------------------------------------------------------- frames ---------------------- */

static void store_frames(const struct cpu_frames *b, size_t frame, size_t count, const struct target *target,
                         char *scratch)
{
    const struct cpu_plan *p = b->plan;
    for (size_t i = 0; i < count; i++) {
        char *values = scratch + p->values_at + i * p->frame_step;
        if (p->fft->average > 1) {
            add_frame(b, frame + i, NULL, NULL, values, target, scratch);
            continue;
        }
        penstock__store_frame(&p->store, floats_of(b, frame + i, scratch), values);
        finish(b, frame + i, scratch);
    }
}

static void load_frame(const struct cpu_frames *b, size_t frame, char *to)
{
    const struct penstock_fft_problem *fft = b->plan->fft;
    size_t at = first_sample(b, frame);
    if (fft->fold)
        penstock__load_folded(&b->plan->load, (penstock_cf32 *)(void *)to, b->in, at, b->samples,
                              penstock__fft_turn(fft, b->turn, frame));
    else
        penstock__load_frame(&b->plan->load, to, b->in, at, b->samples, b->gather ? &b->gather[frame] : NULL);
}

/* The frames from `frame` on that are taken together, those before `end`. */
static void run_some(const struct cpu_frames *b, size_t frame, size_t end, const struct target *target, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    size_t count = end - frame < p->together ? end - frame : p->together, in_step = p->fft->spacing * b->sample_bytes;
    const char *in = b->in + first_sample(b, frame) * b->sample_bytes;
    char *out = output_of(b, frame);
    bool direct_in = p->load.untouched && aligned(p, in) && (count == 1 || in_step % p->transform.alignment == 0);
    bool direct_out = p->store.untouched && aligned(p, out) && !(direct_in && b->in_place) &&
                      (count == 1 || b->output_bytes % p->transform.alignment == 0);
    if (!direct_in) {
        for (size_t i = 0; i < count; i++)
            load_frame(b, frame + i, scratch + i * p->frame_step);
        in = scratch;
        in_step = p->frame_step;
    }
    if (p->adds_power) {
        add_frame(b, frame, in, direct_in && frame + 1 < end ? in + in_step : NULL, NULL, target, scratch);
        return;
    }
    p->transform.kind->run(&p->transform, in, in_step, direct_out ? out : scratch + p->values_at,
                           direct_out ? b->output_bytes : p->frame_step, count, scratch + p->transform_at);
    if (!direct_out)
        store_frames(b, frame, count, target, scratch);
}

void penstock__cpu_frames_run(const struct cpu_frames *b, size_t first, size_t end, char *scratch)
{
    const struct target target = {.sums = scratch + b->plan->sums_at};
    for (size_t frame = first; frame < end; frame += b->plan->together)
        run_some(b, frame, end, &target, scratch);
}

void penstock__cpu_frames_outputs(const struct cpu_frames *b, size_t first, size_t count, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    const size_t average = p->fft->average, in_step = p->fft->spacing * b->sample_bytes;
    char *out = b->out + first * b->output_bytes;
    const char *in = b->in + first_sample(b, first) * b->sample_bytes;
    if (p->load.untouched && p->store.untouched && !b->in_place && aligned(p, in) && aligned(p, out) &&
        (count == 1 || (in_step | b->output_bytes) % p->transform.alignment == 0))
        p->transform.kind->run(&p->transform, in, in_step, out, b->output_bytes, count, scratch + p->transform_at);
    else
        penstock__cpu_frames_run(b, first * average, (first + count) * average, scratch);
}

/* ---------------------------------------------------------------- pieces of a mean ------------ */

size_t penstock__cpu_pieces(const struct cpu_plan *p)
{
    return (p->fft->average - 1) / POWER_TOGETHER + 1;
}

void penstock__cpu_frames_piece(const struct cpu_frames *b, size_t output, size_t piece, char *sums, char *scratch)
{
    const size_t average = b->plan->fft->average, first = output * average + piece * POWER_TOGETHER,
                 next = first + POWER_TOGETHER, after = (output + 1) * average, end = next < after ? next : after;
    const struct target target = {.sums = sums, .piece = true};
    for (size_t frame = first; frame < end; frame += b->plan->together)
        run_some(b, frame, end, &target, scratch);
}

void penstock__cpu_frames_mean(const struct cpu_frames *b, size_t output, char *sums, size_t step, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    double *all = (double *)(void *)sums;
    for (size_t piece = 1; piece < penstock__cpu_pieces(p); piece++) {
        const double *more = (const double *)(const void *)(sums + piece * step);
        for (size_t i = 0; i < penstock__fft_out_count(p->fft); i++)
            all[i] += more[i];
    }
    store_mean(b, output * p->fft->average, sums, scratch);
}
