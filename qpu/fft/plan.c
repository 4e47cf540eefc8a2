/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* MOST_BYTES: of a block, below the gigabyte that addresses reach. */
enum { LINE_BYTES = 64, PAGE_BYTES = 4096, RESULT_BYTES = 8, MOST_BYTES = 0x30000000 };

/* Samples of a transform. */
static uint32_t sample_count(const struct qpu_fft_plan *plan)
{
    return UINT32_C(1) << plan->geometry.log_points;
}

/* Takes `bytes` from the block; false if it grows beyond what addresses reach. */
static bool take(struct qpu_fft_plan *plan, uint32_t *place, uint64_t bytes, uint32_t alignment)
{
    uint64_t at = ((uint64_t)plan->bytes + alignment - 1) / alignment * alignment;
    if (at + bytes > MOST_BYTES)
        return false;
    *place = (uint32_t)at;
    plan->bytes = (uint32_t)(at + bytes);
    return true;
}

static bool take_tables(struct qpu_fft_plan *plan)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    bool good =
        take(plan, &plan->constants, CONSTANT_VECTORS * VECTOR_BYTES, LINE_BYTES) &&
        take(plan, &plan->sequences, (uint64_t)qpu_fft__sequence_bytes(plan) << g->pass[0].group_bits, LINE_BYTES);
    for (unsigned i = 0; i < g->pass_count && good; i++) {
        uint64_t outer = (uint64_t)qpu_fft__outer_rows(g, i) * ROW_BYTES * qpu_fft__table_count(g, i);
        good = take(plan, &plan->pass[i].lane_offsets, VECTOR_BYTES, LINE_BYTES) &&
               take(plan, &plan->pass[i].inner, (uint64_t)qpu_fft__inner_rows(g, i) * ROW_BYTES, LINE_BYTES) &&
               take(plan, &plan->pass[i].outer, outer, LINE_BYTES);
    }
    return good;
}

static bool take_lists(struct qpu_fft_plan *plan)
{
    static const struct qpu_fft__places nowhere;
    bool good = true;
    for (unsigned l = 0; l < qpu_fft__launch_count(plan); l++)
        for (unsigned q = 0; q < plan->what.qpus && good; q++) {
            uint32_t words = qpu_fft__list(plan, NULL, &nowhere, l, q, plan->what.batch);
            good = take(plan, &plan->lists[l][q], (uint64_t)words * 4, LINE_BYTES);
        }
    return good;
}

/* From a transform's data to the next one's. Between passes a quarter of a first-level cache more, so that QPUs that
 * share one, at the same places of different transforms, do not use the same lines. */
static uint32_t stride_of(const struct qpu_fft_plan *plan, enum qpu_fft__data data)
{
    if (data == DATA_INPUT)
        return plan->what.spacing * plan->sample_bytes;
    return sample_count(plan) * RESULT_BYTES + (data == DATA_SCRATCH ? 1024 : 0);
}

/* What is between passes goes to and fro: a pass never writes where it reads. */
static bool take_data(struct qpu_fft_plan *plan)
{
    const struct qpu_fft_description *what = &plan->what;
    uint64_t all = (uint64_t)stride_of(plan, DATA_OUTPUT) * what->batch;
    uint64_t scratch = (uint64_t)stride_of(plan, DATA_SCRATCH) * what->batch;
    uint64_t samples = (uint64_t)(what->batch - 1) * what->spacing + what->skip + sample_count(plan);
    unsigned passes = plan->geometry.pass_count;
    if (samples > MOST_BYTES / plan->sample_bytes || all > MOST_BYTES)
        return false;
    plan->input_bytes = samples * plan->sample_bytes;
    for (unsigned i = 0; i < passes; i++) {
        plan->pass[i].skip = i ? 0 : what->skip * plan->sample_bytes;
        plan->pass[i].from = i ? plan->pass[i - 1].to : DATA_INPUT;
        plan->pass[i].to = (passes - i) % 2 ? DATA_OUTPUT : DATA_SCRATCH;
        plan->pass[i].from_stride = stride_of(plan, plan->pass[i].from);
        plan->pass[i].to_stride = stride_of(plan, plan->pass[i].to);
    }
    return (what->elsewhere || (take(plan, &plan->data[DATA_INPUT], plan->input_bytes, PAGE_BYTES) &&
                                take(plan, &plan->data[DATA_OUTPUT], all, PAGE_BYTES))) &&
           (passes < 2 || take(plan, &plan->data[DATA_SCRATCH], scratch, PAGE_BYTES));
}

/* In a reverse transform the parts have changed places. */
static void weigh_product(struct qpu_fft_plan *plan, const float *product)
{
    float scale = plan->what.scale != 0 ? plan->what.scale : 1;
    for (uint32_t i = 0; i < sample_count(plan); i++) {
        plan->weights[2 * i] = scale * product[2 * i];
        plan->weights[2 * i + 1] = (plan->what.reverse ? -scale : scale) * product[2 * i + 1];
    }
}

/* Window, scale and what makes integers of full scale 1, in a factor for each sample; or the product's. */
static int make_weights(struct qpu_fft_plan *plan, const struct qpu_fft_description *what)
{
    float scale = what->scale != 0 ? what->scale : 1;
    uint32_t n = sample_count(plan);
    if (plan->kind == KIND_PLAIN)
        return QPU_FFT_OK;
    plan->parts = plan->kind == KIND_PRODUCT ? 2 : 1;
    plan->weights = malloc((size_t)plan->parts * n * sizeof *plan->weights);
    if (!plan->weights)
        return QPU_FFT_NO_MEMORY;
    scale *= plan->kind == KIND_CS16 ? 0x1p-15f : plan->kind == KIND_BYTES ? 0x1p-7f : 1;
    for (uint32_t i = 0; i < n && plan->kind != KIND_PRODUCT; i++)
        plan->weights[i] = scale * (what->window ? what->window[i] : 1);
    if (plan->kind == KIND_PRODUCT)
        weigh_product(plan, what->product);
    return QPU_FFT_OK;
}

static enum qpu_fft__kind kind_of(const struct qpu_fft_description *what)
{
    if (what->format != QPU_FFT_CF32)
        return what->format == QPU_FFT_CS16 ? KIND_CS16 : KIND_BYTES;
    if (what->product)
        return KIND_PRODUCT;
    return what->window || (what->scale != 0 && what->scale != 1) ? KIND_WINDOW : KIND_PLAIN;
}

static bool is_valid(const struct qpu_fft_description *what)
{
    if (!what->batch || !what->qpus || what->qpus > QPU_FFT_QPUS || (unsigned)what->format > QPU_FFT_CS8)
        return false;
    if (what->product && (what->window || what->format != QPU_FFT_CF32))
        return false;
    if (what->transpose && (what->reverse || kind_of(what) != KIND_PLAIN))
        return false;
    return what->format == QPU_FFT_CF32 || !what->reverse;
}

int qpu_fft_plan_new(struct qpu_fft_plan **out, const struct qpu_fft_description *description)
{
    static const uint32_t sample_bytes[] = {
        [QPU_FFT_CF32] = 8, [QPU_FFT_CS16] = 4, [QPU_FFT_CU8] = 2, [QPU_FFT_CS8] = 2};
    struct qpu_fft_plan *plan;
    int status = QPU_FFT_INVALID;
    *out = NULL;
    if (!is_valid(description))
        return QPU_FFT_INVALID;
    if (!(plan = calloc(1, sizeof *plan)))
        return QPU_FFT_NO_MEMORY;
    plan->what = *description;
    plan->what.window = plan->what.product = NULL;
    if (!description->rows)
        plan->what.rows = 1;
    plan->kind = kind_of(description);
    plan->sample_bytes = sample_bytes[description->format];
    plan->bytes = qpu_fft__program_bytes();
    if (!(plan->what.transpose ? qpu_fft__transposition : qpu_fft__geometry)(&plan->geometry, plan->what.points,
                                                                             plan->what.rows, plan->sample_bytes))
        goto failed;
    if (!plan->what.spacing)
        plan->what.spacing = sample_count(plan) + plan->what.skip;
    if ((status = make_weights(plan, description)))
        goto failed;
    status = QPU_FFT_INVALID;
    if (!take_tables(plan) || !take_data(plan) || !take_lists(plan))
        goto failed;
    *out = plan;
    return QPU_FFT_OK;
failed:
    qpu_fft_plan_free(plan);
    return status;
}

void qpu_fft_plan_free(struct qpu_fft_plan *plan)
{
    if (plan)
        free(plan->weights);
    free(plan);
}

size_t qpu_fft_plan_bytes(const struct qpu_fft_plan *plan)
{
    return ((size_t)plan->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

size_t qpu_fft_plan_input(const struct qpu_fft_plan *plan)
{
    return plan->data[DATA_INPUT];
}

size_t qpu_fft_plan_input_bytes(const struct qpu_fft_plan *plan)
{
    return (size_t)plan->input_bytes;
}

size_t qpu_fft_plan_output(const struct qpu_fft_plan *plan)
{
    return plan->data[DATA_OUTPUT];
}

static uint32_t *at(void *memory, uint32_t place)
{
    return (uint32_t *)memory + place / 4;
}

static void write_sequences(const struct qpu_fft_plan *plan, void *memory)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    for (uint32_t group = 0; plan->kind && group < UINT32_C(1) << g->pass[0].group_bits; group++)
        qpu_fft__sequence(g, group, plan->weights, plan->parts, plan->sample_bytes,
                          at(memory, plan->sequences) + group * (qpu_fft__sequence_bytes(plan) / 4));
}

void qpu_fft_plan_place(const struct qpu_fft_plan *plan, void *memory, uint32_t address)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    qpu_fft__program_copy(memory);
    qpu_fft__constants(at(memory, plan->constants));
    write_sequences(plan, memory);
    for (unsigned i = 0; i < g->pass_count; i++) {
        uint32_t row_words = qpu_fft__outer_rows(g, i) * ROW_BYTES / 4;
        qpu_fft__lane_offsets(g, i, at(memory, plan->pass[i].lane_offsets));
        qpu_fft__inner_table(g, i, at(memory, plan->pass[i].inner));
        for (uint32_t t = 0; row_words && t < qpu_fft__table_count(g, i); t++)
            qpu_fft__outer_table(g, i, t, at(memory, plan->pass[i].outer) + t * row_words);
    }
    if (!plan->what.elsewhere)
        qpu_fft_plan_set_count(plan, memory, address, plan->what.batch);
}

void qpu_fft_plan_set_product(struct qpu_fft_plan *plan, void *memory, const float *product)
{
    weigh_product(plan, product);
    write_sequences(plan, memory);
}

void qpu_fft_plan_set_count(const struct qpu_fft_plan *plan, void *memory, uint32_t address, uint32_t count)
{
    qpu_fft_plan_set_data(plan, memory, address, count, address + plan->data[DATA_INPUT],
                          address + plan->data[DATA_OUTPUT]);
}

void qpu_fft_plan_set_data(const struct qpu_fft_plan *plan, void *memory, uint32_t address, uint32_t count,
                           uint32_t input, uint32_t output)
{
    const struct qpu_fft__places places = {address, {input, output, address + plan->data[DATA_SCRATCH]}};
    for (unsigned l = 0; l < qpu_fft__launch_count(plan); l++)
        for (unsigned q = 0; q < plan->what.qpus; q++)
            qpu_fft__list(plan, at(memory, plan->lists[l][q]), &places, l, q, count);
}

unsigned qpu_fft_plan_launches(const struct qpu_fft_plan *plan)
{
    return qpu_fft__launch_count(plan);
}

void qpu_fft_plan_launch(const struct qpu_fft_plan *plan, unsigned number, uint32_t address,
                         struct qpu_fft_launch *launch)
{
    *launch = (struct qpu_fft_launch){.qpus = plan->what.qpus, .pc = address + qpu_fft__program_offset(ROUTINE_BEGIN)};
    for (unsigned q = 0; q < launch->qpus; q++)
        launch->uniforms[q] = address + plan->lists[number][q];
}
