/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Viterbi decoding of blocks: checks a description, fills in its defaults and hands it on as a problem for a backend.
 */
#include "ops/coding/viterbi.h"
#include "core/base/description.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/plan/plan.h"
#include "ops/coding/coding_check.h"

#include <string.h>

#define LEAST_CONSTRAINT 3
#define MOST_CONSTRAINT  9
#define MOST_BITS        ((size_t)1 << 20)
#define MOST_BATCH       ((size_t)1 << 31)
#define BATCH_BITS       ((size_t)1 << 18) /* of a batch when the caller does not say */

#define bad(...) penstock__error(PENSTOCK_ERR_ARGUMENT, "viterbi: " __VA_ARGS__)

static unsigned width(unsigned value)
{
    unsigned bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

static int read_generators(struct penstock_viterbi_problem *viterbi, const penstock_viterbi_desc *desc)
{
    static const unsigned usual[] = {0133, 0171};
    unsigned widest = 0;
    while (viterbi->count < PENSTOCK_MAX_GENERATORS && desc->generators[viterbi->count]) {
        viterbi->generators[viterbi->count] = desc->generators[viterbi->count];
        viterbi->count++;
    }
    for (unsigned g = viterbi->count; g < PENSTOCK_MAX_GENERATORS; g++)
        if (desc->generators[g])
            return bad("generator %u is 0%o, but the one before it is 0", g, desc->generators[g]);
    if (!viterbi->count) {
        memcpy(viterbi->generators, usual, sizeof usual);
        viterbi->count = 2;
    }
    for (unsigned g = 0; g < viterbi->count; g++)
        widest = width(viterbi->generators[g]) > widest ? width(viterbi->generators[g]) : widest;
    viterbi->constraint = desc->constraint ? desc->constraint : widest;
    if (viterbi->constraint < LEAST_CONSTRAINT || viterbi->constraint > MOST_CONSTRAINT)
        return bad("constraint length %u is not in %d .. %d", viterbi->constraint, LEAST_CONSTRAINT, MOST_CONSTRAINT);
    if (widest > viterbi->constraint)
        return bad("a generator has %u bits, the constraint length is %u", widest, viterbi->constraint);
    if (desc->inverted >> viterbi->count)
        return bad("inverted 0x%x names generators beyond the %u that there are", desc->inverted, viterbi->count);
    viterbi->inverted = desc->inverted;
    return PENSTOCK_OK;
}

static int read_puncture(struct penstock_viterbi_problem *viterbi, const char *puncture)
{
    size_t sent = 0, length = puncture ? strnlen(puncture, PENSTOCK_MAX_PUNCTURE + 1) : viterbi->count;
    if (!length || length > PENSTOCK_MAX_PUNCTURE)
        return bad("a puncturing pattern has 1 .. %d characters", PENSTOCK_MAX_PUNCTURE);
    if (length % viterbi->count)
        return bad("%zu characters of a puncturing pattern are no multiple of %u generators", length, viterbi->count);
    viterbi->period = length;
    for (size_t i = 0; i < length; i++) {
        if (puncture && puncture[i] != '0' && puncture[i] != '1')
            return bad("character %zu of the puncturing pattern is neither 0 nor 1", i);
        viterbi->kept[i] = !puncture || puncture[i] == '1';
        sent += viterbi->kept[i];
    }
    if (sent < length / viterbi->count)
        return bad("%zu of %zu coded bits are sent for %zu data bits: too few", sent, length, length / viterbi->count);
    return PENSTOCK_OK;
}

static int check_code(const struct penstock_viterbi_problem *viterbi)
{
    bool catastrophic;
    int status = penstock__viterbi_is_catastrophic(&catastrophic, viterbi);
    if (!status && catastrophic)
        return bad("the code is catastrophic%s: some errors would go on for ever",
                   penstock__viterbi_sent(viterbi, viterbi->period / viterbi->count) < viterbi->period
                       ? " with this puncturing"
                       : "");
    return status;
}

static int check_rest(const penstock_viterbi_desc *desc)
{
    if (!desc->bits || desc->bits > MOST_BITS)
        return bad("%zu bits of a block are not in 1 .. %zu", desc->bits, MOST_BITS);
    if ((unsigned)desc->end > PENSTOCK_TRELLIS_TAIL_BITING)
        return bad("end %d is not PENSTOCK_TRELLIS_ZERO, _OPEN or _TAIL_BITING", (int)desc->end);
    return penstock__coding_check("viterbi", desc->soft, desc->result, desc->scale, desc->slots);
}

int penstock__viterbi_problem(struct penstock_problem *problem, penstock_viterbi_desc *checked,
                              const penstock_viterbi_desc *desc)
{
    struct penstock_viterbi_problem *viterbi = &problem->viterbi;
    penstock_viterbi_desc known;
    size_t steps;
    int status;
    *problem = (struct penstock_problem){.kind = PENSTOCK_PROBLEM_VITERBI};
    if ((status = penstock__description_read(&known, sizeof known, desc, "penstock_viterbi_desc")) ||
        (status = check_rest(&known)) || (status = read_generators(viterbi, &known)) ||
        (status = read_puncture(viterbi, known.puncture)) || (status = check_code(viterbi)))
        return status;
    viterbi->end = known.end;
    viterbi->bits = known.bits;
    viterbi->soft = known.soft;
    viterbi->scale = known.scale;
    viterbi->result = known.result;
    viterbi->depth = known.end == PENSTOCK_TRELLIS_TAIL_BITING ? penstock__viterbi_depth(viterbi) : 0;
    steps = penstock__viterbi_steps(viterbi, known.bits);
    if (!penstock__viterbi_sent(viterbi, steps))
        return bad("nothing is sent of a block of %zu bits", known.bits);
    problem->in_bytes = penstock__viterbi_sent(viterbi, steps) * penstock__viterbi_soft_bytes(viterbi);
    problem->out_bytes = penstock__viterbi_out_bytes(viterbi, known.bits);
    problem->batch = known.batch ? known.batch : (BATCH_BITS + known.bits - 1) / known.bits;
    if (problem->batch > MOST_BATCH)
        problem->batch = MOST_BATCH;
    if (checked)
        *checked = known;
    return PENSTOCK_OK;
}

int penstock_viterbi_plan(penstock_plan **plan, penstock_context *context, const penstock_viterbi_desc *desc,
                          const char *device)
{
    struct penstock_problem problem;
    penstock_viterbi_desc checked;
    int status;
    if ((status = penstock__plan_begin(plan, context, "viterbi")) ||
        (status = penstock__viterbi_problem(&problem, &checked, desc)))
        return status;
    return penstock__plan_new(plan, context, &problem, device, checked.slots,
                              penstock__cpu_while_compiling(context, device));
}

static int check_block(const struct penstock_viterbi_problem *viterbi, const penstock_viterbi_block *block, size_t i,
                       size_t soft_count)
{
    size_t sent;
    if (!block->bits || block->bits > viterbi->bits)
        return bad("block %zu has %u bits; the plan is for 1 .. %zu", i, (unsigned)block->bits, viterbi->bits);
    sent = penstock__viterbi_sent(viterbi, penstock__viterbi_steps(viterbi, block->bits));
    if (block->at > soft_count || sent > soft_count - block->at)
        return bad("block %zu takes %zu soft bits from %llu on; there are %zu", i, sent, (unsigned long long)block->at,
                   soft_count);
    return PENSTOCK_OK;
}

int penstock_viterbi_run(penstock_plan *plan, const penstock_viterbi_batch *batch)
{
    penstock_viterbi_batch known;
    const struct penstock_problem *problem;
    int status;
    if (!plan)
        return bad("plan is NULL");
    if ((status = penstock__description_read(&known, sizeof known, batch, "penstock_viterbi_batch")))
        return status;
    problem = penstock__plan_problem(plan);
    if (problem->kind != PENSTOCK_PROBLEM_VITERBI)
        return penstock__error(PENSTOCK_ERR_STATE, "viterbi: the plan decodes no blocks");
    if (!known.block_count)
        return PENSTOCK_OK;
    if (!known.blocks)
        return bad("blocks are NULL");
    if (known.soft_count > PTRDIFF_MAX / sizeof(float))
        return bad("%zu soft bits are more than memory can hold", known.soft_count);
    for (size_t i = 0; i < known.block_count; i++)
        if ((status = check_block(&problem->viterbi, &known.blocks[i], i, known.soft_count)))
            return status;
    return penstock__plan_run_blocks(plan, known.soft, known.soft_count, known.blocks, known.out, known.block_count);
}
