/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans: the life of one, and the public calls with the checks of their arguments. */
#include "core/plan/plan.h"
#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/device/background.h"
#include "core/device/buffer.h"
#include "core/device/devices.h"
#include "core/plan/chunk_queue.h"
#include "core/plan/problem.h"

#include <string.h>

#define DEFAULT_SLOTS 3

struct penstock_plan {
    struct penstock_problem problem;
    float *window;
    struct penstock__chunk_queue queue;
};

/* ---------------------------------------------------------------- arguments ------------------- */

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

static int check_average(const struct penstock_problem *problem, size_t frames)
{
    const unsigned average = penstock__problem_average(problem);
    return frames % average == 0
               ? PENSTOCK_OK
               : penstock__error(PENSTOCK_ERR_ARGUMENT,
                                 "%zu frames given to a plan that averages over %u; give a multiple", frames, average);
}

/* Of those that lie one behind the other. */
static int check_frames(const struct penstock_problem *problem, size_t frames)
{
    if (penstock__problem_gathered(problem))
        return penstock__error(PENSTOCK_ERR_STATE, "a plan with gathered frames needs their list");
    return penstock__problem_check_frames(problem, frames);
}

static int check_batch(const penstock_plan *plan, const struct penstock__batch *batch)
{
    const struct penstock_problem *problem = &plan->problem;
    bool scattered = penstock__problem_gathered(problem) || batch->blocks;
    size_t in_bytes, out_bytes;
    if (!batch->in || !batch->out || (penstock__problem_gathered(problem) && !batch->gather))
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "input or output of a plan is NULL");
    int status = check_average(problem, batch->frames);
    if (status)
        return status;
    in_bytes = penstock__problem_in_bytes(problem, batch->samples);
    out_bytes = penstock__problem_out_bytes(problem, batch->frames);
    if (batch->in == batch->out ? in_bytes != out_bytes || scattered
                                : overlap(batch->in, in_bytes, batch->out, out_bytes))
        return penstock__error(PENSTOCK_ERR_ARGUMENT,
                               "input (%zu bytes) and output (%zu bytes) overlap; they may be the same memory where "
                               "they have the same size, or else must lie apart",
                               in_bytes, out_bytes);
    return PENSTOCK_OK;
}

int penstock_plan_submit(penstock_plan *plan, const void *in, void *out, size_t frames, uint64_t *ticket)
{
    return penstock__plan_submit_turned(plan, in, 0, out, frames, ticket);
}

int penstock__plan_submit_turned(penstock_plan *plan, const void *in, size_t turn, void *out, size_t frames,
                                 uint64_t *ticket)
{
    struct penstock__batch batch = {.in = in, .out = out, .frames = frames, .phase = turn};
    int status;
    if (!plan || !ticket)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_submit: plan or ticket is NULL");
    *ticket = plan->queue.last_ticket;
    if ((status = check_frames(&plan->problem, frames)) || !frames)
        return status;
    batch.samples = penstock__problem_samples(&plan->problem, frames);
    if ((status = check_batch(plan, &batch)))
        return status;
    return penstock__chunk_queue_submit(&plan->queue, &batch, ticket);
}

int penstock_plan_wait(penstock_plan *plan, uint64_t ticket)
{
    if (!plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_wait: the plan is NULL");
    if (ticket > plan->queue.last_ticket)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "ticket %llu was not given out; the last one was %llu",
                               (unsigned long long)ticket, (unsigned long long)plan->queue.last_ticket);
    return penstock__chunk_queue_wait(&plan->queue, ticket);
}

int penstock_plan_run(penstock_plan *plan, const void *in, void *out, size_t frames)
{
    uint64_t ticket;
    int status = penstock_plan_submit(plan, in, out, frames, &ticket);
    return status || !frames ? status : penstock__chunk_queue_wait(&plan->queue, ticket);
}

int penstock__plan_enqueue_turned(penstock_plan *plan, const penstock_buffer *in, size_t turn, penstock_buffer *out,
                                  size_t frames, penstock_queue *queue)
{
    int status;
    const struct penstock_problem *problem = penstock__plan_problem(plan);
    struct penstock__executor *executor = penstock__plan_executor_now(plan);
    if (!frames)
        return penstock__queue_check(queue);
    if ((status = check_frames(problem, frames)) || (status = check_average(problem, frames)))
        return status;
    struct penstock_job job = {
        .frames = frames, .samples = penstock__problem_samples(problem, frames), .spacing = (uint32_t)turn};
    if ((status = penstock__job_place(&job, executor, in, out, queue)))
        return status;
    return penstock__enqueue(penstock__executor_on(executor, queue->slot.device), &job, queue);
}

int penstock_plan_enqueue(penstock_plan *plan, const penstock_buffer *in, penstock_buffer *out, size_t frames,
                          penstock_queue *queue)
{
    return plan ? penstock__plan_enqueue_turned(plan, in, 0, out, frames, queue)
                : penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_enqueue: the plan is NULL");
}

int penstock__plan_run_gathered(penstock_plan *plan, const void *in, size_t sample_count,
                                const struct penstock_gather *gather, void *out, size_t frames)
{
    struct penstock__batch batch = {.in = in, .gather = gather, .out = out, .frames = frames, .samples = sample_count};
    size_t n = penstock__fft_in_count(&plan->problem.fft);
    uint64_t ticket;
    int status;
    if (!penstock__problem_gathered(&plan->problem))
        return penstock__error(PENSTOCK_ERR_STATE, "only a plan with gathered frames takes their list");
    if (!frames)
        return PENSTOCK_OK;
    if ((status = penstock__problem_check_frames(&plan->problem, frames)) || (status = check_batch(plan, &batch)))
        return status;
    for (size_t i = 0; i < frames; i++)
        if (gather[i].start > sample_count || n > sample_count - gather[i].start)
            return penstock__error(PENSTOCK_ERR_ARGUMENT,
                                   "frame %zu reads %zu samples from sample %u on; there are %zu", i, n,
                                   (unsigned)gather[i].start, sample_count);
    if ((status = penstock__chunk_queue_submit(&plan->queue, &batch, &ticket)))
        return status;
    return penstock__chunk_queue_wait(&plan->queue, ticket);
}

int penstock__plan_run_blocks(penstock_plan *plan, const void *in, size_t sample_count,
                              const penstock_viterbi_block *blocks, void *out, size_t count)
{
    struct penstock__batch batch = {.in = in, .blocks = blocks, .out = out, .frames = count, .samples = sample_count};
    uint64_t ticket;
    int status;
    if (plan->problem.kind != PENSTOCK_PROBLEM_VITERBI)
        return penstock__error(PENSTOCK_ERR_STATE, "only a Viterbi plan takes a list of blocks");
    if (!count)
        return PENSTOCK_OK;
    if ((status = penstock__problem_check_frames(&plan->problem, count)) || (status = check_batch(plan, &batch)) ||
        (status = penstock__chunk_queue_submit(&plan->queue, &batch, &ticket)))
        return status;
    return penstock__chunk_queue_wait(&plan->queue, ticket);
}

bool penstock__plan_runs_frames(const penstock_plan *plan, size_t *bytes)
{
    const struct penstock_plan_state *state = &plan->queue.executor->state;
    const struct penstock_fft_problem *fft = &plan->problem.fft;
    *bytes = state->frame_scratch;
    return plan->problem.kind == PENSTOCK_PROBLEM_FFT && state->device->backend->run_frames && !plan->queue.build &&
           !fft->gathered && !fft->skip && !fft->hop && fft->format != PENSTOCK_PLANAR;
}

void penstock__plan_run_frames(const penstock_plan *plan, const void *in, size_t first, size_t count, void *out,
                               void *scratch)
{
    const struct penstock_plan_state *state = &plan->queue.executor->state;
    state->device->backend->run_frames(state, in, first, count, out, scratch);
}

void penstock__plan_serve(penstock_plan *plan)
{
    penstock__serve(&plan->queue.standby, plan->queue.build);
}

void penstock__plan_served(penstock_plan *plan, size_t frames)
{
    penstock__served(&plan->queue.standby, plan->queue.build, frames);
}

bool penstock__plan_runs_gathered(const penstock_plan *plan, size_t *bytes)
{
    const struct penstock_plan_state *state = &plan->queue.executor->state;
    *bytes = state->frame_scratch;
    return plan->problem.kind == PENSTOCK_PROBLEM_FFT && state->device->backend->run_gathered && !plan->queue.build &&
           plan->problem.fft.gathered && plan->problem.fft.format != PENSTOCK_PLANAR;
}

void penstock__plan_run_gathered_here(const penstock_plan *plan, const void *in, size_t samples,
                                      const struct penstock_gather *gather, size_t count, void *out, void *scratch)
{
    const struct penstock_plan_state *state = &plan->queue.executor->state;
    state->device->backend->run_gathered(state, in, samples, gather, count, out, scratch);
}

/* ---------------------------------------------------------------- life ------------------------ */

static int copy_window(penstock_plan *plan)
{
    struct penstock_fft_problem *fft = &plan->problem.fft;
    size_t bytes = penstock__fft_window_count(fft) * sizeof *plan->window;
    if (plan->problem.kind != PENSTOCK_PROBLEM_FFT || !fft->window)
        return PENSTOCK_OK;
    if (!(plan->window = penstock__alloc(bytes)))
        return PENSTOCK_ERR_MEMORY;
    memcpy(plan->window, fft->window, bytes);
    fft->window = plan->window;
    return PENSTOCK_OK;
}

int penstock__plan_begin(penstock_plan **plan, const penstock_context *context, const char *kind)
{
    if (!plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: plan is NULL", kind);
    *plan = NULL;
    if (!context)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%s: context is NULL", kind);
    return PENSTOCK_OK;
}

int penstock__plan_new(penstock_plan **plan, penstock_context *context, const struct penstock_problem *problem,
                       const char *device, unsigned slots, bool cpu_while_compiling)
{
    penstock_plan *new;
    int status;
    *plan = NULL;
    if (slots > PENSTOCK__MAX_IN_SLOTS)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "%u batches in flight asked for; at most %d are possible", slots,
                               PENSTOCK__MAX_IN_SLOTS);
    if ((status = penstock__problem_check(problem)))
        return status;
    if (!(new = penstock__calloc(1, sizeof *new)))
        return PENSTOCK_ERR_MEMORY;
    new->problem = *problem;
    new->queue.context = context;
    new->queue.problem = &new->problem;
    new->queue.slots = slots ? slots : DEFAULT_SLOTS;
    new->queue.in_flight = slots ? slots : 1;
    if ((status = copy_window(new)) || (status = penstock__executor_begin(&new->queue, device, cpu_while_compiling))) {
        penstock__plan_free(new);
        return status;
    }
    *plan = new;
    return PENSTOCK_OK;
}

int penstock__plan_new_there(penstock_plan **plan, penstock_context *context, const struct penstock_problem *problem,
                             const char *device, unsigned slots)
{
    enum penstock_preference preference;
    const char *name;
    int status = penstock__device_parse(&preference, &name, device);
    *plan = NULL;
    if (!status && !(status = penstock__plan_new(plan, context, problem, name, slots, false)))
        (*plan)->queue.movable = preference != PENSTOCK_DEVICE_NAMED;
    return status;
}

void penstock__plan_cancel(penstock_plan *plan)
{
    if (plan)
        penstock__async_build_cancel(plan->queue.build);
}

static void free_plan(void *owner)
{
    penstock_plan *plan = owner;
    penstock__chunk_queue_free(&plan->queue);
    penstock__free(plan->window);
    penstock__free(plan);
}

void penstock__plan_free(penstock_plan *plan)
{
    if (plan)
        free_plan(plan);
}

void penstock_plan_free(penstock_plan *plan)
{
    if (!plan)
        return;
    penstock__plan_cancel(plan);
    penstock__chunk_queue_give_back(&plan->queue);
    penstock__background_free(plan->queue.context, free_plan, plan);
}

int penstock_plan_get_info(const penstock_plan *plan, penstock_plan_info *info)
{
    penstock_plan_info known = PENSTOCK_PLAN_INFO;
    const struct penstock_plan_state *state;
    if (!plan)
        return penstock__error(PENSTOCK_ERR_ARGUMENT, "penstock_plan_get_info: the plan is NULL");
    state = &plan->queue.executor->state;
    known.device = state->device->name;
    known.variant = state->variant;
    known.kernels = state->kernels;
    known.passes = state->passes;
    known.in_bytes = plan->problem.in_bytes;
    known.out_bytes = plan->problem.out_bytes;
    known.best_batch = state->best_batch;
    known.awaited = plan->queue.build ? penstock__async_build_name(plan->queue.build) : NULL;
    known.cpu_while_compiling = plan->queue.cpu_while_compiling;
    known.timed = plan->queue.executor->timed;
    known.tuning_s = plan->queue.executor->tuning_s;
    if (plan->queue.executor->group)
        known.shares = penstock__group_shares(plan->queue.executor->group, &known.share_count);
    if (state->device->backend->work)
        state->device->backend->work(state, &known.instructions, &known.critical_path);
    return penstock__description_write(info, &known, sizeof known, "penstock_plan_info");
}

const struct penstock_problem *penstock__plan_problem(const penstock_plan *plan)
{
    return &plan->problem;
}

struct penstock__executor *penstock__plan_executor(const penstock_plan *plan)
{
    return plan->queue.executor;
}

struct penstock__executor *penstock__plan_executor_now(penstock_plan *plan)
{
    penstock__chunk_queue_collect(&plan->queue);
    return plan->queue.executor;
}

bool penstock__plan_is_direct(const penstock_plan *plan)
{
    return plan->queue.executor->state.device->backend->flags & PENSTOCK_BACKEND_HOST_MEMORY;
}

bool penstock__plan_has_clock(const penstock_plan *plan)
{
    return penstock__executor_has_clock(plan->queue.executor);
}

void penstock__plan_set_event_times(penstock_plan *plan, struct penstock__event_times *event_times)
{
    plan->queue.event_times = event_times;
}

uint64_t penstock__plan_fallbacks(const penstock_plan *plan)
{
    return plan->queue.fallbacks;
}

uint64_t penstock__plan_cpu_while_compiling(const penstock_plan *plan)
{
    return plan->queue.cpu_while_compiling;
}
