/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Lists of jobs: what each QPU's uniforms say; qpu/kernels/fft.qasm has the other side. */
#include "plan.h"

enum { VPM_ROWS = 4 };

static const uint32_t BYTE_SIGNS = 0x80808080, FLOAT_127_5 = 0x42ff0000, FLOAT_128 = 0x43000000;

/* A QPU's uniforms under construction. Without `words` they are only counted. */
struct list {
    uint32_t *words;
    uint32_t count, next; /* next: where the address of the job to come belongs */
    const struct qpu_fft__places *places;
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
        list->words[list->next] = list->places->block + qpu_fft__program_offset(routine);
    list->next = list->count++;
}

static void put_begin(const struct qpu_fft_plan *plan, struct list *list, unsigned qpu)
{
    put_job(list, ROUTINE_BEGIN);
    put(list, qpu * VPM_ROWS);
    put(list, plan->what.format == QPU_FFT_CS8 ? BYTE_SIGNS : 0);
    put(list, plan->what.format == QPU_FFT_CS8 ? FLOAT_128 : FLOAT_127_5);
    put(list, list->places->block + plan->constants);
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

static void put_shape(const struct qpu_fft_plan *plan, struct list *list, unsigned pass)
{
    const struct qpu_fft__pass *p = &plan->geometry.pass[pass];
    const struct pass_place *place = &plan->pass[pass];
    const uint32_t *weight = p->before.weight[pass];
    bool last = pass + 1 == plan->geometry.pass_count;
    uint32_t second_row = last ? p->after.weight[p->lane_after[0].digit][p->lane_after[0].bit] : VECTOR_BYTES;
    uint32_t below = 0;
    put_job(list, ROUTINE_SHAPE);
    put(list, list->places->block + place->lane_offsets);
    put(list, second_is_real(plan, pass) ? part_bytes(pass) : 0 - part_bytes(pass));
    for (unsigned i = 0; i < REGISTER_BITS; i++) {
        put(list, weight[i] - below);
        below += weight[i];
    }
    put(list, UINT32_C(0xc0000000) | (second_row - VECTOR_BYTES));
    put(list, list->places->block + place->inner);
}

static unsigned routine_of(const struct qpu_fft_plan *plan, unsigned pass)
{
    const struct qpu_fft__pass *p = &plan->geometry.pass[pass];
    unsigned kind = pass ? 0 : ROUTINES_OF_KIND * plan->kind;
    if (plan->what.transpose)
        return ROUTINE_TRANSPOSE;
    if (p->lane_bits == LANE_BITS)
        return ROUTINE_SMALL_4 + p->register_bits - 2 + kind;
    if (p->register_bits < REGISTER_BITS)
        return pass + 1 < plan->geometry.pass_count ? ROUTINE_PASS_OF_8 : ROUTINE_LAST_OF_8;
    return (pass + 1 < plan->geometry.pass_count ? ROUTINE_PASS_1 + kind : ROUTINE_LAST_1) + p->lane_bits;
}

uint32_t qpu_fft__sequence_bytes(const struct qpu_fft_plan *plan)
{
    return plan->kind ? qpu_fft__sequence_vectors(&plan->geometry, plan->parts) * VECTOR_BYTES : 0;
}

/* One group of a pass of transform `number`. */
static void put_group(const struct qpu_fft_plan *plan, struct list *list, unsigned pass, uint32_t number,
                      uint32_t group)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    const struct qpu_fft__pass *p = &g->pass[pass];
    const struct pass_place *place = &plan->pass[pass];
    uint32_t from = list->places->data[place->from] + place->skip + number * place->from_stride;
    uint32_t to = list->places->data[place->to] + number * place->to_stride;
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
        put(list, list->places->block + plan->sequences + group * qpu_fft__sequence_bytes(plan));
    if (outer)
        put(list, list->places->block + place->outer + qpu_fft__table_of(g, pass, group) * outer);
    else
        put(list, (uint32_t)plan->what.reverse << 31);
    for (unsigned i = 0; i < 1u << p->register_bits; i++)
        put(list, to + qpu_fft__result(g, pass, i));
}

/* Up to this many points a QPU does whole transforms; above, all QPUs share each pass, and each pass is a launch. */
enum { WHOLE_LOG_POINTS = 10 };

unsigned qpu_fft__launch_count(const struct qpu_fft_plan *plan)
{
    return plan->geometry.log_points <= WHOLE_LOG_POINTS && plan->what.rows == 1 ? 1 : plan->geometry.pass_count;
}

/* Pass by pass, with all of the QPU's transforms in each. */
static void put_transforms(const struct qpu_fft_plan *plan, struct list *list, unsigned qpu, uint32_t count)
{
    const struct qpu_fft__geometry *g = &plan->geometry;
    for (unsigned pass = 0; pass < g->pass_count && qpu < count; pass++) {
        if (pass)
            put_job(list, ROUTINE_WAIT);
        put_shape(plan, list, pass);
        for (uint32_t t = qpu; t < count; t += plan->what.qpus)
            for (uint32_t group = 0; group < UINT32_C(1) << g->pass[pass].group_bits; group++)
                put_group(plan, list, pass, t, group);
    }
}

/* The QPU's share of one pass: neighbours go to different QPUs, which read the same lines at about the same time. */
static void put_share(const struct qpu_fft_plan *plan, struct list *list, unsigned qpu, unsigned pass, uint32_t count)
{
    unsigned bits = plan->geometry.pass[pass].group_bits;
    put_shape(plan, list, pass);
    for (uint64_t i = qpu; i < (uint64_t)count << bits; i += plan->what.qpus)
        put_group(plan, list, pass, (uint32_t)(i >> bits), (uint32_t)i & ((UINT32_C(1) << bits) - 1));
}

uint32_t qpu_fft__list(const struct qpu_fft_plan *plan, uint32_t *words, const struct qpu_fft__places *places,
                       unsigned launch, unsigned qpu, uint32_t count)
{
    struct list list = {.words = words, .places = places};
    put_begin(plan, &list, qpu);
    if (qpu_fft__launch_count(plan) == 1)
        put_transforms(plan, &list, qpu, count);
    else
        put_share(plan, &list, qpu, launch, count);
    put_end(&list, qpu, plan->what.qpus);
    return list.count;
}
