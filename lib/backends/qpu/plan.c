/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans on the QPUs: transforms in batches, and filters by filter.c. */
#include "backends/qpu/qpu.h"

#include <stdio.h>
#include <string.h>

enum { SMALLEST = 64, LARGEST = 1 << 22, MOST_BATCH = 48, MOST_POINTS = 1 << 21, ONE_QPU = 1024 };

int penstock__qpu_supports(const struct penstock_device *device, const struct penstock_problem *problem)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    bool filter = problem->kind == PENSTOCK_PROBLEM_FILTER;
    size_t n = filter ? problem->filter.n : fft->n;
    enum qpu_fft_format format;
    if (problem->kind == PENSTOCK_PROBLEM_OFDM)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no kernel for all of OFDM", device->name);
    if (filter && !penstock__qpu_format(&format, problem->filter.format))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no load of %s samples", device->name,
                               penstock_format_name(problem->filter.format));
    if (filter &&
        (penstock__filter_sets(&problem->filter) > 1 || problem->filter.decimation > 1 || problem->filter.rotated))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "%s filters with one part, without interpolation, decimation and shift", device->name);
    if (!filter && fft->domain != PENSTOCK_COMPLEX)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no transforms of real samples", device->name);
    if (!filter && fft->fold && !fft->hop)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s folds no samples", device->name);
    if (!filter && fft->half)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s gives floats, no halfs", device->name);
    if (n < SMALLEST || n > LARGEST || n & (n - 1))
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s transforms %d to %d points in powers of two, not %zu",
                               device->name, SMALLEST, LARGEST, n);
    return 1;
}

/* ---- plan */

/* Whether the kernels load the problem's samples themselves; `description` then says how. */
static bool load_on_qpus(struct qpu_fft_description *description, const struct penstock_fft_problem *fft)
{
    enum qpu_fft_format format;
    if (fft->gathered || fft->shift != 0 || !penstock__qpu_format(&format, fft->format))
        return false;
    if (format != QPU_FFT_CF32 && fft->direction == PENSTOCK_REVERSE)
        return false;
    if (fft->spacing > UINT32_MAX / 16 || fft->skip > UINT32_MAX / 16)
        return false;
    description->format = format;
    description->spacing = (uint32_t)fft->spacing;
    description->skip = (uint32_t)fft->skip;
    description->window = fft->window;
    return true;
}

static int transforms_init(struct qpu_plan *p, struct qpu_device *device, const struct penstock_fft_problem *fft)
{
    struct qpu_fft_description description = {.points = (uint32_t)fft->n,
                                              .reverse = fft->direction == PENSTOCK_REVERSE,
                                              .batch = (uint32_t)p->batch,
                                              .qpus = qpu_device_qpus(device),
                                              .scale = fft->scale};
    p->loads = load_on_qpus(&description, fft);
    if (qpu_fft_plan_new(&p->transforms, &description) != QPU_FFT_OK)
        return penstock__error(PENSTOCK_ERR_MEMORY, "no memory for a plan of %zu points", fft->n);
    if (qpu_memory_alloc(device, &p->memory, qpu_fft_plan_bytes(p->transforms)) != QPU_HOST_OK) {
        qpu_fft_plan_free(p->transforms);
        return penstock__error(PENSTOCK_ERR_MEMORY, "%s", qpu_device_error(device));
    }
    qpu_fft_plan_place(p->transforms, p->memory.host, p->memory.bus);
    return PENSTOCK_OK;
}

/* What GPU memory has room for. */
static size_t largest_batch(size_t n)
{
    size_t batch = MOST_POINTS / n;
    return batch > MOST_BATCH ? MOST_BATCH : batch ? batch : 1;
}

static int init_of_kind(struct qpu_plan *p, struct qpu_state *state, const struct penstock_problem *problem)
{
    const bool filter = problem->kind == PENSTOCK_PROBLEM_FILTER, overlapped = !filter && problem->fft.hop;
    const struct penstock_fft_problem *fft = overlapped ? &p->rows : &problem->fft;
    int status = overlapped ? penstock__qpu_overlap_init(p, &problem->fft) : PENSTOCK_OK;
    if (!status && !filter)
        status = penstock__qpu_stages_init(p, fft);
    if (status)
        return status;
    pthread_mutex_lock(&state->lock);
    status = filter ? penstock__qpu_filter_init(p, state->device, problem) : transforms_init(p, state->device, fft);
    pthread_mutex_unlock(&state->lock);
    if (status && !filter)
        penstock__qpu_stages_free(p);
    return status;
}

int penstock__qpu_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_problem *problem = plan->problem;
    struct qpu_plan *p = plan->priv;
    bool filter = problem->kind == PENSTOCK_PROBLEM_FILTER;
    size_t n = filter ? problem->filter.n : problem->fft.n;
    int status;
    if (variant > 0)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s has no variant %u", plan->device->name, variant);
    p->batch = problem->batch < largest_batch(n) ? problem->batch : largest_batch(n);
    if ((status = init_of_kind(p, plan->device->priv, problem)))
        return status;
    snprintf(plan->variant, sizeof plan->variant, "%s, %s by the %s",
             n <= ONE_QPU ? "one QPU a transform" : "all QPUs on a transform", filter ? "filtered" : "samples loaded",
             filter || p->loads ? "QPUs" : "CPU");
    plan->kernels = qpu_fft_plan_launches(p->transforms) + (filter ? qpu_fft_plan_launches(p->reverse) : 0);
    plan->passes = plan->kernels;
    plan->best_batch = largest_batch(n);
    return PENSTOCK_OK;
}

void penstock__qpu_plan_free(struct penstock_plan_state *plan)
{
    struct qpu_state *state = plan->device->priv;
    struct qpu_plan *p = plan->priv;
    pthread_mutex_lock(&state->lock);
    qpu_memory_free(state->device, &p->memory);
    pthread_mutex_unlock(&state->lock);
    penstock__qpu_filter_free(p);
    penstock__qpu_stages_free(p);
}

void penstock__qpu_work(const struct penstock_plan_state *plan, uint64_t *instructions, uint64_t *critical_path)
{
    struct qpu_state *state = plan->device->priv;
    const struct qpu_plan *p = plan->priv;
    pthread_mutex_lock(&state->lock);
    *instructions = p->instructions;
    *critical_path = p->critical_path;
    pthread_mutex_unlock(&state->lock);
}

/* ---- run */

/* Frames `first` .. `first + count` - 1 of the job, count <= batch. */
static int run_batch(const struct penstock_plan_state *plan, const struct penstock_job *job, size_t first, size_t count)
{
    const struct penstock_fft_problem *fft = &plan->problem->fft;
    return penstock__qpu_transform(plan, fft, job, first, count,
                                   (char *)job->out->host + first / fft->average * plan->problem->out_bytes);
}

int penstock__qpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    const struct qpu_plan *p = plan->priv;
    struct qpu_state *state = plan->device->priv;
    bool filter = plan->problem->kind == PENSTOCK_PROBLEM_FILTER;
    int status = PENSTOCK_OK;
    (void)slot;
    pthread_mutex_lock(&state->lock);
    if (p->kept)
        status = penstock__qpu_overlap_run(plan, job);
    for (size_t done = 0; done < job->frames && !status && !p->kept; done += p->batch) {
        size_t count = job->frames - done < p->batch ? job->frames - done : p->batch;
        status = (filter ? penstock__qpu_filter_run : run_batch)(plan, job, done, count);
    }
    pthread_mutex_unlock(&state->lock);
    return status;
}
