/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Batches of blocks on the CPU: as many as a vector has lanes are decoded side by side by one thread, a few alone. */
#include "backends/cpu/cpu_ldpc.h"
#include "backends/cpu/soft.h"

#include <stdio.h>
#include <string.h>

#define TURNING 2 /* a check of a block alone takes as long as so many side by side: its bits are turned before */

/* ---------------------------------------------------------------- plan ------------------------ */

static const struct penstock__ldpc_kernel *kernel_of(unsigned variant)
{
    for (size_t i = 0; i < penstock__ldpc_kernel_count; i++)
        if (penstock__ldpc_kernels[i]->usable() && !variant--)
            return penstock__ldpc_kernels[i];
    return NULL;
}

int penstock__cpu_ldpc_init(struct penstock_plan_state *plan, unsigned variant)
{
    struct cpu_ldpc *p = plan->priv;
    *p = (struct cpu_ldpc){.problem = &plan->problem->ldpc, .kernel = kernel_of(variant)};
    if (!p->kernel)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "cpu has no variant %u", variant);
    snprintf(plan->variant, sizeof plan->variant, "ldpc %s, %u blocks side by side", p->kernel->name, p->kernel->lanes);
    plan->passes = 1;
    plan->best_batch = (size_t)p->kernel->lanes * penstock__threads(plan->device->context);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- a block --------------------- */

static void limit(int8_t *soft, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        soft[i] = soft[i] < PENSTOCK_LDPC_LEVEL ? soft[i] : PENSTOCK_LDPC_LEVEL;
        soft[i] = soft[i] > -PENSTOCK_LDPC_LEVEL ? soft[i] : -PENSTOCK_LDPC_LEVEL;
    }
}

static void load(int8_t *word, const struct penstock_ldpc_problem *problem, const void *in)
{
    struct penstock_ldpc_part parts[2];
    float scale = problem->scale;
    if (problem->soft == PENSTOCK_SOFT_F32 && scale == 0)
        scale = penstock__cpu_soft_scale(in, penstock__ldpc_sent(problem), penstock__ldpc_mean(problem));
    memset(word, 0, penstock__ldpc_word(problem));
    memset(word + penstock__ldpc_bits(problem), PENSTOCK_LDPC_LEVEL, problem->filler);
    penstock__ldpc_parts(parts, problem);
    for (unsigned i = 0; i < 2; i++) {
        size_t count = parts[i].end - parts[i].at;
        penstock__cpu_soft_convert(word + parts[i].at, problem->soft, in, parts[i].first, count, scale);
        limit(word + parts[i].at, count);
    }
}

static void store(uint8_t *out, const struct penstock_ldpc_problem *problem, const struct penstock__ldpc_block *block)
{
    const size_t bits = penstock__ldpc_bits(problem), bytes = penstock__ldpc_bits_bytes(problem);
    if (block->values)
        memcpy(out, block->values, bits);
    else
        penstock__cpu_store_bits(out, problem->result, block->packed, 0, bits);
    if (!problem->report)
        return;
    memset(out + bytes, 0, (bytes + 3) / 4 * 4 - bytes);
    memcpy(out + (bytes + 3) / 4 * 4, &block->report, sizeof block->report);
}

/* ---------------------------------------------------------------- one batch ------------------- */

struct batch {
    const struct cpu_ldpc *plan;
    const char *in;
    uint8_t *out;
    size_t count, per_task, in_bytes, out_bytes;

    /* Scratch memory: of one thread, and offsets within it; bytes a block. */
    char *scratch;
    size_t scratch_bytes, word_at, word_bytes, packed_at, packed_bytes, values_at, values_bytes;
};

/* Whether so few blocks are done sooner one after the other. */
static bool better_alone(const struct cpu_ldpc *p, size_t count)
{
    size_t lifting = p->problem->lifting, vectors = (lifting + p->kernel->lanes - 1) / p->kernel->lanes;
    return count * vectors * TURNING < lifting;
}

static void run_task(void *argument, size_t task, unsigned worker)
{
    const struct batch *b = argument;
    const struct penstock_ldpc_problem *problem = b->plan->problem;
    const size_t first = task * b->per_task, count = b->count - first < b->per_task ? b->count - first : b->per_task;
    char *scratch = b->scratch + worker * b->scratch_bytes;
    struct penstock__ldpc_block blocks[64];
    for (size_t i = 0; i < count; i++) {
        int8_t *word = (int8_t *)scratch + b->word_at + i * b->word_bytes;
        blocks[i] = (struct penstock__ldpc_block){
            .word = word,
            .packed = (uint8_t *)scratch + b->packed_at + i * b->packed_bytes,
            .values = problem->soft_result ? (int8_t *)scratch + b->values_at + i * b->values_bytes : NULL};
        load(word, problem, b->in + (first + i) * b->in_bytes);
    }
    if (better_alone(b->plan, count))
        for (size_t i = 0; i < count; i++)
            b->plan->kernel->decode_one(problem, &blocks[i], scratch);
    else
        b->plan->kernel->decode(problem, blocks, (unsigned)count, scratch);
    for (size_t i = 0; i < count; i++)
        store(b->out + (first + i) * b->out_bytes, problem, &blocks[i]);
}

static void lay_out(struct batch *b, unsigned threads)
{
    const struct cpu_ldpc *p = b->plan;
    const size_t share = (b->count + threads - 1) / threads, bits = penstock__ldpc_bits(p->problem);
    size_t workspace;
    b->per_task = share < p->kernel->lanes ? share : p->kernel->lanes;
    workspace = better_alone(p, b->per_task) ? p->kernel->workspace_one(p->problem) : p->kernel->workspace(p->problem);
    if (p->kernel->workspace_one(p->problem) > workspace) /* the last task may have fewer blocks */
        workspace = p->kernel->workspace_one(p->problem);
    b->word_bytes = penstock__aligned(penstock__ldpc_word(p->problem));
    b->packed_bytes = penstock__aligned((bits + 7) / 8);
    b->values_bytes = p->problem->soft_result ? penstock__aligned(bits) : 0;
    b->word_at = penstock__aligned(workspace);
    b->packed_at = b->word_at + b->per_task * b->word_bytes;
    b->values_at = b->packed_at + b->per_task * b->packed_bytes;
    b->scratch_bytes = b->values_at + b->per_task * b->values_bytes;
}

int penstock__cpu_ldpc_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                               const struct penstock_job *job)
{
    const struct cpu_ldpc *p = plan->priv;
    struct cpu_slot *s = slot->priv;
    penstock_context *context = plan->device->context;
    struct batch b = {.plan = p,
                      .in = job->in->host,
                      .out = job->out->host,
                      .count = job->frames,
                      .in_bytes = plan->problem->in_bytes,
                      .out_bytes = plan->problem->out_bytes};
    unsigned threads = penstock__threads(context);
    int status;
    if (!b.count)
        return PENSTOCK_OK;
    lay_out(&b, threads);
    if ((status = penstock__cpu_grow_scratch(s, threads * b.scratch_bytes)))
        return status;
    b.scratch = s->scratch;
    penstock__parallel(context, (b.count + b.per_task - 1) / b.per_task, run_task, &b);
    return PENSTOCK_OK;
}
