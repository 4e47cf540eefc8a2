/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Call k of a device fails, for every k: with "prefer:" no sample is lost and all values are those of the CPU; with the
 * device's name there is an error, and whatever was reported as done is right. Nothing leaks, no rule is broken.
 */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "core/plan/plan.h"
#include "test.h"

#include <penstock/penstock.h>

enum { N = 64, EACH = 6, BATCHES = 7, LARGE = 9000, GATHERED = 10 };

static penstock_cf32 input[BATCHES][EACH * N], expected[BATCHES][EACH * N];
static penstock_cf32 large[LARGE * N], large_expected[LARGE * N], large_out[LARGE * N];
static penstock_cf32 gathered_expected[GATHERED * N];
static struct penstock_gather gather[GATHERED];
static penstock_cf32 out[BATCHES][EACH * N];
static bool done[BATCHES]; /* reported as done without an error */
static int warnings;

struct outcome {
    int planned, moved;
    int failures; /* calls that returned an error after the plan was made */
};

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

static struct penstock_problem gathered_problem(void)
{
    return (struct penstock_problem){.kind = PENSTOCK_PROBLEM_FFT,
                                     .in_bytes = sizeof(penstock_cf32),
                                     .out_bytes = N * sizeof(penstock_cf32),
                                     .batch = GATHERED,
                                     .fft = {.n = N, .scale = 1, .average = 1, .gathered = true}};
}

static void make_expected(void)
{
    struct penstock_problem problem = gathered_problem();
    penstock_context *context;
    penstock_plan *plan;
    uint64_t seed = 1;
    for (size_t i = 0; i < 2 * BATCHES * EACH * N; i++)
        (&input[0][0].re)[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < 2 * LARGE * N; i++)
        (&large[0].re)[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < GATHERED; i++)
        gather[i] =
            (struct penstock_gather){.start = (uint32_t)(i * 29), .phase = (uint32_t)(i << 28), .step = 1 << 24};
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), "cpu"));
    for (int i = 0; i < BATCHES; i++)
        CHECK_OK(penstock_plan_run(plan, input[i], expected[i], EACH));
    CHECK_OK(penstock_plan_run(plan, large, large_expected, LARGE));
    penstock_plan_free(plan);
    CHECK_OK(penstock__plan_new(&plan, context, &problem, "cpu", 0, false));
    CHECK_OK(penstock__plan_run_gathered(plan, input[0], EACH * N, gather, gathered_expected, GATHERED));
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* Several batches in flight; every second one is done in place. */
static void stream(penstock_plan *plan, struct outcome *outcome)
{
    uint64_t tickets[BATCHES];
    memset(out, 0, sizeof out);
    for (int i = 0; i < BATCHES; i++) {
        if (i % 2)
            memcpy(out[i], input[i], sizeof out[i]);
        done[i] = !penstock_plan_submit(plan, i % 2 ? out[i] : input[i], out[i], EACH, &tickets[i]);
    }
    for (int i = 0; i < BATCHES; i++) {
        done[i] = done[i] && !penstock_plan_wait(plan, tickets[i]);
        outcome->failures += !done[i];
    }
}

static void check_stream(long k, const char *when)
{
    for (int i = 0; i < BATCHES; i++)
        CHECK(!done[i] || !memcmp(out[i], expected[i], sizeof out[i]), "call %ld failed: batch %d is wrong %s", k, i,
              when);
}

static struct outcome use_plan(penstock_context *context, const char *device, long k)
{
    struct outcome outcome = {0};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan;
    int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device);
    if (status)
        return outcome;
    outcome.planned = 1;
    stream(plan, &outcome);
    check_stream(k, "when it was waited for");
    memset(large_out, 0, sizeof large_out);
    if ((status = penstock_plan_run(plan, large, large_out, LARGE)))
        outcome.failures++;
    CHECK(status || !memcmp(large_out, large_expected, sizeof large_out), "call %ld failed: the large batch is wrong",
          k);
    CHECK_OK(penstock_plan_get_info(plan, &info));
    outcome.moved = !strcmp(info.device, "cpu");
    CHECK(!outcome.moved || warnings == 1, "call %ld failed: %d log lines about it", k, warnings);
    CHECK(penstock__plan_fallbacks(plan) == 0 || outcome.moved, "call %ld: batches of the CPU without need", k);
    penstock_plan_free(plan);
    check_stream(k, "after the plan's end");
    CHECK(status || !memcmp(large_out, large_expected, sizeof large_out), "call %ld: the large batch was spoilt", k);
    return outcome;
}

static void use_gathered(penstock_context *context, const char *device, struct outcome *outcome, long k)
{
    static penstock_cf32 results[GATHERED * N];
    struct penstock_problem problem = gathered_problem();
    penstock_plan *plan;
    int status = penstock__plan_new(&plan, context, &problem, device, 0, false);
    outcome->planned += !status;
    if (status)
        return;
    if ((status = penstock__plan_run_gathered(plan, input[0], EACH * N, gather, results, GATHERED)))
        outcome->failures++;
    CHECK(status || !memcmp(results, gathered_expected, sizeof results), "call %ld failed: gathered frames are wrong",
          k);
    penstock_plan_free(plan);
}

static struct outcome run(const char *device, long k, bool and_all_after)
{
    struct outcome outcome;
    penstock_context *context;
    warnings = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .log = count_warnings)));
    if (and_all_after)
        penstock__trace_fail_from(k);
    else
        penstock__trace_fail_at(k);
    outcome = use_plan(context, device, k);
    use_gathered(context, device, &outcome, k);
    penstock__trace_fail_at(-1);
    penstock_context_free(context);
    CHECK_EQ(penstock__trace_live(), 0);
    CHECK_EQ(penstock__memory_live(), 0);
    CHECK(!penstock__trace_violations(), "call %ld failed: %s", k, penstock__trace_violation_text());
    return outcome;
}

static void sweep(bool and_all_after, long calls)
{
    for (long k = 0; k < calls; k += SWEEP_STEP) {
        struct outcome preferred = run("prefer:trace", k, and_all_after), named = run("trace", k, and_all_after);
        CHECK(preferred.planned == 2 && !preferred.failures, "call %ld failed and \"prefer:\" did not bear it", k);
        CHECK(named.planned < 2 || named.failures, "call %ld failed and nothing tells of it", k);
        CHECK(and_all_after || !named.moved, "call %ld failed and another device took over", k);
        CHECK(named.failures <= (and_all_after ? BATCHES + 2 : 1), "call %ld gave %d errors", k, named.failures);
    }
}

int main(void)
{
    struct outcome good;
    long before, calls;
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    make_expected();
    before = penstock__trace_calls();
    good = run("trace", -1, false);
    calls = penstock__trace_calls() - before;
    CHECK(good.planned == 2 && !good.failures && !good.moved, "without a failure it does not work");
    CHECK(calls > 60, "only %ld calls", calls);
    sweep(false, calls);
    sweep(true, calls);
    printf("%ld calls failed, each alone and with all after it\n", (calls + SWEEP_STEP - 1) / SWEEP_STEP);
    return test_finish();
}
