/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A GPU backend driven by hand. */
#include "gpu_rig.h"

#include <stdio.h>
#include <stdlib.h>

unsigned rig_cases;
double rig_worst;
float rig_window[1 << 14];

const char *rig_device(int count, char **arguments)
{
    return count > 1 ? arguments[1] : "opencl";
}

int rig_open(struct rig *rig, const char *device, const penstock_context_desc *desc)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof rig_window / sizeof *rig_window; i++)
        rig_window[i] = (float)(0.6 + 0.4 * test_uniform(&seed));
    *rig = (struct rig){0};
    CHECK_OK(penstock_context_new(&rig->context, desc));
    if (!rig->context)
        return 1;
    if (penstock__device_find(rig->context, device, &rig->device)) {
        int skipped = test_skip(penstock_error_text());
        penstock_context_free(rig->context);
        return skipped;
    }
    CHECK_OK(penstock__device_open(rig->device));
    rig->backend = rig->device->backend;
    printf("%s: %s, %s\n", rig->device->name, rig->device->product, rig->device->driver);
    return rig->device->opened ? 0 : 1;
}

void rig_close(struct rig *rig)
{
    penstock_context_free(rig->context);
}

int rig_finish(struct rig *rig, unsigned least)
{
    rig_close(rig);
    CHECK(rig_cases >= least, "only %u cases ran", rig_cases);
    printf("%u cases, worst error %.2f of what is allowed\n", rig_cases, rig_worst);
    return test_finish();
}

struct penstock_problem rig_problem(struct penstock_fft_problem fft)
{
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT, .batch = 64};
    if (!fft.scale)
        fft.scale = 1;
    if (!fft.average)
        fft.average = 1;
    if (!fft.spacing)
        fft.spacing = fft.skip + penstock__fft_in_count(&fft);
    problem.fft = fft;
    problem.in_bytes = (fft.gathered ? 1 : fft.spacing) * penstock_format_bytes(fft.format);
    problem.out_bytes = penstock__fft_out_count(&fft) * penstock__fft_out_item(&fft);
    return problem;
}

static bool plan_variant(struct rig *rig, struct penstock_plan_state *plan, const struct penstock_problem *problem,
                         unsigned variant)
{
    int status;
    *plan = (struct penstock_plan_state){.device = rig->device, .problem = problem};
    plan->priv = penstock__calloc(1, rig->backend->plan_bytes);
    status = rig->backend->plan_init(plan, variant);
    if (!status)
        return true;
    penstock__free(plan->priv);
    CHECK(status == PENSTOCK_ERR_UNSUPPORTED && variant > 0, "n %zu, variant %u: %s", problem->fft.n, variant,
          penstock_error_text());
    return false;
}

/* Transforms a work-group, from the plan's description. */
static size_t per_group(const struct penstock_plan_state *plan)
{
    const char *text = strrchr(plan->variant, ',');
    return text ? strtoul(text + 1, NULL, 10) : 1;
}

static double allowed(const struct penstock_fft_problem *fft)
{
    double bound = 1.0e-7 * (sqrt(log2((double)fft->n)) + sqrt((double)fft->fold) / 4), half = fft->half ? 0x1p-11 : 0;
    if (fft->options.arithmetic == PENSTOCK_ARITHMETIC_HALF) /* one point is rounded too */
        bound = 8192e-7 * sqrt(log2(fft->n > 2 ? (double)fft->n : 2));
    if (fft->output == PENSTOCK_OUTPUT_COMPLEX)
        return bound + half;
    return 2 * bound + (fft->output == PENSTOCK_OUTPUT_POWER ? half : 3e-6 + 64 * half * log(10) / 10);
}

static void fill(void *memory, size_t bytes, penstock_format format, uint64_t seed)
{
    if (format == PENSTOCK_CF32 || format == PENSTOCK_PLANAR || format == PENSTOCK_F32)
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            ((float *)memory)[i] = (float)test_uniform(&seed);
    else if (format == PENSTOCK_CF16)
        for (size_t i = 0; i < bytes / 2; i++) {
            float value = (float)test_uniform(&seed);
            penstock_half_from_float((uint16_t *)memory + i, &value, 1);
        }
    else
        test_random_bytes(memory, bytes, &seed);
}

static struct penstock_buffer make_buffer(struct rig *rig, size_t bytes)
{
    struct penstock_buffer buffer = {.device = rig->device, .bytes = bytes};
    buffer.priv = penstock__calloc(1, rig->backend->buffer_bytes);
    CHECK_OK(rig->backend->buffer_alloc(&buffer, bytes));
    return buffer;
}

static void free_buffer(struct rig *rig, struct penstock_buffer *buffer)
{
    rig->backend->buffer_free(buffer);
    penstock__free(buffer->priv);
}

/* What goes through the device: in, gather and out, the last with guard words before the run. */
struct batch {
    size_t frames, samples, in_bytes, gather_bytes, out_bytes;
    size_t turn; /* of the first frame, where they are folded */
    void *in, *out;
    struct penstock_gather *gather;
};

static struct batch make_batch(const struct penstock_problem *problem, size_t frames, uint64_t seed)
{
    const struct penstock_fft_problem *fft = &problem->fft;
    struct batch batch = {.frames = frames, .samples = penstock__fft_samples(fft, frames)};
    batch.turn = fft->fold ? (size_t)(test_random(&seed) % fft->n) : 0;
    batch.in_bytes = batch.samples * penstock_format_bytes(fft->format);
    batch.out_bytes = frames / fft->average * problem->out_bytes;
    batch.in = malloc(batch.in_bytes);
    batch.out = malloc(batch.out_bytes + GUARD_BYTES);
    fill(batch.in, batch.in_bytes, fft->format, seed);
    memset(batch.out, GUARD_BYTE, batch.out_bytes + GUARD_BYTES);
    if (!fft->gathered)
        return batch;
    batch.gather_bytes = frames * sizeof *batch.gather;
    batch.gather = malloc(batch.gather_bytes);
    for (size_t i = 0; i < frames; i++)
        batch.gather[i] =
            (struct penstock_gather){.start = (uint32_t)(test_random(&seed) % (batch.samples - fft->n + 1)),
                                     .phase = (uint32_t)test_random(&seed),
                                     .step = (uint32_t)test_random(&seed)};
    return batch;
}

static void free_batch(struct batch *batch)
{
    free(batch->in);
    free(batch->out);
    free(batch->gather);
}

static void compute(struct rig *rig, struct penstock_plan_state *plan, struct batch *batch)
{
    struct penstock_slot slot = {.device = rig->device, .priv = penstock__calloc(1, rig->backend->slot_bytes)};
    struct penstock_buffer in = make_buffer(rig, batch->in_bytes), gather = {0},
                           out = make_buffer(rig, batch->out_bytes + GUARD_BYTES);
    struct penstock_job job = {
        .in = &in, .out = &out, .frames = batch->frames, .samples = batch->samples, .spacing = (uint32_t)batch->turn};
    uint64_t mark = 0;
    CHECK_OK(rig->backend->slot_init(&slot));
    if (batch->gather) {
        gather = make_buffer(rig, batch->gather_bytes);
        job.gather = &gather;
        CHECK_OK(rig->backend->upload(&slot, &gather, batch->gather, batch->gather_bytes));
    }
    CHECK_OK(rig->backend->upload(&slot, &in, batch->in, batch->in_bytes));
    CHECK_OK(rig->backend->upload(&slot, &out, batch->out, batch->out_bytes + GUARD_BYTES));
    CHECK_OK(rig->backend->enqueue(&slot, plan, &job));
    CHECK_OK(rig->backend->download(&slot, batch->out, &out, batch->out_bytes + GUARD_BYTES));
    CHECK_OK(rig->backend->mark(&slot, &mark));
    CHECK_OK(rig->backend->wait(&slot, mark));
    rig->backend->slot_free(&slot);
    penstock__free(slot.priv);
    free_buffer(rig, &in);
    free_buffer(rig, &out);
    if (batch->gather)
        free_buffer(rig, &gather);
}

static double error_of(const struct penstock_fft_problem *fft, const struct batch *batch)
{
    size_t count = batch->frames / fft->average * penstock__expected_count(fft);
    double *want = malloc(count * sizeof *want), error = 0, norm = 0;
    float *halves = malloc((count + 1) * sizeof *halves);
    const float *got = fft->half ? halves : batch->out;
    CHECK_OK(penstock__expected(want, fft, batch->in, batch->samples, batch->gather, batch->turn, batch->frames));
    if (fft->half)
        penstock_half_to_float(halves, batch->out, count);
    for (size_t i = 0; i < count; i++) {
        double value = fft->output == PENSTOCK_OUTPUT_DECIBEL ? pow(10, got[i] / 10.0) : got[i];
        error += (value - want[i]) * (value - want[i]);
        norm += want[i] * want[i];
    }
    free(want);
    free(halves);
    return sqrt(error / norm);
}

static double run(struct rig *rig, struct penstock_plan_state *plan, size_t frames, uint64_t seed, const char *what)
{
    struct batch batch = make_batch(plan->problem, frames, seed);
    size_t broken = 0;
    double error;
    compute(rig, plan, &batch);
    for (size_t i = 0; i < GUARD_BYTES; i++)
        broken += ((unsigned char *)batch.out)[batch.out_bytes + i] != GUARD_BYTE;
    CHECK(!broken, "%s, %zu frames: %zu guard bytes changed", what, frames, broken);
    error = error_of(&plan->problem->fft, &batch);
    free_batch(&batch);
    return error;
}

static bool replicated(void)
{
    const char *method = getenv("POCL_WORK_GROUP_METHOD");
    return method && !strcmp(method, "repl");
}

size_t rig_max_n(void)
{
    const char *most = getenv("PENSTOCK_TEST_MOST");
    return most ? strtoul(most, NULL, 10) : replicated() ? 64 : 1 << 24;
}

bool rig_draws(const struct rig *rig, unsigned every)
{
    static uint64_t asked;
    return test_drawn(asked++, rig->device->host_memory || getenv("PENSTOCK_SHIM_GPU") ? every : 1);
}

void rig_check(struct rig *rig, struct penstock_fft_problem fft, unsigned variant, const char *what)
{
    struct penstock_problem problem = rig_problem(fft);
    struct penstock_plan_state plan;
    double bound = allowed(&problem.fft);
    size_t batches[4], group;
    char label[160];
    if (fft.n > rig_max_n() || !plan_variant(rig, &plan, &problem, variant))
        return;
    snprintf(label, sizeof label, "%s, n %zu, variant %u (%s)", what, fft.n, variant, plan.variant);
    CHECK(plan.kernels >= 1 && plan.passes == plan.kernels, "%s: %u kernels, %u passes", label, plan.kernels,
          plan.passes);
    group = per_group(&plan);
    batches[0] = 1;
    batches[1] = group > 2 ? group - 1 : 3;
    batches[2] = group;
    batches[3] = group + 1;
    for (size_t i = 0; i < 4; i++) {
        size_t frames = batches[i] * problem.fft.average;
        double error = run(rig, &plan, frames, 17 * fft.n + i, label);
        CHECK(error <= bound, "%s, %zu frames: error %.3g, allowed %.3g", label, frames, error, bound);
        rig_worst = error / bound > rig_worst ? error / bound : rig_worst;
    }
    rig_cases++;
    rig->backend->plan_free(&plan);
    penstock__free(plan.priv);
}

bool rig_batch_open(struct rig_batch *batch, struct rig *rig, size_t in_bytes, size_t out_bytes)
{
    const struct penstock_backend *backend = rig->backend;
    *batch = (struct rig_batch){.rig = rig,
                                .slot = {.device = rig->device, .priv = penstock__calloc(1, backend->slot_bytes)},
                                .in = {.device = rig->device, .bytes = in_bytes},
                                .out = {.device = rig->device, .bytes = out_bytes}};
    batch->in.priv = penstock__calloc(1, backend->buffer_bytes);
    batch->out.priv = penstock__calloc(1, backend->buffer_bytes);
    return !backend->slot_init(&batch->slot) && !backend->buffer_alloc(&batch->in, in_bytes) &&
           !backend->buffer_alloc(&batch->out, out_bytes);
}

bool rig_batch_run(struct rig_batch *batch, struct penstock_plan_state *plan, const void *in, void *out, size_t frames)
{
    const struct penstock_backend *backend = batch->rig->backend;
    struct penstock_job job = {.in = &batch->in, .out = &batch->out, .frames = frames};
    uint64_t mark = 0;
    return !backend->upload(&batch->slot, &batch->in, in, batch->in.bytes) &&
           !backend->enqueue(&batch->slot, plan, &job) &&
           !backend->download(&batch->slot, out, &batch->out, batch->out.bytes) &&
           !backend->mark(&batch->slot, &mark) && !backend->wait(&batch->slot, mark);
}

void rig_batch_close(struct rig_batch *batch)
{
    batch->rig->backend->slot_free(&batch->slot);
    penstock__free(batch->slot.priv);
    free_buffer(batch->rig, &batch->in);
    free_buffer(batch->rig, &batch->out);
}
