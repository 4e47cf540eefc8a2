/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Tuning of plans: shapes are timed once and the answer kept, until it is damaged, of other kernel sources or of
 * another batch; the fastest one is taken (where the driver for tests says which that is), and one that fails its check
 * is not; threads; and calls and allocations that fail.
 */
#include "core/base/memory.h"
#include "core/device/devices.h"
#include "folder.h"
#include "shim_calls.h"
#include "test.h"

#include <penstock/penstock.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 60, FRAMES = 40, THREADS = 4 };

static const char *device;
static size_t points = MOST; /* fewer on OpenCL: PoCL compiles for seconds */
static penstock_cf32 in[FRAMES * MOST];
static double want[FRAMES][2 * MOST];
static unsigned plans;

static void prepare(void)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < FRAMES * points; i++)
        in[i] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
    for (size_t frame = 0; frame < FRAMES; frame++) {
        for (size_t i = 0; i < 2 * points; i++)
            want[frame][i] = ((const float *)in)[frame * 2 * points + i];
        CHECK_OK(penstock__dft(want[frame], points, PENSTOCK_FORWARD));
    }
}

static double error_of(const penstock_cf32 *out)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < 2 * FRAMES * points; i++) {
        double value = want[i / (2 * points)][i % (2 * points)];
        error += pow(((const float *)out)[i] - value, 2);
        norm += pow(value, 2);
    }
    return sqrt(error / norm);
}

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER; /* of checks, which threads share */

/* A tuned plan and a batch: 0 or the first error. What the plan says of itself in `info`, its variant in `text`. */
static int use(penstock_context *context, size_t batch, penstock_plan_info *info, char text[80])
{
    static _Thread_local penstock_cf32 out[FRAMES * MOST];
    penstock_plan *plan = NULL;
    int status =
        penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = points, .batch = batch, .tune = true), device);
    *info = PENSTOCK_PLAN_INFO;
    if (!status && !(status = penstock_plan_get_info(plan, info)) &&
        !(status = penstock_plan_run(plan, in, out, FRAMES))) {
        pthread_mutex_lock(&counting);
        CHECK(error_of(out) < 1e-7 * sqrt(log2((double)points)), "error %.3g", error_of(out));
        pthread_mutex_unlock(&counting);
    }
    snprintf(text, 80, "%s", status ? "" : info->variant);
    penstock_plan_free(plan);
    return status;
}

/* In a context of its own; how many shapes were timed. */
static unsigned tuned(const char *folder, const char *kernels, size_t batch, char text[80])
{
    penstock_context *context;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = folder, .kernel_path = kernels)));
    CHECK_OK(use(context, batch, &info, text));
    penstock_context_free(context);
    CHECK((info.timed > 0) == (info.tuning_s > 0), "%u shapes timed in %g s", info.timed, info.tuning_s);
    plans++;
    return info.timed;
}

/* ---------------------------------------------------------------- the answer is kept ---------- */

/* The path of the file in which an answer is; "" if none, and an error if there are several. */
static void find_answer(char path[600])
{
    DIR *listing = opendir(test_folder);
    struct dirent *entry;
    *path = 0;
    while (listing && (entry = readdir(listing)))
        if (!strncmp(entry->d_name, "tuned-", 6)) {
            CHECK(!*path, "two answers, one in %s", path);
            snprintf(path, 600, "%s/%s", test_folder, entry->d_name);
        }
    if (listing)
        closedir(listing);
}

/* Well-formed, but of another shape than there are, as an older version may leave behind. */
static void replace_answer(const char *path)
{
    penstock_context *context;
    size_t bytes;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    char *content = penstock__cache_read(context, strrchr(path, '/') + 1, &bytes);
    char *shape = content ? strstr(content, "shape: ") : NULL;
    CHECK(shape, "no shape in %s", path);
    if (shape) {
        memcpy(shape, "shape!", 6);
        CHECK(penstock__cache_write(context, strrchr(path, '/') + 1, content, bytes), "cannot write %s", path);
    }
    penstock__free(content);
    penstock_context_free(context);
}

/* A copy of the kernels with one comment more. */
static void copy_kernels(char folder[600])
{
    char command[1500];
    snprintf(folder, 600, "%s/kernels", test_folder);
    snprintf(command, sizeof command, "cp -r kernels '%s' && echo '/* another */' >> '%s/fft.cl'", folder, folder);
    CHECK_EQ(system(command), 0);
}

static void check_kept(void)
{
    char first[80], text[80], path[600], kernels[600];
    unsigned timed = tuned(test_folder, NULL, 64, first);
    CHECK(timed >= 3 && timed <= 9, "%u shapes timed", timed);
    find_answer(path);
    CHECK(*path, "no answer was kept");
    CHECK_EQ(tuned(test_folder, NULL, 64, text), 0);
    CHECK(!strcmp(first, text), "first %s, then %s", first, text);

    CHECK(!truncate(path, 40), "cannot shorten %s", path);
    CHECK(tuned(test_folder, NULL, 64, text) > 1, "a damaged answer was taken");
    CHECK_EQ(tuned(test_folder, NULL, 64, text), 0);
    replace_answer(path);
    CHECK(tuned(test_folder, NULL, 64, text) > 1, "an answer that is none was taken");
    CHECK_EQ(tuned(test_folder, NULL, 64, text), 0);

    copy_kernels(kernels);
    CHECK(tuned(test_folder, kernels, 64, text) > 1, "the answer for other kernel sources was taken");
    CHECK_EQ(tuned(test_folder, kernels, 64, text), 0);
    CHECK(tuned(test_folder, NULL, 65, text) > 1, "the answer for another batch was taken");
    CHECK_EQ(tuned(test_folder, NULL, 64, text), 0);
}

static void *tune_in_thread(void *argument)
{
    penstock_plan_info info;
    char text[80];
    int status = use(argument, 66, &info, text);
    pthread_mutex_lock(&counting);
    CHECK_OK(status);
    pthread_mutex_unlock(&counting);
    return (void *)(uintptr_t)info.timed;
}

/* One of them times, the others take its answer. */
static void check_threads(void)
{
    pthread_t threads[THREADS];
    penstock_context *context;
    unsigned timing = 0, started = 0;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    while (started < THREADS && !pthread_create(&threads[started], NULL, tune_in_thread, context))
        started++;
    for (unsigned i = 0; i < started; i++) {
        void *timed;
        pthread_join(threads[i], &timed);
        timing += timed != NULL;
    }
    CHECK_EQ(started, THREADS);
    CHECK_EQ(timing, 1);
    penstock_context_free(context);
}

/* What there is nothing to choose for, and devices that do not know it. The driver for tests does plain transforms. */
static void check_without(bool plain)
{
    static const penstock_fft_desc descs[] = {
        {.size = sizeof *descs, .n = 64, .options = {.radix = 4}, .tune = true},
        {.size = sizeof *descs, .n = 8 * 8, .rows = 8, .tune = true},
        {.size = sizeof *descs, .n = 64, .load = {.format = PENSTOCK_PLANAR}, .tune = true}};
    const size_t known = plain ? 1 : sizeof descs / sizeof *descs;
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    for (size_t i = 0; i <= known; i++) {
        penstock_plan_info info = PENSTOCK_PLAN_INFO;
        penstock_plan *plan;
        bool host = i == known;
        CHECK_OK(penstock_fft_plan(&plan, context, host ? &PENSTOCK_FFT_DESC(.n = points, .tune = true) : &descs[i],
                                   host ? "cpu" : device));
        CHECK_OK(penstock_plan_get_info(plan, &info));
        CHECK_EQ(info.timed, 0);
        penstock_plan_free(plan);
    }
    penstock_context_free(context);
}

/* ---------------------------------------------------------------- the driver for tests -------- */

/* The work-groups of the usual plan and of another shape are different. */
static void find_groups(unsigned *usual, unsigned *other)
{
    penstock_context *context;
    penstock_plan_info info = PENSTOCK_PLAN_INFO;
    penstock_plan *plan;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "")));
    CHECK_OK(penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = points), device));
    CHECK_OK(penstock_plan_get_info(plan, &info));
    CHECK_EQ(sscanf(strchr(info.variant, ','), ", %u a group", usual), 1);
    *other = 2 * *usual;
    penstock_plan_free(plan);
    penstock_context_free(context);
}

static unsigned group_of(const char *text)
{
    unsigned group = 0;
    CHECK_EQ(sscanf(strchr(text, ','), ", %u a group", &group), 1);
    return group;
}

static void set_group(const char *variable, unsigned group)
{
    char value[12];
    snprintf(value, sizeof value, "%u", group);
    setenv(variable, value, 1);
}

static void check_choice(void)
{
    unsigned usual, other;
    char text[80];
    find_groups(&usual, &other);
    tuned("", NULL, 64, text);
    CHECK_EQ(group_of(text), usual); /* all take as long */
    set_group("PENSTOCK_SHIM_FAST_GROUP", other);
    tuned("", NULL, 64, text);
    CHECK_EQ(group_of(text), other);
    set_group("PENSTOCK_SHIM_WRONG_GROUP", other); /* the fastest fails its check */
    tuned("", NULL, 64, text);
    CHECK(group_of(text) != other, "a shape that computes wrong values was taken");
    unsetenv("PENSTOCK_SHIM_FAST_GROUP");
    set_group("PENSTOCK_SHIM_WRONG_GROUP", usual);
    tuned("", NULL, 64, text);
    CHECK(group_of(text) != usual, "the usual shape was taken, which computes wrong values");
    unsetenv("PENSTOCK_SHIM_WRONG_GROUP");
    CHECK(!shim.broken_rule(), "%s", shim.broken_rule());
}

/* A kept shape that fails by now is measured for once, not for each plan of a context. */
static void check_kept_fails(void)
{
    enum { BATCH = 67 };
    penstock_context *context;
    penstock_plan_info info;
    unsigned usual, other;
    char text[80];
    find_groups(&usual, &other);
    set_group("PENSTOCK_SHIM_FAST_GROUP", other);
    tuned(test_folder, NULL, BATCH, text);
    CHECK_EQ(group_of(text), other);
    unsetenv("PENSTOCK_SHIM_FAST_GROUP");
    set_group("PENSTOCK_SHIM_WRONG_GROUP", other);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    CHECK_OK(use(context, BATCH, &info, text));
    CHECK(info.timed > 1 && group_of(text) != other, "%u shapes timed, %s", info.timed, text);
    CHECK_OK(use(context, BATCH, &info, text));
    CHECK(!info.timed && group_of(text) != other, "%u shapes timed once more, %s", info.timed, text);
    unsetenv("PENSTOCK_SHIM_WRONG_GROUP");
    penstock_context_free(context);
}

/* A context, a tuned plan and a batch while something fails. */
static void live_once(const char *what, long k)
{
    penstock_context *context = NULL;
    penstock_plan_info info;
    char text[80];
    int status = penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = 1));
    if (!status)
        status = use(context, 1, &info, text);
    CHECK(!status || *penstock_error_text(), "%s %ld: an error without text", what, k);
    penstock_context_free(context);
    CHECK(shim.live() == 0, "%s %ld: %ld objects leaked", what, k, shim.live());
    CHECK(!shim.broken_rule(), "%s %ld: %s", what, k, shim.broken_rule());
    CHECK(penstock__memory_live() == 0, "%s %ld: %ld blocks leaked", what, k, penstock__memory_live());
}

/* Each call of the start, then ever fewer: rounds of timing are all alike. */
static void check_failures(void)
{
    bool full = getenv("PENSTOCK_TEST_FULL"), beyond = false;
    long allocations = penstock__memory_calls(), k;
    live_once("no failure", 0);
    allocations = penstock__memory_calls() - allocations;
    for (k = 0; !beyond && k < 20000; k += full ? 1 : 1 + k / 8) {
        shim.fail_at(k);
        live_once("call", k);
        beyond = shim.left() >= 0;
        shim.fail_at(-1);
    }
    CHECK(beyond && k > 200, "%ld calls", k);
    for (k = 0; k < allocations; k += full ? 1 : 1 + k / 20) {
        penstock__memory_fail_at(k);
        live_once("allocation", k);
    }
    penstock__memory_fail_at(-1);
    CHECK(allocations > 50, "%ld allocations", allocations);
}

int main(int count, char **arguments)
{
    penstock_context *context;
    size_t row;
    int status;
    device = count > 1 ? arguments[1] : "opencl";
    points = strcmp(device, "opencl") ? MOST : 16;
    prepare();
    CHECK_OK(penstock_context_new(&context, NULL));
    status = penstock_device_find(context, device, &row);
    penstock_context_free(context);
    if (status)
        return test_skip(penstock_error_text());
    CHECK(test_make_folder(), "cannot make a folder");
    check_kept();
    check_threads();
    bool shimmed = shim_load("PENSTOCK_CUDA_LIBRARY") && shim.broken_rule;
    check_without(shimmed);
    if (shimmed) {
        check_choice();
        check_kept_fails();
        check_failures();
    }
    test_remove_folder();
    CHECK(plans >= 9, "only %u plans", plans);
    return test_finish();
}
