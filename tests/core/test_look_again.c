/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * "auto" looks again: a plan or stream goes over to the processor that stands by once its batches cost more than they
 * would there, and comes back where that is so again; it stays where the difference is small, or where its caller has
 * time to spare; copies that one of the two needs count for it alone, and one that may have its batches meanwhile is
 * tried. All values are there and right. Time is the test's own: frames take as long on each backend as it
 * says.
 */
#include "backends/trace/trace.h"
#include "candidates.h"
#include "core/base/memory.h"
#include "folder.h"
#include "ops/filter/filter_engine.h"
#include "stream_kinds.h"

#include <penstock/choice.h>
#include <time.h>
#include <unistd.h>

extern const struct penstock_backend penstock__cpu_backend, penstock__trace_backend;

enum { PASSES = 4000, CHUNK = 150, ROOM = 60000 };

/* What a frame takes. */
#define CPU_NS   10000
#define TRACE_NS 15000

static _Thread_local long long now_ns =
    1000000000; /* each thread's own: what one times is not slowed down by another */
static _Atomic long long cpu_frame_ns, trace_frame_ns;
static _Atomic int chosen, candidates; /* choices made, and among how many in all */
static int choices;                    /* made for a stream */
static _Atomic int moves, warnings;    /* lines of the log: those that tell of a move */
static struct penstock_backend timed_cpu, timed_trace;
static char want[ROOM * sizeof(penstock_cf32)], got[ROOM * sizeof(penstock_cf32)];
static size_t wanted;

/* The clock of the library, put in its place by the linker (--wrap). */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    long long now = now_ns;
    *time = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

/* ---------------------------------------------------------------- backends -------------------- */

static int cpu_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    now_ns += cpu_frame_ns * (long long)job->frames;
    return penstock__cpu_backend.enqueue(slot, plan, job);
}

static void cpu_run_frames(const struct penstock_plan_state *plan, const void *in, size_t first, size_t count,
                           void *out, void *scratch)
{
    now_ns += cpu_frame_ns * (long long)count;
    penstock__cpu_backend.run_frames(plan, in, first, count, out, scratch);
}

static void cpu_run_gathered(const struct penstock_plan_state *plan, const void *in, size_t samples,
                             const struct penstock_gather *gather, size_t count, void *out, void *scratch)
{
    now_ns += cpu_frame_ns * (long long)count;
    penstock__cpu_backend.run_gathered(plan, in, samples, gather, count, out, scratch);
}

static int trace_enqueue(struct penstock_slot *slot, struct penstock_plan_state *plan, const struct penstock_job *job)
{
    now_ns += trace_frame_ns * (long long)job->frames;
    return penstock__trace_backend.enqueue(slot, plan, job);
}

/* The CPU's filters are no batches of the backend: a sample takes as long. */
int __real_penstock__filter_engine_run(struct filter_engine *engine, const struct filter_blocks *blocks);
int __wrap_penstock__filter_engine_run(struct filter_engine *engine, const struct filter_blocks *blocks);
int __wrap_penstock__filter_engine_run(struct filter_engine *engine, const struct filter_blocks *blocks)
{
    if (!strcmp(penstock__filter_engine_device(engine), "cpu"))
        now_ns += cpu_frame_ns * (long long)(blocks->count * penstock__filter_engine_shape(engine)->block);
    return __real_penstock__filter_engine_run(engine, blocks);
}

static void listen(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    moves += strstr(line, "times as long as that would") != NULL;
    warnings += level == PENSTOCK_LOG_WARNING;
    if (level == PENSTOCK_LOG_WARNING)
        printf("%s\n", line);
}

static void count_choice(void *user, const penstock_choice *choice)
{
    (void)user;
    chosen += choice->chosen;
    candidates += choice->candidate;
}

/* A context whose candidates are these two, where the CPU begins. */
static penstock_context *new_context(void)
{
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1, .log = listen, .cache_dir = "",
                                                                   .auto_cpu_while_compiling = true)));
    test_candidates(context, &timed_cpu, &timed_trace);
    CHECK_OK(penstock_context_tell_choices(context, count_choice, NULL));
    chosen = candidates = moves = warnings = 0;
    cpu_frame_ns = CPU_NS;
    trace_frame_ns = TRACE_NS;
    return context;
}

/* ---------------------------------------------------------------- streams --------------------- */

/* From the first item to the end, in chunks, between which the caller takes `idle_ns`. */
static int pass(const struct stream_case *c, penstock_stream *stream, long long idle_ns, char *to, size_t *made)
{
    size_t taken, given = 1;
    int status = penstock_stream_reset(stream);
    *made = 0;
    for (size_t at = 0; at < c->count && !status; at += taken) {
        size_t count = c->count - at < CHUNK ? c->count - at : CHUNK;
        now_ns += idle_ns;
        if ((status = stream_push(c, stream, (const char *)c->in + at * c->in_bytes, count, &taken)))
            return status;
        do {
            status =
                stream_pull(c, stream, to + *made * c->out_bytes, sizeof want / c->out_bytes - *made, false, &given);
            *made += given;
        } while (given && !status);
    }
    if (!status)
        status = penstock_stream_finish(stream);
    do {
        if (!status)
            status =
                stream_pull(c, stream, to + *made * c->out_bytes, sizeof want / c->out_bytes - *made, true, &given);
        *made += given;
    } while (given && !status);
    return status;
}

static bool is_on(const penstock_stream *stream, const char *device)
{
    return !strcmp(penstock_stream_device(stream), device);
}

/* Passes with the right values until the stream is on `device`, or `most` of them; how many. */
static int passes_until(const struct stream_case *c, penstock_stream *stream, const char *device, int most,
                        long long idle_ns)
{
    size_t made;
    int count = 0;
    while (count < most && !is_on(stream, device)) {
        CHECK_OK(pass(c, stream, idle_ns, got, &made));
        CHECK(made == wanted && stream_values_agree(c, got, want, wanted), "%s: %zu items, not %zu, or other values",
              c->name, made, wanted);
        count++;
        if (count > 200) /* a thread that makes something ready gets a processor */
            usleep(1000);
    }
    return count;
}

/* On the CPU, with the choice made. */
static penstock_stream *begin(const struct stream_case *c, penstock_context *context)
{
    penstock_stream *stream = NULL;
    CHECK_OK(c->kind->open(&stream, context, c->desc, "auto"));
    if (!stream)
        return NULL;
    for (int i = 0; i < 5000 && chosen < choices; i++) {
        passes_until(c, stream, "none", 3, 0);
        usleep(1000);
    }
    CHECK(chosen == choices, "%s: %d choices of %d", c->name, chosen, choices);
    usleep(20000); /* the thread that has chosen ends */
    passes_until(c, stream, "none", 3, 0);
    CHECK(is_on(stream, "cpu"), "%s: on %s", c->name, penstock_stream_device(stream));
    return stream;
}

/* Whether there are two candidates; `choices` is how many are made for a stream. */
static bool has_choice(const struct stream_case *c)
{
    penstock_context *context = new_context();
    choices = strcmp(c->name, "ofdm:frames") ? 1 : 2; /* training symbols have a plan of their own */
    penstock_stream_free(begin(c, context));
    penstock_context_free(context);
    printf("%s: %d candidates\n", c->name, candidates);
    return candidates == 2 * chosen;
}

static void goes_over(const struct stream_case *c, bool comes_back)
{
    penstock_context *context = new_context();
    penstock_stream *stream = begin(c, context);
    if (!stream)
        return;
    cpu_frame_ns = 6 * CPU_NS;
    int passes = passes_until(c, stream, "trace", PASSES, 0);
    CHECK(is_on(stream, "trace") && moves == 1, "%s: on %s after %d passes, %d moves", c->name,
          penstock_stream_device(stream), passes, moves);
    cpu_frame_ns = CPU_NS; /* which nobody knows until it is believed again */
    trace_frame_ns = 30 * TRACE_NS;
    passes = passes_until(c, stream, "cpu", comes_back ? PASSES : 100, 0);
    CHECK(is_on(stream, comes_back ? "cpu" : "trace") && moves == 1 + comes_back, "%s: on %s after %d passes, %d moves",
          c->name, penstock_stream_device(stream), passes, moves);
    printf("%s: %d moves\n", c->name, moves);
    CHECK_EQ(warnings, 0);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* Where it could not return a fifth more is within what measurements scatter, else a twelfth; and the caller of the
 * second one has other things to do. */
static void stays(const struct stream_case *c, bool comes_back)
{
    penstock_context *context = new_context();
    penstock_stream *stream = begin(c, context);
    if (!stream)
        return;
    cpu_frame_ns = TRACE_NS + TRACE_NS / (comes_back ? 12 : 5);
    passes_until(c, stream, "trace", 300, 0);
    CHECK(is_on(stream, "cpu"), "%s: on %s for so little", c->name, penstock_stream_device(stream));
    cpu_frame_ns = 6 * CPU_NS;
    passes_until(c, stream, "trace", 300, 10000 * cpu_frame_ns);
    CHECK(is_on(stream, "cpu"), "%s: on %s though it has time", c->name, penstock_stream_device(stream));
    CHECK_EQ(moves + warnings, 0);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* What the CPU takes as it serves counts in the choice, though it was timed to be the faster one. */
static void feels(const struct stream_case *c)
{
    penstock_context *context = new_context();
    penstock_stream *stream = begin(c, context), *next = NULL; /* its times are remembered */
    cpu_frame_ns = 6 * CPU_NS;
    CHECK_OK(c->kind->open(&next, context, c->desc, "auto"));
    if (next)
        passes_until(c, next, "trace", PASSES, 0);
    CHECK(is_on(next, "trace") && chosen > choices && moves < choices, "%s: on %s, %d moves", c->name,
          penstock_stream_device(next), moves);
    penstock_stream_free(next);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* What a chunk of a pass takes on the CPU. */
static long long chunk_ns(const struct stream_case *c, penstock_stream *stream)
{
    const long long before_ns = now_ns;
    size_t made;
    CHECK_OK(pass(c, stream, 0, got, &made));
    return (now_ns - before_ns) / (long long)((c->count + CHUNK - 1) / CHUNK);
}

/* A device that needs nothing less than the CPU, for which copies are made besides: it is left once the CPU is believed
 * again to be as fast as it was timed, and not taken again. */
static void pays_copies(const struct stream_case *c)
{
    penstock_context *context = new_context();
    penstock_stream *stream = begin(c, context);
    if (!stream)
        return;
    const long long copies_ns = chunk_ns(c, stream) * 6 / 10;
    cpu_frame_ns = 6 * CPU_NS;
    passes_until(c, stream, "trace", PASSES, 0);
    cpu_frame_ns = CPU_NS;
    trace_frame_ns = 9 * CPU_NS / 10;
    int passes = passes_until(c, stream, "cpu", PASSES, copies_ns);
    CHECK(is_on(stream, "cpu") && moves == 2, "%s: on %s after %d passes, %d moves", c->name,
          penstock_stream_device(stream), passes, moves);
    passes_until(c, stream, "trace", 300, 0);
    CHECK(is_on(stream, "cpu") && moves == 2, "%s: on %s in spite of the copies", c->name,
          penstock_stream_device(stream));
    CHECK_EQ(warnings, 0);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* A device that is slower by itself is tried where its batches may overlap with what the caller does. One that has
 * them meanwhile stays, another one is left again. */
static void tries(const struct stream_case *c, bool waits, bool overlaps)
{
    penstock_context *context = new_context();
    penstock_stream *stream = begin(c, context);
    if (!stream)
        return;
    const long long besides_ns = chunk_ns(c, stream) * 25 / 10;
    trace_frame_ns = overlaps ? CPU_NS / 10 : 4 * CPU_NS;
    int passes = passes_until(c, stream, "trace", waits ? 300 : PASSES, besides_ns);
    CHECK(is_on(stream, waits ? "cpu" : "trace") && moves == !waits, "%s: on %s after %d passes, %d moves", c->name,
          penstock_stream_device(stream), passes, moves);
    if (!waits)
        passes = passes_until(c, stream, "cpu", overlaps ? 300 : PASSES, besides_ns);
    CHECK(is_on(stream, overlaps && !waits ? "trace" : "cpu") && moves == (waits ? 0 : 1 + !overlaps),
          "%s: on %s after %d passes, %d moves", c->name, penstock_stream_device(stream), passes, moves);
    CHECK_EQ(warnings, 0);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- failures -------------------- */

/* Allocation k from the moment on at which it looks again fails: it stays or goes over, and all values are right. */
static void without_memory(const struct stream_case *c)
{
    for (long k = 0; k < 40; k++) {
        if (!test_drawn((uint64_t)k, 4))
            continue;
        penstock_context *context = new_context();
        penstock_stream *stream = begin(c, context);
        cpu_frame_ns = 6 * CPU_NS;
        penstock__memory_fail_at(k);
        for (int i = 0; i < 60; i++) {
            size_t made = 0;
            int status = pass(c, stream, 0, got, &made);
            CHECK(!status || status == PENSTOCK_ERR_MEMORY, "%s: allocation %ld: status %d", c->name, k, status);
            CHECK(status || (made == wanted && stream_values_agree(c, got, want, wanted)),
                  "%s: allocation %ld: %zu items, or other values", c->name, k, made);
        }
        penstock__memory_fail_at(-1);
        passes_until(c, stream, "none", 3, 0);
        penstock_stream_free(stream);
        penstock_context_free(context);
        CHECK_EQ(penstock__memory_live(), 0);
        CHECK_EQ(penstock__trace_live(), 0);
    }
}

/* ---------------------------------------------------------------- cases ----------------------- */

/* Streams whose device "auto" chooses among these two. Those that are plans come back, and one of them waits for each
 * batch. */
static const struct {
    const char *name;
    bool comes_back, waits;
} kinds[] = {{"fft", true, false},         {"spectrum", true, false}, {"scale", true, true},
             {"synthesizer", true, false}, {"filter", false, false},  {"channelizer", false, false},
             {"ofdm", false, false}};

/* Of a case in the table above; -1: it has another way. */
static int kind_of(const struct stream_case *c)
{
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        if (!strncmp(c->name, kinds[i].name, strlen(kinds[i].name)) && !c->kind->untraced)
            return i;
    return -1;
}

/* What a pass gives on the CPU. */
static void make_wanted(const struct stream_case *c)
{
    penstock_context *context = new_context();
    penstock_stream *stream = NULL;
    CHECK_OK(c->kind->open(&stream, context, c->desc, "cpu"));
    if (stream)
        CHECK_OK(pass(c, stream, 0, want, &wanted));
    CHECK(wanted > 3, "%s: %zu items", c->name, wanted);
    penstock_stream_free(stream);
    penstock_context_free(context);
}

int main(void)
{
    size_t count, run = 0, plans = 0;
    int before = -1;
    const struct stream_case *cases = stream_cases(&count);
    CHECK(test_make_folder(), "no temporary folder");
    setenv("OCL_ICD_VENDORS", "/none", 1); /* its drivers take long to start, and are not asked for here */
    timed_cpu = penstock__cpu_backend;
    timed_cpu.enqueue = cpu_enqueue;
    timed_cpu.run_frames = cpu_run_frames;
    timed_cpu.run_gathered = cpu_run_gathered;
    timed_trace = penstock__trace_backend;
    timed_trace.enqueue = trace_enqueue;
    timed_trace.flags = 0;
    for (size_t i = 0; i < count; i++) {
        const int kind = kind_of(&cases[i]);
        if (kind < 0)
            continue;
        make_wanted(&cases[i]);
        if (!has_choice(&cases[i]))
            continue;
        goes_over(&cases[i], kinds[kind].comes_back);
        stays(&cases[i], kinds[kind].comes_back);
        feels(&cases[i]);
        if (kinds[kind].comes_back && kind != before) {
            pays_copies(&cases[i]);
            tries(&cases[i], kinds[kind].waits, true);
            tries(&cases[i], kinds[kind].waits, false);
            plans++;
        }
        before = kind;
        run++;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(cases[i].name, "scale") || !strcmp(cases[i].name, "filter:33:tunable")) {
            make_wanted(&cases[i]);
            has_choice(&cases[i]);
            without_memory(&cases[i]);
        }
    printf("%zu streams\n", run);
    CHECK_EQ(run, 20); /* the trace device does not transform columns, so that spectra of channels have no choice */
    CHECK_EQ(plans, 4);
    stream_cases_free();
    test_remove_folder();
    CHECK_EQ(penstock__trace_violations(), 0);
    CHECK_EQ(penstock__trace_live(), 0);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
