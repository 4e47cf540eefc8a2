/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Transforms whose input and output are one buffer of the device give the same bits as with two: with idle work-items
 * and without, with several transforms a group and a last group that is not full, by convolution, with several passes,
 * and of rows and columns.
 */
#include "gpu_rig.h"

enum { FRAMES = 7 };
static unsigned cases;

static bool enqueue(struct rig_batch *batch, struct penstock_plan_state *plan, bool in_place, const void *in, void *out)
{
    const struct penstock_backend *backend = batch->rig->backend;
    struct penstock_buffer *to = in_place ? &batch->in : &batch->out;
    struct penstock_job job = {.in = &batch->in, .out = to, .frames = FRAMES, .samples = FRAMES * plan->problem->fft.n};
    uint64_t mark = 0;
    return !backend->upload(&batch->slot, &batch->in, in, batch->in.bytes) &&
           !backend->enqueue(&batch->slot, plan, &job) && !backend->download(&batch->slot, out, to, batch->out.bytes) &&
           !backend->mark(&batch->slot, &mark) && !backend->wait(&batch->slot, mark);
}

static void check(struct rig *rig, struct penstock_fft_problem fft)
{
    struct penstock_problem problem = rig_problem(fft);
    struct penstock_plan_state plan = {.device = rig->device, .problem = &problem};
    struct rig_batch batch;
    size_t bytes = FRAMES * problem.in_bytes;
    float *in = malloc(bytes), *apart = calloc(1, bytes), *in_place = calloc(1, bytes);
    uint64_t seed = fft.n;
    CHECK_EQ(problem.in_bytes, problem.out_bytes);
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        in[i] = (float)test_uniform(&seed);
    plan.priv = penstock__calloc(1, rig->backend->plan_bytes);
    CHECK_OK(rig->backend->plan_init(&plan, 0));
    CHECK(rig_batch_open(&batch, rig, bytes, bytes), "n %zu: %s", fft.n, penstock_error_text());
    CHECK(enqueue(&batch, &plan, false, in, apart) && enqueue(&batch, &plan, true, in, in_place), "n %zu: %s", fft.n,
          penstock_error_text());
    CHECK(memcmp(in, apart, bytes), "n %zu: nothing was computed", fft.n);
    CHECK(!memcmp(apart, in_place, bytes), "n %zu (%s): other bits in place", fft.n, plan.variant);
    rig_batch_close(&batch);
    rig->backend->plan_free(&plan);
    penstock__free(plan.priv);
    free(in);
    free(apart);
    free(in_place);
    cases++;
}

int main(int count, char **arguments)
{
    static const size_t lengths[] = {3, 8, 60, 64, 127, 600, 10007};
    struct rig rig;
    int status = rig_open(&rig, rig_device(count, arguments), NULL);
    if (status)
        return status;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        check(&rig, (struct penstock_fft_problem){.n = lengths[i]});
    check(&rig, (struct penstock_fft_problem){.n = 60, .direction = PENSTOCK_REVERSE, .centered = true});
    check(&rig, (struct penstock_fft_problem){.n = 16 * 24, .rows = 16});
    check(&rig, (struct penstock_fft_problem){.n = 64 * 19, .columns = 19});
    rig_close(&rig);
    CHECK_EQ(cases, 10);
    return test_finish();
}
