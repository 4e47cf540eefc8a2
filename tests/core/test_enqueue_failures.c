/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Failures of memory and of the device while work is enqueued there are errors that leak nothing and give no wrong
 * values, no queue goes on after one, and nothing moves to the CPU; and many rounds leak nothing. Usage:
 * test_enqueue_failures [DEVICE], of a driver for tests; without one, cpu and trace.
 */
#include "core/base/memory.h"
#include "enqueue_rig.h"
#include "failure_sweep.h"
#include "refused.h"
#include "shim_calls.h"

enum { ROUNDS = 10000 };

/* What the sweeps expect. */
static void find_bits(const char *device)
{
    penstock_context *context = NULL;
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(penstock_plan_run(plan, in, want, FRAMES));
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* A simpler variant that a failure has left has other last bits. */
static bool is_far(void)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < BYTES / sizeof(float); i++) {
        float a, b;
        memcpy(&a, got + i * sizeof a, sizeof a);
        memcpy(&b, want + i * sizeof b, sizeof b);
        error += pow((double)a - (double)b, 2);
        power += (double)b * (double)b;
    }
    return !(sqrt(error) <= 1e-6 * sqrt(power));
}

/* As much as there is, for the sweeps. */
static int use(penstock_context *context, const char *device, bool *wrong)
{
    struct rig rig = {0};
    penstock_queue *other = NULL;
    penstock_buffer *part = NULL;
    int status = penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device);
    if (!status && !(status = rig_open(&rig, context, device, BYTES, BYTES)) &&
        !(status = penstock_queue_new(&other, context, device)) &&
        !(status = penstock_buffer_slice(&part, rig.in, 0, BYTES / 2)))
        for (int i = 0; i < 4 && !status; i++)
            if (!(status = penstock_plan_enqueue(rig.plan, i ? rig.in : part, rig.out, i ? FRAMES : FRAMES / 2,
                                                 rig.queue)) &&
                !(status = penstock_queue_follow(other, rig.queue)))
                status = penstock_queue_wait(rig.queue);
    if (!status && !(status = penstock_buffer_download(rig.out, got, BYTES, rig.queue)))
        *wrong = is_far();
    sweep_over();
    penstock_buffer_free(part);
    penstock_queue_free(other);
    rig_close(&rig);
    return status;
}

/* Each call of a driver for tests fails. */
static void sweep_driver(const char *device)
{
    long k = 0, failures = 0;
    bool beyond = false;
    for (; !beyond && k < 1000; k++) {
        penstock_context *context = NULL;
        bool wrong = false;
        shim.fail_at(k);
        int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = ""));
        if (!status)
            status = use(context, device, &wrong);
        beyond = shim.left() >= 0;
        shim.fail_at(-1);
        penstock_context_free(context);
        failures += status != 0;
        CHECK(!wrong && (!beyond || !status), "call %ld: %d", k, status);
        CHECK(shim.live() == 0, "call %ld: %ld objects leak", k, shim.live());
        CHECK(penstock__memory_live() == 0, "call %ld: %ld blocks leak", k, penstock__memory_live());
    }
    CHECK(beyond && failures > 60, "%ld calls, %ld failures", k, failures);
}

/* A queue that failed says so from then on; another one goes on, and nothing moves to the CPU. */
static void lose(void)
{
    penstock_context *context = NULL;
    struct rig rig = {0};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), "prefer:trace"));
    CHECK_OK(rig_open(&rig, context, "trace", BYTES, BYTES));
    penstock__trace_fail_at(0);
    CHECK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue) < 0, "no failure");
    CHECK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue) < 0, "the queue goes on");
    CHECK(penstock_queue_wait(rig.queue) < 0, "the queue is waited for");
    CHECK(penstock_buffer_download(rig.out, got, 8, rig.queue) < 0, "the queue copies");
    CHECK_OK(penstock_plan_get_info(rig.plan, &info));
    CHECK(!strcmp(info.device, "trace"), "the plan went to %s", info.device);
    penstock_queue_free(rig.queue);
    CHECK_OK(penstock_queue_new(&rig.queue, context, "trace"));
    CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue));
    CHECK_OK(penstock_buffer_download(rig.out, got, BYTES, rig.queue));
    CHECK(!memcmp(got, want, BYTES), "another queue has other bits");
    penstock_plan_free(rig.plan);
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), "cpu"));
    CHECK_REFUSED(penstock_plan_enqueue(rig.plan, rig.in, rig.out, FRAMES, rig.queue), PENSTOCK_ERR_ARGUMENT,
                  "the work is on cpu");
    rig_close(&rig);
    penstock_context_free(context);
}

static void go_round(const char *device)
{
    penstock_context *context = NULL;
    struct rig rig = {0};
    long live = 0, objects = 0, calls = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&rig.plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    CHECK_OK(rig_open(&rig, context, device, BYTES, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(penstock_plan_enqueue(rig.plan, rig.in, rig.out, 1, rig.queue));
        CHECK_OK(penstock_queue_wait(rig.queue));
        if (i == 100) {
            calls = penstock__memory_calls();
            live = penstock__memory_live();
            objects = shim.live ? shim.live() : 0;
        }
    }
    CHECK(!strcmp(device, "trace") || penstock__memory_calls() == calls, "%s: a round allocates", device);
    CHECK_EQ(penstock__memory_live(), live);
    CHECK_EQ(shim.live ? shim.live() : 0, objects);
    rig_close(&rig);
    penstock_context_free(context);
    CHECK_EQ(penstock__memory_live(), 0);
}

static int check_driver(const char *device)
{
    if (!is_there(device))
        return test_skip(penstock_error_text());
    find_bits(device);
    go_round(device);
    if (shim_load("PENSTOCK_CUDA_LIBRARY") || shim_load("PENSTOCK_OPENCL_LIBRARY"))
        sweep_driver(device);
    CHECK(!shim.broken_rule || !shim.broken_rule(), "%s", shim.broken_rule());
    return test_finish();
}

int main(int count, char **arguments)
{
    rig_fill_in();
    if (count > 1)
        return check_driver(arguments[1]);
    find_bits("cpu"); /* which trace computes by */
    go_round("cpu");
    go_round("trace");
    sweep_allocations(use, "cpu", 1);
    sweep_allocations(use, "trace", 1);
    sweep_calls_of(use, "trace", false);
    sweep_calls_of(use, "trace", true);
    lose();
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
    return test_finish();
}
