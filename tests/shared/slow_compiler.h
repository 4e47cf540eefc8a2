/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * A compiler that takes as long as a test wants: one of the kernel sources is a pipe, which a thread of the test fills
 * when it is told to.
 */
#ifndef PENSTOCK_TEST_SLOW_COMPILER_H
#define PENSTOCK_TEST_SLOW_COMPILER_H

#include "device.h"
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GUARD_S 240 /* a test that hangs fails */
#define PIPE    "fft.cl"

static const char *kind;   /* "opencl" */
static char preferred[64]; /* "prefer:opencl" */
static unsigned warnings;  /* lines of the log, and the last of them */
static char warning[256];

/* ---------------------------------------------------------------- sources --------------------- */

static char pipe_path[300], *content;  /* of the file that is a pipe */
static char nothing[] = "no kernel\n"; /* instead */
static pthread_t feeder;

/* The one who reads the pipe next gets the text, and all who come after it, too: they find a file there. */
static inline void *feed_text(void *text)
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

static inline void start_feeding(char *text)
{
    CHECK(!pthread_create(&feeder, NULL, feed_text, text), "no thread");
}

static inline void stop_feeding(void)
{
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* lets it out of fopen */
    pthread_join(feeder, NULL);
    close(reader);
    unlink(pipe_path);
    CHECK(!mkfifo(pipe_path, 0600), "cannot make a pipe");
}

static inline char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 1 << 16);
    CHECK(file && text && fread(text, 1, (1 << 16) - 1, file) > 0, "cannot read %s", path);
    if (file)
        fclose(file);
    return text;
}

static inline void make_sources(void)
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

/* ---------------------------------------------------------------- contexts -------------------- */

static inline void count_lines(void *user, penstock_log_level level, const char *line)
{
    (void)user;
    if (level != PENSTOCK_LOG_WARNING)
        return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", line);
}

static inline penstock_context *new_context(void)
{
    penstock_context *context = NULL;
    warnings = 0;
    CHECK_OK(
        penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.kernel_path = test_folder, .cache_dir = "", .threads = 2,
                                                              .log = count_lines, .cpu_while_compiling = true)));
    return context;
}

static inline bool is_kind(const char *device)
{
    return !strncmp(device, kind, strlen(kind));
}

static inline double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The device of the command line and its sources; or false and a test's exit status. */
static inline bool begin(int *exits, int count, char **arguments)
{
    penstock_context *context;
    kind = count > 1 ? arguments[1] : "opencl";
    snprintf(preferred, sizeof preferred, "prefer:%s", kind);
    *exits = test_device(&context, kind);
    if (!context)
        return false;
    penstock_context_free(context);
    signal(SIGPIPE, SIG_IGN); /* a compiler need not read all */
    make_sources();
    return true;
}

static inline int finish(void)
{
    test_remove_folder();
    free(content);
    return test_finish();
}

#endif
