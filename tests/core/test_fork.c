/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * fork() with everything in flight: a plan's batches, streams of all kinds, a source and a sink, while another thread
 * makes plans and runs them in the same context. The child goes on with all of that and frees it, within a deadline.
 * Where the device outlives a fork it gives the values of a process that never forked; where it does not, calls say so,
 * and what may go over to the CPU does. Usage: test_fork DEVICE [FFT];
 * with PENSTOCK_TEST_FULL=1 more often.
 */
#include "child.h"
#include "device.h"
#include "folder.h"
#include "stream_kinds.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAMES = 64,
    POINTS = 240,
    BATCHES = 3,
    MOST_CASES = 32,
    FORKS = 36,
    MANY_FORKS = 108,
    THIRDS = 3,
    DEADLINE_S = 90,
    SAMPLES = 4096
};

static const char *device;
static bool lost;    /* the device does not outlive a fork, */
static bool private; /* nor does memory of the host that it lends */
static char input[300], output[300];
static const struct stream_case *cases;
static size_t case_count;
static char *want[MOST_CASES]; /* of each case, in a process that never forked */
static size_t wanted[MOST_CASES];

struct pending {
    size_t first, step; /* of the cases */
    penstock_context *context;
    penstock_plan *plan;
    uint64_t ticket;
    penstock_queue *queue; /* with a batch of the plan in it */
    penstock_buffer *from, *to;
    penstock_stream *streams[MOST_CASES];
    size_t taken[MOST_CASES];
    char *got[MOST_CASES];
    size_t given[MOST_CASES];
    penstock_source *source;
    penstock_sink *sink;
};

static penstock_cf32 in[BATCHES][FRAMES * POINTS], out[BATCHES][FRAMES * POINTS], expected[BATCHES][FRAMES * POINTS];

/* ---------------------------------------------------------------- streams --------------------- */

static size_t room_of(const struct stream_case *c)
{
    return c->count * 4 + 4096;
}

/* Pushes up to `end` and pulls what is ready; at the end of the stream all. The first error. */
static int advance(struct pending *pending, size_t i, size_t end)
{
    const struct stream_case *c = &cases[i];
    const size_t chunk = 700;
    int status = PENSTOCK_OK;
    while (!status && (pending->taken[i] < end || end == c->count)) {
        size_t taken = 0, count = 0, left = end - pending->taken[i];
        bool over = !left;
        if (over && (status = penstock_stream_finish(pending->streams[i])))
            return status;
        if (left)
            status = stream_push(c, pending->streams[i], (const char *)c->in + pending->taken[i] * c->in_bytes,
                                 left < chunk ? left : chunk, &taken);
        pending->taken[i] += taken;
        if (!status)
            status = stream_pull(c, pending->streams[i], pending->got[i] + pending->given[i] * c->out_bytes,
                                 room_of(c) - pending->given[i], over, &count);
        pending->given[i] += count;
        if (over && !count)
            break;
    }
    return status;
}

/* ---------------------------------------------------------------- the parent ------------------ */

static void open_files(struct pending *pending)
{
    CHECK_OK(penstock_source_open(&pending->source, pending->context, input,
                                  &PENSTOCK_SOURCE_DESC(.raw = true, .rate_hz = 1e6)));
    CHECK_OK(penstock_sink_open(&pending->sink, output, &PENSTOCK_SINK_DESC(.rate_hz = 1e6)));
    size_t count;
    CHECK_OK(penstock_source_read(pending->source, out[0], SAMPLES / 2, &count));
    CHECK_OK(penstock_sink_write(pending->sink, out[0], count));
}

static void begin_all(struct pending *pending, const char *where, unsigned threads)
{
    CHECK_OK(penstock_context_new(&pending->context, &PENSTOCK_CONTEXT_DESC(.threads = threads)));
    open_files(pending);
    CHECK_OK(penstock_fft_plan(&pending->plan, pending->context, &PENSTOCK_FFT_DESC(.n = POINTS), where));
    for (size_t i = pending->first; i < case_count; i += pending->step) {
        pending->got[i] = calloc(room_of(&cases[i]), cases[i].out_bytes);
        CHECK_OK(
            cases[i].kind->open(&pending->streams[i], pending->context, cases[i].desc,
                                cases[i].kind->untraced && !strncmp(where, "trace", strlen("trace")) ? "cpu" : where));
        CHECK_OK(advance(pending, i, cases[i].count * (1 + i % 3) / 4));
    }
    CHECK_OK(penstock_queue_new(&pending->queue, pending->context, device));
    CHECK_OK(penstock_buffer_new(&pending->from, pending->context, device, sizeof in[0]));
    CHECK_OK(penstock_buffer_new(&pending->to, pending->context, device, sizeof out[0]));
    CHECK_OK(penstock_buffer_upload(pending->from, in[0], sizeof in[0], pending->queue));
    CHECK_OK(penstock_plan_enqueue(pending->plan, pending->from, pending->to, FRAMES, pending->queue));
    for (int b = 0; b < BATCHES; b++)
        CHECK_OK(penstock_plan_submit(pending->plan, in[b], out[b], FRAMES, &pending->ticket));
}

static void free_all(struct pending *pending)
{
    for (size_t i = pending->first; i < case_count; i += pending->step) {
        penstock_stream_free(pending->streams[i]);
        free(pending->got[i]);
    }
    penstock_queue_free(pending->queue);
    penstock_buffer_free(pending->from);
    penstock_buffer_free(pending->to);
    penstock_plan_free(pending->plan);
    penstock_source_free(pending->source);
    penstock_sink_free(pending->sink);
    penstock_context_free(pending->context);
    pending->context = NULL;
}

static atomic_bool over;

/* Another thread of the application: locks of the context, the planners and the pool are held most of the time. */
static void *work_beside(void *context)
{
    static const size_t lengths[] = {7, 12, 240, 480, 1000, 1021};
    static penstock_cf32 from[64 * 1021], to[64 * 1021];
    for (unsigned i = 0; !atomic_load(&over); i++) {
        penstock_plan *plan;
        void *memory;
        size_t n = lengths[i % (sizeof lengths / sizeof *lengths)];
        if (!penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n), i % 2 ? "cpu" : device)) {
            penstock_plan_run(plan, from, to, 64);
            penstock_plan_free(plan);
        }
        if (!penstock_host_memory_new(&memory, context, "cpu", 4096))
            penstock_host_memory_free(context, memory);
    }
    return NULL;
}

/* ---------------------------------------------------------------- the child ------------------- */

static bool is_right(int b)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < FRAMES * POINTS; i++) {
        double re = (double)out[b][i].re - (double)expected[b][i].re,
               im = (double)out[b][i].im - (double)expected[b][i].im;
        error += re * re + im * im;
        norm += (double)expected[b][i].re * (double)expected[b][i].re +
                (double)expected[b][i].im * (double)expected[b][i].im;
    }
    return error <= 1e-11 * norm;
}

static bool has_text(void)
{
    return *penstock_error_text() && !strchr(penstock_error_text(), '\n');
}

/* New ones on the inherited context, and on one of the child's own. */
static void make_new(penstock_context *context)
{
    static const char *const names[] = {"auto", "cpu", NULL, NULL};
    char prefer[64];
    snprintf(prefer, sizeof prefer, "prefer:%s", device);
    for (int i = 0; i < 4; i++) {
        const char *name = i == 2 ? prefer : i == 3 ? device : names[i];
        penstock_plan *plan = NULL;
        memset(out[0], 0, sizeof out[0]);
        int status = penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = POINTS), name);
        if (i == 3 && lost) {
            CHECK(status == PENSTOCK_ERR_NO_DEVICE && has_text(), "%s in a child: %d", name, status);
            continue;
        }
        CHECK(!status, "%s in a child: %d: %s", name, status, penstock_error_text());
        if (!status)
            CHECK_OK(penstock_plan_run(plan, in[0], out[0], FRAMES));
        CHECK(is_right(0), "%s in a child: wrong values", name);
        penstock_plan_free(plan);
    }
}

static void go_on(struct pending *pending, size_t i, bool named)
{
    const struct stream_case *c = &cases[i];
    int status = advance(pending, i, c->count);
    if (lost && (named || private)) {
        CHECK((!status || has_text()) && status != PENSTOCK_ERR_ARGUMENT, "%s: %d", c->name, status);
        return;
    }
    CHECK(!status, "%s in a child: %d: %s", c->name, status, penstock_error_text());
    CHECK(pending->given[i] == wanted[i], "%s in a child: %zu items, wanted %zu", c->name, pending->given[i],
          wanted[i]);
    bool right = lost ? stream_values_agree(c, pending->got[i], want[i], wanted[i])
                      : !memcmp(pending->got[i], want[i], wanted[i] * c->out_bytes);
    CHECK(right, "%s in a child: other values", c->name);
}

/* What belongs to the parent. */
static void touch_files(struct pending *pending)
{
    size_t count;
    CHECK_EQ(penstock_source_read(pending->source, out[0], 16, &count), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_sink_write(pending->sink, out[0], 16), PENSTOCK_ERR_STATE);
    CHECK_EQ(penstock_sink_close(pending->sink), PENSTOCK_ERR_STATE);
    CHECK(has_text(), "no text");
}

/* What is in the device's memory, to `out`. In a child whose device is lost it is, too. */
static void fetch(struct pending *pending, bool is_lost)
{
    penstock_buffer *made = NULL;
    memset(out[0], 0, sizeof out[0]);
    int status = penstock_buffer_download(pending->to, out[0], sizeof out[0], pending->queue);
    CHECK(is_lost ? status && has_text() : !status && is_right(0), "from the device's memory: %d: %s", status,
          penstock_error_text());
    status = penstock_plan_enqueue(pending->plan, pending->from, pending->to, FRAMES, pending->queue);
    CHECK(is_lost ? status && has_text() : !status, "enqueued again: %d: %s", status, penstock_error_text());
    status = penstock_buffer_new(&made, pending->context, device, 64);
    CHECK(is_lost ? status && has_text() : !status, "new memory: %d: %s", status, penstock_error_text());
    penstock_buffer_free(made);
}

/* `free_only`: what is in flight is abandoned. */
static void live_on(struct pending *pending, bool named, bool free_only)
{
    penstock_context *own = NULL;
    test_failures = 0;
    if (!free_only) {
        int status = penstock_plan_wait(pending->plan, pending->ticket);
        CHECK(lost && named ? status && has_text() : !status, "wait in a child: %d: %s", status, penstock_error_text());
        for (int b = 0; b < BATCHES && !status; b++)
            CHECK(is_right(b), "batch %d: wrong values", b);
        for (size_t i = pending->first; i < case_count; i += pending->step)
            go_on(pending, i, named);
        fetch(pending, lost);
        make_new(pending->context);
        touch_files(pending);
    }
    free_all(pending);
    CHECK_OK(penstock_context_new(&own, &PENSTOCK_CONTEXT_DESC(.threads = 2)));
    make_new(own);
    penstock_context_free(own);
    _exit(test_failures ? 1 : 0);
}

/* ---------------------------------------------------------------- rounds ---------------------- */

/* True where it ended by itself, with status 0. */
static bool wait_for(pid_t child, const char *what)
{
    int status;
    if (!child_ends(child, &status, DEADLINE_S)) {
        CHECK(false, "%s: the child hangs", what);
        return false;
    }
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%s: the child ended with %#x", what, status);
    return true;
}

static void check_sink(struct pending *pending)
{
    struct penstock_source *written;
    size_t count = 0;
    CHECK_OK(penstock_sink_close(pending->sink));
    CHECK_OK(penstock_source_open(&written, NULL, output, &PENSTOCK_SOURCE_DESC(.raw = true, .rate_hz = 1e6)));
    CHECK_OK(penstock_source_read(written, out[0], SAMPLES, &count));
    CHECK_EQ(count, SAMPLES / 2);
    penstock_source_free(written);
    CHECK_OK(penstock_source_read(pending->source, out[0], SAMPLES, &count));
    CHECK_EQ(count, SAMPLES / 2); /* the child has taken none */
}

/* The parent goes on as if nothing had been. */
static void check_parent(struct pending *pending)
{
    CHECK_OK(penstock_plan_wait(pending->plan, pending->ticket));
    for (size_t i = pending->first; i < case_count; i += pending->step) {
        CHECK_OK(advance(pending, i, cases[i].count));
        CHECK(pending->given[i] == wanted[i] && !memcmp(pending->got[i], want[i], wanted[i] * cases[i].out_bytes),
              "%s: the parent has other values", cases[i].name);
    }
    fetch(pending, false);
    check_sink(pending);
}

static void fork_once(int number)
{
    struct pending pending = {.first = case_count > 1 ? (size_t)number % THIRDS : 0, .step = THIRDS};
    unsigned threads = 1u << number / THIRDS % 3;
    char where[64], what[128];
    bool named = number / THIRDS % 2 == 0, free_only = number % 8 == 7, beside = number % 5 != 4;
    pthread_t other;
    snprintf(where, sizeof where, "%s%s", named ? "" : "prefer:", device);
    snprintf(what, sizeof what, "%s, %u threads, fork %d", where, threads, number);
    begin_all(&pending, where, threads);
    atomic_store(&over, false);
    if (beside && pthread_create(&other, NULL, work_beside, pending.context))
        beside = false;
    nanosleep(&(struct timespec){.tv_nsec = number % 5 * 700000L + 1000}, NULL);
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        live_on(&pending, named, free_only);
    CHECK(child > 0, "no fork");
    bool ended = child > 0 && wait_for(child, what);
    atomic_store(&over, true);
    if (beside)
        pthread_join(other, NULL);
    if (ended)
        check_parent(&pending);
    free_all(&pending);
}

/* A device that is being made ready by a thread of its own. */
static void fork_while_it_comes(void)
{
    for (size_t n = 500; n < 502; n++) {
        penstock_context *context;
        penstock_plan *plan;
        char where[64];
        snprintf(where, sizeof where, "prefer:%s", device);
        CHECK_OK(penstock_context_new(
            &context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = "", .cpu_while_compiling = true)));
        CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = n), where));
        pid_t child = fork();
        if (!child) {
            test_failures = 0;
            CHECK_OK(penstock_plan_run(plan, in[0], out[0], 8));
            penstock_plan_free(plan);
            penstock_context_free(context);
            _exit(test_failures ? 1 : 0);
        }
        if (child > 0)
            wait_for(child, "while the device is made ready");
        penstock_plan_free(plan);
        penstock_context_free(context);
    }
}

static void write_input(void)
{
    FILE *file = fopen(input, "wb");
    CHECK(file && fwrite(in, sizeof in[0][0], SAMPLES, file) == SAMPLES && !fclose(file), "cannot write %s", input);
}

static void compute_expected(void)
{
    struct pending pending = {.step = 1};
    uint64_t seed = 5;
    for (int b = 0; b < BATCHES; b++)
        for (size_t i = 0; i < FRAMES * POINTS; i++)
            in[b][i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    write_input();
    begin_all(&pending, device, 1);
    CHECK_OK(penstock_plan_wait(pending.plan, pending.ticket));
    memcpy(expected, out, sizeof out);
    for (size_t i = 0; i < case_count; i++) {
        CHECK_OK(advance(&pending, i, cases[i].count));
        want[i] = pending.got[i];
        wanted[i] = pending.given[i];
        pending.got[i] = NULL;
        CHECK(wanted[i], "%s gives nothing", cases[i].name);
    }
    free_all(&pending);
}

/* One in five of them: PoCL takes seconds to compile each. */
static void draw_cases(void)
{
    static struct stream_case drawn[MOST_CASES];
    size_t count = 0;
    for (size_t i = 0; i < case_count; i++)
        if (test_drawn(i, 5))
            drawn[count++] = cases[i];
    cases = drawn;
    case_count = count;
}

int main(int argc, char **argv)
{
    penstock_context *context;
    int forks = 0, most, status;
    device = argc > 1 ? argv[1] : "cpu";
    private = !strcmp(device, "cuda");
    lost = private || !strcmp(device, "opencl");
    if ((status = test_device(&context, device)))
        return status;
    penstock_context_free(context);
    cases = stream_cases(&case_count);
    if (!strcmp(device, "opencl"))
        draw_cases();
    if (argc > 2) /* FFT: the stream that needs nothing else */
        case_count = 1;
    CHECK(test_make_folder(), "no folder");
    snprintf(input, sizeof input, "%s", test_path("in.cf32"));
    snprintf(output, sizeof output, "%s", test_path("out.cf32"));
    compute_expected();
    most = getenv("PENSTOCK_TEST_FULL") ? MANY_FORKS : argc > 2 ? FORKS / 4 : lost ? FORKS / 3 : FORKS;
    for (int number = 0; number < most && !test_failures; number++)
        if (test_drawn((uint64_t)number, lost ? 1 : 3)) {
            fork_once(number);
            forks++;
        }
    if (lost)
        fork_while_it_comes();
    printf("%s: %d forks\n", device, forks);
    for (size_t i = 0; i < case_count; i++)
        free(want[i]);
    stream_cases_free();
    test_remove_folder();
    return test_finish();
}
