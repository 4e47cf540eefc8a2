/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Texture units as the programs use them: 16 words gathered by address, queued, fetched into r4 in order. */
#include "state.h"

static void sample(struct qpu_emulator *e, struct qpu *q, unsigned tmu, struct tmu_request *request)
{
    unsigned slots = 0;
    for (int i = 0; i < QPU_LANES; i++)
        request->lanes.v[i] = qpu_emu__cached_word(e, q, tmu ? CACHE_TMU1 : CACHE_TMU0, request->lanes.v[i], &slots);
    request->sampled = true;
    request->ready = e->clock + (uint64_t)slots * SLOT_CLOCKS;
    e->counters[COUNT_TMU_QUADS] += QPU_LANES / 4;
}

/* With random interleave a coin decides whether memory is read now or when the result is fetched. */
void qpu_emu__tmu_request(struct qpu_emulator *e, struct qpu *q, unsigned tmu, const struct qpu_lanes *addresses)
{
    struct tmu_queue *queue = &q->tmu[tmu];
    struct tmu_request *request;
    if (queue->count >= TMU_DEPTH)
        return; /* two requests in one instruction: the first filled the queue */
    request = &queue->request[(queue->first + queue->count++) % TMU_DEPTH];
    request->lanes = *addresses;
    request->sampled = false;
    request->ready = 0;
    if (queue->count > TMU_RELIABLE)
        qpu_emu__hazard(e, q, QPU_HAZARD_TMU_FULL, tmu);
    if (!e->options.random_interleave || qpu_emu__random(e) & 1)
        sample(e, q, tmu, request);
}

void qpu_emu__tmu_pop(struct qpu_emulator *e, struct qpu *q, unsigned tmu)
{
    struct tmu_queue *queue = &q->tmu[tmu];
    struct tmu_request *request = &queue->request[queue->first];
    if (!queue->count)
        return;
    if (!request->sampled)
        sample(e, q, tmu, request);
    q->r[4] = request->lanes;
    queue->first = (queue->first + 1) % TMU_DEPTH;
    queue->count--;
}
