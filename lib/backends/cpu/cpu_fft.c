/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of transforms on the CPU: frames are spread over threads in chunks, and each goes through load stage,
 * transform and store stage while it is in the cache. A stage that has nothing to do is left out where the caller's
 * memory is aligned, so that the transform reads or writes it directly; where it is not, the frame is copied.
 */
#include "backends/cpu/cpu.h"

#include <stdio.h>

/* Samples that make a chunk: some 20 us of work, against the few that it takes to hand it to a thread. */
#define CHUNK_SAMPLES 16384
#define LEAST_SAMPLES 4096 /* where that makes threads' shares alike */

static void lay_out_scratch(struct cpu_plan *p)
{
    size_t values = penstock__aligned((p->fft->n + 2) * sizeof(penstock_cf32));
    p->frame_step = values;
    p->values_at = p->together * values;
    p->sums_at = p->values_at + p->together * values;
    p->transform_at =
        p->sums_at + penstock__aligned(p->adds_power ? p->transform.sum_bytes : penstock__store_sum_bytes(&p->store));
    p->floats_at = p->transform_at + penstock__aligned(p->transform.scratch_bytes);
    p->scratch_bytes = p->floats_at + (p->fft->half ? values : 0);
}

/* Whether frames go to the transform as they are, but for a window. */
static bool is_plain(const struct penstock_fft_problem *fft)
{
    return fft->format == PENSTOCK_CF32 && fft->domain == PENSTOCK_COMPLEX && !fft->gathered && fft->shift == 0 &&
           fft->direction == PENSTOCK_FORWARD && !penstock__fft_is_plane(fft) && !fft->fold;
}

/* What the transform does in place of the stages around it, while it has the values in hand. */
static void share_work(struct cpu_plan *p)
{
    if (p->fft->window && is_plain(p->fft) && p->transform.kind->windows) {
        p->transform.window = p->fft->window;
        p->load.untouched = true;
    }
    p->adds_power = p->transform.power_only && p->transform.kind->add_power;
}

int penstock__cpu_rows_init(struct cpu_plan *p, const struct penstock_fft_problem *fft, unsigned variant)
{
    int status;
    *p = (struct cpu_plan){.fft = fft};
    p->transform = (struct cpu_transform){.n = fft->n,
                                          .direction = fft->direction,
                                          .domain = fft->domain,
                                          .power_only = is_plain(fft) && fft->average > 1 && fft->scale == 1};
    if (!(p->transform.kind = penstock__cpu_transform_kind(&p->transform, variant)))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "cpu has no variant %u", variant);
    penstock__store_init(&p->store, fft);
    if ((status = penstock__load_init(&p->load, fft)))
        return status;
    share_work(p);
    status = penstock__fft_is_plane(fft) ? penstock__cpu_2d_init(&p->transform, variant, fft)
                                         : p->transform.kind->init(&p->transform);
    if (status) {
        penstock__load_free(&p->load);
        return status;
    }
    p->together = p->transform.together ? p->transform.together : 1;
    lay_out_scratch(p);
    p->chunk = CHUNK_SAMPLES / (fft->n * fft->average);
    if (!p->chunk)
        p->chunk = 1;
    return PENSTOCK_OK;
}

void penstock__cpu_rows_free(struct cpu_plan *p)
{
    p->transform.kind->free(&p->transform);
    penstock__load_free(&p->load);
}

int penstock__cpu_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    struct cpu_plan *p = plan->priv;
    int status = penstock__cpu_rows_init(p, fft, variant);
    if (status)
        return status;
    snprintf(plan->variant, sizeof plan->variant, "%s", p->transform.kind->name);
    plan->kernels = 0;
    plan->passes = 1;
    plan->frame_scratch = p->scratch_bytes;
    plan->best_batch = p->chunk * fft->average * penstock__threads(plan->device->context);
    return PENSTOCK_OK;
}

void penstock__cpu_plan_free(struct penstock_plan_state *plan)
{
    penstock__cpu_rows_free(plan->priv);
}

/* ---------------------------------------------------------------- one batch ------------------- */

struct batch {
    const struct cpu_plan *plan;
    const char *in;
    char *out;
    const struct penstock_gather *gather;
    size_t samples;        /* of the whole input */
    size_t first;          /* the frame whose samples are at `in` */
    size_t turn;           /* of frame 0, where they are folded */
    size_t outputs, chunk; /* in all, and of a chunk */
    size_t sample_bytes, output_bytes;
    bool in_place;
    bool few_chunks; /* at most one a thread: each has scratch memory of its own, else each thread has */
    char *scratch;
};

static bool aligned(const struct cpu_plan *p, const void *address)
{
    return ((uintptr_t)address & (p->transform.alignment - 1)) == 0;
}

static size_t first_sample(const struct batch *b, size_t frame)
{
    const struct penstock_fft_problem *fft = b->plan->fft;
    return b->gather ? b->gather[frame].start : (frame - b->first) * fft->spacing + fft->skip;
}

static char *output_of(const struct batch *b, size_t frame)
{
    return b->out + frame / b->plan->fft->average * b->output_bytes;
}

static float *floats_of(const struct batch *b, size_t frame, char *scratch)
{
    return (float *)(void *)(b->plan->fft->half ? scratch + b->plan->floats_at : output_of(b, frame));
}

/* After a frame's output, if it is complete and is to be of half precision. */
static void finish_frame(const struct batch *b, size_t frame, const char *scratch)
{
    const struct penstock_fft_problem *fft = b->plan->fft;
    if (fft->half && (frame + 1) % fft->average == 0)
        penstock_half_from_float((uint16_t *)(void *)output_of(b, frame),
                                 (const float *)(const void *)(scratch + b->plan->floats_at),
                                 penstock__fft_out_count(fft) * penstock__fft_out_parts(fft));
}

static void add_power(const struct batch *b, size_t frame, const char *in, const char *next, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    const unsigned average = p->fft->average, k = (unsigned)(frame % average);
    float *out = floats_of(b, frame, scratch);
    p->transform.kind->add_power(&p->transform, scratch + p->sums_at, k, average, in, next, scratch + p->transform_at);
    if (k + 1 < average)
        return;
    p->transform.kind->mean_power(&p->transform, out, scratch + p->sums_at, average, penstock__store_first(&p->store));
    penstock__store_mean(&p->store, out);
    finish_frame(b, frame, scratch);
}

static void store_frames(const struct batch *b, size_t frame, size_t count, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    double *sums = (double *)(void *)(scratch + p->sums_at);
    for (size_t i = 0; i < count; i++) {
        penstock__store_frame(&p->store, floats_of(b, frame + i, scratch), scratch + p->values_at + i * p->frame_step,
                              sums, (unsigned)((frame + i) % p->fft->average));
        finish_frame(b, frame + i, scratch);
    }
}

static void load_frame(const struct batch *b, size_t frame, char *to)
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
static void run_some(const struct batch *b, size_t frame, size_t end, char *scratch)
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
        add_power(b, frame, in, direct_in && frame + 1 < end ? in + in_step : NULL, scratch);
        return;
    }
    p->transform.kind->run(&p->transform, in, in_step, direct_out ? out : scratch + p->values_at,
                           direct_out ? b->output_bytes : p->frame_step, count, scratch + p->transform_at);
    if (!direct_out)
        store_frames(b, frame, count, scratch);
}

/* The frames from `first` to before `end`, one after the other. */
static void run_frames(const struct batch *b, size_t first, size_t end, char *scratch)
{
    for (size_t frame = first; frame < end; frame += b->plan->together)
        run_some(b, frame, end, scratch);
}

/* `count` outputs from `first` on: all at once where nothing is done before and behind their transforms. */
static void run_outputs(const struct batch *b, size_t first, size_t count, char *scratch)
{
    const struct cpu_plan *p = b->plan;
    const size_t average = p->fft->average, in_step = p->fft->spacing * b->sample_bytes;
    char *out = b->out + first * b->output_bytes;
    const char *in = b->in + first_sample(b, first) * b->sample_bytes;
    if (p->load.untouched && p->store.untouched && !b->in_place && aligned(p, in) && aligned(p, out) &&
        (count == 1 || (in_step | b->output_bytes) % p->transform.alignment == 0))
        p->transform.kind->run(&p->transform, in, in_step, out, b->output_bytes, count, scratch + p->transform_at);
    else
        run_frames(b, first * average, (first + count) * average, scratch);
}

static void run_chunk(void *argument, size_t chunk, unsigned worker)
{
    const struct batch *b = argument;
    const size_t first = chunk * b->chunk, left = b->outputs - first;
    run_outputs(b, first, left < b->chunk ? left : b->chunk,
                b->scratch + (b->few_chunks ? chunk : worker) * b->plan->scratch_bytes);
}

int penstock__cpu_grow_scratch(struct cpu_slot *slot, size_t bytes)
{
    void *larger;
    if (bytes <= slot->scratch_bytes)
        return PENSTOCK_OK;
    if (!(larger = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    penstock__free(slot->scratch);
    slot->scratch = larger;
    slot->scratch_bytes = bytes;
    return PENSTOCK_OK;
}

/* Whole groups of those that a transform takes together. */
static size_t choose_chunk(const struct cpu_plan *p, const penstock_context *context, size_t outputs)
{
    const size_t least = LEAST_SAMPLES / (p->fft->n * p->fft->average),
                 share = penstock__fair_share(context, outputs, least ? least : 1, p->chunk);
    return p->fft->average == 1 ? penstock__round_up(share, p->together) : share;
}

int penstock__cpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_problem *problem = plan->problem;
    const struct cpu_plan *p = plan->priv;
    struct cpu_slot *s = slot->priv;
    penstock_context *context = plan->device->context;
    size_t workers = penstock__threads(context), chunks;
    struct batch b = {.plan = p,
                      .in = job->in->host,
                      .out = job->out->host,
                      .gather = job->gather ? job->gather->host : NULL,
                      .samples = job->samples,
                      .turn = job->spacing,
                      .outputs = job->frames / p->fft->average,
                      .sample_bytes = penstock_format_bytes(p->fft->format),
                      .output_bytes = problem->out_bytes,
                      .in_place = job->in->host == job->out->host};
    int status;
    if (!b.outputs)
        return PENSTOCK_OK;
    b.chunk = choose_chunk(p, context, b.outputs);
    chunks = (b.outputs + b.chunk - 1) / b.chunk;
    b.few_chunks = chunks <= workers;
    if ((status = penstock__cpu_grow_scratch(s, (b.few_chunks ? chunks : workers) * p->scratch_bytes)))
        return status;
    b.scratch = s->scratch;
    penstock__parallel(context, chunks, run_chunk, &b);
    return PENSTOCK_OK;
}

void penstock__cpu_run_frames(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count,
                              void *out, void *scratch)
{
    const struct cpu_plan *p = plan->priv;
    struct batch b = {.plan = p,
                      .in = in,
                      .out = out,
                      .samples = penstock__fft_samples(p->fft, count),
                      .first = first,
                      .sample_bytes = penstock_format_bytes(p->fft->format)};
    run_frames(&b, first, first + count, scratch);
}

void penstock__cpu_run_rows(const struct cpu_plan *plan, const void *in, size_t count, void *out, size_t out_step,
                            void *scratch)
{
    struct batch b = {.plan = plan,
                      .in = in,
                      .out = out,
                      .samples = penstock__fft_samples(plan->fft, count),
                      .sample_bytes = penstock_format_bytes(plan->fft->format),
                      .output_bytes = out_step};
    run_outputs(&b, 0, count, scratch);
}

void penstock__cpu_run_gathered(const struct penstock_plan_state *plan, const void *in, size_t samples,
                                const struct penstock_gather *gather, size_t count, void *out, void *scratch)
{
    const struct cpu_plan *p = plan->priv;
    struct batch b = {.plan = p,
                      .in = in,
                      .out = out,
                      .gather = gather,
                      .samples = samples,
                      .sample_bytes = penstock_format_bytes(p->fft->format),
                      .output_bytes = plan->problem->out_bytes};
    run_frames(&b, 0, count, scratch);
}
