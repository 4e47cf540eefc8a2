/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Batches of blocks on the CPU: sorted by length, as many as a vector has lanes are decoded side by side by one thread;
 * a few blocks, and very long ones, alone.
 */
#include "backends/cpu/cpu_viterbi.h"

#include "fec/viterbi.h"

#include <stdio.h>
#include <stdlib.h>

#define ALONE     32768 /* steps from which on a block is decoded alone: side by side they would fill the memory */
#define OVERHEAD  168   /* steps that a block's windows take longer than their share of it */
#define USUAL_BIT 1.7   /* of fec/viterbi.h a step takes as long as so many of one lane */

/* ---------------------------------------------------------------- plan ------------------------ */

static bool is_wifi(const struct penstock__trellis *t)
{
    return t->constraint == 7 && t->count == 2 && t->generators[0] == 0133 && t->generators[1] == 0171 &&
           t->place[0] == 0 && !t->inverted[0] && !t->inverted[1];
}

static const struct penstock__viterbi_kernel *kernel_of(unsigned variant)
{
    for (size_t i = 0; i < penstock__viterbi_kernel_count; i++)
        if (penstock__viterbi_kernels[i]->usable() && !variant--)
            return penstock__viterbi_kernels[i];
    return NULL;
}

int penstock__cpu_viterbi_init(struct penstock_plan_state *plan, unsigned variant)
{
    const struct penstock_viterbi_problem *problem = &plan->problem->viterbi;
    struct cpu_viterbi *p = plan->priv;
    *p = (struct cpu_viterbi){.problem = problem, .kernel = kernel_of(variant)};
    if (!p->kernel)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "cpu has no variant %u", variant);
    penstock__trellis_init(&p->trellis, problem->generators, problem->count, problem->constraint, problem->inverted);
    p->wifi = is_wifi(&p->trellis) && problem->end != PENSTOCK_TRELLIS_TAIL_BITING;
    p->plain = problem->soft == PENSTOCK_SOFT_S8 && problem->end != PENSTOCK_TRELLIS_TAIL_BITING &&
               penstock__viterbi_sent(problem, problem->period) == problem->period * problem->count;
    snprintf(plan->variant, sizeof plan->variant, "viterbi %s, %u blocks side by side", p->kernel->name,
             p->kernel->lanes);
    plan->passes = 1;
    plan->best_batch = (size_t)p->kernel->lanes * penstock__threads(plan->device->context);
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- one batch ------------------- */

/* A block of the batch by its length. */
struct item {
    size_t bits, index;
};

struct batch {
    const struct cpu_viterbi *plan;
    const char *in;
    uint8_t *out;
    const penstock_viterbi_block *blocks; /* or NULL */
    const struct item *items;             /* likewise: the longest first */
    size_t count, per_task, in_bytes, out_bytes;

    bool few_tasks; /* at most one a thread: each has scratch memory of its own, else each thread has */

    /* Scratch memory: of one thread, and offsets within it; bytes a block. */
    char *scratch;
    size_t scratch_bytes, soft_at, soft_bytes, packed_at, packed_bytes;
};

static struct item item_of(const struct batch *b, size_t i)
{
    return b->items ? b->items[i] : (struct item){b->plan->problem->bits, i};
}

static const void *input_of(const struct batch *b, size_t index)
{
    size_t soft_bytes = penstock__viterbi_soft_bytes(b->plan->problem);
    return b->in + (b->blocks ? b->blocks[index].at * soft_bytes : index * b->in_bytes);
}

/* Each block by itself, in the way that is the fastest for its length. */
static void decode_alone(const struct cpu_viterbi *p, const struct penstock__viterbi_block *block,
                         struct penstock__viterbi_ends ends, void *workspace)
{
    const double lanes = p->kernel->lanes, steps = (double)block->steps;
    if (p->wifi && USUAL_BIT * steps / lanes < steps / lanes + OVERHEAD)
        penstock__viterbi_decode(block->packed, block->soft, block->steps,
                                 ends.end_zero ? PENSTOCK__TRELLIS_ZERO : PENSTOCK__TRELLIS_OPEN, workspace);
    else if (block->steps < PENSTOCK__VITERBI_LONG || !p->kernel->decode_long(&p->trellis, block, ends, workspace))
        p->kernel->decode(&p->trellis, block, 1, ends, workspace);
}

/* Whether so few blocks are done sooner one after the other. */
static bool better_alone(const struct cpu_viterbi *p, size_t count, size_t steps)
{
    const double lanes = p->kernel->lanes, windows = (double)steps / lanes + OVERHEAD;
    double each = p->wifi ? USUAL_BIT * (double)steps / lanes : (double)steps;
    if (steps >= PENSTOCK__VITERBI_LONG && windows < each)
        each = windows;
    return steps > ALONE || (double)count * each < (double)steps;
}

static void run_task(void *argument, size_t task, unsigned worker)
{
    const struct batch *b = argument;
    const struct cpu_viterbi *p = b->plan;
    const size_t first = task * b->per_task, left = b->count - first, count = left < b->per_task ? left : b->per_task;
    const struct penstock__viterbi_ends ends = {p->problem->end != PENSTOCK_TRELLIS_TAIL_BITING,
                                                p->problem->end == PENSTOCK_TRELLIS_ZERO};
    char *scratch = b->scratch + (b->few_tasks ? task : worker) * b->scratch_bytes;
    struct penstock__viterbi_block blocks[64];
    for (size_t i = 0; i < count; i++) {
        struct item item = item_of(b, first + i);
        const void *in = input_of(b, item.index);
        int8_t *soft = (int8_t *)(scratch + b->soft_at + i * b->soft_bytes);
        blocks[i].steps = penstock__cpu_viterbi_walk(p->problem, item.bits);
        blocks[i].soft = p->plain ? in : soft;
        blocks[i].packed = (uint8_t *)(scratch + b->packed_at + i * b->packed_bytes);
        if (!p->plain)
            penstock__cpu_viterbi_load(soft, p->problem, in, item.bits);
    }
    if (better_alone(p, count, blocks[0].steps))
        for (size_t i = 0; i < count; i++)
            decode_alone(p, &blocks[i], ends, scratch);
    else
        p->kernel->decode(&p->trellis, blocks, (unsigned)count, ends, scratch);
    for (size_t i = 0; i < count; i++) {
        struct item item = item_of(b, first + i);
        penstock__cpu_viterbi_store(b->out + item.index * b->out_bytes, p->problem, blocks[i].packed, item.bits);
    }
}

/* ---------------------------------------------------------------- sizes ----------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* How many blocks a thread takes at a time, and its scratch memory. */
static void lay_out(struct batch *b, size_t bits, unsigned threads)
{
    const struct cpu_viterbi *p = b->plan;
    const struct penstock__viterbi_kernel *kernel = p->kernel;
    const size_t steps = penstock__cpu_viterbi_walk(p->problem, bits);
    size_t workspace = p->wifi ? penstock__viterbi_workspace(steps) : 0, share = (b->count + threads - 1) / threads;
    if (steps >= PENSTOCK__VITERBI_LONG)
        workspace = larger(workspace, kernel->workspace_long(&p->trellis, steps));
    if (steps <= ALONE)
        workspace = larger(workspace, kernel->workspace(&p->trellis, steps));
    b->per_task = steps > ALONE ? 1 : kernel->lanes;
    b->per_task = share < b->per_task ? share : b->per_task;
    b->soft_bytes = p->plain ? 0 : penstock__aligned(steps * p->problem->count);
    b->packed_bytes = penstock__aligned((steps + 7) / 8);
    b->soft_at = penstock__aligned(workspace);
    b->packed_at = b->soft_at + b->per_task * b->soft_bytes;
    b->scratch_bytes = b->packed_at + b->per_task * b->packed_bytes;
}

static int longer_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->bits != y->bits)
        return x->bits < y->bits ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void list_items(struct item *items, const penstock_viterbi_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        items[i] = (struct item){blocks[i].bits, i};
    qsort(items, count, sizeof *items, longer_first);
}

int penstock__cpu_viterbi_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan,
                                  const struct penstock_job *job)
{
    const struct cpu_viterbi *p = plan->priv;
    struct cpu_slot *s = slot->priv;
    penstock_context *context = plan->device->context;
    struct batch b = {.plan = p,
                      .in = job->in->host,
                      .out = job->out->host,
                      .blocks = job->gather ? job->gather->host : NULL,
                      .count = job->frames,
                      .in_bytes = plan->problem->in_bytes,
                      .out_bytes = plan->problem->out_bytes};
    unsigned threads = penstock__threads(context);
    size_t most = p->problem->bits, item_bytes = penstock__aligned(b.blocks ? b.count * sizeof *b.items : 0), tasks;
    int status;
    if (!b.count)
        return PENSTOCK_OK;
    for (size_t i = 0; b.blocks && i < b.count; i++)
        most = i ? larger(most, b.blocks[i].bits) : b.blocks[i].bits;
    lay_out(&b, most, threads);
    tasks = (b.count + b.per_task - 1) / b.per_task;
    b.few_tasks = tasks <= threads;
    if ((status = penstock__cpu_grow_scratch(s, item_bytes + (b.few_tasks ? tasks : threads) * b.scratch_bytes)))
        return status;
    b.scratch = (char *)s->scratch + item_bytes;
    if (b.blocks) {
        list_items(s->scratch, b.blocks, b.count);
        b.items = s->scratch;
    }
    penstock__parallel(context, tasks, run_task, &b);
    return PENSTOCK_OK;
}
