/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Contexts: arguments, where the cache folder is, the log, cache files, and several threads that share one. */
#include "backends/backend.h"
#include "core/base/memory.h"
#include "folder.h"

#include <penstock/penstock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void arguments(void)
{
    penstock_context *context = (penstock_context *)&test_folder;
    CHECK_EQ(penstock_context_new(NULL, NULL), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 1025)), PENSTOCK_ERR_ARGUMENT);
    CHECK(!context, "a failed constructor leaves a pointer");
    CHECK(strstr(penstock_error_text(), "1025"), "the text is '%s'", penstock_error_text());
    CHECK_EQ(penstock_context_new(&context, &(penstock_context_desc){0}), PENSTOCK_ERR_ARGUMENT);
    penstock_context_free(NULL);
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK(penstock__threads(context) >= 1, "no threads");
    penstock_context_free(context);
    /* An earlier caller, whose struct ends after `threads`. */
    CHECK_OK(penstock_context_new(
        &context,
        &(penstock_context_desc){.size = offsetof(penstock_context_desc, log), .threads = 2, .cache_dir = "/none"}));
    CHECK_EQ(penstock__threads(context), 2);
    CHECK(!penstock__cache_dir(context) || strcmp(penstock__cache_dir(context), "/none"),
          "a field beyond the size was read");
    penstock_context_free(context);
}

/* The cache folder with the environment as it is; "-" for none. */
static const char *cache_dir(const char *wanted)
{
    static char text[256];
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = wanted)));
    snprintf(text, sizeof text, "%s", penstock__cache_dir(context) ? penstock__cache_dir(context) : "-");
    penstock_context_free(context);
    return text;
}

#define CHECK_TEXT(got, want)                                                        \
    do {                                                                             \
        const char *got_ = (got);                                                    \
        CHECK(!strcmp(got_, (want)), "%s is '%s', expected '%s'", #got, got_, want); \
    } while (0)

static void cache_dirs(void)
{
    setenv("PENSTOCK_CACHE_DIR", "/one", 1);
    setenv("XDG_CACHE_HOME", "/two", 1);
    setenv("HOME", "/three", 1);
    CHECK_TEXT(cache_dir("/zero"), "/zero");
    CHECK_TEXT(cache_dir(""), "-");
    CHECK_TEXT(cache_dir(NULL), "/one");
    setenv("PENSTOCK_CACHE_DIR", "", 1);
    CHECK_TEXT(cache_dir(NULL), "-");
    unsetenv("PENSTOCK_CACHE_DIR");
    CHECK_TEXT(cache_dir(NULL), "/two/penstock");
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_TEXT(cache_dir(NULL), "/three/.cache/penstock");
    unsetenv("XDG_CACHE_HOME");
    CHECK_TEXT(cache_dir(NULL), "/three/.cache/penstock");
    unsetenv("HOME");
    CHECK_TEXT(cache_dir(NULL), "-");
}

static void kernel_paths(void)
{
    penstock_context *context;
    setenv("PENSTOCK_KERNEL_PATH", "/kernels", 1);
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK_TEXT(penstock__kernel_path(context), "/kernels");
    penstock_context_free(context);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = "/mine")));
    CHECK_TEXT(penstock__kernel_path(context), "/mine");
    penstock_context_free(context);
    unsetenv("PENSTOCK_KERNEL_PATH");
    CHECK_OK(penstock_context_new(&context, NULL));
    CHECK(!penstock__kernel_path(context), "a kernel path from nowhere");
    penstock_context_free(context);
}

/* What `bytes` bytes written under "file" read as after `change` was done to the file. */
static void cache_files(void)
{
    static char content[3000];
    char path[300];
    penstock_context *context;
    size_t bytes;
    char *back;
    FILE *file;
    struct rlimit limit;
    snprintf(path, sizeof path, "%s/deep/er", test_folder);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = path)));
    snprintf(path, sizeof path, "%s/deep/er/file", test_folder);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i * 7);
    CHECK(!penstock__cache_read(context, "file", &bytes), "an absent file reads");
    CHECK(penstock__cache_write(context, "file", "short", 5), "cannot write");
    CHECK(penstock__cache_write(context, "file", content, sizeof content), "cannot write again");
    back = penstock__cache_read(context, "file", &bytes);
    CHECK(back && bytes == sizeof content && !memcmp(back, content, bytes), "%zu bytes come back", bytes);
    penstock__free(back);
    CHECK_EQ(truncate(path, 2000), 0);
    CHECK(!penstock__cache_read(context, "file", &bytes), "a truncated file reads");
    penstock__cache_write(context, "file", content, sizeof content);
    CHECK((file = fopen(path, "r+b")) != NULL, "cannot open %s", path);
    fseek(file, 1000, SEEK_SET);
    fputc(99, file);
    fclose(file);
    CHECK(!penstock__cache_read(context, "file", &bytes), "a changed file reads");
    penstock__cache_write(context, "file", content, sizeof content);
    CHECK((file = fopen(path, "ab")) != NULL, "cannot open %s", path);
    fputc(0, file);
    fclose(file);
    CHECK(!penstock__cache_read(context, "file", &bytes), "a lengthened file reads");
    CHECK(penstock__cache_write(context, "file", NULL, 0), "cannot write nothing");
    back = penstock__cache_read(context, "file", &bytes);
    CHECK(back && bytes == 0, "nothing reads as %zu bytes", bytes);
    penstock__free(back);
    CHECK(!unlink(path) && !mkfifo(path, 0600), "cannot make a pipe");
    CHECK(!penstock__cache_read(context, "file", &bytes), "a pipe reads");
    CHECK(penstock__cache_write(context, "file", "short", 5), "a pipe is not replaced");
    CHECK(!getrlimit(RLIMIT_FSIZE, &limit) && !setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, limit.rlim_max}),
          "no limit for files");
    CHECK(!penstock__cache_write(context, "file", content, sizeof content), "a file outgrows the limit");
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit), "the limit stays");
    back = penstock__cache_read(context, "file", &bytes);
    CHECK(back && bytes == 5, "the file before it is lost");
    penstock__free(back);
    penstock_context_free(context);
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "/proc/none")));
    CHECK(!penstock__cache_write(context, "file", "x", 1), "/proc can be written");
    penstock_context_free(context);
}

struct log {
    atomic_int inside;
    int lines, overlapping;
};

static void take_line(void *user, penstock_log_level level, const char *line)
{
    struct log *log = user;
    log->overlapping += atomic_fetch_add(&log->inside, 1) != 0 || level != PENSTOCK_LOG_INFO || strcmp(line, "line 7");
    log->lines++;
    atomic_fetch_sub(&log->inside, 1);
}

static void write_line(void *context, size_t i, unsigned worker)
{
    (void)i, (void)worker;
    penstock__log(context, PENSTOCK_LOG_INFO, "line %d", 7);
}

static void logs(void)
{
    struct log log = {0};
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 4, .log = take_line, .log_user = &log)));
    penstock__parallel(context, 1000, write_line, context);
    penstock_context_free(context);
    CHECK_EQ(log.lines, 1000);
    CHECK_EQ(log.overlapping, 0);
}

/* Asks for devices, whose drivers have a line to tell. */
static void ask_back(void *user, penstock_log_level level, const char *line)
{
    penstock_context **context = user;
    size_t count;
    int status = penstock_device_count(*context, &count);
    (void)level, (void)line;
    CHECK(!status || status == PENSTOCK_ERR_STATE, "returned %d: %s", status, penstock_error_text());
}

static void log_asks_back(void)
{
    const char *helper = getenv("PENSTOCK_PROBE");
    char *named = helper ? penstock__strdup(helper) : NULL;
    penstock_context *context;
    size_t count;
    setenv("PENSTOCK_PROBE", "/none", 1); /* of which there is a line for each driver */
    CHECK_OK(
        penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.log = ask_back, .log_user = &context, .cache_dir = "")));
    penstock__log(context, PENSTOCK_LOG_INFO, "first");
    CHECK_OK(penstock_device_count(context, &count));
    penstock_context_free(context);
    if (named)
        setenv("PENSTOCK_PROBE", named, 1);
    else
        unsetenv("PENSTOCK_PROBE");
    penstock__free(named);
}

/* Plans made and used in several threads at once, on one context. */
static void *use(void *context)
{
    static const char *const devices[] = {"cpu", "trace", "auto", "prefer:null"};
    intptr_t failures = 0;
    for (size_t i = 0; i < 12; i++) {
        penstock_cf32 in[5 * 48] = {{0}}, out[5 * 48];
        penstock_plan *plan;
        size_t count;
        for (size_t frame = 0; frame < 5; frame++)
            in[frame * 48].re = 1; /* transforms to ones */
        failures += penstock_device_count(context, &count) != 0;
        if (penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 48), devices[i % 4]) ||
            penstock_plan_run(plan, in, out, 5))
            failures++;
        for (size_t k = 0; k < 5 * 48; k++)
            failures += out[k].re != 1 || out[k].im != 0;
        penstock_plan_free(plan);
    }
    return (void *)failures;
}

static void shared_by_threads(void)
{
    pthread_t threads[4];
    penstock_context *context;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.threads = 3)));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, use, context);
    for (int i = 0; i < 4; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        CHECK(!failures, "thread %d: %d failures", i, (int)(intptr_t)failures);
    }
    penstock_context_free(context);
}

int main(void)
{
    CHECK(test_make_folder(), "no temporary folder");
    arguments();
    cache_dirs();
    kernel_paths();
    cache_files();
    logs();
    log_asks_back();
    setenv("PENSTOCK_CACHE_DIR", test_folder, 1);
    shared_by_threads();
    test_remove_folder();
    CHECK_EQ(penstock__memory_live(), 0);
    return test_finish();
}
