/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Processes that end while a driver is loaded for them, or compiles, and that have freed nothing: none crashes, and
 * none takes long. Usage: test_process_exit DEVICE; by itself: test_process_exit DEVICE FOLDER LENGTH MICROSECONDS
 */
#include "folder.h"

#include <penstock/penstock.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS    60     /* of which one in six, or all with PENSTOCK_TEST_FULL=1 */
#define SPAN_US 300000 /* a driver is loaded, and a kernel begun, meanwhile */
#define MOST_S  20.0   /* that exit() waits for a compiler */

struct life {
    const char *device, *folder;
    size_t n;
    penstock_context *context;
};

/* What it comes to does not count, as it may be over sooner. */
static void *open_stream(void *argument)
{
    struct life *life = argument;
    penstock_stream *stream;
    penstock_spectrum_open(&stream, life->context, &PENSTOCK_SPECTRUM_DESC(.n = life->n), life->device);
    return NULL;
}

/* Ends by exit() of the main thread, with all of it under way. */
static int live(struct life *life, long microseconds)
{
    pthread_t thread;
    if (penstock_context_new(&life->context,
                             &PENSTOCK_CONTEXT_DESC(.cpu_while_compiling = true, .cache_dir = life->folder)) ||
        pthread_create(&thread, NULL, open_stream, life))
        return 1;
    nanosleep(&(struct timespec){.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000}, NULL);
    exit(0);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Status of a process that lives so. */
static int run(const char *device, size_t n, long microseconds)
{
    char length[24], span[24];
    int status = -1;
    pid_t child;
    snprintf(length, sizeof length, "%zu", n);
    snprintf(span, sizeof span, "%ld", microseconds);
    if (!(child = fork())) {
        execl("/proc/self/exe", "test_process_exit", device, test_folder, length, span, (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
    return status;
}

static void check(const char *device, int number)
{
    const long microseconds = (long)number * SPAN_US / RUNS;
    const double began_s = now_s();
    const int status = run(device, 64 + (size_t)number, microseconds);
    const double took_s = now_s() - began_s - 1e-6 * (double)microseconds;
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "%s, after %ld us: %s %d", device, microseconds,
          WIFSIGNALED(status) ? "signal" : "exit status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    CHECK(took_s < MOST_S, "%s, after %ld us: %.1f s more", device, microseconds, took_s);
}

/* From then on the driver is known to hold, and is loaded at once. */
static int try_device(const char *device)
{
    penstock_context *context;
    penstock_stream *stream;
    CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = test_folder)));
    const int status = penstock_spectrum_open(&stream, context, &PENSTOCK_SPECTRUM_DESC(.n = 32), device);
    if (!status)
        penstock_stream_free(stream);
    penstock_context_free(context);
    return status;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "opencl";
    char preferred[64];
    if (argc > 4)
        return live(&(struct life){.device = device, .folder = argv[2], .n = strtoul(argv[3], NULL, 10)},
                    strtol(argv[4], NULL, 10));
    if (SANITIZED)
        return test_skip("a sanitizer tells of memory that the end of a process leaves");
    CHECK(test_make_folder(), "no folder");
    const int status = try_device(device);
    if (status == PENSTOCK_ERR_NO_DEVICE) {
        test_remove_folder();
        return test_skip(penstock_error_text());
    }
    CHECK_OK(status);
    snprintf(preferred, sizeof preferred, "prefer:%s", device);
    for (int i = 0; i < RUNS; i++)
        if (test_drawn((uint64_t)i, 6))
            check(i % 2 ? preferred : device, i);
    test_remove_folder();
    return test_finish();
}
