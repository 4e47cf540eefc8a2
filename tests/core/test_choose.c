/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* "auto": the fastest of two devices is taken, the answer is remembered where that is possible, and a device that fails
 * gives way to the CPU. Time is the test's own, and says that a batch takes longer on the cpu backend, so that the
 * trace device wins however busy the machine is. */
#include "backends/trace/trace.h"
#include "candidates.h"
#include "core/base/memory.h"
#include "core/plan/plan.h"
#include "folder.h"
#include "own_clock.h"

#include <dirent.h>
#include <penstock/choice.h>
#include <penstock/penstock.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct penstock_backend penstock__cpu_backend, penstock__trace_backend;

enum { N = 64, FRAMES = 8 };

/* Batches of the self-check: an impulse and noise. More of them mean that the device was timed. */
#define CHECK_BATCHES 2

static _Atomic long long trace_takes_ns = 1000000;
static struct penstock_backend slow_cpu, automatic_trace;
static _Atomic int cpu_batches, trace_batches, warnings;

static void count_warnings(void *user, penstock_log_level level, const char *line)
{
    (void)user, (void)line;
    warnings += level == PENSTOCK_LOG_WARNING;
}

static int slow_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    cpu_batches++;
    now_ns += 3000000;
    return penstock__cpu_backend.enqueue(slot, plan, job);
}

static int trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    trace_batches++;
    now_ns += trace_takes_ns;
    return penstock__trace_backend.enqueue(slot, plan, job);
}

/* A context whose candidates are the slow cpu and the trace device. */
static penstock_context *new_context_for(const char *cache_dir, bool auto_cpu_while_compiling)
{
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context,
                                  &PENSTOCK_CONTEXT_DESC(.threads = 1, .log = count_warnings, .cache_dir = cache_dir,
                                                         .auto_cpu_while_compiling = auto_cpu_while_compiling)));
    test_candidates(context, &slow_cpu, &automatic_trace);
    warnings = 0;
    return context;
}

static penstock_context *new_context(const char *cache_dir)
{
    return new_context_for(cache_dir, false);
}

struct answer {
    bool trace;    /* chose the trace device */
    bool measured; /* ran more than the self-check */
};

static struct answer choose(penstock_context *context, size_t batch)
{
    struct answer answer = {0};
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan;
    cpu_batches = trace_batches = 0;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .batch = batch), "auto"));
    if (!plan)
        return answer;
    CHECK_OK(penstock_plan_get_info(plan, &info));
    answer.trace = !strcmp(info.device, "trace");
    answer.measured = cpu_batches > CHECK_BATCHES && trace_batches > CHECK_BATCHES;
    penstock_plan_free(plan);
    return answer;
}

/* The trace device is chosen, with both timed or by memory. */
#define CHECK_ANSWER(got, timed)                                                                  \
    do {                                                                                          \
        struct answer answer_ = (got);                                                            \
        CHECK(answer_.trace, "the slower device was chosen");                                     \
        CHECK(answer_.measured == (timed), "measured: %d, expected %d", answer_.measured, timed); \
    } while (0)

/* Does something to the one file of the cache folder whose name starts with "choice-". */
static int damage_choices(void)
{
    DIR *directory = opendir(test_folder);
    struct dirent *entry;
    int count = 0;
    while (directory && (entry = readdir(directory))) {
        char path[600];
        FILE *file;
        if (strncmp(entry->d_name, "choice-", 7))
            continue;
        snprintf(path, sizeof path, "%s/%s", test_folder, entry->d_name);
        if ((file = fopen(path, "r+"))) {
            count++;
            fputs("junk", file);
            fclose(file);
        }
    }
    if (directory)
        closedir(directory);
    return count;
}

static void remembers(void)
{
    penstock_context *context = new_context(test_folder);
    CHECK_ANSWER(choose(context, FRAMES), true);
    CHECK_ANSWER(choose(context, FRAMES), false);
    CHECK_ANSWER(choose(context, 2 * FRAMES), true); /* another question */
    penstock_context_free(context);
    context = new_context(test_folder);
    CHECK_ANSWER(choose(context, FRAMES), false);
    penstock_context_free(context);
    context = new_context(test_folder);
    strcpy(penstock__device_row(context, "trace", 0)->driver, "a newer one");
    CHECK_ANSWER(choose(context, FRAMES), true);
    penstock_context_free(context);
    CHECK_EQ(damage_choices(), 3);
    context = new_context(test_folder);
    CHECK_ANSWER(choose(context, FRAMES), true);
    penstock_context_free(context);
    context = new_context(test_folder); /* what was damaged has been written again */
    CHECK_ANSWER(choose(context, FRAMES), false);
    CHECK_EQ(warnings, 0);
    penstock_context_free(context);
}

/* Nowhere to write: the context remembers, the next one measures again. */
static void without_cache(const char *cache_dir)
{
    for (int i = 0; i < 2; i++) {
        penstock_context *context = new_context(cache_dir);
        CHECK_ANSWER(choose(context, FRAMES), true);
        CHECK_ANSWER(choose(context, FRAMES), false);
        CHECK_EQ(warnings, 0);
        penstock_context_free(context);
    }
}

/* A candidate that cannot be opened, planned or timed; its failure is not remembered as an answer. */
static void candidate_fails(void)
{
    static const long calls[] = {0, 1, 40};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        penstock_context *context = new_context(test_folder);
        struct answer answer;
        penstock__trace_fail_from(calls[i]);
        answer = choose(context, (3 + i) * FRAMES);
        penstock__trace_fail_at(-1);
        CHECK(!answer.trace && warnings == 1, "trace was taken, or %d warnings", warnings);
        CHECK_ANSWER(choose(context, (3 + i) * FRAMES), true);
        penstock_context_free(context);
    }
}

static int failing_plan_init(struct penstock_plan_state *plan, unsigned variant)
{
    (void)plan, (void)variant;
    return penstock__error(PENSTOCK_ERR_DEVICE, "no compiler");
}

/* Two plans that the device fails alike are told of once, and so are two after something else was told. */
static void told_once(void)
{
    penstock_context *context = new_context("");
    automatic_trace.plan_init = failing_plan_init;
    CHECK(!choose(context, FRAMES).trace && !choose(context, 2 * FRAMES).trace, "trace was taken");
    CHECK_EQ(warnings, 1);
    automatic_trace.plan_init = penstock__trace_backend.plan_init;
    penstock__trace_fail_from(1);
    CHECK(!choose(context, 3 * FRAMES).trace, "trace was taken");
    penstock__trace_fail_at(-1);
    CHECK_EQ(warnings, 2);
    automatic_trace.plan_init = failing_plan_init;
    CHECK(!choose(context, 4 * FRAMES).trace && !choose(context, 5 * FRAMES).trace, "trace was taken");
    CHECK_EQ(warnings, 3);
    automatic_trace.plan_init = penstock__trace_backend.plan_init;
    penstock_context_free(context);
}

/* The chosen device fails while it works: the CPU goes on, nothing is lost. */
static void fails_later(void)
{
    static penstock_cf32 in[FRAMES * N], out[FRAMES * N], expected[FRAMES * N];
    penstock_context *context = new_context(test_folder);
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan;
    uint64_t seed = 2;
    for (size_t i = 0; i < 2 * FRAMES * N; i++)
        (&in[0].re)[i] = (float)test_uniform(&seed);
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .batch = FRAMES), "auto"));
    CHECK_OK(penstock_plan_run(plan, in, expected, FRAMES));
    penstock__trace_fail_from(2);
    for (int i = 0; i < 3; i++) {
        memset(out, 0, sizeof out);
        CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
        CHECK(!memcmp(out, expected, sizeof out), "run %d is wrong", i);
    }
    penstock__trace_fail_at(-1);
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK(!strcmp(info.device, "cpu") && warnings == 1, "%s works, %d warnings", info.device, warnings);
    CHECK_EQ(penstock__plan_fallbacks(plan), 3);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* What cannot win is neither opened nor timed, and no word is said of it: the processor's own cores by a longer way,
 * and a GPU that another backend knows as its own. */
static void rule_of_thumb(void)
{
    struct penstock_device *trace;
    penstock_context *context = new_context("");
    trace = penstock__device_row(context, "trace", 0);
    trace->on_cpu = true;
    CHECK(!choose(context, FRAMES).trace, "a device that works on the same cores was taken");
    CHECK(!trace->opened && !trace_batches && !warnings, "it was opened, or %d batches, %d warnings", trace_batches,
          warnings);
    trace->on_cpu = false;
    slow_cpu.flags |= PENSTOCK_BACKEND_NATIVE;
    snprintf(trace->address, sizeof trace->address, "0000:17:00");
    snprintf(penstock__device_row(context, "cpu", 0)->address, sizeof trace->address, "0000:17:00");
    CHECK(!choose(context, FRAMES).trace && !trace->opened, "the same device by a longer way was taken");
    snprintf(penstock__device_row(context, "cpu", 0)->address, sizeof trace->address, "0000:18:00");
    CHECK_ANSWER(choose(context, FRAMES), true);
    slow_cpu.flags = penstock__cpu_backend.flags;
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- what is told ---------------- */

struct told {
    char what[512];
    int rows, chosen;
    bool remembered, cpu_took_part;
    double cpu_s, trace_s;
    char cpu_why[192], trace_why[192], chosen_why[192];
};

static void listen(void *user, const penstock_choice *choice)
{
    struct told *told = user;
    bool cpu = !strcmp(choice->device, "cpu"), trace = !strcmp(choice->device, "trace");
    CHECK(choice->size == sizeof *choice && *choice->why && !strcmp(choice->unit, "frame"), "%s: '%s', a %s",
          choice->device, choice->why, choice->unit);
    CHECK(!told->rows || !strcmp(told->what, choice->what), "'%s' and '%s'", told->what, choice->what);
    CHECK(cpu || trace || !choice->candidate, "%s took part", choice->device);
    snprintf(told->what, sizeof told->what, "%s", choice->what);
    told->rows++;
    told->chosen += choice->chosen;
    if (choice->chosen)
        snprintf(told->chosen_why, sizeof told->chosen_why, "%s", choice->why);
    told->remembered = told->remembered || choice->remembered;
    if (cpu || trace) {
        *(cpu ? &told->cpu_s : &told->trace_s) = choice->seconds;
        snprintf(cpu ? told->cpu_why : told->trace_why, sizeof told->cpu_why, "%s", choice->why);
    }
    told->cpu_took_part = told->cpu_took_part || (cpu && choice->candidate);
}

static struct told told_of(penstock_context *context, size_t batch)
{
    struct told told = {.rows = 0};
    CHECK_OK(penstock_context_tell_choices(context, listen, &told));
    choose(context, batch);
    CHECK_OK(penstock_context_tell_choices(context, NULL, NULL));
    CHECK_EQ(told.chosen, 1);
    return told;
}

#define CHECK_WHY(got, want) CHECK(!strncmp(got, want, strlen(want)), "'%s', not '%s'", got, want)

/* The times are those that this test's clock gives, of a frame: a batch takes 1 and 3 ms. */
static void tells(void)
{
    const double frame_s = 1e-3 / (50 * FRAMES);
    size_t count = 0;
    penstock_context *context = new_context(test_folder);
    CHECK_OK(penstock_device_count(context, &count));
    struct told told = told_of(context, 50 * FRAMES);
    CHECK_EQ(told.rows, (int)count);
    CHECK(!told.remembered && strstr(told.what, "batch 400"), "remembered, or '%s'", told.what);
    CHECK(told.trace_s > 0.99 * frame_s && told.trace_s < 1.01 * frame_s, "%g s a frame", told.trace_s);
    CHECK(told.cpu_s > 2.99 * frame_s && told.cpu_s < 3.01 * frame_s, "%g s a frame", told.cpu_s);
    CHECK_WHY(told.trace_why, "the fastest");
    CHECK_WHY(told.cpu_why, "3.00 times the time of trace");
    penstock_context_free(context);
    context = new_context(test_folder); /* from the cache folder, to a picosecond */
    told = told_of(context, 50 * FRAMES);
    CHECK(told.remembered && told.cpu_s > 2.99 * frame_s && told.cpu_s < 3.01 * frame_s, "%d, %g s", told.remembered,
          told.cpu_s);
    CHECK_WHY(told.cpu_why, "3.00 times the time of trace");
    penstock_context_free(context);
}

static void tells_of_failures(void)
{
    penstock_context *context = new_context("");
    automatic_trace.plan_init = failing_plan_init;
    struct told told = told_of(context, FRAMES);
    automatic_trace.plan_init = penstock__trace_backend.plan_init;
    CHECK_WHY(told.trace_why, "left out: no compiler");
    CHECK(told.trace_s == 0 && told.cpu_s > 0 && !strcmp(told.chosen_why, "the fastest"), "%g and %g s, '%s'",
          told.trace_s, told.cpu_s, told.chosen_why);
    penstock__device_row(context, "trace", 0)->on_cpu = true;
    told = told_of(context, FRAMES);
    CHECK_WHY(told.trace_why, "works on the same cores as cpu");
    CHECK_WHY(told.cpu_why, "the only candidate");
    CHECK(told.cpu_took_part && told.cpu_s == 0, "%g s", told.cpu_s);
    penstock_context_free(context);
    CHECK_EQ(penstock_context_tell_choices(NULL, listen, NULL), PENSTOCK_ERR_ARGUMENT);
}

static penstock_plan_info info_of(const penstock_plan *plan)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(penstock_plan_get_info(plan, &info));
    return info;
}

/* The CPU works at once, and nothing is asked of another device before 0.1 s have passed; then that one is timed, and
 * goes on where it is the faster one. */
static void begins_on_the_cpu(bool faster)
{
    static penstock_cf32 in[FRAMES * N], out[FRAMES * N];
    penstock_context *context = new_context_for(test_folder, true);
    struct penstock_device *trace = penstock__device_row(context, "trace", 0);
    penstock_plan *plan = NULL;
    size_t batch = (faster ? 20 : 21) * FRAMES;
    trace_takes_ns = faster ? 1000000 : 9000000;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .batch = batch), "auto"));
    CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
    CHECK(!strcmp(info_of(plan).device, "cpu") && info_of(plan).awaited && !trace->opened,
          "it begins on %s, or the other one was opened", info_of(plan).device);
    now_ns += 200000000;
    for (int i = 0; i < 100 && info_of(plan).awaited; i++) {
        CHECK_OK(penstock_plan_run(plan, in, out, FRAMES));
        usleep(20000);
    }
    CHECK(!strcmp(info_of(plan).device, faster ? "trace" : "cpu") && !info_of(plan).awaited, "it ends on %s",
          info_of(plan).device);
    CHECK(trace->opened, "the other one was not tried");
    penstock_plan_free(plan);
    penstock_context_free(context);
    context = new_context(test_folder);
    struct answer kept = choose(context, batch);
    CHECK(kept.trace == faster && !kept.measured, "the answer was not kept");
    penstock_context_free(context);
    trace_takes_ns = 1000000;
    CHECK_EQ(warnings, 0);
}

/* Allocation k fails while devices are compared: an error or a plan, and nothing leaks. */
static void without_memory(void)
{
    long before = penstock__memory_calls(), calls, step = getenv("PENSTOCK_TEST_FULL") ? 1 : 23;
    penstock_context *context = new_context("");
    CHECK_ANSWER(choose(context, FRAMES), true);
    penstock_context_free(context);
    calls = penstock__memory_calls() - before;
    CHECK(calls > 100, "only %ld allocations", calls);
    for (long k = 20; k < calls; k += step) {
        penstock_plan *plan;
        int status;
        context = new_context("");
        penstock__memory_fail_at(k);
        status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N, .batch = FRAMES), "auto");
        penstock__memory_fail_at(-1);
        CHECK(status ? status == PENSTOCK_ERR_MEMORY && !plan : plan != NULL, "allocation %ld: status %d", k, status);
        penstock_plan_free(plan);
        penstock_context_free(context);
        CHECK_EQ(penstock__memory_live(), 0);
        CHECK_EQ(penstock__trace_live(), 0);
    }
}

int main(void)
{
    CHECK(test_make_folder(), "no temporary folder");
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    slow_cpu = penstock__cpu_backend;
    slow_cpu.enqueue = slow_enqueue;
    automatic_trace = penstock__trace_backend;
    automatic_trace.enqueue = trace_enqueue;
    automatic_trace.flags = 0;
    remembers();
    without_cache("");
    without_cache("/proc/none");
    candidate_fails();
    told_once();
    fails_later();
    rule_of_thumb();
    tells();
    tells_of_failures();
    begins_on_the_cpu(true);
    begins_on_the_cpu(false);
    without_memory();
    test_remove_folder();
    CHECK_EQ(penstock__trace_violations(), 0);
    CHECK_EQ(penstock__trace_live(), 0);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
