/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */
#include <stdlib.h>
#include <string.h>

#include "fft.h"
#include "geometry.h"
#include "program.h"
#include "tables.h"

/* Bytes from the block's beginning, but for the strides. */
struct pass_place {
    uint32_t lane_offsets, inner, outer;
    uint32_t from, to;               /* data */
    uint32_t from_stride, to_stride; /* from transform to transform */
};

struct qpu_fft_plan {
    struct qpu_fft_description what;
    struct qpu_fft__geometry geometry;
    enum qpu_fft__kind kind; /* of the input */
    uint32_t sample_bytes;
    float *weights; /* parts of them for each sample; NULL for plain points */
    unsigned parts;
    uint32_t constants, sequences, input, output;
    uint64_t input_bytes;
    struct pass_place pass[PASSES];
    uint32_t lists[PASSES][QPU_FFT_QPUS];
    uint32_t bytes;
};

enum { LINE_BYTES = 64, PAGE_BYTES = 4096, RESULT_BYTES = 8, VPM_ROWS = 4 };

/* A QPU's uniforms under construction. Without `words` they are only counted. */
struct list {
    uint32_t *words;
    uint32_t count, next; /* next: where the address of the job to come belongs */
    uint32_t program;
};

static void put(struct list *list, uint32_t word)
{
    if (list->words)
        list->words[list->count] = word;
    list->count++;
}

/* Begins a job: the one before learns where it goes on. */
static void put_job(struct list *list, unsigned routine)
{
    if (list->words && list->count)
        list->words[list->next] = list->program + qpu_fft__program_offset(routine);
    list->next = list->count++;
}

static void put_begin(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned qpu)
{
    put_job(list, ROUTINE_BEGIN);
    put(list, qpu * VPM_ROWS);
    put(list, address + plan->constants);
}

static void put_end(struct list *list, unsigned qpu, unsigned qpus)
{
    for (unsigned i = 1; !qpu && i < qpus; i++)
        put_job(list, ROUTINE_TAKE);
    put_job(list, qpu ? ROUTINE_LEAVE : ROUTINE_LEAVE_FIRST);
}

/* What a sample's second part is: of vectors and forward transforms the imaginary one. */
static bool second_is_real(const struct qpu_fft_plan *plan, unsigned pass)
{
    return !pass && plan->what.reverse;
}

static uint32_t part_bytes(unsigned pass)
{
    return pass ? VECTOR_BYTES : 4;
}

static void put_shape(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned pass)
{
    const struct qpu_fft__pass *p = &plan->geometry.pass[pass];
    const struct pass_place *place = &plan->pass[pass];
    const uint32_t *weight = p->before.weight[pass];
    bool last = pass + 1 == plan->geometry.pass_count;
    uint32_t second_row = last ? p->after.weight[p->lane_after[0].digit][p->lane_after[0].bit] : VECTOR_BYTES;
    uint32_t below = 0;
    put_job(list, ROUTINE_SHAPE);
    put(list, address + place->lane_offsets);
    put(list, second_is_real(plan, pass) ? part_bytes(pass) : 0 - part_bytes(pass));
    for (unsigned i = 0; i < REGISTER_BITS; i++) {
        put(list, weight[i] - below);
        below += weight[i];
    }
    put(list, UINT32_C(0xc0000000) | (second_row - VECTOR_BYTES));
    put(list, address + place->inner);
}

static unsigned routine_of(const struct qpu_fft_plan *plan, unsigned pass)
{
    const struct qpu_fft__pass *p = &plan->geometry.pass[pass];
    unsigned kind = pass ? 0 : ROUTINES_OF_KIND * plan->kind;
    if (p->lane_bits == LANE_BITS)
        return ROUTINE_SMALL_4 + p->register_bits - 2 + kind;
    return (pass + 1 < plan->geometry.pass_count ? ROUTINE_PASS_1 + kind : ROUTINE_LAST_1) + p->lane_bits;
}

static uint32_t sequence_bytes(const struct qpu_fft_plan *plan)
{
    return plan->kind ? qpu_fft__sequence_vectors(&plan->geometry, plan->parts) * VECTOR_BYTES : 0;
}

/* One group of a pass of transform `number`. */
static void put_group(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned pass,
                      uint32_t number, uint32_t group)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    const struct qpu_fft__pass *p = &g->pass[pass];
    const struct pass_place *place = &plan->pass[pass];
    uint32_t from = address + place->from + number * place->from_stride;
    uint32_t to = address + place->to + number * place->to_stride;
    uint32_t outer = qpu_fft__outer_rows(g, pass) * ROW_BYTES;
    bool words = !pass && plan->kind >= KIND_CS16, weighted = !pass && plan->kind;
    put_job(list, routine_of(plan, pass));
    if (!list->words) {
        list->count += 2 + weighted + (1u << p->register_bits);
        return;
    }
    from += qpu_fft__weigh(&p->before, p->group, p->group_bits, group);
    to += qpu_fft__weigh(&p->after, p->group, p->group_bits, group);
    put(list, words || second_is_real(plan, pass) ? from : from + part_bytes(pass));
    if (weighted)
        put(list, address + plan->sequences + group * sequence_bytes(plan));
    if (outer)
        put(list, address + place->outer + qpu_fft__table_of(g, pass, group) * outer);
    else
        put(list, (uint32_t)plan->what.reverse << 31);
    for (unsigned i = 0; i < 1u << p->register_bits; i++)
        put(list, to + qpu_fft__result(g, pass, i));
}

/* Up to this many points a QPU does whole transforms; above, all QPUs share each pass, and each pass is a launch. */
enum { WHOLE_LOG_POINTS = 10 };

static unsigned launch_count(const struct qpu_fft_plan *plan)
{
    return plan->geometry.log_points <= WHOLE_LOG_POINTS ? 1 : plan->geometry.pass_count;
}

/* Pass by pass, with all of the QPU's transforms in each. */
static void put_transforms(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned qpu,
                           uint32_t count)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    for (unsigned pass = 0; pass < g->pass_count && qpu < count; pass++) {
        if (pass)
            put_job(list, ROUTINE_WAIT);
        put_shape(plan, list, address, pass);
        for (uint32_t t = qpu; t < count; t += plan->what.qpus)
            for (uint32_t group = 0; group < UINT32_C(1) << g->pass[pass].group_bits; group++)
                put_group(plan, list, address, pass, t, group);
    }
}

/* The QPU's share of one pass: neighbours go to different QPUs, which read the same lines at about the same time. */
static void put_share(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned qpu, unsigned pass,
                      uint32_t count)
{
    unsigned bits = plan->geometry.pass[pass].group_bits;
    put_shape(plan, list, address, pass);
    for (uint64_t i = qpu; i < (uint64_t)count << bits; i += plan->what.qpus)
        put_group(plan, list, address, pass, (uint32_t)(i >> bits), (uint32_t)i & ((UINT32_C(1) << bits) - 1));
}

static void put_list(const struct qpu_fft_plan *plan, struct list *list, uint32_t address, unsigned launch,
                     unsigned qpu, uint32_t count)
{
    put_begin(plan, list, address, qpu);
    if (launch_count(plan) == 1)
        put_transforms(plan, list, address, qpu, count);
    else
        put_share(plan, list, address, qpu, launch, count);
    put_end(list, qpu, plan->what.qpus);
}

/* Takes `bytes` from the block; false if it grows beyond what addresses reach. */
static bool take(struct qpu_fft_plan *plan, uint32_t *place, uint64_t bytes, uint32_t alignment)
{
    uint64_t at = ((uint64_t)plan->bytes + alignment - 1) / alignment * alignment;
    if (at + bytes > UINT32_C(0x30000000))
        return false;
    *place = (uint32_t)at;
    plan->bytes = (uint32_t)(at + bytes);
    return true;
}

static bool take_tables(struct qpu_fft_plan *plan)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    bool good = take(plan, &plan->constants, CONSTANT_VECTORS * VECTOR_BYTES, LINE_BYTES) &&
                take(plan, &plan->sequences, (uint64_t)sequence_bytes(plan) << g->pass[0].group_bits, LINE_BYTES);
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
    bool good = true;
    for (unsigned l = 0; l < launch_count(plan); l++)
        for (unsigned q = 0; q < plan->what.qpus && good; q++) {
            struct list list = {.words = NULL};
            put_list(plan, &list, 0, l, q, plan->what.batch);
            good = take(plan, &plan->lists[l][q], (uint64_t)list.count * 4, LINE_BYTES);
        }
    return good;
}

/* What is between passes goes to and fro: a pass never writes where it reads. */
static bool take_data(struct qpu_fft_plan *plan)
{
    const struct qpu_fft_description *what = &plan->what;
    uint32_t bytes = what->points * RESULT_BYTES, scratch = 0;
    uint64_t all = (uint64_t)bytes * what->batch;
    unsigned passes = plan->geometry.pass_count;
    bool good;
    plan->input_bytes = ((uint64_t)(what->batch - 1) * what->spacing + what->skip + what->points) * plan->sample_bytes;
    good = take(plan, &plan->input, plan->input_bytes, PAGE_BYTES) && take(plan, &plan->output, all, PAGE_BYTES);
    if (passes > 1)
        good = good && take(plan, &scratch, all, PAGE_BYTES);
    for (unsigned i = 0; i < passes; i++) {
        plan->pass[i].from = i ? plan->pass[i - 1].to : plan->input + what->skip * plan->sample_bytes;
        plan->pass[i].to = (passes - i) % 2 ? plan->output : scratch;
        plan->pass[i].from_stride = i ? bytes : what->spacing * plan->sample_bytes;
        plan->pass[i].to_stride = bytes;
    }
    return good;
}

/* Window, scale and what makes integers of full scale 1, in a factor for each sample; or the product's. */
static int make_weights(struct qpu_fft_plan *plan, const struct qpu_fft_description *what)
{
    float scale = what->scale != 0 ? what->scale : 1;
    uint32_t n = what->points;
    if (plan->kind == KIND_PLAIN)
        return QPU_FFT_OK;
    plan->parts = plan->kind == KIND_PRODUCT ? 2 : 1;
    plan->weights = malloc((size_t)plan->parts * n * sizeof *plan->weights);
    if (!plan->weights)
        return QPU_FFT_NO_MEMORY;
    scale *= plan->kind == KIND_CS16 ? 0x1p-15f : plan->kind == KIND_CU8 ? 0x1p-7f : 1;
    for (uint32_t i = 0; i < n && plan->kind != KIND_PRODUCT; i++)
        plan->weights[i] = scale * (what->window ? what->window[i] : 1);
    for (uint32_t i = 0; i < n && plan->kind == KIND_PRODUCT; i++) {
        plan->weights[2 * i] = scale * what->product[2 * i];
        plan->weights[2 * i + 1] = (what->reverse ? -scale : scale) * what->product[2 * i + 1];
    }
    return QPU_FFT_OK;
}

static enum qpu_fft__kind kind_of(const struct qpu_fft_description *what)
{
    if (what->format != QPU_FFT_CF32)
        return what->format == QPU_FFT_CS16 ? KIND_CS16 : KIND_CU8;
    if (what->product)
        return KIND_PRODUCT;
    return what->window || (what->scale != 0 && what->scale != 1) ? KIND_WINDOW : KIND_PLAIN;
}

static bool is_valid(const struct qpu_fft_description *what)
{
    if (!what->batch || !what->qpus || what->qpus > QPU_FFT_QPUS || (unsigned)what->format > QPU_FFT_CU8)
        return false;
    if (what->product && (what->window || what->format != QPU_FFT_CF32))
        return false;
    return what->format == QPU_FFT_CF32 || !what->reverse;
}

int qpu_fft_plan_new(struct qpu_fft_plan **out, const struct qpu_fft_description *description)
{
    static const uint32_t sample_bytes[] = {[QPU_FFT_CF32] = 8, [QPU_FFT_CS16] = 4, [QPU_FFT_CU8] = 2};
    struct qpu_fft_plan *plan;
    int status = QPU_FFT_INVALID;
    *out = NULL;
    if (!is_valid(description))
        return QPU_FFT_INVALID;
    if (!(plan = calloc(1, sizeof *plan)))
        return QPU_FFT_NO_MEMORY;
    plan->what = *description;
    plan->what.window = plan->what.product = NULL;
    if (!description->spacing)
        plan->what.spacing = description->points + description->skip;
    plan->kind = kind_of(description);
    plan->sample_bytes = sample_bytes[description->format];
    plan->bytes = qpu_fft__program_bytes();
    if (!qpu_fft__geometry(&plan->geometry, description->points, plan->sample_bytes))
        goto failed;
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
    return plan->input;
}

size_t qpu_fft_plan_input_bytes(const struct qpu_fft_plan *plan)
{
    return (size_t)plan->input_bytes;
}

size_t qpu_fft_plan_output(const struct qpu_fft_plan *plan)
{
    return plan->output;
}

static uint32_t *at(void *memory, uint32_t place)
{
    return (uint32_t *)memory + place / 4;
}

void qpu_fft_plan_place(const struct qpu_fft_plan *plan, void *memory, uint32_t address)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    qpu_fft__program_copy(memory);
    qpu_fft__constants(at(memory, plan->constants));
    for (uint32_t group = 0; plan->kind && group < UINT32_C(1) << g->pass[0].group_bits; group++)
        qpu_fft__sequence(g, group, plan->weights, plan->parts, plan->sample_bytes,
                          at(memory, plan->sequences) + group * (sequence_bytes(plan) / 4));
    for (unsigned i = 0; i < g->pass_count; i++) {
        uint32_t row_words = qpu_fft__outer_rows(g, i) * ROW_BYTES / 4;
        qpu_fft__lane_offsets(g, i, at(memory, plan->pass[i].lane_offsets));
        qpu_fft__inner_table(g, i, at(memory, plan->pass[i].inner));
        for (uint32_t t = 0; row_words && t < qpu_fft__table_count(g, i); t++)
            qpu_fft__outer_table(g, i, t, at(memory, plan->pass[i].outer) + t * row_words);
    }
    qpu_fft_plan_set_count(plan, memory, address, plan->what.batch);
}

void qpu_fft_plan_set_count(const struct qpu_fft_plan *plan, void *memory, uint32_t address, uint32_t count)
{
    for (unsigned l = 0; l < launch_count(plan); l++)
        for (unsigned q = 0; q < plan->what.qpus; q++) {
            struct list list = {.words = at(memory, plan->lists[l][q]), .program = address};
            put_list(plan, &list, address, l, q, count);
        }
}

unsigned qpu_fft_plan_launches(const struct qpu_fft_plan *plan)
{
    return launch_count(plan);
}

void qpu_fft_plan_launch(const struct qpu_fft_plan *plan, unsigned number, uint32_t address,
                         struct qpu_fft_launch *launch)
{
    *launch = (struct qpu_fft_launch){.qpus = plan->what.qpus, .pc = address + qpu_fft__program_offset(ROUTINE_BEGIN)};
    for (unsigned q = 0; q < launch->qpus; q++)
        launch->uniforms[q] = address + plan->lists[number][q];
}
