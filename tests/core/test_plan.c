/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Plans: what they compute on each device, in any grouping of frames, in place, and with several batches in flight. */
#include "backends/trace/trace.h"
#include "core/base/memory.h"
#include "core/check/expected.h"
#include "core/plan/plan.h"
#include "test.h"

#include <penstock/penstock.h>

#define FRAMES 24

static const char *const devices[] = {"cpu", "trace"};

struct buffers {
    size_t in_bytes, out_bytes;
    void *in, *out, *again;
};

static const struct {
    const char *name;
    penstock_fft_desc desc;
} cases[] = {
    {"complex", {.size = sizeof(penstock_fft_desc), .n = 64}},
    {"odd length", {.size = sizeof(penstock_fft_desc), .n = 105, .direction = PENSTOCK_REVERSE}},
    {"centred, scaled, shifted",
     {.size = sizeof(penstock_fft_desc), .n = 35, .load.shift = 0.1, .store = {.centered = true, .scale = 0.25f}}},
    {"overlapping cs16",
     {.size = sizeof(penstock_fft_desc), .n = 64, .load = {.format = PENSTOCK_CS16, .spacing = 20}}},
    {"guard interval, cs8", {.size = sizeof(penstock_fft_desc), .n = 64, .load = {.format = PENSTOCK_CS8, .skip = 16}}},
    {"averaged power, cu8",
     {.size = sizeof(penstock_fft_desc),
      .n = 32,
      .load.format = PENSTOCK_CU8,
      .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 4}}},
    {"planar", {.size = sizeof(penstock_fft_desc), .n = 50, .load.format = PENSTOCK_PLANAR}},
    {"real", {.size = sizeof(penstock_fft_desc), .n = 48, .domain = PENSTOCK_REAL}},
    {"real reverse",
     {.size = sizeof(penstock_fft_desc), .n = 48, .domain = PENSTOCK_REAL, .direction = PENSTOCK_REVERSE}},
    {"decibel", {.size = sizeof(penstock_fft_desc), .n = 128, .store.output = PENSTOCK_OUTPUT_DECIBEL}},
};

#define CASES (sizeof cases / sizeof cases[0])

static void fill(void *memory, size_t bytes, penstock_format format, uint64_t seed)
{
    bool floats = format == PENSTOCK_CF32 || format == PENSTOCK_PLANAR || format == PENSTOCK_F32;
    for (size_t i = 0; floats && i < bytes / sizeof(float); i++)
        ((float *)memory)[i] = (float)test_uniform(&seed);
    if (!floats)
        test_random_bytes(memory, bytes, &seed);
}

static struct buffers make_buffers(const struct penstock_problem *problem, size_t frames)
{
    struct buffers buffers = {.in_bytes = penstock__fft_samples(&problem->fft, frames) *
                                          penstock_format_bytes(problem->fft.format),
                              .out_bytes = frames / problem->fft.average * problem->out_bytes};
    buffers.in = malloc(buffers.in_bytes);
    buffers.out = malloc(buffers.out_bytes);
    buffers.again = malloc(buffers.out_bytes);
    fill(buffers.in, buffers.in_bytes, problem->fft.format, 7);
    return buffers;
}

static void free_buffers(struct buffers *buffers)
{
    free(buffers->in);
    free(buffers->out);
    free(buffers->again);
}

/* Relative L2 difference from double precision. */
static double error_of(const struct penstock_problem *problem, const struct buffers *buffers, size_t frames)
{
    size_t count = frames / problem->fft.average * penstock__expected_count(&problem->fft);
    double *want = malloc(count * sizeof *want), error = 0, norm = 0;
    const float *got = buffers->out;
    CHECK_OK(penstock__expected(want, &problem->fft, buffers->in, penstock__fft_samples(&problem->fft, frames), NULL, 0,
                                frames));
    for (size_t i = 0; i < count; i++) {
        double value = problem->fft.output == PENSTOCK_OUTPUT_DECIBEL ? pow(10, got[i] / 10.0) : got[i];
        error += (value - want[i]) * (value - want[i]);
        norm += want[i] * want[i];
    }
    free(want);
    return sqrt(error / norm);
}

static void computes(penstock_context *context, const char *device, size_t which)
{
    penstock_plan *plan;
    const struct penstock_problem *problem;
    struct buffers buffers;
    double error;
    CHECK_OK(penstock_fft_plan(&plan, context, &cases[which].desc, device));
    if (!plan)
        return;
    problem = penstock__plan_problem(plan);
    buffers = make_buffers(problem, FRAMES);
    CHECK_OK(penstock_plan_run(plan, buffers.in, buffers.out, FRAMES));
    error = error_of(problem, &buffers, FRAMES);
    CHECK(error < (problem->fft.output == PENSTOCK_OUTPUT_DECIBEL ? 2e-5 : 1e-6), "%s on %s: error %g",
          cases[which].name, device, error);
    free_buffers(&buffers);
    penstock_plan_free(plan);
}

/* Any split of the frames into calls gives the same bits. */
static void groups_alike(penstock_context *context, const char *device, size_t which)
{
    static const size_t groups[] = {4, 8, 12, 20};
    penstock_plan *plan;
    const struct penstock_problem *problem;
    struct buffers buffers;
    if (cases[which].desc.load.format == PENSTOCK_PLANAR)
        return; /* where a call's Q values lie depends on its length */
    CHECK_OK(penstock_fft_plan(&plan, context, &cases[which].desc, device));
    if (!plan)
        return;
    problem = penstock__plan_problem(plan);
    buffers = make_buffers(problem, FRAMES);
    CHECK_OK(penstock_plan_run(plan, buffers.in, buffers.out, FRAMES));
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        memset(buffers.again, 0, buffers.out_bytes);
        for (size_t first = 0; first < FRAMES; first += groups[g]) {
            size_t frames = FRAMES - first < groups[g] ? FRAMES - first : groups[g];
            CHECK_OK(penstock_plan_run(plan, (char *)buffers.in + first * problem->in_bytes,
                                       (char *)buffers.again + first / problem->fft.average * problem->out_bytes,
                                       frames));
        }
        CHECK(!memcmp(buffers.out, buffers.again, buffers.out_bytes), "%s on %s: groups of %zu differ",
              cases[which].name, device, groups[g]);
    }
    free_buffers(&buffers);
    penstock_plan_free(plan);
}

/* More batches than slots, waited for in the order 0, last. */
static void several_in_flight(penstock_context *context, const char *device)
{
    enum { BATCHES = 9, N = 64, EACH = 5 };
    static penstock_cf32 in[BATCHES][EACH * N], out[BATCHES][EACH * N], want[EACH * N];
    uint64_t tickets[BATCHES];
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .slots = 3), device));
    if (!plan)
        return;
    fill(in, sizeof in, PENSTOCK_CF32, 11);
    for (int i = 0; i < BATCHES; i++)
        CHECK_OK(penstock_plan_submit(plan, in[i], out[i], EACH, &tickets[i]));
    for (int i = 1; i < BATCHES; i++)
        CHECK(tickets[i] > tickets[i - 1], "tickets do not grow");
    CHECK_OK(penstock_plan_wait(plan, tickets[0]));
    CHECK_OK(penstock_plan_wait(plan, tickets[BATCHES - 1]));
    CHECK_EQ(penstock_plan_wait(plan, tickets[BATCHES - 1] + 1), PENSTOCK_ERR_ARGUMENT);
    for (int i = 0; i < BATCHES; i++) {
        CHECK_OK(penstock_plan_run(plan, in[i], want, EACH));
        CHECK(!memcmp(out[i], want, sizeof want), "batch %d on %s differs", i, device);
    }
    penstock_plan_free(plan);
}

/* Of six batches the first and the third fail: the waits for these tell, and for no other. */
static void failures_apart(penstock_context *context)
{
    enum { BATCHES = 6, N = 64 };
    static const bool fails[BATCHES] = {true, false, true};
    static penstock_cf32 in[BATCHES][N], out[BATCHES][N], want[N];
    uint64_t tickets[BATCHES];
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .slots = 3), "trace"));
    if (!plan)
        return;
    fill(in, sizeof in, PENSTOCK_CF32, 17);
    for (int i = 0; i < BATCHES; i++) {
        penstock__trace_fail_at(i >= 3 && fails[i - 3] ? 0 : -1); /* the wait for the batch that had the slot before */
        CHECK_OK(penstock_plan_submit(plan, in[i], out[i], 1, &tickets[i]));
    }
    penstock__trace_fail_at(-1);
    for (int i = 0; i < BATCHES; i++)
        CHECK_EQ(penstock_plan_wait(plan, tickets[i]), fails[i] ? PENSTOCK_ERR_DEVICE : PENSTOCK_OK);
    for (int i = 0; i < BATCHES; i++) {
        CHECK_OK(penstock_plan_run(plan, in[i], want, 1));
        CHECK(fails[i] || !memcmp(out[i], want, sizeof want), "batch %d is wrong", i);
    }
    penstock_plan_free(plan);
}

/* A batch of many chunks, and the same in place. */
static void large_and_in_place(penstock_context *context, const char *device)
{
    enum { N = 1024, MANY = 3000 };
    size_t bytes = (size_t)N * MANY * sizeof(penstock_cf32);
    penstock_cf32 *in = malloc(bytes), *out = malloc(bytes), *one = malloc(N * sizeof *one);
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    if (!plan)
        return;
    fill(in, bytes, PENSTOCK_CF32, 3);
    CHECK_OK(penstock_plan_run(plan, in, out, MANY));
    for (size_t i = 0; i < MANY; i += 97) {
        CHECK_OK(penstock_plan_run(plan, in + i * N, one, 1));
        CHECK(!memcmp(one, out + i * N, N * sizeof *one), "frame %zu on %s differs", i, device);
    }
    CHECK_OK(penstock_plan_run(plan, in, in, MANY));
    CHECK(!memcmp(in, out, bytes), "in place on %s differs", device);
    penstock_plan_free(plan);
    free(in);
    free(out);
    free(one);
}

/* Input and output have the same size, but a frame's output does not take the place of its own input alone. */
static void overlapping_in_place(penstock_context *context, const char *device)
{
    static const struct {
        penstock_fft_desc desc;
        size_t frames;
    } overlapping[] = {
        {{.size = sizeof(penstock_fft_desc), .n = 8, .load = {.spacing = 4, .skip = 4}}, 2},
        {{.size = sizeof(penstock_fft_desc), .n = 1024, .load = {.spacing = 1023, .skip = 2999}}, 3000},
        {{.size = sizeof(penstock_fft_desc), .n = 1024, .load = {.spacing = 1025, .skip = 0}}, 1},
        {{.size = sizeof(penstock_fft_desc),
          .n = 256,
          .load.format = PENSTOCK_CS8,
          .store = {.output = PENSTOCK_OUTPUT_POWER, .average = 2}},
         6000},
    };
    for (size_t i = 0; i < sizeof overlapping / sizeof overlapping[0]; i++) {
        size_t frames = overlapping[i].frames;
        penstock_plan *plan;
        struct buffers buffers;
        CHECK_OK(penstock_fft_plan(&plan, context, &overlapping[i].desc, device));
        if (!plan)
            return;
        buffers = make_buffers(penstock__plan_problem(plan), frames);
        CHECK_EQ(buffers.in_bytes, buffers.out_bytes);
        CHECK_OK(penstock_plan_run(plan, buffers.in, buffers.out, frames));
        CHECK_OK(penstock_plan_run(plan, buffers.in, buffers.in, frames));
        CHECK(!memcmp(buffers.in, buffers.out, buffers.out_bytes), "case %zu in place on %s differs", i, device);
        free_buffers(&buffers);
        penstock_plan_free(plan);
    }
}

static void gathered(penstock_context *context, const char *device)
{
    enum { N = 64, SAMPLES = 500, GATHERED = 40 };
    struct penstock_problem problem = {.kind = PENSTOCK_PROBLEM_FFT,
                                       .in_bytes = sizeof(penstock_cf32),
                                       .out_bytes = N * sizeof(penstock_cf32),
                                       .batch = GATHERED,
                                       .fft = {.n = N, .scale = 1, .average = 1, .gathered = true}};
    static penstock_cf32 in[SAMPLES], out[GATHERED * N];
    static double want[2 * GATHERED * N];
    struct penstock_gather gather[GATHERED];
    penstock_plan *plan;
    uint64_t seed = 5;
    double error = 0, norm = 0;
    fill(in, sizeof in, PENSTOCK_CF32, 5);
    for (size_t i = 0; i < GATHERED; i++)
        gather[i] = (struct penstock_gather){.start = (uint32_t)(test_random(&seed) % (SAMPLES - N + 1)),
                                             .phase = (uint32_t)test_random(&seed),
                                             .step = (uint32_t)test_random(&seed)};
    gather[1].start = SAMPLES - N;
    CHECK_OK(penstock__plan_new(&plan, context, &problem, device, 0, false));
    if (!plan)
        return;
    CHECK_OK(penstock__plan_run_gathered(plan, in, SAMPLES, gather, out, GATHERED));
    CHECK_OK(penstock__expected(want, &problem.fft, in, SAMPLES, gather, 0, GATHERED));
    for (size_t i = 0; i < 2 * GATHERED * N; i++) {
        error += ((&out[0].re)[i] - want[i]) * ((&out[0].re)[i] - want[i]);
        norm += want[i] * want[i];
    }
    CHECK(sqrt(error / norm) < 6e-7, "gathered on %s: error %g", device, sqrt(error / norm));
    gather[3].start = SAMPLES - N + 1;
    CHECK_EQ(penstock__plan_run_gathered(plan, in, SAMPLES, gather, out, GATHERED), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_run(plan, in, out, 1), PENSTOCK_ERR_STATE);
    penstock_plan_free(plan);
}

static void arguments(penstock_context *context)
{
    static penstock_cf32 memory[1024];
    penstock_plan *plan, *none;
    penstock_plan_info info = PENSTOCK_PLAN_INFO, wrong = {0};
    uint64_t ticket;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 16), "cpu"));
    CHECK_OK(penstock_plan_run(plan, memory, memory + 512, 0));
    CHECK_EQ(penstock_plan_run(plan, NULL, memory, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_run(plan, memory, NULL, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_run(NULL, memory, memory, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_run(plan, memory, memory + 8, 1), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_run(plan, memory, memory + 512, SIZE_MAX / 2), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_submit(plan, memory, memory + 512, 1, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_plan_submit(plan, memory, memory + 512, 1, &ticket));
    CHECK_OK(penstock_plan_wait(plan, ticket));
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK(!strcmp(info.device, "cpu") && info.in_bytes == 128 && info.out_bytes == 128, "info of %s", info.device);
    CHECK_EQ(penstock_plan_get_info(plan, &wrong), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_plan_get_info(plan, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_plan(&none, context, &PENSTOCK_FFT_DESC(.n = 16), "prefer:"), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_fft_plan(&none, context, &PENSTOCK_FFT_DESC(.n = 16), "teapot"), PENSTOCK_ERR_NO_DEVICE);
    CHECK_EQ(penstock_fft_plan(&none, context, &PENSTOCK_FFT_DESC(.n = 16), "null"), PENSTOCK_ERR_UNSUPPORTED);
    CHECK(!none, "a failed constructor leaves a pointer");
    penstock_plan_free(plan);
    penstock_plan_free(NULL);
}

/* Whether the thread computes with numbers below the normal ones, as C demands: what is called must not change that. */
static bool keeps_small_numbers(void)
{
    volatile float small = 1e-40f, one = 1;
    return small * one > 0;
}

int main(void)
{
    penstock_context *context;
    size_t reference;
    CHECK(keeps_small_numbers(), "at the beginning");
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 3)));
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        for (size_t i = 0; i < CASES; i++) {
            computes(context, devices[d], i);
            groups_alike(context, devices[d], i);
        }
        several_in_flight(context, devices[d]);
        large_and_in_place(context, devices[d]);
        overlapping_in_place(context, devices[d]);
        gathered(context, devices[d]);
        CHECK(keeps_small_numbers(), "not any more after plans on %s", devices[d]);
    }
    if (!penstock_device_find(context, "reference", &reference))
        overlapping_in_place(context, "reference");
    failures_apart(context);
    arguments(context);
    penstock_context_free(context);
    CHECK_EQ(penstock__trace_violations(), 0);
    CHECK_EQ(penstock__trace_live(), 0);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
