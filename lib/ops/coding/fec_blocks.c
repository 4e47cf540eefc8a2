/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Streams of blocks: a plan that decodes blocks of equal length, fed as they come. */
#include "core/stream/batched.h"
#include "ops/coding/ldpc.h"
#include "ops/coding/viterbi.h"

#include <stddef.h>

static int check(void *desc)
{
    (void)desc; /* make() looks at all of it */
    return PENSTOCK_OK;
}

static int sizes_from(struct penstock__batched *batched, const struct penstock_problem *problem, penstock_soft soft)
{
    batched->stream.in_bytes = problem->in_bytes;
    batched->stream.out_bytes = problem->out_bytes;
    batched->stream.in_values = soft == PENSTOCK_SOFT_S8 ? PENSTOCK__SOFT_BITS : 0;
    batched->stream.lends_in = batched->stream.lends_out = true;
    return PENSTOCK_OK;
}

/* ---------------------------------------------------------------- Viterbi --------------------- */

struct viterbi_blocks {
    struct penstock__batched batched;
    penstock_viterbi_desc desc; /* its puncturing pattern is not kept */
};

static int viterbi_make(struct penstock__batched *batched)
{
    const struct viterbi_blocks *self = (const struct viterbi_blocks *)(const void *)batched;
    struct penstock_problem problem;
    int status = penstock__viterbi_problem(&problem, NULL, &self->desc);
    return status ? status : sizes_from(batched, &problem, self->desc.soft);
}

static int viterbi_plan(const struct penstock__batched *batched, penstock_plan **plan)
{
    const struct viterbi_blocks *self = (const struct viterbi_blocks *)(const void *)batched;
    return penstock_viterbi_plan(plan, batched->stream.context, &self->desc, batched->device);
}

static void viterbi_forget(struct penstock__batched *batched)
{
    ((struct viterbi_blocks *)(void *)batched)->desc.puncture = NULL;
}

static const struct penstock__batched_kind viterbi = {
    .calls = {.name = "viterbi blocks",
              PENSTOCK__BATCHED_LIFE,
              PENSTOCK__BATCHED_ITEMS,
              .device_batcher = penstock__batched_device_batcher},
    .bytes = sizeof(struct viterbi_blocks),
    .desc_name = "penstock_viterbi_desc",
    .desc_at = offsetof(struct viterbi_blocks, desc),
    .desc_bytes = sizeof(penstock_viterbi_desc),
    .check = check,
    .make = viterbi_make,
    .plan = viterbi_plan,
    .forget = viterbi_forget,
};

int penstock_viterbi_blocks_open(penstock_stream **stream, penstock_context *context, const penstock_viterbi_desc *desc,
                                 const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &viterbi);
}

/* ---------------------------------------------------------------- LDPC ------------------------ */

struct ldpc_blocks {
    struct penstock__batched batched;
    penstock_ldpc_desc desc; /* its base matrix is not kept */
};

static int ldpc_make(struct penstock__batched *batched)
{
    const struct ldpc_blocks *self = (const struct ldpc_blocks *)(const void *)batched;
    struct penstock_problem problem;
    int status = penstock__ldpc_problem(&problem, NULL, &self->desc);
    return status ? status : sizes_from(batched, &problem, self->desc.soft);
}

static int ldpc_plan(const struct penstock__batched *batched, penstock_plan **plan)
{
    const struct ldpc_blocks *self = (const struct ldpc_blocks *)(const void *)batched;
    return penstock_ldpc_plan(plan, batched->stream.context, &self->desc, batched->device);
}

static void ldpc_forget(struct penstock__batched *batched)
{
    ((struct ldpc_blocks *)(void *)batched)->desc.base = NULL;
}

static const struct penstock__batched_kind ldpc = {
    .calls = {.name = "ldpc blocks",
              PENSTOCK__BATCHED_LIFE,
              PENSTOCK__BATCHED_ITEMS,
              .device_batcher = penstock__batched_device_batcher},
    .bytes = sizeof(struct ldpc_blocks),
    .desc_name = "penstock_ldpc_desc",
    .desc_at = offsetof(struct ldpc_blocks, desc),
    .desc_bytes = sizeof(penstock_ldpc_desc),
    .check = check,
    .make = ldpc_make,
    .plan = ldpc_plan,
    .forget = ldpc_forget,
};

int penstock_ldpc_blocks_open(penstock_stream **stream, penstock_context *context, const penstock_ldpc_desc *desc,
                              const char *device)
{
    return penstock__batched_open(stream, context, desc, device, &ldpc);
}
