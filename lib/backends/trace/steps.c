/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Work that waits in a slot: copies and transforms are noted when they are asked for and done within wait. */
#include "backends/trace/steps.h"

#include <string.h>

enum step_kind { STEP_UPLOAD, STEP_COPY, STEP_TRANSFORM, STEP_DOWNLOAD, STEP_MARK };

struct trace_step {
    enum step_kind kind;
    struct trace_place in, gather, out; /* none where not used; of uploads and downloads one side is the host's */
    const void *from;
    void *to;
    size_t bytes, frames, samples;
    uint32_t turn; /* of the first frame, where samples are folded */
    struct trace_plan *plan;
    uint64_t number;
    unsigned stamps; /* which to note before it is done, as bits */
    struct trace_step *next;
};

/* ---------------------------------------------------------------- rules ----------------------- */

/* A thread enters a slot; false, with an error, where that breaks a rule. */
static bool enter(struct penstock_slot *slot)
{
    penstock_context *context = slot->device->context;
    struct trace_slot *self = slot->priv;
    if (!penstock__trace_alive(context, self ? &self->object : NULL, "slot")) {
        penstock__error(PENSTOCK_ERR_STATE, "trace: the slot was not made");
        return false;
    }
    if (atomic_exchange(&self->entered, true))
        penstock__trace_violation(context, "two threads are in one slot");
    return true;
}

static int leave(struct penstock_slot *slot, int status)
{
    struct trace_slot *self = slot->priv;
    atomic_store(&self->entered, false);
    return status;
}

/* The memory of a buffer that has room for `bytes`, or none. */
static struct trace_place usable(struct penstock_slot *slot, struct penstock_buffer *buffer, size_t bytes)
{
    penstock_context *context = slot->device->context;
    struct trace_buffer *self = buffer ? buffer->priv : NULL;
    if (!penstock__trace_alive(context, self ? &self->object : NULL, "buffer")) {
        penstock__error(PENSTOCK_ERR_STATE, "trace: the buffer was not made");
        return (struct trace_place){0};
    }
    if (buffer->device != slot->device || buffer->wrapped || bytes > self->place.bytes) {
        penstock__trace_violation(context, "a buffer of %zu bytes is used for %zu, or is of another device",
                                  self->place.bytes, bytes);
        penstock__error(PENSTOCK_ERR_STATE, "trace: the buffer is not usable");
        return (struct trace_place){0};
    }
    return self->place;
}

static size_t samples_bytes(const struct penstock_problem *problem, const struct penstock_job *job)
{
    switch (problem->kind) {
    case PENSTOCK_PROBLEM_VITERBI:
        return job->samples * penstock__viterbi_soft_bytes(&problem->viterbi);
    case PENSTOCK_PROBLEM_LDPC:
        return job->samples * penstock__ldpc_soft_bytes(&problem->ldpc);
    default:
        return job->samples * penstock_format_bytes(problem->fft.format);
    }
}

static bool sensible(struct penstock_slot *slot, const struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    if (plan->problem->kind == PENSTOCK_PROBLEM_VITERBI || plan->problem->kind == PENSTOCK_PROBLEM_LDPC) {
        if (job->frames && (job->gather || samples_bytes(plan->problem, job) >= job->frames * plan->problem->in_bytes))
            return true;
    } else if (job->frames && job->frames % fft->average == 0 && !job->gather == !fft->gathered &&
               (fft->gathered || job->samples >= penstock__fft_samples(fft, job->frames)))
        return true;
    penstock__trace_violation(slot->device->context, "a job of %zu frames and %zu samples does not fit its plan",
                              job->frames, job->samples);
    penstock__error(PENSTOCK_ERR_STATE, "trace: the job does not fit the plan");
    return false;
}

/* ---------------------------------------------------------------- asking ---------------------- */

static void share(const struct trace_place *place)
{
    if (place->memory)
        place->memory->users++;
}

static int append(struct trace_slot *slot, const struct trace_step *step)
{
    struct trace_step *new = penstock__calloc(1, sizeof *new);
    if (!new)
        return PENSTOCK_ERR_MEMORY;
    *new = *step;
    new->stamps = slot->asked;
    slot->asked = 0;
    share(&new->in);
    share(&new->gather);
    share(&new->out);
    if (new->plan)
        atomic_fetch_add(&new->plan->jobs, 1);
    if (!slot->end)
        slot->end = &slot->first;
    *slot->end = new;
    slot->end = &new->next;
    return PENSTOCK_OK;
}

int penstock__trace_upload(struct penstock_slot *slot, struct penstock_buffer *buffer, const void *host, size_t bytes)
{
    struct trace_step step = {.kind = STEP_UPLOAD, .from = host, .bytes = bytes};
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    if (!(step.out = usable(slot, buffer, bytes)).memory)
        status = PENSTOCK_ERR_STATE;
    else if (!(status = penstock__trace_call(slot->device->context, "upload %zu bytes", bytes)))
        status = append(slot->priv, &step);
    return leave(slot, status);
}

int penstock__trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                            const struct penstock_job *job)
{
    const struct penstock_problem *problem = plan->problem;
    const size_t average = problem->kind == PENSTOCK_PROBLEM_FFT ? problem->fft.average : 1;
    struct trace_plan *self = plan->priv;
    struct trace_step step = {.kind = STEP_TRANSFORM,
                              .frames = job->frames,
                              .samples = job->samples,
                              .turn = job->spacing,
                              .plan = plan->priv};
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    if (!penstock__trace_alive(slot->device->context, self ? &self->object : NULL, "plan") ||
        !sensible(slot, plan, job) || !(step.in = usable(slot, job->in, samples_bytes(problem, job))).memory ||
        !(step.out = usable(slot, job->out, job->frames / average * problem->out_bytes)).memory ||
        (job->gather &&
         !(step.gather = usable(slot, job->gather,
                                job->frames * sizeof(struct penstock_gather) /* as a penstock_viterbi_block */))
              .memory))
        status = PENSTOCK_ERR_STATE;
    else if (!(status = penstock__trace_call(slot->device->context, "enqueue %zu frames", job->frames)))
        status = append(slot->priv, &step);
    return leave(slot, status);
}

int penstock__trace_download(struct penstock_slot *slot, void *host, struct penstock_buffer *buffer, size_t bytes)
{
    struct trace_step step = {.kind = STEP_DOWNLOAD, .to = host, .bytes = bytes};
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    if (!(step.in = usable(slot, buffer, bytes)).memory)
        status = PENSTOCK_ERR_STATE;
    else if (!(status = penstock__trace_call(slot->device->context, "download %zu bytes", bytes)))
        status = append(slot->priv, &step);
    else
        memset(host, PENSTOCK__TRACE_POISON, bytes / 2); /* a failed copy leaves some of it behind */
    return leave(slot, status);
}

int penstock__trace_copy(struct penstock_slot *slot, const struct penstock_device_copy *copy)
{
    struct trace_step step = {.kind = STEP_COPY, .bytes = copy->bytes};
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    if (!(step.in = usable(slot, copy->from, copy->from_at + copy->bytes)).memory ||
        !(step.out = usable(slot, copy->to, copy->to_at + copy->bytes)).memory)
        return leave(slot, PENSTOCK_ERR_STATE);
    step.in.at += copy->from_at;
    step.out.at += copy->to_at;
    if (!(status = penstock__trace_call(slot->device->context, "copy %zu bytes", copy->bytes)))
        status = append(slot->priv, &step);
    return leave(slot, status);
}

int penstock__trace_mark(struct penstock_slot *slot, uint64_t *number)
{
    struct trace_slot *self = slot->priv;
    struct trace_step step = {.kind = STEP_MARK};
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    step.number = self->marks + 1;
    if (!(status = penstock__trace_call(slot->device->context, "mark")) && !(status = append(self, &step)))
        *number = ++self->marks;
    return leave(slot, status);
}

/* The clock needs no memory and does not fail on request: its failure would be none of the work. */
int penstock__trace_stamp(struct penstock_slot *slot, unsigned which)
{
    struct trace_slot *self = slot->priv;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    penstock__trace_note(slot->device->context, "stamp");
    if (which >= PENSTOCK_STAMPS) {
        penstock__trace_violation(slot->device->context, "there is no stamp %u", which);
        return leave(slot, PENSTOCK_ERR_STATE);
    }
    self->asked |= 1U << which;
    self->stamps[which].set = false;
    return leave(slot, PENSTOCK_OK);
}

/* ---------------------------------------------------------------- doing ----------------------- */

/* Lends a buffer's memory to the cpu backend. */
static int lend(struct penstock_buffer *buffer, struct penstock_device *device, const struct trace_place *place)
{
    const struct penstock_backend *cpu = &penstock__cpu_backend;
    int status;
    *buffer = (struct penstock_buffer){.device = device, .bytes = place->bytes, .wrapped = true};
    if (cpu->buffer_bytes && !(buffer->priv = penstock__calloc(1, cpu->buffer_bytes)))
        return PENSTOCK_ERR_MEMORY;
    if ((status = cpu->buffer_wrap(buffer, penstock__trace_content(place), place->bytes)))
        penstock__free(buffer->priv);
    return status;
}

static void take_back(struct penstock_buffer *buffer)
{
    penstock__cpu_backend.buffer_free(buffer);
    penstock__free(buffer->priv);
}

static int transform(struct trace_slot *slot, const struct trace_step *step)
{
    const struct penstock_backend *cpu = &penstock__cpu_backend;
    const struct trace_place *places[3] = {&step->in, &step->out, &step->gather};
    struct penstock_buffer buffers[3];
    struct penstock_job job = {.in = &buffers[0],
                               .out = &buffers[1],
                               .gather = step->gather.memory ? &buffers[2] : NULL,
                               .frames = step->frames,
                               .samples = step->samples,
                               .spacing = step->turn};
    unsigned lent = 0, wanted = step->gather.memory ? 3 : 2;
    uint64_t number;
    int status = PENSTOCK_OK;
    for (; lent < wanted && !status; lent += !status)
        status = lend(&buffers[lent], step->plan->cpu.device, places[lent]);
    if (!status && !(status = cpu->enqueue(&slot->cpu, &step->plan->cpu, &job)) &&
        !(status = cpu->mark(&slot->cpu, &number)))
        status = cpu->wait(&slot->cpu, number);
    while (lent)
        take_back(&buffers[--lent]);
    return status;
}

static void note_times(struct trace_slot *slot, unsigned which)
{
    for (unsigned i = 0; i < PENSTOCK_STAMPS; i++)
        if (which >> i & 1) {
            slot->stamps[i].seconds = penstock__now_s();
            slot->stamps[i].set = true;
        }
}

static int perform(struct trace_slot *slot, const struct trace_step *step)
{
    note_times(slot, step->stamps);
    switch (step->kind) {
    case STEP_UPLOAD:
        memcpy(penstock__trace_content(&step->out), step->from, step->bytes);
        break;
    case STEP_COPY:
        memmove(penstock__trace_content(&step->out), penstock__trace_content(&step->in), step->bytes);
        break;
    case STEP_TRANSFORM:
        return transform(slot, step);
    case STEP_DOWNLOAD:
        memcpy(step->to, penstock__trace_content(&step->in), step->bytes);
        break;
    case STEP_MARK:
        slot->reached = step->number;
        break;
    }
    return PENSTOCK_OK;
}

static void drop_first(struct trace_slot *slot)
{
    struct trace_step *step = slot->first;
    slot->first = step->next;
    if (!slot->first)
        slot->end = NULL;
    penstock__trace_memory_drop(step->in.memory);
    penstock__trace_memory_drop(step->gather.memory);
    penstock__trace_memory_drop(step->out.memory);
    if (step->plan)
        atomic_fetch_sub(&step->plan->jobs, 1);
    penstock__free(step);
}

void penstock__trace_drop_steps(struct trace_slot *slot)
{
    for (; slot->first; drop_first(slot))
        if (slot->first->kind == STEP_DOWNLOAD)
            memset(slot->first->to, PENSTOCK__TRACE_POISON, slot->first->bytes);
}

int penstock__trace_wait(struct penstock_slot *slot, uint64_t number)
{
    struct trace_slot *self = slot->priv;
    int status;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    if (number > self->marks)
        penstock__trace_violation(slot->device->context, "mark %llu is waited for; the last one was %llu",
                                  (unsigned long long)number, (unsigned long long)self->marks);
    status = penstock__trace_call(slot->device->context, "wait for mark %llu", (unsigned long long)number);
    while (!status && self->reached < number && self->first)
        if (!(status = perform(self, self->first)))
            drop_first(self);
    return leave(slot, status);
}

/* Only of what was waited for: else a slot would wait for what nobody has asked it to do. */
int penstock__trace_elapsed(struct penstock_slot *slot, unsigned from, unsigned to, double *seconds)
{
    struct trace_slot *self = slot->priv;
    int status = PENSTOCK_OK;
    if (!enter(slot))
        return PENSTOCK_ERR_STATE;
    penstock__trace_note(slot->device->context, "elapsed");
    if (from >= PENSTOCK_STAMPS || to >= PENSTOCK_STAMPS || !self->stamps[from].set || !self->stamps[to].set) {
        penstock__trace_violation(slot->device->context, "a time is asked for that was not noted");
        status = penstock__error(PENSTOCK_ERR_STATE, "trace: no time was noted");
    }
    if (!status)
        *seconds = self->stamps[to].seconds - self->stamps[from].seconds;
    return leave(slot, status);
}
