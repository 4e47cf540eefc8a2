/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The CPU serves while a device's kernels are compiled. The compiler takes as long as the test wants: one of the kernel
 * sources is a pipe, which a thread of the test fills when it is told to.
 */
#include "backends/backend.h"
#include "core/memory.h"
#include "device.h"
#include "fft_error.h"
#include "folder.h"
#include "ops/filter_stream.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <penstock/fft_stream.h>
#include <penstock/filter.h>

#define N        600
#define VECTORS  64
#define GUARD_S  120 /* a test that hangs fails */
#define BETWEEN  7   /* vectors of a push: no divisor of a batch */
#define PIPE     "fft.cl"
#define AND_MORE 3 /* batches on the device */

static const char *kind;   /* "opencl" */
static char preferred[64]; /* "prefer:opencl" */
static unsigned warnings;  /* lines of the log, and the last of them */
static char warning[256];

/* ---------------------------------------------------------------- sources --------------------- */

static char pipe_path[300], *content;  /* of the file that is a pipe */
static char nothing[] = "no kernel\n"; /* instead */
static pthread_t feeder;

/* The one who reads the pipe next gets the text, and all who come after it, too: they find a file there. */
static void *feed_text(void *text)
{
    FILE *pipe = fopen(pipe_path, "we"), *file; /* waits for the reader */
    char path[320];
    snprintf(path, sizeof path, "%s.text", pipe_path);
    if ((file = fopen(path, "we"))) {
        fputs(text, file);
        fclose(file);
        rename(path, pipe_path);
    }
    if (pipe) {
        fputs(text, pipe);
        fclose(pipe);
    }
    return NULL;
}

static void start_feeding(char *text)
{
    CHECK(!pthread_create(&feeder, NULL, feed_text, text), "no thread");
}

static void stop_feeding(void)
{
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* lets it out of fopen */
    pthread_join(feeder, NULL);
    close(reader);
    unlink(pipe_path);
    CHECK(!mkfifo(pipe_path, 0600), "cannot make a pipe");
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 1 << 16);
    CHECK(file && text && fread(text, 1, (1 << 16) - 1, file) > 0, "cannot read %s", path);
    if (file)
        fclose(file);
    return text;
}

static void make_sources(void)
{
    char path[800], here[400];
    const struct dirent *file;
    DIR *folder = opendir("kernels");
    CHECK(folder && test_make_folder() && getcwd(here, sizeof here), "cannot make a folder");
    while (folder && (file = readdir(folder)))
        if (strstr(file->d_name, ".h")) {
            snprintf(path, sizeof path, "%s/kernels/%s", here, file->d_name);
            CHECK(!symlink(path, test_path(file->d_name)), "cannot link to %s", path);
        }
    if (folder)
        closedir(folder);
    snprintf(pipe_path, sizeof pipe_path, "%s", test_path(PIPE));
    CHECK(!mkfifo(pipe_path, 0600), "cannot make a pipe");
    content = read_file("kernels/" PIPE);
}

/* ---------------------------------------------------------------- plans ----------------------- */

static penstock_cf32 in[VECTORS * N], out[VECTORS * N];
static double want[2 * VECTORS * N];

static void make_vectors(void)
{
    uint64_t random = 7;
    for (size_t i = 0; i < 2 * VECTORS * N; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        (&in->re)[i] = (float)(int32_t)(random >> 32) * 0x1p-31f;
        want[i] = (double)(&in->re)[i];
    }
    for (size_t v = 0; v < VECTORS; v++)
        CHECK_OK(penstock__dft(want + 2 * v * N, N, PENSTOCK_FORWARD));
}

static void check_vectors(const char *what)
{
    for (size_t v = 0; v < VECTORS; v++) {
        double error = relative_error(&out[v * N].re, want + 2 * v * N, 2 * N);
        CHECK(error <= error_bound(N), "%s: vector %zu has error %g", what, v, error);
    }
    memset(out, 0, sizeof out);
}

static void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level != PENSTOCK_LOG_WARNING)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static penstock_context *new_context(void)
{
    penstock_context *context = NULL;
    warnings = 0;
    CHECK_OK(
        penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = test_folder, .cache_dir = "", .threads = 2,
                                                              .log = count_lines, .meanwhile = true)));
    return context;
}

static penstock_plan_info info_of(const penstock_plan *plan)
{
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(penstock_plan_get_info(plan, &info));
    return info;
}

static bool is_kind(const char *device)
{
    return !strncmp(device, kind, strlen(kind));
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A plan whose kernels wait for the pipe, and batches on the CPU. */
static penstock_plan *new_plan(penstock_context *context, const char *device)
{
    penstock_plan *plan = NULL;
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), device));
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("the CPU");
    }
    penstock_plan_info info = info_of(plan);
    CHECK(!strcmp(info.device, "cpu"), "a plan that waits runs on %s", info.device);
    CHECK(info.awaited && strstr(device, info.awaited), "it waits for %s", info.awaited ? info.awaited : "nothing");
    CHECK_EQ(info.meanwhile, 3);
    return plan;
}

/* Batches until the plan waits for nothing; how many there were. */
static unsigned run_until_ready(penstock_plan *plan)
{
    double start = now_s();
    unsigned batches = 0;
    for (; info_of(plan).awaited && now_s() - start < GUARD_S; batches++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("while it changes");
    }
    CHECK(!info_of(plan).awaited, "nothing came within %d s", GUARD_S);
    return batches;
}

static void goes_over(const char *device, const char *expected)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, device);
    start_feeding(content);
    unsigned batches = run_until_ready(plan);
    stop_feeding();
    penstock_plan_info info = info_of(plan);
    CHECK(!expected || is_kind(info.device), "%s ends on %s", device, info.device);
    CHECK_EQ(info.meanwhile, 3 + batches - 1); /* the last of them went to the device */
    for (unsigned i = 0; i < AND_MORE; i++) {
        CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
        check_vectors("the device");
    }
    CHECK_EQ(info_of(plan).meanwhile, info.meanwhile);
    CHECK(!warnings, "%u warnings, \"%s\"", warnings, warning);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* With batches in flight in all slots when the device comes. */
static void in_flight(void)
{
    enum { SLOTS = 3, EACH = VECTORS / 8 };
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    double start = now_s();
    start_feeding(content);
    for (bool more = true; more && now_s() - start < GUARD_S; more = info_of(plan).awaited) {
        uint64_t ticket = 0;
        for (unsigned i = 0; i < VECTORS / EACH; i++)
            CHECK_OK(penstock_plan_submit(plan, in + i * EACH * N, out + i * EACH * N, EACH, &ticket));
        CHECK_OK(penstock_plan_wait(plan, ticket));
        check_vectors("in flight");
    }
    stop_feeding();
    CHECK(is_kind(info_of(plan).device), "it ends on %s", info_of(plan).device);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* Kernels that do not compile: the CPU goes on, and one line says so. */
static void fails(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    start_feeding(nothing);
    run_until_ready(plan);
    stop_feeding();
    CHECK_OK(penstock_plan_run(plan, in, out, VECTORS));
    check_vectors("the CPU after a failure");
    CHECK(!strcmp(info_of(plan).device, "cpu"), "it ends on %s", info_of(plan).device);
    CHECK(warnings == 1, "%u warnings, \"%s\"", warnings, warning);
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* The plan goes while its kernels are compiled. */
static void dies(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = new_plan(context, preferred);
    start_feeding(content);
    penstock_plan_free(plan);
    stop_feeding();
    penstock_context_free(context);
}

/* A device that is named, and a context that does not ask for it, wait. */
static void waits(void)
{
    penstock_context *context = new_context();
    penstock_plan *plan = NULL;
    start_feeding(content);
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), kind));
    CHECK(is_kind(info_of(plan).device) && !info_of(plan).awaited, "a named device's plan is on %s",
          info_of(plan).device);
    penstock_plan_free(plan);
    stop_feeding();
    penstock_context_free(context);
    start_feeding(content);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = test_folder, .cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = N), preferred));
    CHECK(is_kind(info_of(plan).device), "a patient context's plan is on %s", info_of(plan).device);
    stop_feeding();
    penstock_plan_free(plan);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- streams --------------------- */

/* Vectors come out in order, none lost, while the device changes under the stream. */
static void streams(void)
{
    penstock_context *context = new_context();
    penstock_fft_stream *stream = NULL;
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double start = now_s();
    CHECK_OK(penstock_fft_stream_new(&stream, context, &PENSTOCK_FFT_STREAM_DESC(.n = N), preferred));
    start_feeding(content);
    uint64_t pushed = 0, pulled = 0, after = 0;
    while (after < 4 * VECTORS && now_s() - start < GUARD_S) {
        size_t taken = 0, given = 0, at = pushed % VECTORS, some = VECTORS - at < BETWEEN ? VECTORS - at : BETWEEN;
        CHECK_OK(penstock_fft_stream_run(stream, in + at * N, some, &taken, out, VECTORS, &given));
        for (size_t i = 0; i < given; i++) {
            double error = relative_error(&out[i * N].re, want + 2 * N * ((pulled + i) % VECTORS), 2 * N);
            CHECK(error <= error_bound(N), "vector %llu of the stream has error %g", (unsigned long long)(pulled + i),
                  error);
        }
        pushed += taken;
        pulled += given;
        after += is_kind(penstock_fft_stream_device(stream)) ? given : 0;
    }
    stop_feeding();
    CHECK_OK(penstock_fft_stream_get_stats(stream, &stats));
    CHECK(after >= 4 * VECTORS, "%llu vectors of the device within %d s", (unsigned long long)after, GUARD_S);
    CHECK(stats.meanwhile > 0 && stats.fallbacks == 0, "%llu batches meanwhile, %llu fallbacks",
          (unsigned long long)stats.meanwhile, (unsigned long long)stats.fallbacks);
    penstock_fft_stream_free(stream);
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- filters --------------------- */

#define TAPS     33
#define POINTS   64
#define PIECE    777
#define FILTERED (VECTORS * N)

static float taps[TAPS];
static double right[2 * FILTERED]; /* the CPU's values: their errors are for other tests */

static penstock_filter *new_filter(penstock_context *context, const char *device)
{
    penstock_filter *filter = NULL;
    CHECK_OK(penstock_filter_new(&filter, context,
                                 &PENSTOCK_FILTER_DESC(.real_taps = taps, .tap_count = TAPS, .n = POINTS, .shift = 0.1),
                                 device));
    return filter;
}

static bool is_on(const penstock_filter *filter, const char *device)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    return !strncmp(info.device, device, strlen(device));
}

/* The next piece; values against the CPU's. */
static void filter_piece(penstock_filter *filter, size_t *at, size_t *made, size_t most)
{
    size_t left = FILTERED - *at, taken = 0, given = 0;
    CHECK_OK(penstock_filter_run(filter, in + *at, left < most ? left : most, &taken, out, FILTERED - *made, &given));
    double error = given ? relative_error(&out->re, right + 2 * *made, 2 * given) : 0;
    CHECK(error <= 2 * error_bound(POINTS) * 2, "values from %zu on have error %g", *made, error);
    *at += taken;
    *made += given;
}

/* Until nothing is waited for, over and over again, and to the end. */
static void filter_stream(penstock_filter *filter, char *text)
{
    penstock_stream_stats stats = PENSTOCK_STREAM_STATS;
    double start = now_s();
    size_t at = 0, made = 0, given;
    for (unsigned i = 0; i < 4; i++)
        filter_piece(filter, &at, &made, PIECE);
    CHECK_OK(penstock_filter_get_stats(filter, &stats));
    CHECK(is_on(filter, "cpu") && stats.meanwhile > 0, "a filter that waits is not on the CPU");
    start_feeding(text);
    while (filter->arrival && now_s() - start < GUARD_S) {
        if (at == FILTERED) {
            CHECK_OK(penstock_filter_reset(filter));
            at = made = 0;
        }
        filter_piece(filter, &at, &made, PIECE);
    }
    CHECK_OK(penstock_filter_get_stats(filter, &stats));
    while (at < FILTERED)
        filter_piece(filter, &at, &made, 5 * PIECE);
    stop_feeding();
    CHECK_OK(penstock_filter_finish(filter));
    do
        CHECK_OK(penstock_filter_pull(filter, out, FILTERED, true, &given));
    while (made += given, given);
    CHECK_EQ(made, FILTERED);
    CHECK(!stats.fallbacks, "%llu fallbacks", (unsigned long long)stats.fallbacks);
}

/* It goes over in mid-stream, stays where kernels do not compile, or is freed. */
static void filters(void)
{
    const char *const devices[] = {preferred, "auto"};
    penstock_context *context = NULL;
    size_t count = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 2)));
    for (size_t k = 0; k < TAPS; k++)
        taps[k] = (float)(k + 1) / TAPS;
    penstock_filter *filter = new_filter(context, "cpu");
    CHECK_OK(penstock_filter_push(filter, in, FILTERED, &count));
    CHECK_EQ(count, FILTERED);
    CHECK_OK(penstock_filter_finish(filter));
    CHECK_OK(penstock_filter_pull(filter, out, FILTERED, true, &count));
    CHECK_EQ(count, FILTERED);
    for (size_t i = 0; i < 2 * FILTERED; i++)
        right[i] = (double)(&out->re)[i];
    penstock_filter_free(filter);
    penstock_context_free(context);
    for (unsigned i = 0; i < 4; i++) {
        context = new_context();
        filter = new_filter(context, devices[i == 1]);
        if (i < 3) {
            filter_stream(filter, i < 2 ? content : nothing);
            CHECK(i == 1 || is_on(filter, i ? "cpu" : kind), "filter %u ends on another device", i);
            CHECK(warnings == (i == 2), "filter %u: %u warnings, \"%s\"", i, warnings, warning);
            penstock_filter_free(filter);
        } else {
            start_feeding(content);
            penstock_filter_free(filter);
            stop_feeding();
        }
        penstock_context_free(context);
    }
}

int main(int count, char **arguments)
{
    penstock_context *context;
    kind = count > 1 ? arguments[1] : "opencl";
    snprintf(preferred, sizeof preferred, "prefer:%s", kind);
    int exits = test_device(&context, kind);
    if (!context)
        return exits;
    penstock_context_free(context);
    signal(SIGPIPE, SIG_IGN); /* a compiler need not read all */
    make_sources();
    make_vectors();
    goes_over(preferred, kind);
    if (!strcmp(kind, "opencl")) /* of others it could choose OpenCL too */
        goes_over("auto", NULL);
    in_flight();
    streams();
    if (!strcmp(kind, "opencl")) { /* the compiler of the driver for tests takes anything */
        fails();
        filters();
    }
    dies();
    waits();
    test_remove_folder();
    free(content);
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
