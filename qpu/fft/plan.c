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
    uint32_t constants, input, output;
    struct pass_place pass[PASSES];
    uint32_t lists[PASSES][QPU_FFT_QPUS];
    uint32_t bytes;
};

enum { LINE_BYTES = 64, PAGE_BYTES = 4096, SAMPLE_BYTES = 8, VPM_ROWS = 4 };

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
    unsigned reverse = plan->what.reverse ? ROUTINE_REVERSE : 0;
    if (pass + 1 < plan->geometry.pass_count)
        return ROUTINE_PASS_1 + p->lane_bits;
    if (p->lane_bits == LANE_BITS)
        return ROUTINE_SMALL_4 + p->register_bits - 2 + reverse;
    return ROUTINE_LAST_1 + p->lane_bits + reverse;
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
    put_job(list, routine_of(plan, pass));
    if (!list->words) {
        list->count += 1 + (outer > 0) + (1u << p->register_bits);
        return;
    }
    from += qpu_fft__weigh(&p->before, p->group, p->group_bits, group);
    to += qpu_fft__weigh(&p->after, p->group, p->group_bits, group);
    put(list, second_is_real(plan, pass) ? from : from + part_bytes(pass));
    if (outer)
        put(list, address + place->outer + qpu_fft__table_of(g, pass, group) * outer);
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
    bool good = take(plan, &plan->constants, CONSTANT_VECTORS * VECTOR_BYTES, LINE_BYTES);
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
    uint32_t bytes = plan->what.points * SAMPLE_BYTES, scratch = 0;
    uint64_t all = (uint64_t)bytes * plan->what.batch;
    unsigned passes = plan->geometry.pass_count;
    bool good = take(plan, &plan->input, all, PAGE_BYTES) && take(plan, &plan->output, all, PAGE_BYTES);
    if (passes > 1)
        good = good && take(plan, &scratch, all, PAGE_BYTES);
    for (unsigned i = 0; i < passes; i++) {
        plan->pass[i].from = i ? plan->pass[i - 1].to : plan->input;
        plan->pass[i].to = (passes - i) % 2 ? plan->output : scratch;
        plan->pass[i].from_stride = plan->pass[i].to_stride = bytes;
    }
    return good;
}

int qpu_fft_plan_new(struct qpu_fft_plan **out, const struct qpu_fft_description *description)
{
    struct qpu_fft_plan *plan = calloc(1, sizeof *plan);
    *out = NULL;
    if (!plan)
        return QPU_FFT_NO_MEMORY;
    plan->what = *description;
    plan->bytes = qpu_fft__program_bytes();
    if (!description->batch || !description->qpus || description->qpus > QPU_FFT_QPUS ||
        !qpu_fft__geometry(&plan->geometry, description->points) || !take_tables(plan) || !take_data(plan) ||
        !take_lists(plan)) {
        free(plan);
        return QPU_FFT_INVALID;
    }
    *out = plan;
    return QPU_FFT_OK;
}

void qpu_fft_plan_free(struct qpu_fft_plan *plan)
{
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
