/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The device of an analysis bank at "auto": whole banks are timed, once for each question. Time is the test's own: a
 * frame's transform takes as long on each of two devices as it says, and so do its sums on the processor, and sums and
 * transform in one on the other device.
 */
#include "backends/trace/trace.h"
#include "candidates.h"
#include "core/base/memory.h"
#include "folder.h"
#include "ops/channelizer/channelizer_engine.h"
#include "own_clock.h"
#include "relative_error.h"
#include "told_choice.h"

extern const struct penstock_backend penstock__cpu_backend, penstock__trace_backend;

enum { CHANNELS = 8, TAPS = 61, SAMPLES = 20000, ROOM = SAMPLES * CHANNELS };

static _Atomic long long cpu_ns, trace_ns;          /* a frame's transform */
static _Atomic long long cpu_sums_ns, trace_all_ns; /* a frame's sums, and these with the transform */
static _Atomic int warnings;
static struct penstock_backend timed_cpu, timed_trace;
static penstock_cf32 samples[SAMPLES], want[ROOM], got[ROOM];
static float taps[2 * TAPS];

/* ---------------------------------------------------------------- time ------------------------ */

/* What makes frames on the CPU, put in its place by the linker (--wrap). */
int __real_penstock__channelizer_engine_run(struct channelizer_engine *engine,
                                            const struct channelizer_windows *windows, const struct frame_sink *sink,
                                            size_t at);
int __wrap_penstock__channelizer_engine_run(struct channelizer_engine *engine,
                                            const struct channelizer_windows *windows, const struct frame_sink *sink,
                                            size_t at);
int __wrap_penstock__channelizer_engine_run(struct channelizer_engine *engine,
                                            const struct channelizer_windows *windows, const struct frame_sink *sink,
                                            size_t at)
{
    now_ns += cpu_sums_ns * (long long)windows->count;
    return __real_penstock__channelizer_engine_run(engine, windows, sink, at);
}

static int cpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    now_ns += cpu_ns * (long long)job->frames;
    return penstock__cpu_backend.enqueue(slot, plan, job);
}

static void cpu_run_frames(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count,
                           void *out, void *scratch)
{
    now_ns += cpu_ns * (long long)count;
    penstock__cpu_backend.run_frames(plan, in, first, count, out, scratch);
}

static int trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    now_ns += (plan->problem->fft.fold ? trace_all_ns : trace_ns) * (long long)job->frames;
    return penstock__trace_backend.enqueue(slot, plan, job);
}

/* Of a frame, in nanoseconds. */
static void set_times(long long cpu, long long cpu_sums, long long trace, long long trace_all)
{
    cpu_ns = cpu;
    cpu_sums_ns = cpu_sums;
    trace_ns = trace;
    trace_all_ns = trace_all;
}

/* ---------------------------------------------------------------- the choice ------------------ */

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

/* A context whose candidates are the processor and the trace device, which computes by it. */
static penstock_context *new_context(const char *cache_dir, bool begins)
{
    penstock_context *context = NULL;
    CHECK_OK(penstock_context_new(&context,
                                  &PENSTOCK_CONTEXT_DESC(.cache_dir = cache_dir, .threads = 1, .log = count_warnings,
                                                         .auto_cpu_while_compiling = begins)));
    test_candidates(context, &timed_cpu, &timed_trace);
    CHECK_OK(penstock_context_tell_choices(context, tell_choice, NULL));
    warnings = 0;
    return context;
}

/* Frames of all samples. */
static size_t pass(penstock_context *context, const penstock_channelizer_desc *desc, const char *device,
                   penstock_cf32 *out)
{
    penstock_stream *stream = NULL;
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    size_t taken = 1, given = 1, done = 0, made = 0;
    CHECK_OK(penstock_channelizer_open(&stream, context, desc, device));
    if (!stream)
        return 0;
    CHECK_OK(penstock_stream_get_info(stream, &info));
    CHECK(strcmp(device, "auto") || !strcmp(info.device, told.chosen), "it is on %s, %s was chosen", info.device,
          told.chosen);
    const size_t kept = info.out_bytes / sizeof *out, room = ROOM / kept;
    for (; taken && done < SAMPLES; done += taken, made += given)
        CHECK_OK(penstock_stream_run(stream, (const char *)(const void *)samples + done * info.in_bytes, SAMPLES - done,
                                     &taken, out + made * kept, room - made, &given));
    CHECK_EQ(done, SAMPLES);
    CHECK_OK(penstock_stream_finish(stream));
    for (given = 1; given && made < room; made += given)
        CHECK_OK(penstock_stream_pull(stream, out + made * kept, room - made, true, &given));
    penstock_stream_free(stream);
    return made * kept;
}

/* Whether it is timed; and the values that come out, which are the CPU's but for the rounding. */
static bool is_timed(penstock_context *context, const penstock_channelizer_desc *desc)
{
    const unsigned before = told.choices;
    const size_t count = pass(context, desc, "auto", got);
    CHECK(told.choices == before + 1 && !strcmp(told.unit, "frame") && !strncmp(told.what, "channelizer: ", 13),
          "%u choices, the last one for '%s'", told.choices - before, told.what);
    CHECK(count > 1000 && count == pass(context, desc, "cpu", want), "%zu values by auto, or more by the CPU", count);
    const double error = error_of((const char *)got, (const char *)want, count * sizeof *want);
    CHECK(error < 1e-6, "error %g", error);
    return told.candidates == 2 && !told.remembered && told.cpu_s > 0 && told.trace_s > 0;
}

static bool is_near(double seconds, long long ns)
{
    return seconds > 0.99e-9 * (double)ns && seconds < 1.01e-9 * (double)ns;
}

/* ---------------------------------------------------------------- tests ----------------------- */

static const penstock_channelizer_desc usual = {
    .size = sizeof usual, .channels = CHANNELS, .taps = taps, .tap_count = TAPS};

/* The bare transform is faster on one device, the whole bank on the other. */
static void follows_the_bank(void)
{
    penstock_context *context = new_context("", false);
    set_times(10000, 20000, 20000, 20000); /* the device sums at no cost */
    CHECK(is_timed(context, &usual) && !strcmp(told.chosen, "trace"), "%s was chosen", told.chosen);
    CHECK(is_near(told.cpu_s, 30000) && is_near(told.trace_s, 20000), "%g and %g s a frame", told.cpu_s, told.trace_s);
    penstock_context_free(context);
    context = new_context("", false);
    set_times(10000, 2000, 5000, 25000);
    CHECK(is_timed(context, &usual) && !strcmp(told.chosen, "cpu"), "%s was chosen", told.chosen);
    CHECK(is_near(told.cpu_s, 12000) && is_near(told.trace_s, 25000), "%g and %g s a frame", told.cpu_s, told.trace_s);
    penstock_context_free(context);
    CHECK_EQ(warnings, 0);
}

/* What the time depends on is in the question, and what it does not is not. */
static void remembers(void)
{
    static const size_t select[] = {5, 2, 7};
    static float others[TAPS];
    penstock_channelizer_desc same[] = {usual, usual, usual, usual, usual},
                              other[] = {usual, usual, usual, usual, usual, usual, usual};
    others[0] = others[TAPS - 1] = 1;
    same[1].taps = others;
    same[2].advance = 5;
    same[3].tail = true;
    same[4].origin = 3;
    other[0].channels = 2 * CHANNELS;
    other[0].hop = CHANNELS;
    other[1].hop = 3;
    other[2].tap_count = 2 * TAPS;
    other[3].format = PENSTOCK_CS16;
    other[4].format = PENSTOCK_PLANAR;
    other[5].select = select;
    other[5].select_count = 3;
    other[6].taps = NULL; /* designed ones, of another number */
    other[6].tap_count = 0;
    other[6].channels = 4;
    for (int turn = 0; turn < 2; turn++) {
        penstock_context *context = new_context(test_folder, false);
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            CHECK(is_timed(context, &same[i]) == !(turn || i), "turn %d, description %zu: timed %d", turn, i,
                  turn || i);
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            CHECK(is_timed(context, &other[i]) == !turn, "turn %d, other description %zu: timed %d", turn, i, turn);
        CHECK_EQ(warnings, 0);
        penstock_context_free(context);
    }
}

/* Where it is opened, planned or timed. Nothing is remembered by that. */
static void candidate_fails(void)
{
    static const long calls[] = {0, 1, 40};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        penstock_context *context = new_context("", false);
        penstock__trace_fail_from(calls[i]);
        CHECK(!is_timed(context, &usual) && !strcmp(told.chosen, "cpu"), "call %ld: %s was chosen", calls[i],
              told.chosen);
        CHECK(warnings == 1, "call %ld: %d warnings", calls[i], warnings);
        penstock__trace_fail_at(-1);
        CHECK(is_timed(context, &usual), "call %ld: the answer was remembered", calls[i]);
        penstock_context_free(context);
    }
}

static void one_candidate(void)
{
    penstock_context *context = new_context("", false);
    penstock__device_row(context, "trace", 0)->on_cpu = true;
    CHECK(!is_timed(context, &usual) && told.candidates == 1 && !(told.cpu_s > 0), "%u candidates, %g s",
          told.candidates, told.cpu_s);
    penstock_context_free(context);
}

/* Freed at any time of the choice, which another thread makes: after so many frames. */
static void freed_early(void)
{
    for (size_t frames = 0; frames < 40; frames++) {
        penstock_context *context = new_context("", true);
        penstock_stream *stream = NULL;
        size_t taken, given;
        CHECK_OK(penstock_channelizer_open(&stream, context, &usual, "auto"));
        now_ns += 200000000; /* now it begins */
        for (size_t i = 0; i < frames; i++)
            CHECK_OK(penstock_stream_run(stream, samples, CHANNELS, &taken, got, ROOM / CHANNELS, &given));
        penstock_stream_free(stream);
        penstock_context_free(context);
        CHECK_EQ(penstock__memory_live(), 0);
        CHECK_EQ(penstock__trace_live(), 0);
    }
}

static void without_memory(void)
{
    const long step = getenv("PENSTOCK_TEST_FULL") ? 1 : 7;
    bool opened = false, failed = false;
    for (long k = 0, before, calls = 1; k < calls; k += step) {
        penstock_context *context = new_context("", false);
        penstock_stream *stream = NULL;
        before = penstock__memory_calls();
        penstock__memory_fail_at(k);
        int status = penstock_channelizer_open(&stream, context, &usual, "auto");
        penstock__memory_fail_at(-1);
        calls = penstock__memory_calls() - before + step > calls ? penstock__memory_calls() - before + step : calls;
        CHECK(status ? status == PENSTOCK_ERR_MEMORY && !stream : stream != NULL, "allocation %ld: status %d", k,
              status);
        opened = opened || (!status && warnings);
        failed = failed || status;
        penstock_stream_free(stream);
        penstock_context_free(context);
        CHECK_EQ(penstock__memory_live(), 0);
        CHECK_EQ(penstock__trace_live(), 0);
    }
    CHECK(opened && failed, "no candidate was left out, or no open failed");
}

int main(void)
{
    uint64_t seed = 1;
    CHECK(test_make_folder(), "no temporary folder");
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        (&samples[0].re)[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < 2 * TAPS; i++)
        taps[i] = (float)test_uniform(&seed);
    timed_cpu = penstock__cpu_backend;
    timed_cpu.enqueue = cpu_enqueue;
    timed_cpu.run_frames = cpu_run_frames;
    timed_trace = penstock__trace_backend;
    timed_trace.enqueue = trace_enqueue;
    timed_trace.flags = 0;
    follows_the_bank();
    remembers();
    candidate_fails();
    one_candidate();
    freed_early();
    without_memory();
    test_remove_folder();
    CHECK_EQ(penstock__trace_violations(), 0);
    CHECK_EQ(penstock__trace_live(), 0);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
