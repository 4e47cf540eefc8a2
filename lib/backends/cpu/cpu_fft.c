/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of transforms on the CPU: outputs are spread over threads in chunks, or, where there are few, pieces of their
 * means are. */
#include "backends/cpu/frames.h"

#include <stdio.h>

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
    p->chunk = CPU_CHUNK_SAMPLES / (fft->n * fft->average);
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
    struct cpu_frames frames;
    size_t outputs, chunk; /* in all, and of a chunk */
    bool few_chunks;       /* at most one a thread: each has scratch memory of its own, else each thread has */
    char *scratch;
};

static void run_chunk(void *argument, size_t chunk, unsigned worker)
{
    const struct batch *b = argument;
    const size_t first = chunk * b->chunk, left = b->outputs - first;
    penstock__cpu_frames_outputs(&b->frames, first, left < b->chunk ? left : b->chunk,
                                 b->scratch + (b->few_chunks ? chunk : worker) * b->frames.plan->scratch_bytes);
}

/* Whole groups of those that a transform takes together. */
static size_t choose_chunk(const struct cpu_plan *p, const penstock_context *context, size_t outputs)
{
    const size_t least = CPU_LEAST_SAMPLES / (p->fft->n * p->fft->average),
                 share = penstock__fair_share(context, outputs, least, p->chunk);
    return p->fft->average == 1 ? penstock__round_up(share, p->together) : share;
}

int penstock__cpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_problem *problem = plan->problem;
    const struct cpu_plan *p = plan->priv;
    struct cpu_slot *s = slot->priv;
    penstock_context *context = plan->device->context;
    size_t workers = penstock__threads(context), chunks;
    struct batch b = {.frames = {.plan = p,
                                 .in = job->in->host,
                                 .out = job->out->host,
                                 .gather = job->gather ? job->gather->host : NULL,
                                 .samples = job->samples,
                                 .turn = job->spacing,
                                 .sample_bytes = penstock_format_bytes(p->fft->format),
                                 .output_bytes = problem->out_bytes,
                                 .in_place = job->in->host == job->out->host},
                      .outputs = job->frames / p->fft->average};
    bool done;
    int status;
    if (!b.outputs)
        return PENSTOCK_OK;
    if ((status = penstock__cpu_pieces_run(&b.frames, b.outputs, s, context, &done)) || done)
        return status;
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
    struct cpu_frames b = {.plan = p,
                           .in = in,
                           .out = out,
                           .samples = penstock__fft_samples(p->fft, count),
                           .first = first,
                           .sample_bytes = penstock_format_bytes(p->fft->format)};
    penstock__cpu_frames_run(&b, first, first + count, scratch);
}

void penstock__cpu_run_rows(const struct cpu_plan *plan, const void *in, size_t count, void *out, size_t out_step,
                            void *scratch)
{
    struct cpu_frames b = {.plan = plan,
                           .in = in,
                           .out = out,
                           .samples = penstock__fft_samples(plan->fft, count),
                           .sample_bytes = penstock_format_bytes(plan->fft->format),
                           .output_bytes = out_step};
    penstock__cpu_frames_outputs(&b, 0, count, scratch);
}

void penstock__cpu_run_gathered(const struct penstock_plan_state *plan, const void *in, size_t samples,
                                const struct penstock_gather *gather, size_t count, void *out, void *scratch)
{
    const struct cpu_plan *p = plan->priv;
    struct cpu_frames b = {.plan = p,
                           .in = in,
                           .out = out,
                           .gather = gather,
                           .samples = samples,
                           .sample_bytes = penstock_format_bytes(p->fft->format),
                           .output_bytes = plan->problem->out_bytes};
    penstock__cpu_frames_run(&b, 0, count, scratch);
}
