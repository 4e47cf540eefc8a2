/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* One plan driven through several slots by several threads at once: each batch comes out as it does alone. */
#include "gpu_rig.h"

#include <pthread.h>

#define THREADS 3
#define ROUNDS  40
#define N       256
#define FRAMES  19

struct worker {
    struct rig *rig;
    struct penstock_plan_state *plan;
    uint64_t seed;
    unsigned failures, differences;
};

static penstock_cf32 *run(struct worker *worker, const penstock_cf32 *in, penstock_cf32 *out, struct rig_batch *batch)
{
    worker->failures += !rig_batch_run(batch, worker->plan, in, out, FRAMES);
    return out;
}

/* The same input each time with other work in between: all results must have the bits of the first. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct rig_batch batch;
    static const size_t bytes = N * FRAMES * sizeof(penstock_cf32);
    penstock_cf32 *in = malloc(bytes), *first = malloc(bytes), *again = malloc(bytes);
    for (size_t i = 0; i < N * FRAMES; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&worker->seed), (float)test_uniform(&worker->seed)};
    worker->failures += !rig_batch_open(&batch, worker->rig, bytes, bytes);
    run(worker, in, first, &batch);
    for (unsigned i = 0; i < ROUNDS; i++)
        worker->differences += memcmp(first, run(worker, in, again, &batch), bytes) != 0;
    rig_batch_close(&batch);
    free(in);
    free(first);
    free(again);
    return NULL;
}

int main(int count, char **arguments)
{
    struct rig rig;
    struct penstock_problem problem = rig_problem((struct penstock_fft_problem){.n = N});
    struct penstock_plan_state plan;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    plan = (struct penstock_plan_state){.device = rig.device, .problem = &problem};
    plan.priv = penstock__calloc(1, rig.backend->plan_bytes);
    CHECK_OK(rig.backend->plan_init(&plan, 0));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.rig = &rig, .plan = &plan, .seed = i};
        CHECK(!pthread_create(&threads[i], NULL, work, &workers[i]), "thread %u", i);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!workers[i].failures && !workers[i].differences, "thread %u: %u calls failed, %u batches differ", i,
              workers[i].failures, workers[i].differences);
    }
    rig.backend->plan_free(&plan);
    penstock__free(plan.priv);
    rig_close(&rig);
    return test_finish();
}
