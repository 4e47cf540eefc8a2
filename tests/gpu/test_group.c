/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Several devices under one name: names that are understood and errors in words; a plan and streams on all of them give
 * the bits of one; each does its share; one that is lost in mid-stream costs no sample and one line; and failures of
 * allocations and of the device's calls. Usage: test_group trace|cuda|opencl COUNT, cuda by the driver for tests
 */
#include "core/base/memory.h"
#include "failure_sweep.h"
#include "shim_calls.h"

#include <penstock/bench.h>

#include <sys/wait.h>
#include <unistd.h>

enum { N = 16, FRAMES = 60000, CHUNK = 777, VALUES = N * FRAMES, EACH = 8, BATCHES = 24 };

static const char *kind; /* "trace" */
static unsigned devices;
static char all[32], one[32], list[64]; /* "trace:*", "trace:0", the first two */
static penstock_cf32 samples[VALUES], want[VALUES], got[VALUES];
static int warnings;
static char warning[512];

static void note(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level != PENSTOCK_LOG_WARNING)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static penstock_context *new_context(void)
{
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .log = note)));
    return context;
}

/* ---------------------------------------------------------------- names ----------------------- */

static void check_refused(penstock_context *context, const char *name, int status, const char *words)
{
    penstock_plan *plan;
    CHECK_EQ(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), name), status);
    CHECK(strstr(penstock_error_text(), words), "'%s': %s", name, penstock_error_text());
}

static void check_name(penstock_context *context, const char *asked, const char *name)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), asked));
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK(!strcmp(info.device, name), "'%s' is %s", asked, info.device);
    penstock_plan_free(plan);
}

static void check_names(void)
{
    penstock_context *context = new_context();
    char text[80], name[80];
    size_t index;
    check_name(context, all, all);
    snprintf(name, sizeof name, "%s:0+1", kind);
    check_name(context, list, name);
    check_name(context, name, name);
    snprintf(text, sizeof text, "prefer:%s", list);
    check_name(context, text, name);
    snprintf(text, sizeof text, "%s,0", one);
    check_refused(context, text, PENSTOCK_ERR_ARGUMENT, "is named twice");
    snprintf(text, sizeof text, "%s,%s", one, one);
    check_refused(context, text, PENSTOCK_ERR_ARGUMENT, "is named twice");
    snprintf(text, sizeof text, "%s,cpu:0", one);
    check_refused(context, text, PENSTOCK_ERR_NO_DEVICE, "no device 'cpu:0'");
    snprintf(text, sizeof text, "%s,cpu", one);
    check_refused(context, text, PENSTOCK_ERR_ARGUMENT, "several devices are");
    snprintf(text, sizeof text, "%s,%s:%u", one, kind, devices);
    check_refused(context, text, PENSTOCK_ERR_NO_DEVICE, "; there are: ");
    snprintf(text, sizeof text, "%s,", one);
    check_refused(context, text, PENSTOCK_ERR_ARGUMENT, "is not understood");
    check_refused(context, "nothing:*", PENSTOCK_ERR_NO_DEVICE, "no device 'nothing:*'");
    check_name(context, "cpu:*", "cpu"); /* of one device it is that one */
    CHECK_EQ(penstock_device_find(context, all, &index), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "a row of the device table is one"), "%s", penstock_error_text());
    penstock_buffer *buffer;
    CHECK_EQ(penstock_buffer_new(&buffer, context, all, 64), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "is on one"), "%s", penstock_error_text());
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- plans ----------------------- */

static void make_samples(void)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < VALUES; i++)
        samples[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
}

/* Batches that travel at once, then a large one that goes in chunks. */
static int run_plan(penstock_plan *plan, void (*halfway)(void))
{
    uint64_t ticket = 0;
    int status = PENSTOCK_OK;
    memset(got, 0, sizeof got);
    for (size_t i = 0; i < BATCHES && !status; i++) {
        if (i == BATCHES / 2 && halfway)
            halfway();
        status = penstock_plan_submit(plan, samples + i * EACH * N, got + i * EACH * N, EACH, &ticket);
    }
    if (status || (status = penstock_plan_wait(plan, ticket)))
        return status;
    const size_t done = (size_t)BATCHES * EACH;
    return penstock_plan_run(plan, samples + done * N, got + done * N, FRAMES - done);
}

static bool is_there(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan;
    int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), list);
    penstock_plan_free(plan);
    penstock_context_free(context);
    return !status;
}

/* A device more of the kind, which is of other makers: all of them are no group. */
static bool has_more(void)
{
    penstock_context *context = new_context();
    char next[32];
    size_t index;
    snprintf(next, sizeof next, "%s:%u", kind, devices);
    int status = penstock_device_find(context, next, &index);
    penstock_context_free(context);
    return !status;
}

static penstock_plan *new_plan(penstock_context *context, const char *device)
{
    penstock_plan *plan;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    return plan;
}

/* What one device gives, in `want`. */
static void make_want(penstock_context *context)
{
    penstock_plan *alone = new_plan(context, one);
    CHECK_OK(run_plan(alone, NULL));
    memcpy(want, got, sizeof want);
    penstock_plan_free(alone);
}

static void check_plan(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, all);
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    uint64_t least = UINT64_MAX, sum = 0;
    make_want(context);
    CHECK_OK(run_plan(plan, NULL));
    CHECK(!memcmp(want, got, sizeof want), "%s gives other bits than %s", all, one);
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK_EQ(info.share_count, devices);
    for (size_t i = 0; i < info.share_count; i++) {
        least = info.shares[i].batches < least ? info.shares[i].batches : least;
        sum += info.shares[i].batches;
    }
    CHECK(sum > BATCHES && least >= BATCHES / devices, "of %llu batches one device did %llu", (unsigned long long)sum,
          (unsigned long long)least);
    CHECK(info.shares[1].device && strcmp(info.shares[0].device, info.shares[1].device), "names of shares");
    for (size_t i = 0; i < VALUES; i++) /* in place */
        got[i] = samples[i];
    CHECK_OK(penstock_plan_run(plan, got, got, FRAMES));
    CHECK(!memcmp(want, got, sizeof want), "%s gives other bits in place", all);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* With the samples on any of them. */
static void check_enqueue(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, all);
    for (unsigned i = 0; i < devices; i++) {
        char name[32];
        penstock_queue *queue;
        penstock_buffer *in, *out;
        snprintf(name, sizeof name, "%s:%u", kind, i);
        CHECK_OK(penstock_queue_new(&queue, context, name));
        CHECK_OK(penstock_buffer_new(&in, context, name, sizeof(penstock_cf32) * N * EACH));
        CHECK_OK(penstock_buffer_new(&out, context, name, sizeof(penstock_cf32) * N * EACH));
        CHECK_OK(penstock_buffer_upload(in, samples, sizeof(penstock_cf32) * N * EACH, queue));
        CHECK_OK(penstock_plan_enqueue(plan, in, out, EACH, queue));
        memset(got, 0, sizeof(penstock_cf32) * N * EACH);
        CHECK_OK(penstock_buffer_download(out, got, sizeof(penstock_cf32) * N * EACH, queue));
        CHECK(!memcmp(want, got, sizeof(penstock_cf32) * N * EACH), "%s gives other bits", name);
        penstock_queue_free(queue);
        penstock_buffer_free(in);
        penstock_buffer_free(out);
    }
    penstock_queue *elsewhere;
    CHECK_OK(penstock_queue_new(&elsewhere, context, "cpu"));
    CHECK_EQ(penstock_plan_enqueue(plan, NULL, NULL, EACH, elsewhere), PENSTOCK_ERR_ARGUMENT);
    CHECK(strstr(penstock_error_text(), "the work is on"), "%s", penstock_error_text());
    penstock_queue_free(elsewhere);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

static int enqueue(void *plan, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue)
{
    return penstock_plan_enqueue(plan, in, out, EACH, queue);
}

/* Timing with the samples on all of them. */
static void check_bench(void)
{
    const size_t samples_bytes = sizeof(penstock_cf32) * N * EACH;
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, all);
    penstock_bench *bench;
    double seconds = 0, copying = 0, moving = 0;
    size_t bytes = 0;
    long before[16] = {0};
    for (unsigned i = 0; i < devices; i++)
        before[i] = shim.launches((int)i);
    CHECK_OK(penstock_bench_new(&bench, context,
                                &PENSTOCK_BENCH_DESC(.device = all, .work = enqueue, .user = plan,
                                                     .in_bytes = samples_bytes, .out_bytes = samples_bytes,
                                                     .block = samples, .block_bytes = samples_bytes)));
    CHECK_OK(penstock_bench_run(bench, 3, &seconds));
    memset(got, 0, samples_bytes);
    CHECK_OK(penstock_bench_read(bench, got, samples_bytes));
    CHECK(!memcmp(want, got, samples_bytes), "the benchmark computes something else");
    CHECK_OK(penstock_bench_transfer(bench, &moving));
    CHECK_OK(penstock_bench_copy(bench, true, &bytes, &copying));
    CHECK(seconds > 0 && moving > 0 && copying > 0 && bytes == samples_bytes, "%g %g %g %zu", seconds, moving, copying,
          bytes);
    for (unsigned i = 0; i < devices; i++)
        CHECK(shim.launches((int)i) >= before[i] + 3, "cuda:%u was left out", i);
    penstock_bench_free(bench);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- streams --------------------- */

static int run_stream(penstock_stream *stream, void (*halfway)(void))
{
    size_t taken = 0, made = 0;
    int status = PENSTOCK_OK;
    memset(got, 0, sizeof got);
    while (taken < FRAMES && !status) {
        size_t some = 0, count = 0;
        if (halfway && taken > FRAMES / 2) {
            halfway();
            halfway = NULL;
        }
        size_t chunk = FRAMES - taken < CHUNK ? FRAMES - taken : CHUNK;
        if (!(status = penstock_stream_push(stream, samples + taken * N, chunk, &some)) &&
            !(status = penstock_stream_flush(stream)))
            status = penstock_stream_pull(stream, got + made * N, FRAMES - made, false, &count);
        taken += some;
        made += count;
    }
    if (!status)
        status = penstock_stream_finish(stream);
    for (size_t count = 1; count && !status; made += count)
        status = penstock_stream_pull(stream, got + made * N, FRAMES - made, true, &count);
    CHECK(status || made == FRAMES, "%zu of %d vectors", made, FRAMES);
    return status;
}

static penstock_stream *new_stream(penstock_context *context, const char *device)
{
    penstock_stream *stream;
    CHECK_OK(penstock_fft_stream_open(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), device));
    return stream;
}

static void check_stream(void)
{
    penstock_context *context = new_context();
    penstock_stream *stream = new_stream(context, all);
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    uint64_t least = UINT64_MAX, most = 0;
    CHECK_OK(run_stream(stream, NULL));
    CHECK(!memcmp(want, got, sizeof want), "a stream on %s gives other bits", all);
    CHECK_OK(penstock_stream_get_stats(stream, &stats));
    CHECK_EQ(stats.share_count, devices);
    for (size_t i = 0; i < stats.share_count; i++) {
        least = stats.shares[i].batches < least ? stats.shares[i].batches : least;
        most = stats.shares[i].batches > most ? stats.shares[i].batches : most;
    }
    CHECK(least && most <= least + 1, "%llu to %llu batches a device", (unsigned long long)least,
          (unsigned long long)most);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- losses ---------------------- */

static void lose_one(void)
{
    shim.lose_gpu(1);
}

static void lose_all(void)
{
    for (unsigned i = 0; i < devices; i++)
        shim.lose_gpu((int)i);
}

static void check_work(const char *what)
{
    CHECK(!memcmp(want, got, sizeof want), "%s: values are not those of one device", what);
    CHECK(warnings == 1 && strstr(warning, "cuda:1 failed") && strstr(warning, "go"), "%s: %d lines: %s", what,
          warnings, warning);
}

static void check_lost(const char *what)
{
    penstock_context *context = new_context();
    make_want(context);
    if (!strcmp(what, "plan")) {
        penstock_plan *plan = new_plan(context, all);
        CHECK_OK(run_plan(plan, lose_one));
        check_work(what);
        penstock_plan_free(plan);
    } else if (!strcmp(what, "stream")) {
        penstock_stream *stream = new_stream(context, all);
        CHECK_OK(run_stream(stream, lose_one));
        check_work(what);
        penstock_stream_free(stream);
    } else if (!strcmp(what, "before")) { /* a plan that is made afterwards does without it */
        lose_one();
        penstock_plan *plan = new_plan(context, all);
        CHECK_OK(run_plan(plan, NULL));
        CHECK(!memcmp(want, got, sizeof want) && warnings == 1 && strstr(warning, "goes on without cuda:1"),
              "%d lines: %s", warnings, warning);
        penstock_plan_free(plan);
    } else {
        const bool preferred = !strcmp(what, "preferred");
        penstock_stream *stream = new_stream(context, preferred ? "prefer:cuda:*" : all);
        int status = run_stream(stream, lose_all);
        double error = 0;
        for (size_t i = 0; i < VALUES && preferred; i++)
            error = fmax(error, hypot((double)(got[i].re - want[i].re), (double)(got[i].im - want[i].im)));
        CHECK(preferred ? !status && error < 1e-4 : status == PENSTOCK_ERR_DEVICE, "%s: %d, error %g: %s", what, status,
              error, penstock_error_text());
        CHECK(strstr(warning, preferred ? "the CPU goes on" : "goes on"), "%s", warning);
        penstock_stream_free(stream);
    }
    penstock_context_free(context);
    exit(test_finish());
}

/* Each in a process of its own, as what is lost stays lost; before this one has loaded the driver. */
static void check_losses(void)
{
    static const char *const losses[] = {"plan", "stream", "before", "all", "preferred"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (!child)
            check_lost(losses[i]);
        int status = -1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && !status, "%s: %#x", losses[i], (unsigned)status);
    }
}

/* ---------------------------------------------------------------- failures -------------------- */

static int use(penstock_context *context, const char *device, bool *wrong)
{
    penstock_plan *plan;
    uint64_t ticket = 0;
    int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device), failed = status;
    memset(got, 0, sizeof(penstock_cf32) * N * EACH * BATCHES);
    for (size_t i = 0; i < BATCHES && !failed; i++)
        failed = penstock_plan_submit(plan, samples + i * EACH * N, got + i * EACH * N, EACH, &ticket);
    if (!failed)
        failed = penstock_plan_wait(plan, ticket);
    *wrong = !failed && memcmp(got, want, sizeof(penstock_cf32) * N * EACH * BATCHES);
    sweep_over();
    penstock_plan_free(plan);
    return failed;
}

static int calls_failed;

/* A call that fails once, when the plan is there, is another device's work. */
static void sweep_single_calls(void)
{
    penstock_context *context = new_context();
    long objects = penstock__trace_live();
    bool reached = true;
    for (long k = 0; reached && k < 2000; k++) {
        bool wrong = false;
        long before = penstock__trace_calls();
        penstock__trace_fail_at(k);
        int status = use(context, all, &wrong);
        reached = penstock__trace_calls() - before > k;
        sweep_over();
        calls_failed += !!status;
        CHECK(!wrong, "call %ld: wrong values", k);
        CHECK(!status, "call %ld: %s", k, penstock_error_text());
    }
    CHECK(!reached, "the sweep did not end");
    CHECK_EQ(penstock__trace_live(), objects + (long)devices); /* the devices stay open */
    CHECK(!penstock__trace_violations(), "contract broken: %s", penstock__trace_violation_text());
    penstock_context_free(context);
}

/* The same of CUDA's driver and compiler. */
static void sweep_driver_calls(void)
{
    penstock_context *context = new_context();
    bool wrong, reached = true;
    long k = 0;
    CHECK_OK(use(context, all, &wrong)); /* the devices are open from here on */
    long objects = shim.live();
    for (; reached && k < 4000; k++) {
        shim.fail_at(k);
        int status = use(context, all, &wrong);
        reached = shim.left() < 0;
        shim.fail_at(-1);
        CHECK(!status && !wrong, "call %ld: %d, %s: %s", k, status, wrong ? "wrong values" : "no values",
              penstock_error_text());
        CHECK(shim.live() == objects, "call %ld: %ld objects leak", k, shim.live() - objects);
    }
    CHECK(!reached && k > 100, "the sweep ended at call %ld", k);
    penstock_context_free(context);
}

int main(int count, char **arguments)
{
    kind = count > 1 ? arguments[1] : "trace";
    const char *text = count > 2 ? arguments[2] : "2";
    const bool traced = !strcmp(kind, "trace"), shimmed = !strcmp(kind, "cuda");
    devices = (unsigned)strtoul(text, NULL, 10);
    setenv(traced ? "PENSTOCK_TRACE_DEVICES" : "PENSTOCK_SHIM_GPUS", text, 1);
    snprintf(all, sizeof all, "%s:*", kind);
    snprintf(one, sizeof one, "%s:0", kind);
    snprintf(list, sizeof list, "%s:0,%s:1", kind, kind);
    if (shimmed && !shim_load("PENSTOCK_CUDA_LIBRARY"))
        return test_skip("PENSTOCK_CUDA_LIBRARY names no driver for tests");
    if (!traced && !shimmed && !is_there())
        return test_skip(penstock_error_text());
    if (!traced && !shimmed && has_more())
        return test_skip("there are more devices of the kind than the test makes");
    make_samples();
    if (shimmed)
        check_losses();
    check_names();
    check_plan();
    check_enqueue();
    if (shimmed)
        check_bench();
    check_stream();
    if (traced) {
        sweep_single_calls();
        if (devices == 2)
            sweep_allocations(use, all, 1);
        sweep_calls_of(use, "prefer:trace:*", false);
        sweep_calls_of(use, "prefer:trace:*", true);
    } else if (shimmed) {
        if (devices == 2)
            sweep_driver_calls();
        CHECK(shim.live() == 0, "%ld objects are left", shim.live());
        CHECK(!shim.broken_rule(), "rule of the driver broken: %s", shim.broken_rule());
        for (unsigned i = 0; i < devices; i++)
            CHECK(shim.launches((int)i) > 0 && shim.copies((int)i) > 0, "cuda:%u did nothing", i);
    }
    return test_finish();
}
